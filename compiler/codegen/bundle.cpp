// SPDX-License-Identifier: MIT
// --bundle: the runtime's headers inside the generated file, in the order in which the preprocessor would meet them. Within a part
// that depends on an #if each is put in once; behind its end it is put in again where it is met next, as that #if may not have
// held: a guard keeps it to one definition. Files that are meant to be included several times (.inc) are put in at each place.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "compiler/codegen/emit.h"

namespace tkc::codegen {
namespace {

class Bundler {
 public:
  Bundler(const std::string& root, std::string& fault) : root_(root), fault_(fault) {}

  bool Put(std::string_view text, std::string& out) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end);
      Follow(line);
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
  /// Follows #if, #else and #endif.
  void Follow(std::string_view line) {
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string_view::npos || line[at] != '#') return;
    at = line.find_first_not_of(" \t", at + 1);
    const std::string_view word = at == std::string_view::npos ? "" : line.substr(at);
    if (word.starts_with("if")) {
      seen_.emplace_back();
    } else if (word.starts_with("el")) {
      seen_.back().clear();
    } else if (word.starts_with("endif")) {
      seen_.pop_back();
    }
  }

  bool IsThere(const std::string& name) const {
    return std::any_of(seen_.begin(), seen_.end(), [&](const std::set<std::string>& part) { return part.contains(name); });
  }

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
    if (is_once && IsThere(name)) return true;
    if (is_once) seen_.back().insert(name);
    std::ifstream file(root_ + "/" + name, std::ios::binary);
    if (!file) {
      fault_ = fmt::format("`{}/{}` can't be read: {}", root_, name, std::strerror(errno));
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
  std::string& fault_;
  std::vector<std::set<std::string>> seen_ = {{}};  // what is there, by the conditional part around it; guards count as none
};

/// Around what is bundled: tk/platform.h knows by it where it is.
constexpr std::string_view kBegin =
    "#ifdef TK_NOT_BUNDLED\n"
    "#error \"a file made by tkc --bundle is included behind one made without it: make both with --bundle, or compile them "
    "apart\"\n"
    "#endif\n"
    "#define TK_BUNDLED\n"
    "#define TK_BUNDLING\n";
constexpr std::string_view kEnd = "#undef TK_BUNDLING\n";

/// Where the comment that a file begins with ends.
size_t EndOfComment(const std::string& text) {
  size_t at = 0;
  while (text.compare(at, 2, "//") == 0 && text.find('\n', at) != std::string::npos) at = text.find('\n', at) + 1;
  return at;
}

}  // namespace

bool Bundle(Emitted& emitted, const std::string& runtime_include, std::string& fault) {
  Emitted out;
  if (!Bundler(runtime_include, fault).Put(emitted.source, out.source)) return false;
  if (!Bundler(runtime_include, fault).Put(emitted.header, out.header)) return false;
  out.source.insert(EndOfComment(emitted.source), kBegin);
  out.source += kEnd;
  // The header keeps its own guard.
  out.header.insert(0, "#pragma once\n");
  emitted = std::move(out);
  return true;
}

}  // namespace tkc::codegen
