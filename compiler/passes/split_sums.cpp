// SPDX-License-Identifier: MIT
#include "compiler/passes/split_sums.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/columns_of_block.h"
#include "compiler/passes/make_op.h"
#include "compiler/target/cluster.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using ir::ValueId;
using symbolic::Kind;

constexpr int64_t kColumnUnit = 8;  // of an accumulator: what one thread's neighbours hold together

struct Range {
  Scalar lo, hi;
  int64_t step;
  bool operator==(const Range& other) const {
    return step == other.step && symbolic::Equal(lo, other.lo) && symbolic::Equal(hi, other.hi);
  }
};

Range RangeOf(const Op& loop) { return {loop.scalars[0], loop.scalars[1], loop.Step()}; }

/// Whether the loop changes a variable that is older than the loop.
bool Carries(const Op& loop) {
  std::set<ValueId> own;
  bool carries = false;
  ForEachOp(loop.regions[0], [&](const Op& op) {
    own.insert(op.results.begin(), op.results.end());
    const bool changes = ir::Assigns(op.code) || op.code == OpCode::kAccumulate;
    carries |= changes && !own.contains(op.operands[0]);
  });
  return carries;
}

bool IsAssigned(const Region& body, ValueId variable) {
  return ir::Holds(body, [&](const Op& op) { return op.code == OpCode::kAssign && op.operands[0] == variable; });
}

class Splitting {
 public:
  Splitting(ir::Kernel& kernel, Diagnostics& diagnostics) : kernel_(kernel), diagnostics_(diagnostics) {}

  Result<void> Run() {
    if (!Split()) return Failure{};
    kernel_.cluster = kernel_.split;
    return {};
  }

 private:
  bool Split() {
    if (kernel_.cluster > 1 || kernel_.persistent) return Refuse(kernel_.span, "together with `cluster` or `persistent`");
    for (const ir::Worker& worker : kernel_.workers) {
      if (worker.in_turn) return Refuse(worker.span, "together with `in turn`");
    }
    if (kernel_.split > kMostBlocksOfCluster)
      return Refuse(kernel_.span, fmt::format("in more than {} parts", kMostBlocksOfCluster),
                    fmt::format("write `split = {}`", kMostBlocksOfCluster));
    for (ir::Worker& worker : kernel_.workers) {
      if (Multiplies(worker.body) && !SplitCompute(worker)) return false;
    }
    if (!range_) return Refuse(kernel_.span, "of a kernel without a sum of products");
    for (ir::Worker& worker : kernel_.workers) {
      if (!Multiplies(worker.body) && !SplitFeeder(worker)) return false;
    }
    return true;
  }

  /// Reports what can't be split; false.
  bool Refuse(Span span, const std::string& what, std::string help = "leave `split` out of this schedule") {
    const std::string set = kernel_.schedule.empty() ? "" : fmt::format(" (schedule `{}`)", kernel_.schedule);
    diagnostics_
        .Error(DiagnosticKind::kNotImplemented, span, fmt::format("`split` {}{} is specified, not yet implemented", what, set))
        .Help(std::move(help));
    return false;
  }

  bool RefuseColumns(Span span) {
    return Refuse(span, "of a tile whose columns are not treated alike afterwards",
                  "leave `split` out of this schedule, or store the sum to a `work` tensor and do this in a second grid");
  }

  /// Every rank takes an equal number of steps; of those behind the end nothing exists, which adds zero. So all blocks go through
  /// as many iterations, and are proved like one. Where what does not exist reads as something else, steps behind the end are left
  /// out.
  std::vector<Op> Bounds(const Range& range, Span span) const {
    const Scalar steps =
        symbolic::Cdiv(symbolic::Cdiv(symbolic::Sub(range.hi, range.lo), symbolic::Int(range.step)), symbolic::Int(kernel_.split));
    const Scalar rank = symbolic::Call("cluster::rank", DType::kI32, {}), share = symbolic::Name(share_);
    const Scalar end = symbolic::Add(symbolic::Name(low_), share);
    return {Let(share_, symbolic::Mul(steps, symbolic::Int(range.step)), span),
            Let(low_, symbolic::Add(range.lo, symbolic::Mul(rank, share)), span),
            Let(high_, FillsWithZero() ? end : symbolic::Make(Kind::kMin, DType::kI64, {range.hi, end}), span)};
  }

