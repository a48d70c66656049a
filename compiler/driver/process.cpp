// SPDX-License-Identifier: MIT
#include "compiler/driver/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "compiler/support/interrupt.h"

extern char** environ;

namespace tkc {
namespace {

constexpr size_t kMostOutput = 1 << 20;

using Clock = std::chrono::steady_clock;

/// Signals as a program expects them at its start; a group of its own; both outputs into the pipe.
int Spawn(const std::vector<std::string>& arguments, const std::string& folder, int output, pid_t& child) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGSEGV, SIGABRT}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  const int error = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

/// Reads to the end of the pipe; false when time is up first.
bool ReadOutput(int from, std::string& output, double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  char buffer[1 << 14];
  while (true) {
    int wait = -1;
    if (seconds > 0) {
      wait = static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count());
      if (wait <= 0) return false;
    }
    pollfd ready{from, POLLIN, 0};
    const int count = poll(&ready, 1, wait);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) return false;
    const ssize_t bytes = read(from, buffer, sizeof buffer);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return true;
    output.append(buffer, std::min(static_cast<size_t>(bytes), kMostOutput - std::min(kMostOutput, output.size())));
  }
}

}  // namespace

ProcessResult RunProcess(const std::vector<std::string>& arguments, const std::string& folder, double seconds,
                         double of_processor) {
  ProcessResult result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    result.not_started = std::strerror(errno);
    return result;
  }
  pid_t child = 0;
  {
    const Uninterrupted scope;
    const int error = Spawn(arguments, folder, ends[1], child);
    if (error != 0)
      result.not_started = std::strerror(error);
    else
      AddChild(child);
    const auto most = static_cast<rlim_t>(std::ceil(of_processor));
    const rlimit limit{most, most + 1};
    if (error == 0 && most > 0) prlimit(child, RLIMIT_CPU, &limit, nullptr);
  }
  close(ends[1]);
  if (!result.not_started.empty()) {
    close(ends[0]);
    return result;
  }
  result.timed_out = !ReadOutput(ends[0], result.output, seconds);
  close(ends[0]);
  if (result.timed_out) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  {
    const Uninterrupted scope;
    RemoveChild(child);
  }
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.timed_out |= of_processor > 0 && result.signal == SIGXCPU;
  return result;
}

std::string FindProgram(const std::string& name) {
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : std::string();
  const char* path = std::getenv("PATH");
  const std::string folders = path ? path : "/usr/bin:/bin";
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string file = folders.substr(begin, end - begin) + "/" + name;
    std::error_code error;
    if (access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file, error)) return file;
    begin = end + 1;
  }
  return {};
}

std::string ProgramFolder() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : self.parent_path().string();
}

}  // namespace tkc
