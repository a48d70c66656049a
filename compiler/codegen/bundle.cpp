// SPDX-License-Identifier: MIT
// --bundle: the runtime's headers inside the generated file, each once, in the order in which the preprocessor would meet them.
// Files that are meant to be included several times (.inc) are put in at each place.
#include <fmt/format.h>

#include <cctype>
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
      } else if (!line.starts_with("#pragma once") && !line.starts_with("#pragma GCC system_header")) {
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
    const std::string guard = Guard(name);
    if (is_once) out += fmt::format("#ifndef {}\n#define {}\n", guard, guard);
    if (!Put(text.str(), out)) return false;
    if (is_once) out += fmt::format("#endif  // {}\n", guard);
    return true;
  }

  /// TK_BUNDLED_HOST_ABI_H of tk/host/abi.h.
  static std::string Guard(std::string_view name) {
    std::string guard = "TK_BUNDLED_";
    for (const char c : name.substr(3))
      guard += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
    return guard;
  }

  const std::string& root_;
  std::string& missing_;
  std::set<std::string> seen_;
};

}  // namespace

bool Bundle(Emitted& emitted, const std::string& runtime_include, std::string& missing) {
  Emitted out;
  if (!Bundler(runtime_include, missing).Put(emitted.source, out.source)) return false;
  if (!Bundler(runtime_include, missing).Put(emitted.header, out.header)) return false;
  // The header keeps its own guard.
  out.header.insert(0, "#pragma once\n");
  emitted = std::move(out);
  return true;
}

}  // namespace tkc::codegen
