// SPDX-License-Identifier: MIT
#include "compiler/passes/sink_reductions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/reshaped_layouts.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

constexpr int64_t kMostKept = 16;  // numbers that a thread keeps around the loop

bool Defines(const Op& op, ValueId value) { return std::find(op.results.begin(), op.results.end(), value) != op.results.end(); }

/// `variable = variable op reduce(tile)`: three operations of a loop's body, by their places. The variable is one from around the
/// loop.
struct Sinkable {
  size_t reduce, combine, assign;
  ValueId variable;
};

class Sinking {
 public:
  Sinking(ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel), worker_(worker), reshaped_(kernel, worker) {
    ForEachOp(worker.body, [&](const Op& op) {
      for (const ValueId operand : op.operands) ++uses_[operand];
    });
  }

  void Visit(Region& region) {
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) Visit(inner);
      Region front, behind;
      if (op.code == OpCode::kFor) {
        while (const std::optional<Sinkable> found = Find(op.regions[0])) Sink(op.regions[0], *found, out, front, behind);
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
      const bool is_of_threads = reduce.code == OpCode::kReduceThreads;  // which an inner loop has left here
      if (!is_of_threads && (reduce.code != OpCode::kReduce || !IsWorthwhile(reduce))) continue;
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

  /// Several threads share a row (a column), all that the layout has, and what each keeps of them are a few numbers.
  bool IsWorthwhile(const Op& reduce) const {
    const ir::RegisterLayout& layout = worker_.layout;
    const ir::Type& type = kernel_.TypeOf(reduce.operands[0]);
    if (layout.IsFragment() || !reshaped_.IsOfWorker(reduce.operands[0])) return false;
    const bool is_of_rows = reduce.IsOfRows();
    const int64_t sharing = is_of_rows ? layout.lanes * layout.warp_cols : layout.lane_rows * layout.warp_rows;
    const bool is_whole = is_of_rows ? type.cols % layout.ColsPerBlock() == 0 : type.rows % layout.RowsPerBlock() == 0;
    const ir::Type& kept = kernel_.TypeOf(reduce.results[0]);
    return sharing > 1 && is_whole && layout.HoldsRows(type.rows) && layout.HoldsCols(type.cols) &&
           layout.PerThread(kept.rows, kept.cols) <= kMostKept;
  }

  /// Moves the exchange behind the loop; in front of it, where what is kept begins. `before` is what precedes the loop.
  void Sink(Region& body, const Sinkable& found, Region& before, Region& front, Region& behind) {
    Region meet = {body[found.reduce], body[found.combine], body[found.assign]};
    Op& reduce = meet.front();
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(found.assign));
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(found.combine));
    const auto place = body.erase(body.begin() + static_cast<std::ptrdiff_t>(found.reduce));
    Region begin;
    if (reduce.code == OpCode::kReduceThreads) {
      begin = TakeBeginning(body, reduce.operands[0]);
    } else {
      const ValueId kept = kernel_.AddValueAfter(found.variable, "_part", kernel_.TypeOf(reduce.results[0]), true);
      const Region fold = Fold(reduce, kept);
      body.insert(place, fold.begin(), fold.end());
      begin = Beginning(reduce, kept);
      reduce.code = OpCode::kReduceThreads;
      reduce.operands = {kept};
    }
    if (const std::optional<Op> variable = TakeVariable(before, found.variable, reduce.Function())) {
      Op begins = *variable;
      begins.operands = {reduce.results[0]};
      begins.joined.push_back(std::exchange(begins.span, reduce.span));
      meet = {reduce, begins};
    }
    behind.insert(behind.begin(), meet.begin(), meet.end());
    front.insert(front.begin(), begin.begin(), begin.end());
  }

  /// Removes the variable that begins at what changes no result, and is not used before the loop: it begins behind it.
  std::optional<Op> TakeVariable(Region& before, ValueId variable, typed::Op function) {
    const auto at = std::find_if(before.begin(), before.end(), [&](const Op& op) { return Defines(op, variable); });
    if (at == before.end() || at->code != OpCode::kVar || CountUses(Region(at + 1, before.end()), variable) != 0)
      return std::nullopt;
    const auto fill = std::find_if(before.begin(), at, [&](const Op& op) { return Defines(op, at->operands[0]); });
    const bool is_neutral = fill != at && fill->code == OpCode::kFill && uses_[at->operands[0]] == 1 &&
                            symbolic::Equal(fill->scalars[0], NeutralOf(function, kernel_.TypeOf(variable).dtype));
    if (!is_neutral) return std::nullopt;
    Op result = *at;
    before.erase(at);
    before.erase(fill);
    return result;
  }

  Region Beginning(const Op& reduce, ValueId kept) {
    const ir::Type type = kernel_.TypeOf(kept);
    Op neutral{OpCode::kFill, {kernel_.AddValue("neutral", type)}};
    neutral.scalars = {NeutralOf(reduce.Function(), type.dtype)};
    Op part{OpCode::kVar, {kept}, {neutral.results[0]}};
    neutral.span = part.span = reduce.span;
    return {neutral, part};
  }

  /// The same, where the pass has put it in front of an inner loop.
  static Region TakeBeginning(Region& body, ValueId kept) {
    const auto part = std::find_if(body.begin(), body.end(), [&](const Op& op) { return Defines(op, kept); });
    const Region beginning(part - 1, part + 1);
    body.erase(part - 1, part + 1);
    return beginning;
  }

  /// kept = kept op (what each thread finds in its elements of the tile)
  Region Fold(const Op& reduce, ValueId kept) {
    const ir::Type type = kernel_.TypeOf(kept);
    const std::string name = ir::WithoutNumber(kernel_.values[reduce.results[0]].name);
    Op own = reduce, combine{OpCode::kBinary, {kernel_.AddValue(name, type)}};
    own.code = OpCode::kReduceOwn;
    own.results = {kernel_.AddValue(name, type)};
    combine.operands = {kept, own.results[0]};
    combine.Set(reduce.Function());
    Op assign{OpCode::kAssign, {}, {kept, combine.results[0]}};
    combine.span = assign.span = reduce.span;
    return {own, combine, assign};
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  const ReshapedLayouts reshaped_;
  std::map<ValueId, int> uses_;  // how often values of the source are operands
};

}  // namespace

Result<void> SinkReductions(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) Sinking(kernel, worker).Visit(worker.body);
  }
  return {};
}

}  // namespace tkc::passes
