// SPDX-License-Identifier: MIT
// What a command leaves behind when it is stopped: nothing. Ctrl-C, SIGTERM and SIGHUP end the programs it has started, remove its
// temporary folders, and end it with status 128 + signal; outputs that are being put in their places are first. A thread of its own
// waits for them, so that nothing runs inside a handler.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>

#include "compiler/support/diagnostic.h"

namespace tkc {

/// Takes the three signals for the whole process; before other threads are started, once a process.
void WatchInterrupts();

/// A new private folder, removed with all it holds when the object goes or the command is stopped.
class ScratchFolder {
 public:
  /// In `parent`, or where temporary files go.
  static Result<ScratchFolder> Make(Diagnostics& diagnostics, const std::string& parent = {});
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }
  std::string File(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// Renames the folder, which is then an ordinary one; false if `to` is there already or can't be made.
  bool MoveTo(const std::string& to);

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// While one lives, a stop waits: files are being put in their places, or a program is being started.
class Uninterrupted {
 public:
  Uninterrupted();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// A program (with its process group) that a stop ends. Call both inside an Uninterrupted.
void AddChild(pid_t group);
void RemoveChild(pid_t group);

}  // namespace tkc
