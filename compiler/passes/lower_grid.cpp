// SPDX-License-Identifier: MIT
#include "compiler/passes/lower_grid.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/loop_growth.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/pass_over.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using symbolic::Int;
using symbolic::Kind;

class GridLowering {
 public:
  GridLowering(ir::Kernel& kernel, const Target& target) : kernel_(kernel), target_(target), used_(kernel.UsedNames()) {
    for (const ir::GridAxis& axis : kernel_.axes) growth_.push_back(LoopGrowth(kernel_, axis.name));
    const auto depends = [](Growth growth) { return growth == Growth::kGrows || growth == Growth::kShrinks; };
    kernel_.is_uneven = std::any_of(growth_.begin(), growth_.end(), depends);
  }

  /// `tiles`: what a block, or a cluster of blocks working together, takes at a time.
  void CountTiles() {
    if (IsList()) return NameTiles(kernel_.Steps(kernel_.axes[0].lo, kernel_.axes[0].hi, kernel_.axes[0].step));
    Scalar tiles = Int(1);
    for (size_t i = 0; i < kernel_.axes.size(); ++i) {
      const ir::GridAxis& axis = kernel_.axes[i];
      kernel_.launch_lets.emplace_back(CountName(axis), kernel_.Steps(axis.lo, axis.hi, axis.step));
      if (kernel_.ClusterAxis() == i) {
        kernel_.launch_lets.emplace_back(ClusterCountName(axis),
                                         symbolic::Cdiv(symbolic::Name(CountName(axis)), Int(kernel_.cluster)));
      }
      if (i < (HasBands() ? kernel_.axes.size() - 1 : OuterAxes())) tiles = symbolic::Mul(tiles, symbolic::Name(UnitsName(i)));
    }
    if (HasBands()) {
      if (kernel_.axes.size() > 2) {
        kernel_.launch_lets.emplace_back(Free("rows"), tiles);
        tiles = symbolic::Name(Free("rows"));
      }
      return NameTiles(symbolic::Mul(tiles, symbolic::Name(UnitsName(kernel_.axes.size() - 1))));
    }
    Scalar plane = Int(1);
    for (size_t i = OuterAxes(); i < kernel_.axes.size(); ++i) plane = symbolic::Mul(plane, symbolic::Name(UnitsName(i)));
    if (OuterAxes() > 0) {
      kernel_.launch_lets.emplace_back(Free("plane_tiles"), plane);
      plane = symbolic::Name(Free("plane_tiles"));
    }
    NameTiles(symbolic::Mul(tiles, plane));
  }

  /// The grid indices as functions of the tile's number.
  Region Decode(Scalar number) const {
    Region out;
    const size_t outer_axes = OuterAxes(), inner_axes = kernel_.axes.size() - outer_axes;
    if (HasBands()) {
      Bands(number, out);
    } else {
      if (outer_axes > 0) {
        const Scalar plane = symbolic::Name(Free("plane_tiles"));
        Digits(symbolic::Make(Kind::kDiv, DType::kI64, {number, plane}), outer_axes, out);
        out.push_back(Let(Free("tile_in_plane"), symbolic::Make(Kind::kMod, DType::kI64, {number, plane}), kernel_.span));
        number = symbolic::Name(Free("tile_in_plane"));
      }
      if (inner_axes == 2) Plane(outer_axes, number, out);
      if (inner_axes == 1 && kernel_.ClusterAxis()) Number(0, number, out);
    }
    if (const auto axis = kernel_.ClusterAxis()) {
      // Past the last block in the last cluster of an uneven number: such a block reads zeros and writes nothing.
      const Scalar first = symbolic::Mul(symbolic::Name(UnitName(*axis)), Int(kernel_.cluster));
      out.push_back(Let(NumberName(kernel_.axes[*axis]), symbolic::Add(first, symbolic::Call("cluster::rank", DType::kI32, {})),
                        kernel_.span));
    }
    for (const ir::GridAxis& axis : kernel_.axes) {
      if (CountsBlocks(axis) && !IsList()) continue;  // decoded under its own name
      const Scalar block = IsList() ? FromLongest(0, number) : symbolic::Name(NumberName(axis));
      const Scalar start = axis.step == 1 ? block : symbolic::Mul(block, Int(axis.step));
      out.push_back(Let(axis.name, CountsBlocks(axis) ? start : symbolic::Add(axis.lo, start), kernel_.span));
    }
    return out;
  }

