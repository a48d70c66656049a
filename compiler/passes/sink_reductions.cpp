// SPDX-License-Identifier: MIT
#include "compiler/passes/sink_reductions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/make_op.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

constexpr int64_t kMostKept = 16;   // registers of a thread for what it keeps around the loop
constexpr int64_t kMostParts = 16;  // statements of one reduction

bool Defines(const Op& op, ValueId value) { return std::find(op.results.begin(), op.results.end(), value) != op.results.end(); }

/// `variable = variable op reduce(tile)`: three operations of a loop's body, by their places. The variable is one from around the
/// loop.
struct Sinkable {
  size_t reduce, combine, assign;
  ValueId variable;
};

class Sinking {
 public:
  Sinking(ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel), worker_(worker) {}

  void Visit(Region& region) {
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) Visit(inner);
      Region front, behind;
      if (op.code == OpCode::kFor) {
        while (const std::optional<Sinkable> found = Find(op.regions[0])) Sink(op.regions[0], *found, front, behind);
      }
      Append(out, std::move(front));
      out.push_back(std::move(op));
      Append(out, std::move(behind));
    }
    region = std::move(out);
  }

 private:
  /// The only operation of the body that has the value as an operand; none: a size that is no place.
  size_t OnlyUser(const Region& body, ValueId value) const {
    size_t user = body.size();
    for (size_t i = 0; i < body.size(); ++i) {
      if (!Uses(body[i], value)) continue;
      if (user != body.size()) return body.size();
      user = i;
    }
    return user;
  }

  std::optional<Sinkable> Find(const Region& body) const {
    for (size_t i = body.size(); i-- > 0;) {
      const Op& reduce = body[i];
      if (reduce.code != OpCode::kReduce || !IsFolded(reduce)) continue;
      const ValueId result = reduce.results[0];
      const size_t combine = OnlyUser(body, result);
      if (combine == body.size() || body[combine].code != OpCode::kBinary || body[combine].Function() != reduce.Function())
        continue;
      const std::vector<ValueId>& pair = body[combine].operands;
      if (pair.size() != 2 || pair[0] == pair[1]) continue;
      const ValueId variable = pair[0] == result ? pair[1] : pair[0];
      const size_t assign = OnlyUser(body, body[combine].results[0]);
      if (assign == body.size() || body[assign].code != OpCode::kAssign || body[assign].operands[0] != variable) continue;
      const bool is_around = std::none_of(body.begin(), body.end(), [&](const Op& op) { return Defines(op, variable); });
      if (is_around && CountUses(body, variable) == 2) return Sinkable{i, combine, assign, variable};
    }
    return std::nullopt;
  }

  static bool IsOfRows(const Op& reduce) { return reduce.IsOfRows(); }

  /// Several threads share a row (a column), each has as many of its elements, and what it keeps of them are a few registers.
  bool IsFolded(const Op& reduce) const {
    const ir::RegisterLayout& layout = worker_.layout;
    const ir::Type& type = kernel_.TypeOf(reduce.operands[0]);
    const bool deals_evenly = type.cols % layout.ColsPerBlock() == 0 && type.rows % layout.RowsPerBlock() == 0;
    if (type.dtype != DType::kF32 || layout.IsFragment() || !deals_evenly) return false;
    ir::Type kept = Folded(reduce);
    const int64_t parts = type.rows / kept.rows * (type.cols / kept.cols);
    if ((IsOfRows(reduce) ? kept.cols : kept.rows) == 1 || parts > kMostParts) return false;
    kept.space = ir::Space::kRegister;
    return RegistersOf(kept, layout) <= kMostKept;
  }

  /// What is kept of all that is reduced: as many columns (rows) as all threads have side by side.
  ir::Type Folded(const Op& reduce) const {
    ir::Type type = kernel_.TypeOf(reduce.operands[0]);
    (IsOfRows(reduce) ? type.cols : type.rows) = IsOfRows(reduce) ? worker_.layout.ColsPerBlock() : worker_.layout.RowsPerBlock();
    return type;
  }

  /// Adds in front of the loop where what is kept begins, behind it how it becomes the result.
  void Sink(Region& body, const Sinkable& found, Region& front, Region& behind) {
    const Op reduce = body[found.reduce], combine = body[found.combine];
    const ir::Type folded = Folded(reduce);
    const ValueId kept = kernel_.AddValueAfter(found.variable, "_part", folded, true);
    Op neutral{OpCode::kFill, {kernel_.AddValue("neutral", folded)}};
    neutral.scalars = {NeutralOf(reduce.Function(), folded.dtype)};
    Op part{OpCode::kVar, {kept}, {neutral.results[0]}};
    neutral.span = part.span = reduce.span;

    Region fold = Fold(reduce, kept, folded);
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(found.assign));
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(found.combine));
    const auto place = body.erase(body.begin() + static_cast<std::ptrdiff_t>(found.reduce));
    body.insert(place, fold.begin(), fold.end());

    Op meet = reduce, assign{OpCode::kAssign, {}, {found.variable, combine.results[0]}};
    meet.operands = {kept};
    assign.span = combine.span;
    behind.insert(behind.begin(), {std::move(meet), combine, std::move(assign)});
    front.insert(front.begin(), {std::move(neutral), std::move(part)});
  }

  /// kept = kept op columns (rows) of the tile, as many as it has, until all are taken
  Region Fold(const Op& reduce, ValueId kept, const ir::Type& folded) {
    Region result;
    const ValueId tile = reduce.operands[0];
    const bool is_of_rows = IsOfRows(reduce);
    const std::string name = kernel_.values[tile].name + (is_of_rows ? "_columns" : "_rows");
    const ir::Type& whole = kernel_.TypeOf(tile);
    const int64_t extent = is_of_rows ? whole.cols : whole.rows, step = is_of_rows ? folded.cols : folded.rows;
    for (int64_t at = 0; at < extent; at += step) {
      ValueId next = tile;
      if (extent > step) {
        Op part{OpCode::kPart, {kernel_.AddValue(name, folded)}, {tile}};
        part.scalars = {symbolic::Int(is_of_rows ? 0 : at), symbolic::Int(is_of_rows ? at : 0)};
        part.span = reduce.span;
        next = part.results[0];
        result.push_back(std::move(part));
      }
      Op combine{OpCode::kBinary, {kernel_.AddValue(name, folded)}, {kept, next}};
      combine.Set(reduce.Function());
      Op assign{OpCode::kAssign, {}, {kept, combine.results[0]}};
      combine.span = assign.span = reduce.span;
      result.push_back(std::move(combine));
      result.push_back(std::move(assign));
    }
    return result;
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
};

}  // namespace

Result<void> SinkReductions(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) Sinking(kernel, worker).Visit(worker.body);
  }
  return {};
}

}  // namespace tkc::passes
