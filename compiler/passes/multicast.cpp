// SPDX-License-Identifier: MIT
#include "compiler/passes/multicast.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "compiler/ir/queries.h"
#include "compiler/passes/copy_engine.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;

class LoadSharing {
 public:
  LoadSharing(ir::Kernel& kernel, const Region& body, const std::string& axis_name) : kernel_(kernel), differs_{axis_name} {
    const auto take = [&](const Op& op) {
      if (op.code == OpCode::kLet && NamesScalar(op, differs_)) differs_.insert(op.symbol);
    };
    for (size_t known = 0; known != differs_.size();) {
      known = differs_.size();
      ForEachOp(kernel.lets, take);
      ForEachOp(body, take);
    }
  }

  void Rewrite(Region& region) {
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) Rewrite(inner);
      if (op.code == OpCode::kLoadAsync && !NamesScalar(op, differs_))
        Share(std::move(op), out);
      else
        out.push_back(std::move(op));
    }
    region = std::move(out);
  }

  /// Whether the blocks of a cluster send or receive in different loops, or under different conditions.
  bool Diverges(const Region& region) const {
    const auto has_traffic = [](const Region& inner) {
      return Contains(inner, OpCode::kSend) || Contains(inner, OpCode::kReceive);
    };
    bool diverges = false;
    ForEachOp(region, [&](const Op& op) {
      const bool branches = op.code == OpCode::kFor || op.code == OpCode::kIf;
      diverges |= branches && NamesScalar(op, differs_) && std::any_of(op.regions.begin(), op.regions.end(), has_traffic);
    });
    return diverges;
  }

 private:
  /// Each block loads one of `cluster` parts, by whole panels of columns or else by rows, for all; a part starts where the swizzle
  /// does.
  void Share(Op load, Region& out) {
    const ir::Type type = kernel_.TypeOf(load.operands[0]);
    const ir::TensorMap map = FindMap(kernel_, load.symbol);
    const int64_t panel = map.swizzle == ir::Swizzle::kNone ? type.cols : layout::PanelBytes(map.swizzle) / Bytes(type.dtype);
    const bool by_cols = type.cols % (panel * kernel_.cluster) == 0;
    const bool by_rows = type.rows % (kSwizzleRows * kernel_.cluster) == 0 && map.box.size() >= 2;
    if (type.cols == 1 || (!by_cols && !by_rows)) return out.push_back(std::move(load));
    ir::Type share = type;
    (by_cols ? share.cols : share.rows) /= kernel_.cluster;
    const Scalar rank = symbolic::Call("cluster::rank", DType::kI32, {});
    const Scalar first = symbolic::Mul(rank, symbolic::Int(by_cols ? share.cols : share.rows));
    const Scalar zero = symbolic::Int(0);
    Op part{OpCode::kPart,
            {kernel_.AddValueAfter(load.operands[0], "_share", share)},
            load.operands,
            {by_cols ? zero : first, by_cols ? first : zero}};
    part.span = load.span;
    const size_t axis = by_cols ? load.scalars.size() - 1 : RowAxis(map, type);
    load.scalars[axis] = symbolic::Add(load.scalars[axis], first);
    if (by_rows && !by_cols) load.symbol = NarrowMap(map, axis, share.rows);
    load.code = OpCode::kLoadMulticast;
    load.operands = part.results;
    load.scalars.push_back(symbolic::Int((int64_t{1} << kernel_.cluster) - 1));
    out.push_back(std::move(part));
    out.push_back(std::move(load));
  }

  /// The dimension of the tensor that the tile's rows run along.
  static size_t RowAxis(const ir::TensorMap& map, const ir::Type& type) {
    for (size_t i = 0; i + 1 < map.box.size(); ++i) {
      if (map.box[i] == type.rows) return i;
    }
    return map.box.size() - 2;
  }

  std::string NarrowMap(ir::TensorMap map, size_t axis, int64_t rows) {
    map.box[axis] = rows;
    for (const ir::TensorMap& other : kernel_.maps) {
      if (other.tensor == map.tensor && other.box == map.box && other.swizzle == map.swizzle && !other.is_store) return other.name;
    }
    map.name += "_share";
    kernel_.maps.push_back(map);
    return map.name;
  }

  ir::Kernel& kernel_;
  std::set<std::string>
      differs_;  // scalars that differ between the blocks of a cluster: their index along its axis, and what is made of it
};

/// Maps that no load uses any more.
void DropUnusedMaps(ir::Kernel& kernel) {
  std::set<std::string> used;
  for (const ir::Worker& worker : kernel.workers) {
    ForEachOp(worker.body, [&](const Op& op) { used.insert(op.symbol); });
  }
  std::erase_if(kernel.maps, [&](const ir::TensorMap& map) { return used.count(map.name) == 0; });
}

}  // namespace

Result<void> Multicast(ir::Kernel& kernel, const Target&, Diagnostics& diagnostics) {
  const std::optional<size_t> axis = kernel.ClusterAxis();
  if (!axis) return {};
  const std::string name = kernel.axes[*axis].name;
  for (ir::Worker& worker : kernel.workers) {
    LoadSharing sharing(kernel, worker.body, name);
    if (sharing.Diverges(worker.body)) {
      return diagnostics
          .Error(DiagnosticKind::kNotImplemented, worker.span,
                 "a cluster whose blocks run different loops is specified, not yet implemented")
          .Help(fmt::format("leave out `cluster`, or let ranges and conditions around the traffic depend on other axes than `{}`",
                            name));
    }
    if (worker.IsOneThread()) sharing.Rewrite(worker.body);
  }
  DropUnusedMaps(kernel);
  return {};
}

}  // namespace tkc::passes
