// SPDX-License-Identifier: MIT
#include "compiler/support/output_file.h"

#include "compiler/support/interrupt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace tkc {
namespace {

bool IsStandardOutput(const std::string& path) { return path.empty() || path == "-"; }

/// Devices and pipes (/dev/null, /dev/stdout) can't be renamed onto.
bool IsRegularOrNew(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

/// What the path leads to through symbolic links, there or not.
std::string Followed(std::string path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // as Linux follows
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = (fs::path(path).parent_path() / target).string();  // an absolute one stands for itself
  }
  return path;
}

/// By its mode: a new file could be renamed onto it all the same.
bool IsReadOnly(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0222) == 0;
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

/// Writes a file beside `path` that nobody looks for; its name, or empty with errno set.
std::string WriteTemporary(const std::string& path, std::string_view text) {
  std::string name;
  int fd = -1;
  // Opened, not made by mkstemp: so it has the rights of any new file, and nobody has to ask for the umask, which sets it for all.
  for (int number = 0; fd < 0; ++number) {
    name = fmt::format("{}.{}-{}", path, getpid(), number);
    fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST) return {};
  }
  const bool ok = WriteAll(fd, text);
  const int error = errno;
  if (close(fd) == 0 && ok) return name;
  unlink(name.c_str());
  errno = error;
  return {};
}

bool WriteInPlace(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool ok = WriteAll(fd, text);
  return close(fd) == 0 && ok;
}

/// Also where neither is there yet.
bool IsOneFile(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code none;
  return fs::equivalent(a, b, none) || fs::weakly_canonical(a, none) == fs::weakly_canonical(b, none);
}

}  // namespace

void CheckOutputPaths(const std::vector<std::string>& paths, const SourceManager& sources, Diagnostics& diagnostics) {
  for (size_t i = 0; i < paths.size(); ++i) {
    if (IsStandardOutput(paths[i]) || !IsRegularOrNew(paths[i])) continue;
    bool is_read = false, is_written = false;
    for (uint32_t file = 0; file < sources.FileCount(); ++file)
      is_read |= sources.IsLoaded(file) && IsOneFile(paths[i], sources.Path(file));
    for (size_t k = 0; k < i; ++k) is_written |= IsOneFile(paths[i], paths[k]);
    if (!is_read && !is_written) continue;
    diagnostics
        .Error(DiagnosticKind::kCannotWriteFile, kNoSpan,
               fmt::format("`{}` is {}", paths[i], is_read ? "a file that is read" : "two outputs at once"))
        .Help("name another file");
  }
}

Result<void> WriteFiles(const std::vector<OutputFile>& files, Diagnostics& diagnostics) {
  struct Pending {
    std::string temporary, path;
  };
  std::vector<Pending> pending;
  const auto fail = [&](const std::string& path) -> Failure {
    const int error = errno;
    for (const Pending& p : pending) unlink(p.temporary.c_str());
    const bool is_read_only = error == EACCES && IsReadOnly(path);
    DiagnosticBuilder report =
        diagnostics.Error(DiagnosticKind::kCannotWriteFile, kNoSpan,
                          fmt::format("`{}` can't be written: {}", path, is_read_only ? "it is read-only" : std::strerror(error)));
    if (is_read_only) report.Help(fmt::format("name another file, or make it writable: `chmod u+w {}`", path));
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code ignored;
    if (error == ENOENT && !folder.empty() && !std::filesystem::exists(folder, ignored))
      report.Help(fmt::format("make the folder first: `mkdir -p {}`", folder.string()));
    if (error == EISDIR) report.Help("name a file in it");
    return report;
  };
  std::vector<const OutputFile*> renamed;
  for (const OutputFile& file : files) {  // these may wait for who reads them, and then a stop must not
    if (IsStandardOutput(file.path)) {
      if (std::fwrite(file.text.data(), 1, file.text.size(), stdout) != file.text.size() || std::fflush(stdout) != 0) {
        return fail("standard output");
      }
    } else if (!IsRegularOrNew(file.path)) {
      if (!WriteInPlace(file.path, file.text)) return fail(file.path);
    } else {
      renamed.push_back(&file);
    }
  }
  const Uninterrupted scope;
  for (const OutputFile* file : renamed) {
    const std::string path = Followed(file->path);
    errno = EACCES;
    if (IsReadOnly(path)) return fail(file->path);
    std::string temporary = WriteTemporary(path, file->text);
    if (temporary.empty()) return fail(file->path);
    pending.push_back({std::move(temporary), path});
  }
  for (auto p = pending.rbegin(); p != pending.rend(); ++p) {
    if (std::rename(p->temporary.c_str(), p->path.c_str()) != 0) return fail(p->path);
  }
  return {};
}

}  // namespace tkc
