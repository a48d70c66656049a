// SPDX-License-Identifier: MIT
#include "compiler/driver/explain.h"

#include <fmt/format.h>

#include <regex>
#include <string>

#include "compiler/support/diagnostic.h"

namespace tkc {

/// lang-spec/diagnostics.md, put into the program by compiler/CMakeLists.txt.
extern const std::string_view kDiagnosticsPage;

namespace {

/// The section `## code` of the page without its heading; empty when there is none.
std::string_view Section(std::string_view code) {
  const std::string heading = fmt::format("\n## {}\n", code);
  const size_t begin = kDiagnosticsPage.find(heading);
  if (begin == std::string_view::npos) return {};
  std::string_view text = kDiagnosticsPage.substr(begin + heading.size());
  text = text.substr(0, text.find("\n## "));
  text = text.substr(0, text.find("\n# "));
  while (!text.empty() && text.front() == '\n') text.remove_prefix(1);
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

/// A page is read in a terminal: a link says where it goes.
std::string WithoutLinks(std::string_view text) {
  static const std::regex link(R"(\[([^\]\n]+)\]\(([a-z_A-Z]+\.md)[^)\n]*\))");
  return std::regex_replace(std::string(text), link, "$1 in lang-spec/$2");
}

}  // namespace

bool Explain(std::string_view code) {
  for (const DiagnosticKindInfo& info : kDiagnosticKinds) {
    if (info.code != code) continue;
    fmt::print("{}: {}\n", info.code, info.summary);
    const std::string_view section = Section(code);
    if (!section.empty()) fmt::print("\n{}\n", WithoutLinks(section));
    return true;
  }
  return false;
}

}  // namespace tkc
