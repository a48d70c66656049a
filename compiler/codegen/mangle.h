// SPDX-License-Identifier: MIT
// Names of .tk as C++ identifiers. One mapping, injective and without memory: the same name gives the same identifier
// everywhere, two names never the same one.
//
//   a plain name                          itself                          rows    -> rows
//   a word that C++, CUDA, a macro or     the word and `_`                major   -> major_
//   the generated code itself uses
//   `_` in front, behind or doubled       `n`, each `_` as `_u`, `_`      a__b    -> na_u_ub_
//
// The second form ends in `_` behind a reserved word, the third in `_` behind a word that is not reserved, the first not in `_`.
#pragma once

#include <string>
#include <string_view>

namespace tkc::codegen {

std::string Mangle(std::string_view name);
/// For extern "C" entries, which must not replace a function of the C library either (`sin` -> `sin_`).
std::string MangleEntry(std::string_view name);
/// True for words that a generated file can't use for something of its own.
bool IsReserved(std::string_view name);

}  // namespace tkc::codegen
