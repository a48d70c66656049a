// SPDX-License-Identifier: MIT
// --bundle: the runtime's headers inside the generated file, each once, in the order in which the preprocessor would meet them.
// Files that are meant to be included several times (.inc) are put in at each place.
#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>

#include "compiler/codegen/emit.h"

namespace tkc::codegen {
namespace {

class Bundler {
 public:
  Bundler(const std::string& root, std::string& missing) : root_(root), missing_(missing) {}

  bool Put(std::string_view text, std::string& out) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end);
      const std::string name = Included(line);
      if (!name.empty()) {
        if (!PutFile(name, out)) return false;
      } else if (!line.starts_with("#pragma once")) {
        out += line;
      }
    }
    return true;
  }

 private:
  /// `tk/x.h` of `#include "tk/x.h"`, indented or not.
  static std::string Included(std::string_view line) {
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string_view::npos || line[at] != '#') return "";
    at = line.find("include", at);
    const size_t quote = line.find('"');
    if (at == std::string_view::npos || quote == std::string_view::npos || line.substr(quote + 1, 3) != "tk/") return "";
    return std::string(line.substr(quote + 1, line.find('"', quote + 1) - quote - 1));
  }

  bool PutFile(const std::string& name, std::string& out) {
    const bool is_once = !name.ends_with(".inc");
    if (is_once && !seen_.insert(name).second) return true;
    std::ifstream file(root_ + "/" + name, std::ios::binary);
    if (!file) {
      missing_ = name;
      return false;
    }
    std::ostringstream text;
    text << file.rdbuf();
    out += fmt::format("// ---- {}\n", name);
    return Put(text.str(), out);
  }

  const std::string& root_;
  std::string& missing_;
  std::set<std::string> seen_;
};

}  // namespace

bool Bundle(std::string& source, const std::string& runtime_include, std::string& missing) {
  std::string out;
  if (!Bundler(runtime_include, missing).Put(source, out)) return false;
  source = std::move(out);
  return true;
}

}  // namespace tkc::codegen
