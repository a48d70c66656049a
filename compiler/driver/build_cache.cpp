// SPDX-License-Identifier: MIT
#include "compiler/driver/build_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "compiler/driver/process.h"

namespace tkc {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostBytes = uintmax_t{256} << 20;
constexpr size_t kMostEntries = 400;
constexpr auto kInUse = std::chrono::minutes(10);  // an entry used since then may be in another tkc's hands

/// Empty if there is no place for a cache.
std::string CacheFolder() {
  const char* given = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::string base;
  if (given && *given == '/')
    base = given;
  else if (home && *home)
    base = std::string(home) + "/.cache";
  if (base.empty()) return {};
  const std::string folder = base + "/tkc";
  std::error_code error;
  fs::create_directories(folder, error);
  return access(folder.c_str(), W_OK | X_OK) == 0 ? folder : std::string();
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A compiler is known by its file: path behind links, size, time of change.
void AddFile(Fingerprint& key, const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  struct stat info{};
  stat(path.c_str(), &info);
  key.Add(fmt::format("{} {} {}.{}", error ? path : real.string(), static_cast<long long>(info.st_size),
                      static_cast<long long>(info.st_mtim.tv_sec), info.st_mtim.tv_nsec));
}

void AddHeaders(Fingerprint& key, const std::string& folder) {
  std::vector<fs::path> headers;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error)) headers.push_back(at->path());
  }
  std::sort(headers.begin(), headers.end());
  for (const fs::path& header : headers) {
    key.Add(fs::relative(header, folder, error).string());
    key.Add(ReadFile(header));
  }
}

std::string KeyOf(const BuildRequest& request) {
  Fingerprint key;
  key.Add("1");  // of this layout of an entry
  AddFile(key, request.compiler);
  for (const std::string& argument : request.arguments) key.Add(argument);
  for (const OutputFile& file : request.files) {
    key.Add(file.path);
    key.Add(file.text);
  }
  AddHeaders(key, request.runtime_include);
  return key.Text();
}

/// Removes the entries that were not used for longest until the cache is within its bounds.
void Trim(const std::string& cache) {
  struct Entry {
    fs::file_time_type used;
    uintmax_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  uintmax_t total = 0;
  std::error_code error;
  for (fs::directory_iterator at(cache, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    Entry entry{fs::last_write_time(at->path(), ignored), 0, at->path()};
    for (fs::recursive_directory_iterator file(at->path(), ignored), last; !ignored && file != last; file.increment(ignored)) {
      std::error_code gone;
      const uintmax_t bytes = file->is_regular_file(gone) ? file->file_size(gone) : 0;
      entry.bytes += gone ? 0 : bytes;
    }
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  size_t left = entries.size();
  const fs::file_time_type recent = fs::file_time_type::clock::now() - kInUse;
  for (const Entry& entry : entries) {
    if ((total <= kMostBytes && left <= kMostEntries) || entry.used > recent) return;
    std::error_code ignored;
    fs::remove_all(entry.path, ignored);
    total -= entry.bytes;
    --left;
  }
}

/// The first lines of what a compiler said, from the first error on.
std::vector<std::string> FirstErrors(const std::string& output) {
  std::vector<std::string> lines;
  size_t begin = output.find("error");
  begin = begin == std::string::npos ? 0 : output.rfind('\n', begin) == std::string::npos ? 0 : output.rfind('\n', begin) + 1;
  while (begin < output.size() && lines.size() < 6) {
    const size_t end = std::min(output.find('\n', begin), output.size());
    if (end > begin) lines.push_back(output.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

Failure ReportFailure(const BuildRequest& request, const ProcessResult& run, Diagnostics& diagnostics) {
  std::string what = fmt::format("ended with status {}", run.status);
  if (!run.not_started.empty()) what = fmt::format("can't be started: {}", run.not_started);
  if (run.signal) what = fmt::format("was ended by signal {}", run.signal);
  if (run.timed_out) what = fmt::format("did not end within {:.0f} s", request.seconds);
  DiagnosticBuilder error =
      diagnostics.Error(DiagnosticKind::kHostCompilerFailed, kNoSpan, fmt::format("the compiler `{}` {}", request.compiler, what));
  for (const std::string& line : FirstErrors(run.output)) error.Note(line);
  std::string command = request.compiler;
  for (const std::string& argument : request.arguments) command += " " + argument;
  return error.Help(fmt::format("it was called as `{}`", command));
}

Result<void> Compile(const BuildRequest& request, const ScratchFolder& folder, Diagnostics& diagnostics) {
  std::vector<OutputFile> files = request.files;
  for (OutputFile& file : files) file.path = folder.File(file.path);
  if (!WriteFiles(files, diagnostics)) return Failure{};
  std::vector<std::string> command = {request.compiler};
  command.insert(command.end(), request.arguments.begin(), request.arguments.end());
  const ProcessResult run = RunProcess(command, folder.path(), request.seconds);
  if (!run.ok()) return ReportFailure(request, run, diagnostics);
  return {};
}

}  // namespace

void Fingerprint::Byte(uint8_t byte) {
  one_ = (one_ ^ byte) * 0x100000001b3;
  two_ = (two_ + byte) * 0x9e3779b97f4a7c15;
  two_ ^= two_ >> 29;
}

void Fingerprint::Add(std::string_view text) {
  for (int i = 0; i < 8; ++i) Byte(static_cast<uint8_t>(text.size() >> (8 * i)));
  for (const char c : text) Byte(static_cast<uint8_t>(c));
}

std::string Fingerprint::Text() const { return fmt::format("{:016x}{:016x}", one_, two_); }

Result<Build> BuildCached(const BuildRequest& request, Diagnostics& diagnostics) {
  const std::string cache = CacheFolder();
  const std::string entry = cache.empty() ? std::string() : cache + "/" + KeyOf(request);
  std::error_code error;
  if (!entry.empty() && fs::is_regular_file(entry + "/" + request.product, error)) {
    fs::last_write_time(entry, fs::file_time_type::clock::now(), error);  // used now
    return Build{entry, entry + "/" + request.product, std::nullopt};
  }
  Result<ScratchFolder> made = ScratchFolder::Make(diagnostics, cache);
  if (!made) return Failure{};
  ScratchFolder folder = made.Take();
  if (!Compile(request, folder, diagnostics)) return Failure{};
  if (!entry.empty()) {
    // Another tkc may have been faster; then its entry serves.
    if (folder.MoveTo(entry) || fs::is_regular_file(entry + "/" + request.product, error)) {
      Trim(cache);
      return Build{entry, entry + "/" + request.product, std::nullopt};
    }
  }
  const std::string path = folder.path();
  return Build{path, path + "/" + request.product, std::move(folder)};
}

}  // namespace tkc
