// SPDX-License-Identifier: MIT
#include "compiler/support/interrupt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

namespace tkc {
namespace {

/// Process-wide, as signals are: they have no caller.
struct Leftovers {
  std::recursive_mutex mutex;
  std::vector<std::string> folders;
  std::vector<pid_t> children;
};

Leftovers& All() {
  static auto* all = new Leftovers;  // never destroyed: the watching thread outlives main's statics
  return *all;
}

void RemoveFolder(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

[[noreturn]] void Watch(sigset_t signals) {
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  Leftovers& all = All();
  all.mutex.lock();  // for good
  for (const pid_t group : all.children) kill(-group, SIGKILL);
  for (const std::string& folder : all.folders) RemoveFolder(folder);
  std::fputs("\ntkc: stopped\n", stderr);
  _exit(128 + signal);
}

}  // namespace

void WatchInterrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    // One that the parent ignores (nohup, a shell's background job) stays ignored.
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    std::thread(Watch, signals).detach();
  } catch (const std::system_error&) {  // no thread is left to be had: a stop ends the process as it does any other
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
}

Result<ScratchFolder> ScratchFolder::Make(Diagnostics& diagnostics, const std::string& parent) {
  const char* given = std::getenv("TMPDIR");
  const std::string base = !parent.empty() ? parent : given && *given ? given : "/tmp";
  std::string name = base + "/tkc-XXXXXX";
  const Uninterrupted scope;
  if (!mkdtemp(name.data())) {
    return diagnostics.Error(DiagnosticKind::kCannotWriteFile, kNoSpan,
                             fmt::format("no temporary folder can be made in `{}`: {}", base, std::strerror(errno)));
  }
  All().folders.push_back(name);
  return ScratchFolder(name);
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  const Uninterrupted scope;
  RemoveFolder(path_);
  std::erase(All().folders, path_);
}

bool ScratchFolder::MoveTo(const std::string& to) {
  const Uninterrupted scope;
  if (std::rename(path_.c_str(), to.c_str()) != 0) return false;
  std::erase(All().folders, path_);
  path_.clear();
  return true;
}

Uninterrupted::Uninterrupted() : lock_(All().mutex) {}

void AddChild(pid_t group) { All().children.push_back(group); }
void RemoveChild(pid_t group) { std::erase(All().children, group); }

}  // namespace tkc
