// SPDX-License-Identifier: MIT
// What is wrong with a command line, and the way out. `command` is `tkc` or `tkc run`, `text` what CLI11 says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tkc {

struct CommandLineFault {
  std::string error, help;
  std::string code{};  // of a diagnostic; none has a section on options alone
};

/// On standard error, as text or as an object like those of diagnostics; gives the exit status.
int Report(const CommandLineFault& fault, bool as_json);

CommandLineFault OptionFault(const std::string& command, std::string_view what);
/// An option's value that is no number.
CommandLineFault NumberFault(const std::string& command, std::string_view text);
/// An option that is given too often or without a value.
CommandLineFault CountFault(const std::string& command, std::string_view text);
/// What a command can't do without.
CommandLineFault MissingFault(const std::string& command, std::string_view text);
/// What `--explain` has no page of.
CommandLineFault CodeFault(std::string_view code);

/// Words that nothing takes.
struct Extras {
  std::string command;
  std::vector<std::string> words;
  std::vector<std::string> options;                            // of the command
  std::vector<std::pair<std::string, std::string>> elsewhere;  // options, and the commands that have them
  std::vector<std::string> defines;                            // of -D, where no option takes several NAME=value
  std::string file;                                            // of `tkc`: what was taken for it, and may be a slip of a command
};
/// `-D BM=3,BN=7`
std::optional<CommandLineFault> DefinesFault(const std::vector<std::string>& defines);
CommandLineFault ExtrasFault(const Extras& extras);

}  // namespace tkc
