// SPDX-License-Identifier: MIT
#include "compiler/passes/lower_grid.h"

#include <fmt/format.h>

#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using symbolic::Kind;

Scalar Int(int64_t value) { return symbolic::Int(value); }

Op Let(const std::string& name, Scalar value, Span span) {
  Op let{OpCode::kLet, {}, {}, {std::move(value)}};
  let.symbol = name;
  let.span = span;
  return let;
}

std::string CountName(const ir::GridAxis& axis) { return axis.name + "_blocks"; }
std::string NumberName(const ir::GridAxis& axis) { return axis.name + "_block"; }

/// How many blocks (or integers) the axis has.
Scalar Count(const ir::GridAxis& axis) {
  const bool from_zero = symbolic::IsInt(axis.lo) && axis.lo->int_value == 0;
  const Scalar extent = from_zero ? axis.hi : symbolic::Make(Kind::kMax, DType::kI64, {symbolic::Sub(axis.hi, axis.lo), Int(0)});
  return symbolic::Cdiv(extent, Int(axis.step));
}

class GridLowering {
 public:
  explicit GridLowering(ir::Kernel& kernel) : kernel_(kernel) {}

  void CountTiles() {
    Scalar tiles = Int(1);
    for (const ir::GridAxis& axis : kernel_.axes) {
      kernel_.launch_lets.emplace_back(CountName(axis), Count(axis));
      tiles = symbolic::Mul(tiles, symbolic::Name(CountName(axis)));
    }
    kernel_.launch_lets.emplace_back("tiles", tiles);
    kernel_.tiles = symbolic::Name("tiles");
  }

  /// The grid indices as functions of the tile's number.
  Region Decode() const {
    Region out;
    const size_t inner_axes = kernel_.axes.size() >= 2 ? 2 : kernel_.axes.size();
    const size_t outer_axes = kernel_.axes.size() - inner_axes;
    Scalar number = symbolic::Name("tile");
    if (outer_axes > 0) {
      Scalar plane = Int(1);
      for (size_t i = outer_axes; i < kernel_.axes.size(); ++i) plane = symbolic::Mul(plane, symbolic::Name(CountName(kernel_.axes[i])));
      Scalar outer = symbolic::Make(Kind::kDiv, DType::kI64, {number, plane});
      for (size_t i = outer_axes; i-- > 0;) {
        const Scalar count = symbolic::Name(CountName(kernel_.axes[i]));
        out.push_back(Let(NumberName(kernel_.axes[i]), i == 0 ? outer : symbolic::Make(Kind::kMod, DType::kI64, {outer, count}), kernel_.span));
        outer = symbolic::Make(Kind::kDiv, DType::kI64, {outer, count});
      }
      out.push_back(Let("tile_in_plane", symbolic::Make(Kind::kMod, DType::kI64, {number, plane}), kernel_.span));
      number = symbolic::Name("tile_in_plane");
    }
    if (inner_axes == 2) Plane(kernel_.axes[outer_axes], kernel_.axes[outer_axes + 1], number, out);
    if (inner_axes == 1) out.push_back(Let(NumberName(kernel_.axes[0]), number, kernel_.span));
    for (const ir::GridAxis& axis : kernel_.axes) {
      out.push_back(Let(axis.name, symbolic::Add(axis.lo, symbolic::Mul(symbolic::Name(NumberName(axis)), Int(axis.step))), kernel_.span));
    }
    return out;
  }

  Region Wrap(Region body) const {
    Region inside = Decode();
    inside.insert(inside.end(), kernel_.lets.begin(), kernel_.lets.end());
    inside.insert(inside.end(), std::make_move_iterator(body.begin()), std::make_move_iterator(body.end()));
    const Scalar first = symbolic::Call("block::index", DType::kI32, {});
    if (!kernel_.persistent) {
      inside.insert(inside.begin(), Let("tile", first, kernel_.span));
      return inside;
    }
    Op loop{OpCode::kForTiles, {}, {}, {first, kernel_.tiles, symbolic::Call("block::count", DType::kI32, {})}};
    loop.symbol = "tile";
    loop.span = kernel_.span;
    loop.regions = {std::move(inside)};
    return {loop};
  }

 private:
  void Plane(const ir::GridAxis& rows, const ir::GridAxis& cols, const Scalar& number, Region& out) const {
    const Scalar row_count = symbolic::Name(CountName(rows));
    const Scalar col_count = symbolic::Name(CountName(cols));
    if (kernel_.order == typed::GridOrder::kGrouped) {
      Op position{OpCode::kTilePosition, {}, {}, {number, row_count, col_count}};
      position.symbol = NumberName(rows) + " " + NumberName(cols);
      position.number = kernel_.group;
      position.span = kernel_.span;
      out.push_back(std::move(position));
      return;
    }
    const bool by_rows = kernel_.order == typed::GridOrder::kRows;
    const Scalar fast = by_rows ? col_count : row_count;
    const Scalar slow_value = symbolic::Make(Kind::kDiv, DType::kI64, {number, fast});
    const Scalar fast_value = symbolic::Make(Kind::kMod, DType::kI64, {number, fast});
    out.push_back(Let(NumberName(rows), by_rows ? slow_value : fast_value, kernel_.span));
    out.push_back(Let(NumberName(cols), by_rows ? fast_value : slow_value, kernel_.span));
  }

  ir::Kernel& kernel_;
};

}  // namespace

Result<void> LowerGrid(ir::Kernel& kernel, const Target&, Diagnostics& diagnostics) {
  for (const ir::GridAxis& axis : kernel.axes) {
    for (const ir::GridAxis& other : kernel.axes) {
      if (!symbolic::Mentions(axis.lo, other.name) && !symbolic::Mentions(axis.hi, other.name)) continue;
      return diagnostics.Error(DiagnosticKind::kNotImplemented, kernel.span,
                               fmt::format("grid axis `{}` that depends on `{}` is specified, not yet implemented", axis.name, other.name));
    }
  }
  GridLowering grid(kernel);
  grid.CountTiles();
  for (ir::Worker& worker : kernel.workers) worker.body = grid.Wrap(std::move(worker.body));
  return {};
}

}  // namespace tkc::passes
