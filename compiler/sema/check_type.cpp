// SPDX-License-Identifier: MIT
// Written types to typed ones, and their text.
#include <fmt/format.h>

#include "compiler/sema/elaborator.h"
#include "compiler/sema/habits.h"
#include "compiler/support/nearest_name.h"

namespace tkc::sema {

using typed::Type;

/// No tile of a worker comes near this; it keeps products of extents within 64 bits.
constexpr int64_t kLargestTileExtent = 1 << 20;

constexpr int64_t kMostFields = 64;  // that one type of a tuple says at once

std::string TypeText(const Type& type) {
  const std::string_view name = type.dtype == DType::kI64 ? "integer" : Name(type.dtype);
  if (!type.is_tile) return std::string(name);
  return fmt::format("{}[{}, {}]", Name(type.dtype), type.rows, type.cols);
}

std::optional<int64_t> Elaborator::TimesOf(const ast::TypeExpr::Field& field) {
  if (!field.repeat) return 1;
  const std::optional<int64_t> times = Constant(*field.repeat, "the number of fields");
  if (!times || (*times >= 1 && *times <= kMostFields)) return times;
  diagnostics_.Error(DiagnosticKind::kTypeMismatch, field.repeat->span,
                     fmt::format("{} fields; a tuple has 1 to {}", *times, kMostFields));
  return std::nullopt;
}

std::optional<DType> Elaborator::ElementType(const ast::TypeExpr& type) {
  if (type.kind != ast::TypeExpr::Kind::kElement && type.kind != ast::TypeExpr::Kind::kNamed) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, type.span, "an element type is wanted here");
    return std::nullopt;
  }
  const std::optional<DType> dtype = DTypeFromName(type.name.text);
  if (!dtype) {
    std::vector<std::string> names;
    for (const DTypeInfo& info : kDTypes) names.emplace_back(info.name);
    const std::string_view known = NameInOtherLanguages(type.name.text);
    const std::string nearest = known.empty() ? NearestName(type.name.text, names) : std::string(known);
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kUnknownName, type.name.span,
                                                  fmt::format("there is no element type `{}`", type.name.text));
    if (nearest.empty()) return std::nullopt;
    report.Help(fmt::format("write `{}`", nearest), Edit{type.name.span, nearest});
    return DTypeFromName(nearest);  // and nothing is reported because of a type that is not meant
  }
  if (!Info(*dtype).implemented) {
    ReportNotImplemented(diagnostics_, type.name.span, fmt::format("element type `{}`", type.name.text),
                         HelpUntilBuilt(type.name.text));
    return std::nullopt;
  }
  return dtype;
}

/// `f32`, `f32[R]` (a column) or `f32[R, C]`.
std::optional<Type> Elaborator::DeclaredType(const ast::TypeExpr& type) {
  const std::optional<DType> dtype = ElementType(type);
  if (!dtype) return std::nullopt;
  if (!type.has_dims) return Type::Scalar(typed::ScalarDType(*dtype));
  if (type.dims.size() > 2) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, type.span,
                       fmt::format("a tile has rows and columns, this type has {} extents", type.dims.size()));
    return std::nullopt;
  }
  int64_t extents[2] = {1, 1};
  for (size_t i = 0; i < type.dims.size(); ++i) {
    const std::optional<int64_t> extent = Constant(*type.dims[i], "the extent of a tile");
    if (!extent) return std::nullopt;
    if (*extent < 1 || *extent > kLargestTileExtent) {
      diagnostics_.Error(DiagnosticKind::kTypeMismatch, type.dims[i]->span,
                         fmt::format("the extent of a tile is {}; it lies between 1 and {}", *extent, kLargestTileExtent));
      return std::nullopt;
    }
    extents[i] = *extent;
  }
  const Type tile = Type::Tile(*dtype, extents[0], extents[1]);
  if (ReportTooLarge(tile, type.span)) return std::nullopt;
  return tile;
}

bool Elaborator::ReportTooLarge(const Type& tile, Span span) {
  constexpr int64_t kMostElements = 1 << 26;
  if (tile.rows <= kMostElements / tile.cols) return false;
  diagnostics_
      .Error(DiagnosticKind::kTypeMismatch, span,
             fmt::format("a tile of {} x {} elements; it has at most {}", tile.rows, tile.cols, kMostElements))
      .Help("a worker passes over its tile in parts that its registers hold: take smaller blocks, and more of them");
  return true;
}

void ReportNotImplemented(Diagnostics& diagnostics, Span span, std::string_view what, std::string_view help) {
  auto report = diagnostics.Error(DiagnosticKind::kNotImplemented, span, fmt::format("{}: specified, not yet implemented", what));
  if (!help.empty()) report.Help(std::string(help));
}

}  // namespace tkc::sema
