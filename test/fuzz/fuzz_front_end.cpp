// SPDX-License-Identifier: MIT
// Whatever bytes come in, lexer, parser and checker end with a tree or with diagnostics that can be rendered, at places
// inside the text. Crashes become named tests in test/lex, test/parse or test/sema.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/sema/check.h"
#include "compiler/support/render.h"
#include "compiler/syntax/ast_print.h"
#include "compiler/syntax/parser.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

bool IsInside(const tkc::SourceManager& sources, tkc::Span span) {
  if (span.file == tkc::kNoFile) return true;
  return span.file < sources.FileCount() && span.begin <= span.end && span.end <= sources.Text(span.file).size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tkc::SourceManager sources;
  tkc::Diagnostics diagnostics;
  const uint32_t file = sources.Add("fuzz.tk", std::string(reinterpret_cast<const char*>(data), size));
  tkc::ast::Program program;
  program.files.push_back(tkc::ParseFile(sources, file, diagnostics));
  if (!diagnostics.HasErrors()) {
    Require(tkc::ast::Print(program.files[0]).size() <= 200 * size * size + 200);
    const bool checked = static_cast<bool>(tkc::Check(program, {}, diagnostics));
    Require(checked || diagnostics.HasErrors());
  }
  for (const tkc::Diagnostic& diagnostic : diagnostics.All()) {
    Require(IsInside(sources, diagnostic.span));
    for (const auto& label : diagnostic.labels) Require(IsInside(sources, label.span));
    for (const auto& note : diagnostic.notes) Require(IsInside(sources, note.span));
    for (const auto& help : diagnostic.helps) {
      for (const tkc::Edit& edit : help.edits) Require(IsInside(sources, edit.span));
    }
  }
  Require(diagnostics.All().empty() == tkc::RenderText(diagnostics, sources).empty());
  Require(diagnostics.All().empty() == tkc::RenderJson(diagnostics, sources).empty());
  return 0;
}
