// SPDX-License-Identifier: MIT
#include "compiler/driver/host_compiler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>

#include "compiler/driver/process.h"

namespace tkc {
namespace {

/// $CXX may hold options behind the name, and a launcher such as ccache before it.
std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// The command that compiles C++: a path and options that belong to it.
Result<std::vector<std::string>> FindCompiler(Diagnostics& diagnostics) {
  const char* given = std::getenv("CXX");
  if (given && *given) {
    std::vector<std::string> words = Words(given);
    const std::string path = words.empty() ? std::string() : FindProgram(words[0]);
    if (path.empty()) {
      return diagnostics
          .Error(DiagnosticKind::kNoHostCompiler, kNoSpan, fmt::format("there is no program `{}`, which CXX names", given))
          .Help("unset CXX, or let it name a C++20 compiler");
    }
    words[0] = path;
    return words;
  }
  for (const char* name : {"c++", "g++", "clang++"}) {
    const std::string path = FindProgram(name);
    if (!path.empty()) return std::vector<std::string>{path};
  }
  return diagnostics.Error(DiagnosticKind::kNoHostCompiler, kNoSpan, "the simulator needs a C++20 compiler, and none was found")
      .Note("looked for `c++`, `g++` and `clang++` on PATH; CXX is not set")
      .Help("install one (Debian: `apt install g++`), or run with `--on reference`, which needs none");
}

}  // namespace

Result<std::string> RuntimeInclude(Diagnostics& diagnostics) {
  const char* given = std::getenv("TKC_RUNTIME_INCLUDE");
  std::vector<std::string> places;
  if (given && *given) {
    places.push_back(given);
  } else {
    const std::string folder = ProgramFolder();
    std::error_code error;
    if (!folder.empty()) places.push_back(std::filesystem::path(folder + "/../include").lexically_normal().string());
    if (std::filesystem::equivalent(folder, TKC_BUILT_PROGRAMS, error)) places.push_back(TKC_SOURCE_RUNTIME);
  }
  for (const std::string& place : places) {
    std::error_code error;
    if (std::filesystem::is_regular_file(place + "/tk/arch.h", error)) return place;
  }
  return diagnostics
      .Error(DiagnosticKind::kCannotReadFile, kNoSpan,
             fmt::format("the headers of the runtime are missing: there is no `tk/arch.h` in `{}`", fmt::join(places, "`, `")))
      .Help("install tkc as a whole, or let TKC_RUNTIME_INCLUDE name the folder that holds `tk`");
}

Result<Build> CompileForSimulator(const codegen::Emitted& files, const codegen::EmitOptions& names, int part,
                                  Diagnostics& diagnostics) {
  Result<std::vector<std::string>> compiler = FindCompiler(diagnostics);
  Result<std::string> include = RuntimeInclude(diagnostics);
  if (!compiler || !include) return Failure{};
  BuildRequest request;
  request.compiler = compiler->front();
  request.runtime_include = *include;
  request.files = {{names.source_name, files.source}, {names.header_name, files.header}};
  request.product = "kernel.so";
  request.arguments.assign(compiler->begin() + 1, compiler->end());
  // -O1 -g1: places of calls stay true, inlined ones too. Contraction off: a product and a sum round twice, as on the GPU.
  for (const char* argument : {"-std=c++20", "-x", "c++", "-DTK_SIM", "-O1", "-g1", "-ffp-contract=off", "-fno-omit-frame-pointer",
                               "-fno-optimize-sibling-calls", "-fno-strict-aliasing", "-fPIC", "-shared", "-w"}) {
    request.arguments.push_back(argument);
  }
  if (part != 0) request.arguments.push_back(fmt::format("-DTK_TARGET={}", part));
  for (const std::string& argument : {std::string("-I"), *include, std::string("-o"), request.product, names.source_name}) {
    request.arguments.push_back(argument);
  }
  return BuildCached(request, diagnostics);
}

}  // namespace tkc