  bool FillsWithZero() const {
    return std::all_of(kernel_.workers.begin(), kernel_.workers.end(), [](const ir::Worker& worker) {
      bool with_zero = true;
      ForEachOp(worker.body,
                [&](const Op& op) { with_zero &= op.code != OpCode::kGather && (op.code != OpCode::kRead || op.scalars.empty()); });
      return with_zero;
    });
  }

  void Narrow(Op& loop) { loop.scalars = {symbolic::Name(low_), symbolic::Name(high_)}; }

  /// The loop of each other worker that goes along with the sum. What the worker does besides, every block of the cluster does.
  bool SplitFeeder(ir::Worker& worker) {
    if (Contains(worker.body, OpCode::kStore)) return Refuse(worker.span, "of a sum beside which another worker stores");
    if (!IsOnlyLoop(worker)) return false;
    Region out;
    for (Op& op : worker.body) {
      if (op.code == OpCode::kFor && RangeOf(op) == *range_) {
        if (Carries(op)) return Refuse(op.span, "of a loop that carries a value from one iteration to the next");
        for (Op& let : Bounds(*range_, op.span)) out.push_back(std::move(let));
        Narrow(op);
      }
      out.push_back(std::move(op));
    }
    worker.body = std::move(out);
    return true;
  }

  /// Whether no second loop of the worker has the range of the sum: which of them goes along with it would be open.
  bool IsOnlyLoop(const ir::Worker& worker) {
    const auto is_one = [&](const Op& op) { return op.code == OpCode::kFor && RangeOf(op) == *range_; };
    if (std::count_if(worker.body.begin(), worker.body.end(), is_one) < 2) return true;
    return Refuse(worker.span, "of one of several loops over the same range");
  }

  bool SplitCompute(ir::Worker& worker);
  ValueId Exchange(const ir::Worker& worker, ValueId acc, Span span, Region& out);
  std::optional<ValueId> Accumulator(const Op& loop) const;
  bool StartsAtZero(const ir::Worker& worker, size_t loop, ValueId acc) const;

  ir::Kernel& kernel_;
  Diagnostics& diagnostics_;
  std::string Free(const std::string& name) const { return kernel_.UsedNames().Free(name); }
  const std::string share_ = Free("split_share"), low_ = Free("split_begin"), high_ = Free("split_end");
  std::optional<Range> range_;
};

/// The one tile that the loop changes, if all it does with it is to add products.
std::optional<ValueId> Splitting::Accumulator(const Op& loop) const {
  std::set<ValueId> changed;
  bool only_adds = true;
  ForEachOp(loop.regions[0], [&](const Op& op) {
    if (op.code == OpCode::kAccumulate) changed.insert(op.operands[0]);
    only_adds &= !ir::Assigns(op.code) && op.code != OpCode::kStore && op.code != OpCode::kSend;
    for (size_t i = op.code == OpCode::kAccumulate ? 1 : 0; i < op.operands.size(); ++i) {
      only_adds &= !kernel_.values[op.operands[i]].is_mutable;
    }
  });
  if (!only_adds || changed.size() != 1) return std::nullopt;
  return *changed.begin();
}

bool Splitting::StartsAtZero(const ir::Worker& worker, size_t loop, ValueId acc) const {
  std::set<ValueId> zeros;
  bool is_zero = false;
  for (size_t i = 0; i < loop; ++i) {
    const Op& op = worker.body[i];
    if (op.code == OpCode::kFill && op.scalars[0]->kind == Kind::kFloat && op.scalars[0]->float_value == 0)
      zeros.insert(op.results[0]);
    if (op.code == OpCode::kFill && symbolic::IsInt(op.scalars[0]) && op.scalars[0]->int_value == 0) zeros.insert(op.results[0]);
    if (op.code == OpCode::kVar && op.results[0] == acc) is_zero = !op.operands.empty() && zeros.count(op.operands[0]) != 0;
  }
  return is_zero;
}

