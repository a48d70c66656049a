// SPDX-License-Identifier: MIT
#include "compiler/command_line_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "compiler/driver/options.h"
#include "compiler/support/nearest_name.h"
#include "compiler/target/target.h"

namespace tkc {
namespace {

constexpr const char* kSeveralTargets = "help: several targets stand behind each other with commas: `--target sm_80,sm_90a`\n";

/// An option of nvcc, hipcc or others, by its name here; empty for those that have none.
std::string OptionInOtherCompilers(std::string_view word) {
  for (const std::string_view architecture :
       {"-arch", "--arch", "--gpu-architecture", "--offload-arch", "-gencode", "-code", "-march"}) {
    if (word == architecture) return "--target";
  }
  return word == "-v" || word == "-V" ? "--version" : word == "--output" ? "-o" : "";
}

/// "`tkc run`, `tkc trace`": those that have the option.
std::string CommandsWith(const std::vector<std::pair<std::string, std::string>>& options, const std::string& option) {
  std::string commands;
  for (const auto& [name, command] : options) {
    if (name == option) commands += fmt::format("{}`{}`", commands.empty() ? "" : ", ", command);
  }
  return commands;
}

}  // namespace

int ReportOption(const std::string& command, std::string_view what) {
  fmt::print(stderr, "error: {}\nhelp: `{} --help` shows the options with examples\n", what, command);
  return kExitUser;
}

int ReportNumber(const std::string& command, std::string_view text) {
  // "Could not convert: --seed = x"
  const size_t option = text.find("--"), equals = text.find(" = ");
  if (option == std::string_view::npos || equals == std::string_view::npos || equals < option) return ReportOption(command, text);
  return ReportOption(command,
                      fmt::format("{} takes a number, found `{}`", text.substr(option, equals - option), text.substr(equals + 3)));
}

int ReportCount(const std::string& command, std::string_view text) {
  // "-o: At Most 1 required but received 2", "--emit: 1 required WHAT missing"
  constexpr std::string_view kMissing = " missing";
  const size_t end = text.find(':');
  if (end == std::string_view::npos) return ReportOption(command, text);
  const std::string_view option = text.substr(0, end);
  if (text.ends_with(kMissing)) {
    text.remove_suffix(kMissing.size());
    return ReportOption(command, fmt::format("nothing stands behind `{}`: it takes {}", option, text.substr(text.rfind(' ') + 1)));
  }
  if (option != "--target") return ReportOption(command, fmt::format("`{}` is given twice", option));
  fmt::print(stderr, "error: `--target` is given twice\n{}", kSeveralTargets);
  return kExitUser;
}

int ReportMissing(const std::string& command, std::string_view text) {
  if (!text.starts_with("kernel.tk")) return ReportOption(command, fmt::format("`{}` needs `-o FILE`", command));
  fmt::print(stderr, "error: no file to {}\nhelp: `{} kernel.tk`; `{} --help` shows more\n", command.substr(command.rfind(' ') + 1),
             command, command);
  return kExitUser;
}

int Report(const Extras& extras) {
  const auto& [command, words, options, elsewhere, file] = extras;
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& text) { return text.starts_with('-'); });
  if (option != words.end()) {
    const std::string word = option->substr(0, option->find('='));
    const std::string theirs = OptionInOtherCompilers(word), meant = theirs.empty() ? NearestName(word, options) : theirs;
    fmt::print(stderr, "error: `{}` has no option `{}`\n", command, word);
    if (word == "-o" && command == "tkc run")
      fmt::print(stderr, "help: write `--out NAME=FILE` for each tensor that is wanted\n");
    else if (const std::string others = CommandsWith(elsewhere, word); !others.empty())
      fmt::print(stderr, "help: {} {} it\n", others, others.find(',') == std::string::npos ? "has" : "have");
    else if (!meant.empty())
      fmt::print(stderr, "help: write `{}`\n", meant);
    else
      fmt::print(stderr, "help: `{} --help` shows those it has\n", command);
    return kExitUser;
  }
  const std::string word = words.empty() ? "" : words.back();
  const std::string meant = NearestName(file, {"run", "check", "trace", "explain", "compile", "build"});
  fmt::print(stderr, "error: `{}` is one argument too many\n", word);
  if (meant == "explain")
    fmt::print(stderr, "help: write `tkc --explain {}`\n", word);
  else if (meant == "compile" || meant == "build")
    fmt::print(stderr, "help: to compile takes no word: `tkc {} -o FILE`\n", word);
  else if (!meant.empty())
    fmt::print(stderr, "help: write `tkc {}`\n", meant);
  else if (FindTarget(word))
    fmt::print(stderr, kSeveralTargets);
  else if (std::find(words.begin(), words.end(), "=") != words.end())
    fmt::print(stderr, "help: a name and its value stand together: `-D BM=64`\n");
  else if (word.find('=') != std::string::npos)
    fmt::print(stderr, "help: several values of an option stand behind each other with commas: `--dims M=64,N=128`\n");
  else
    fmt::print(stderr, "help: `{}` takes one file; `{} --help` shows the options with examples\n", command, command);
  return kExitUser;
}

}  // namespace tkc