  /// The body for every tile that the worker takes.
  Region Wrap(const ir::Worker& worker, Region body) const {
    const std::string unit = kernel_.cluster > 1 ? "cluster" : "block";
    const Scalar stride = symbolic::Call(unit + "::count", DType::kI32, {});
    const Scalar first = First(symbolic::Call(unit + "::index", DType::kI32, {}), stride);
    const bool in_turn = worker.in_turn && worker.instances > 1;
    if (in_turn) body = {OfOwnTurn(worker, std::move(body))};
    const bool needs_number = kernel_.persistent || !IsList();
    Region inside = Decode(needs_number ? symbolic::Name(Free("tile")) : first);
    Append(inside, kernel_.lets);
    Append(inside, std::move(body));
    if (!kernel_.persistent) {
      if (needs_number) inside.insert(inside.begin(), Let(Free("tile"), first, kernel_.span));
      return inside;
    }
    Op loop{OpCode::kForTiles, {}, {}, {first, kernel_.tiles}};
    if (!kernel_.dynamic) loop.scalars.push_back(stride);
    loop.symbol = Free("tile");
    loop.span = kernel_.span;
    if (in_turn) loop.SetTurns(Free(kWhose), worker.instances);
    loop.regions = {std::move(inside)};
    return {loop};
  }

 private:
  static constexpr const char* kWhose = "whose";  // turn a tile is

  /// Each instance walks over all of the block's tiles: it does its own, and passes over the slots that those of others take.
  Op OfOwnTurn(const ir::Worker& worker, Region body) const {
    Region others = PassOver(kernel_, body);
    Op turn{OpCode::kIf,
            {},
            {},
            {symbolic::Make(Kind::kEq, DType::kBool, {symbolic::Name(Free(kWhose)), symbolic::Name(worker.instance_name)})}};
    turn.span = worker.span;
    turn.regions = {std::move(body), std::move(others)};
    return turn;
  }

  void NameTiles(Scalar count) {
    const std::string name = kernel_.persistent ? Free("tiles") : NamesOfLauncher().Free("tiles");
    kernel_.launch_lets.emplace_back(name, std::move(count));
    kernel_.tiles = symbolic::Name(name);
  }

  /// One axis, of whose blocks each is a tile: the number of the block is that of the tile.
  bool IsList() const { return kernel_.axes.size() == 1 && !kernel_.ClusterAxis(); }
  /// The axes in front of the last two, which make up a plane of tiles.
  size_t OuterAxes() const { return kernel_.axes.size() - std::min<size_t>(kernel_.axes.size(), 2); }
  /// The tile that a block begins with. Blocks next to each other run on different chiplets, tiles next to each other share rows or
  /// columns of the tensors: so each chiplet's blocks, taken together, have tiles next to each other.
  Scalar First(const Scalar& number, const Scalar& count) const {
    if (target_.chiplets == 1 || kernel_.axes.size() < 2) return number;
    return symbolic::Call("chiplet_order", DType::kI32, {number, count, Int(target_.chiplets)});
  }
  /// Names of the output, unless the source has them.
  std::string Free(const std::string& base) const { return used_.Free(base); }
  /// What only the launcher mentions need not avoid what only the kernel has: its pipes, loops and values.
  ir::TakenNames NamesOfLauncher() const {
    ir::TakenNames names;
    names.TakeAll(kernel_.dims);
    for (const ir::TensorParam& tensor : kernel_.tensors) names.Take(tensor.name);
    for (const ir::ScalarParam& scalar : kernel_.scalars) names.Take(scalar.name);
    for (const auto& [name, value] : kernel_.launch_lets) names.Take(name);
    return names;
  }
  std::string CountName(const ir::GridAxis& axis) const { return Free(axis.name + "_blocks"); }
  /// Whether the index along the axis is the number of the block.
  static bool CountsBlocks(const ir::GridAxis& axis) {
    int64_t lo = 1;
    return axis.step == 1 && symbolic::IsInt(axis.lo, &lo) && lo == 0;
  }
  std::string NumberName(const ir::GridAxis& axis) const { return CountsBlocks(axis) ? axis.name : Free(axis.name + "_block"); }
  std::string ClusterCountName(const ir::GridAxis& axis) const { return Free(axis.name + "_clusters"); }
  /// What is counted along axis `i`: blocks, or clusters of them.
  std::string UnitsName(size_t i) const {
    return kernel_.ClusterAxis() == i ? ClusterCountName(kernel_.axes[i]) : CountName(kernel_.axes[i]);
  }
  std::string UnitName(size_t i) const {
    return kernel_.ClusterAxis() == i ? Free(kernel_.axes[i].name + "_cluster") : NumberName(kernel_.axes[i]);
  }

