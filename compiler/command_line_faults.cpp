// SPDX-License-Identifier: MIT
#include "compiler/command_line_faults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "compiler/driver/options.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/nearest_name.h"
#include "compiler/support/render.h"
#include "compiler/target/target.h"

namespace tkc {
namespace {

constexpr const char* kSeveralTargets = "several targets stand behind each other with commas: `--target sm_80,sm_90a`";

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

/// Whether one of the words of the first, which hyphens join, is one of the second's.
bool SharesWord(std::string_view a, std::string_view b) {
  const std::string words = fmt::format("-{}-", b);
  for (size_t begin = 0; begin < a.size();) {
    const size_t end = std::min(a.find_first_of("-_ ", begin), a.size());
    if (end > begin + 2 && words.find(fmt::format("-{}-", a.substr(begin, end - begin))) != std::string::npos) return true;
    begin = end + 1;
  }
  return false;
}

std::string EachBehindItsOwn(const std::vector<std::string>& defines) {
  std::string words;
  for (const std::string& define : defines) words += fmt::format("{}-D {}", words.empty() ? "" : " ", define);
  return fmt::format("each parameter has an option of its own: `{}`", words);
}

}  // namespace

int Report(const CommandLineFault& fault, bool as_json) {
  const auto& [error, help, code] = fault;
  if (as_json) {
    fmt::print(stderr,
               "{{\"file\":null,\"severity\":1,\"code\":{},\"source\":\"tkc\",\"message\":{},\"relatedInformation\":[],"
               "\"help\":[{{\"message\":{},\"edits\":[]}}]}}\n",
               code.empty() ? "null" : JsonString(code), JsonString(error), JsonString(help));
  } else {
    fmt::print(stderr, "error: {}{}\nhelp: {}\n", error, code.empty() ? "" : fmt::format(" [{}]", code), help);
  }
  return kExitUser;
}

CommandLineFault OptionFault(const std::string& command, std::string_view what) {
  return {std::string(what), fmt::format("`{} --help` shows the options with examples", command)};
}

CommandLineFault NumberFault(const std::string& command, std::string_view text) {
  // "Could not convert: --seed = x"
  const size_t option = text.find("--"), equals = text.find(" = ");
  if (option == std::string_view::npos || equals == std::string_view::npos || equals < option) return OptionFault(command, text);
  return OptionFault(command,
                     fmt::format("{} takes a number, found `{}`", text.substr(option, equals - option), text.substr(equals + 3)));
}

CommandLineFault CountFault(const std::string& command, std::string_view text) {
  // "-o: At Most 1 required but received 2", "--emit: 1 required WHAT missing"
  constexpr std::string_view kMissing = " missing";
  const size_t end = text.find(':');
  if (end == std::string_view::npos) return OptionFault(command, text);
  const std::string_view option = text.substr(0, end);
  if (text.ends_with(kMissing)) {
    text.remove_suffix(kMissing.size());
    return OptionFault(command, fmt::format("nothing stands behind `{}`: it takes {}", option, text.substr(text.rfind(' ') + 1)));
  }
  if (option != "--target") return OptionFault(command, fmt::format("`{}` is given twice", option));
  return {"`--target` is given twice", kSeveralTargets};
}

CommandLineFault MissingFault(const std::string& command, std::string_view text) {
  if (!text.starts_with("kernel.tk")) return OptionFault(command, fmt::format("`{}` needs `-o FILE`", command));
  return {fmt::format("no file to {}", command.substr(command.rfind(' ') + 1)),
          fmt::format("`{} kernel.tk`; `{} --help` shows more", command, command)};
}

CommandLineFault CodeFault(std::string_view code) {
  std::vector<std::string> codes, alike;
  for (const DiagnosticKindInfo& info : kDiagnosticKinds) {
    codes.emplace_back(info.code);
    if (SharesWord(code, info.code)) alike.emplace_back(info.code);
  }
  std::string help = "the code stands in brackets at the end of a message; lang-spec/diagnostics.md has all";
  if (const std::string nearest = NearestName(code, std::move(codes)); !nearest.empty())
    help = fmt::format("write `tkc --explain {}`", nearest);
  else if (!alike.empty())
    help = fmt::format("these are near: `{}`", fmt::join(alike, "`, `"));
  return {fmt::format("no diagnostic has the code `{}`", code), help};
}

std::optional<CommandLineFault> DefinesFault(const std::vector<std::string>& defines) {
  const auto is_name = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  };
  for (const std::string& define : defines) {
    std::vector<std::string> parts{""};
    for (size_t i = 0; i < define.size(); ++i) {
      const std::string rest = define.substr(i + 1);
      if (define[i] == ',' && is_name(rest.substr(0, std::min(rest.find('='), rest.size()))) && rest.find('=') != std::string::npos)
        parts.emplace_back();
      else
        parts.back() += define[i];
    }
    if (parts.size() > 1) return CommandLineFault{fmt::format("-D takes NAME=value, found `{}`", define), EachBehindItsOwn(parts)};
  }
  return std::nullopt;
}

CommandLineFault ExtrasFault(const Extras& extras) {
  const auto& [command, words, options, elsewhere, defines, file] = extras;
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& text) { return text.starts_with('-'); });
  if (option != words.end()) {
    const std::string word = option->substr(0, option->find('='));
    const std::string theirs = OptionInOtherCompilers(word), meant = theirs.empty() ? NearestName(word, options) : theirs;
    const std::string others = CommandsWith(elsewhere, word);
    const auto fault = [&](std::string help) {
      return CommandLineFault{fmt::format("`{}` has no option `{}`", command, word), std::move(help)};
    };
    if (word == "-o" && command == "tkc run") return fault("write `--out NAME=FILE` for each tensor that is wanted");
    if (!others.empty()) return fault(fmt::format("{} {} it", others, others.find(',') == std::string::npos ? "has" : "have"));
    if (!meant.empty()) return fault(fmt::format("write `{}`", meant));
    return fault(fmt::format("`{} --help` shows those it has", command));
  }
  const std::string word = words.empty() ? "" : words.back();
  const std::string meant = NearestName(file, {"run", "check", "trace", "explain", "compile", "build"});
  const auto fault = [&](std::string help) {
    return CommandLineFault{fmt::format("`{}` is one argument too many", word), std::move(help)};
  };
  if (meant == "explain") return fault(fmt::format("write `tkc --explain {}`", word));
  if (meant == "compile" || meant == "build") return fault(fmt::format("to compile takes no word: `tkc {} -o FILE`", word));
  if (!meant.empty()) return fault(fmt::format("write `tkc {}`", meant));
  if (FindTarget(word)) return fault(kSeveralTargets);
  if (std::find(words.begin(), words.end(), "=") != words.end()) return fault("a name and its value stand together: `-D BM=64`");
  if (word.find('=') != std::string::npos && !defines.empty()) return fault(EachBehindItsOwn({defines.back(), word}));
  if (word.find('=') != std::string::npos && word.ends_with(".npy"))
    return fault("each file has an option of its own: `--in A=a.npy --in B=b.npy`");
  if (word.find('=') != std::string::npos)
    return fault("several values of an option stand behind each other with commas: `--dims M=64,N=128`");
  return fault(fmt::format("`{}` takes one file; `{} --help` shows the options with examples", command, command));
}

}  // namespace tkc