bool Splitting::SplitCompute(ir::Worker& worker) {
  const auto adds_products = [](const Op& op) { return op.code == OpCode::kAccumulate; };
  const auto is_sum = [&](const Op& op) { return op.code == OpCode::kFor && Holds(op, adds_products); };
  const auto loop = std::find_if(worker.body.begin(), worker.body.end(), is_sum);
  if (loop == worker.body.end()) {
    const auto is_under = [&](const Op& op) { return op.code == OpCode::kIf && Holds(op, is_sum); };
    const auto under = std::find_if(worker.body.begin(), worker.body.end(), is_under);
    if (under != worker.body.end()) return Refuse(under->span, "of a loop under a condition");
    return Refuse(worker.span, "of products outside a loop over blocks");
  }
  const size_t index = static_cast<size_t>(loop - worker.body.begin());
  const std::optional<ValueId> acc = Accumulator(*loop);
  if (!acc) return Refuse(loop->span, "of a loop that does more than add products to one tile");
  if (!StartsAtZero(worker, index, *acc)) return Refuse(loop->span, "of a sum that does not start at zero");
  if (Contains(Region(worker.body.begin(), loop), OpCode::kStore))
    return Refuse(worker.span, "of a sum in front of which something is stored");
  const int64_t cols = kernel_.TypeOf(*acc).cols;
  if (cols % (kColumnUnit * kernel_.split) != 0) {
    return Refuse(loop->span,
                  fmt::format("in {} parts of {} columns, which are no multiples of {},", kernel_.split, cols, kColumnUnit));
  }
  if (range_ && !(*range_ == RangeOf(*loop))) return Refuse(loop->span, "of loops over different ranges");
  range_ = RangeOf(*loop);
  if (!IsOnlyLoop(worker)) return false;
  Region tail(loop + 1, worker.body.end());
  const auto adds_more = [&](const Op& op) {
    return Holds(op, [&](const Op& inner) { return inner.code == OpCode::kAccumulate && inner.operands[0] == *acc; });
  };
  if (const auto more = std::find_if(tail.begin(), tail.end(), adds_more); more != tail.end())
    return Refuse(more->span, "of a sum to which products are added behind the loop, too,");
  ColumnsOfBlock columns(kernel_, cols);
  if (!columns.FindTurned(worker.body, index)) return RefuseColumns(worker.span);

  Region out(worker.body.begin(), loop);
  if (!columns.NarrowFront(out, *loop)) return RefuseColumns(worker.span);
  for (Op& let : Bounds(*range_, loop->span)) out.push_back(std::move(let));
  Narrow(*loop);
  out.push_back(*loop);
  ValueId part = Exchange(worker, *acc, loop->span, out);
  if (IsAssigned(tail, *acc)) {
    const ValueId variable = kernel_.AddValueAfter(*acc, "_part", kernel_.TypeOf(part), true);
    Op declare{OpCode::kVar, {variable}, {part}};
    declare.span = loop->span;
    out.push_back(std::move(declare));
    part = variable;
  }
  if (const auto refused = columns.NarrowTail(tail, *acc, part)) return RefuseColumns(*refused);
  Append(out, std::move(tail));
  worker.body = std::move(out);
  return true;
}

/// Sends the other blocks of the cluster what this one has of their columns of the sum, and collects its own columns of all. The
/// latter's value.
ValueId Splitting::Exchange(const ir::Worker& worker, ValueId acc, Span span, Region& out) {
  const ir::Type type = kernel_.TypeOf(acc);
  ir::Buffer buffer;
  buffer.name = kernel_.values[acc].name + "_shares";
  buffer.dtype = DType::kF32;
  buffer.rows = type.rows;
  buffer.cols = type.cols / kernel_.split * (kernel_.split - 1);
  buffer.instances = worker.instances;
  buffer.is_fragments = true;
  buffer.purpose = fmt::format("partial sums of {} from the other blocks, for the columns of this one", kernel_.values[acc].name);

  Op send{OpCode::kSplitSend, {}, {acc}};
  send.symbol = buffer.name;
  send.SetSlot(worker.instances > 1 ? worker.instance_name : "");
  send.SetBlocks(kernel_.split);
  send.span = span;
  out.push_back(send);
  ir::Type part = type;
  part.cols /= kernel_.split;
  Op collect = send;
  collect.code = OpCode::kSplitCollect;
  collect.results = {kernel_.AddValueAfter(acc, "_sum", part)};
  out.push_back(collect);
  kernel_.buffers.push_back(std::move(buffer));
  return collect.results[0];
}

/// Each block takes tiles by itself: which blocks work together is a matter of the schedule alone.
void DropClusters(ir::Kernel& kernel) { kernel.cluster = kernel.split = 1; }

}  // namespace

Result<void> SplitSums(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  if (!target.UsesClusters()) DropClusters(kernel);
  if (kernel.split == 1) return {};
  return Splitting(kernel, diagnostics).Run();
}

}  // namespace tkc::passes