  /// The first `axes` axes as digits of `number`, the last of them the lowest.
  void Digits(const Scalar& number, size_t axes, Region& out) const {
    Scalar rest = number;
    std::vector<Scalar> digits(axes);
    for (size_t i = axes; i-- > 0;) {
      const Scalar count = symbolic::Name(UnitsName(i));
      digits[i] = i == 0 ? rest : symbolic::Make(Kind::kMod, DType::kI64, {rest, count});
      rest = symbolic::Make(Kind::kDiv, DType::kI64, {rest, count});
    }
    for (size_t i = 0; i < axes; ++i) Number(i, digits[i], out);
  }

  /// All axes but the last, counted together, are cut into bands, and a band is walked column by column.
  void Bands(const Scalar& number, Region& out) const {
    const size_t last = kernel_.axes.size() - 1;
    const bool is_row = last == 1 && !TakesFromEnd(0), is_column = !TakesFromEnd(last);
    const std::string row = is_row ? UnitName(0) : Free("row"), column = is_column ? UnitName(last) : Free("column");
    Op position{OpCode::kTilePosition,
                {},
                {},
                {number, symbolic::Name(last == 1 ? UnitsName(0) : Free("rows")), symbolic::Name(UnitsName(last))}};
    position.symbol = row + " " + column;
    const bool counts_clusters = kernel_.ClusterAxis() == last - 1;  // where rows do
    position.SetGroup(std::max<int64_t>(1, kernel_.group / (counts_clusters ? kernel_.cluster : 1)));
    position.span = kernel_.span;
    out.push_back(std::move(position));
    if (!is_row) Digits(symbolic::Name(row), last, out);
    if (!is_column) Number(last, symbolic::Name(column), out);
  }

  void Plane(size_t first_axis, const Scalar& number, Region& out) const {
    const bool by_rows = kernel_.order == typed::GridOrder::kRows;
    const Scalar fast = symbolic::Name(UnitsName(by_rows ? first_axis + 1 : first_axis));
    const Scalar slow_value = symbolic::Make(Kind::kDiv, DType::kI64, {number, fast});
    const Scalar fast_value = symbolic::Make(Kind::kMod, DType::kI64, {number, fast});
    Number(first_axis, by_rows ? slow_value : fast_value, out);
    Number(first_axis + 1, by_rows ? fast_value : slow_value, out);
  }

  /// The number of the block, or of the cluster of them, along axis `i`.
  void Number(size_t i, const Scalar& value, Region& out) const {
    out.push_back(Let(UnitName(i), FromLongest(i, value), kernel_.span));
  }

  /// Where tiles take longer the further along the axis they are, those at its end come first: short ones fill up what the last of
  /// them leave idle.
  Scalar FromLongest(size_t i, const Scalar& number) const {
    if (!TakesFromEnd(i)) return number;
    const Scalar last = symbolic::Sub(IsList() ? kernel_.tiles : symbolic::Name(UnitsName(i)), Int(1));
    return symbolic::Sub(last, number);
  }
  bool TakesFromEnd(size_t i) const { return growth_[i] == Growth::kGrows; }
  bool HasBands() const { return kernel_.order == typed::GridOrder::kGrouped && kernel_.axes.size() >= 2; }

  ir::Kernel& kernel_;
  const Target& target_;
  const ir::TakenNames used_;
  std::vector<Growth> growth_;  // of the loops, along each axis
};

}  // namespace

Result<void> LowerGrid(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  for (const ir::GridAxis& axis : kernel.axes) {
    for (const ir::GridAxis& other : kernel.axes) {
      if (!symbolic::Mentions(axis.lo, other.name) && !symbolic::Mentions(axis.hi, other.name)) continue;
      return diagnostics.Error(
          DiagnosticKind::kNotImplemented, kernel.span,
          fmt::format("grid axis `{}` that depends on `{}` is specified, not yet implemented", axis.name, other.name));
    }
  }
  for (ir::Worker& worker : kernel.workers) {
    if (!worker.in_turn) continue;
    kernel.persistent = true;  // turns are taken over the tiles of a block
    if (worker.instance_name.empty()) worker.instance_name = kernel.UsedNames().Free("turn");
  }
  GridLowering grid(kernel, target);
  grid.CountTiles();
  for (ir::Worker& worker : kernel.workers) worker.body = grid.Wrap(worker, std::move(worker.body));
  return {};
}

}  // namespace tkc::passes
