// SPDX-License-Identifier: MIT
#include "compiler/passes/hoist_invariants.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/reshaped_layouts.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

/// Whether it is a loop that is not unrolled.
bool IsOverRange(const Op& op) { return op.code == OpCode::kFor || op.code == OpCode::kForTiles; }

/// Whether the operation names a scalar that is the same in each iteration of a loop in which `varying` are not.
bool IsInvariantLet(const Op& op, const std::set<std::string>& varying) {
  return op.code == OpCode::kLet && op.Is(ir::kStays) && !NamesScalar(op, varying);
}

/// Whether some block makes an iteration, if any comes to the loop.
bool RunsOnce(const Op& loop) {
  int64_t first = 0, end = 0;
  return loop.code == OpCode::kForTiles ||
         (symbolic::IsInt(loop.scalars[0], &first) && symbolic::IsInt(loop.scalars[1], &end) && first < end);
}

/// Whether it brings the same tile in each iteration. What the kernel itself writes may change. What a section before has written
/// is read only where the program reads it: elsewhere nothing may have been written.
bool IsInvariantRead(const ir::Kernel& kernel, const Op& op, const Op& loop, const std::set<std::string>& varying) {
  return op.code == OpCode::kRead && KeepsTensor(kernel, op.symbol) &&
         (RunsOnce(loop) || !ir::IsWritten(FindTensor(kernel, op.symbol))) && !NamesScalar(op, varying);
}

bool HasTurns(const Op& loop) { return loop.code == OpCode::kForTiles && loop.TakesTurns(); }

/// Adds the names that a loop's own statements make anew in each iteration.
void AddVaryingNames(const Region& body, std::set<std::string>& varying) {
  for (const Op& op : body) {
    if (!IsInvariantLet(op, varying)) ir::ForEachScalarDefined(op, [&](const std::string& name) { varying.insert(name); });
  }
}

/// What is converted from these tiles inside the loop is converted there.
void ConvertAnew(const ir::Kernel& kernel, const Region& hoisted, Region& body) {
  std::set<ir::ValueId> kept;
  for (const Op& op : hoisted) kept.insert(op.results.begin(), op.results.end());
  ForEachOp(body, [&](Op& op) {
    if (op.code != OpCode::kConvert || !kept.contains(op.operands[0])) return;
    const DType from = kernel.TypeOf(op.operands[0]).dtype, to = kernel.TypeOf(op.results[0]).dtype;
    if (Bytes(from) < Bytes(to)) op.Set(ir::kConvertAnew);
  });
}

/// The read as it stands in front of the loop: names that are made inside, in this order, give way to what they stand for.
Op InFront(Op read, const Region& lets) {
  for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
    const auto replace = [&](ir::Scalar& scalar) { scalar = symbolic::Substitute(scalar, let->symbol, let->scalars[0]); };
    std::for_each(read.scalars.begin(), read.scalars.end(), replace);
    for (ir::AxisRange& axis : read.axes) {
      replace(axis.start);
      replace(axis.lo);
      replace(axis.hi);
    }
  }
  return read;
}

/// What stands in the loop, and may leave it.
class Invariants {
 public:
  Invariants(const ir::Kernel& kernel, const ReshapedLayouts& reshaped, Op& loop)
      : kernel_(kernel),
        reshaped_(reshaped),
        loop_(loop),
        body_(HasTurns(loop) ? OwnTurn(loop) : loop.regions[0]),
        varying_{loop.symbol} {
    AddVaryingNames(loop.regions[0], varying_);
    if (!HasTurns(loop)) return;
    varying_.insert(loop.WhoseTurn());
    AddVaryingNames(body_, varying_);
  }

  bool HasReads() const {
    return std::any_of(body_.begin(), body_.end(), [&](const Op& op) { return IsRead(op); });
  }

  /// Reads that are the same in all iterations, but for those of `stays`, leave the loop. They stand in what is returned.
  /// Of those that bring the same, which the iterations of unrolled loops repeat, one; or all stay.
  Region TakeReads(const std::set<ir::ValueId>& stays) {
    Region reads, lets, rest, staying;
    std::map<ir::ValueId, ir::ValueId> instead;
    const auto note = [&](const Op& op) {
      if (IsInvariantLet(op, varying_)) lets.push_back(op);
    };
    if (HasTurns(loop_)) std::for_each(loop_.regions[0].begin(), loop_.regions[0].end(), note);
    for (Op& op : body_) {
      note(op);
      if (!IsRead(op)) {
        rest.push_back(std::move(op));
        continue;
      }
      Op read = InFront(op, lets);
      const auto is_same = [&](const Op& other) { return BringsSameTile(other, read); };
      if (const auto first = std::ranges::find_if(reads, is_same); first != reads.end()) {
        instead[read.results[0]] = first->results[0];
      } else if (stays.contains(read.results[0]) || std::ranges::any_of(staying, is_same)) {
        staying.push_back(std::move(read));
        rest.push_back(std::move(op));
      } else {
        reads.push_back(std::move(read));
      }
    }
    ReplaceOperands(rest, instead);
    ConvertAnew(kernel_, reads, rest);
    body_ = std::move(rest);
    return reads;
  }

 private:
  bool IsRead(const Op& op) const { return IsInvariantRead(kernel_, op, loop_, varying_); }

  bool BringsSameTile(const Op& one, const Op& other) const {
    return kernel_.TypeOf(one.results[0]) == kernel_.TypeOf(other.results[0]) && BringSame(one, other) &&
           reshaped_.AreDealtAlike(one.results[0], other.results[0]);
  }

  const ir::Kernel& kernel_;
  const ReshapedLayouts& reshaped_;
  const Op& loop_;
  Region& body_;
  std::set<std::string> varying_;
};

/// Of a thread, beside what it keeps. Blocks that share a tile need more of these: where each other's memory is.
int64_t ForAddresses(const ir::Kernel& kernel, const Target& target) {
  const RegistersBesideTiles& beside = target.beside_tiles;
  return beside.for_addresses + (kernel.Spread() > 1 ? beside.for_addresses_ahead : 0);
}

/// Of tiles that do not fit together the last stay in the loop, which stands at `i`: the more leave, the more registers they take.
/// Returns how many have left.
template <typename Fits>
size_t TakeFitting(const ir::Kernel& kernel, const ReshapedLayouts& reshaped, Region& region, size_t i, const Fits& fits) {
  const Op loop = region[i];
  const auto take = [&](const std::set<ir::ValueId>& stays) {
    Region reads = Invariants(kernel, reshaped, region[i]).TakeReads(stays);
    region.insert(region.begin() + static_cast<std::ptrdiff_t>(i), reads.begin(), reads.end());
    return reads;
  };
  const auto put_back = [&](size_t count) {
    const auto first = region.begin() + static_cast<std::ptrdiff_t>(i);
    *region.erase(first, first + static_cast<std::ptrdiff_t>(count)) = loop;
  };
  const Region all = take({});
  if (fits()) return all.size();
  put_back(all.size());
  const auto take_first = [&](size_t count) {
    std::set<ir::ValueId> stays;
    for (size_t read = count; read < all.size(); ++read) stays.insert(all[read].results[0]);
    take(stays);
  };
  size_t fitting = 0;
  for (size_t beyond = all.size(); beyond - fitting > 1;) {
    const size_t count = std::midpoint(fitting, beyond);
    take_first(count);
    (fits() ? fitting : beyond) = count;
    put_back(count);
  }
  take_first(fitting);
  return fitting;
}

/// Inner loops first: what has left one may leave the next.
template <typename Fits>
void Visit(const ir::Kernel& kernel, const ReshapedLayouts& reshaped, Region& region, const Fits& fits) {
  for (size_t i = 0; i < region.size(); ++i) {
    for (Region& inner : region[i].regions) Visit(kernel, reshaped, inner, fits);
    if (!IsOverRange(region[i]) || !Invariants(kernel, reshaped, region[i]).HasReads()) continue;
    i += TakeFitting(kernel, reshaped, region, i, fits);
  }
}

/// Where all of them fit, no loop is asked about alone.
void Hoist(const ir::Kernel& kernel, ir::Worker& worker, const Target& target) {
  const int own = kernel.RegistersOf(worker), budget = own != 0 ? own : target.registers.AtEntry(kernel.threads);
  const auto fits = [&] {
    return MostKeptTiles(kernel, worker, Loads::kTogether, Columns::kHeld).registers + ForAddresses(kernel, target) <= budget;
  };
  const ReshapedLayouts reshaped(kernel, worker);
  Region before = worker.body;
  Visit(kernel, reshaped, worker.body, [] { return true; });
  if (fits()) return;
  worker.body = std::move(before);
  Visit(kernel, reshaped, worker.body, fits);
}

/// Gives names to the quotients of floating-point numbers that only the launch decides, in front of the worker's program.
class Quotients {
 public:
  explicit Quotients(const ir::Kernel& kernel) : used_(kernel.UsedNames()) {
    for (const ir::ScalarParam& scalar : kernel.scalars) launch_.insert(scalar.name);
    launch_.insert(kernel.dims.begin(), kernel.dims.end());
  }

  void Name(ir::Worker& worker) {
    Region lets;
    ForEachOp(worker.body, [&](Op& op) {
      for (ir::Scalar& scalar : op.scalars) scalar = Named(scalar, op.span, lets);
    });
    worker.body.insert(worker.body.begin(), lets.begin(), lets.end());
  }

 private:
  /// Whether it names something, and nothing but what the launch gives.
  bool IsOfLaunch(const ir::Scalar& scalar) const {
    if (scalar->kind == symbolic::Kind::kName) return launch_.contains(scalar->name);
    if (scalar->kind == symbolic::Kind::kElement || scalar->kind == symbolic::Kind::kCall) return false;
    const auto is_literal = [](const ir::Scalar& arg) {
      return arg->kind == symbolic::Kind::kInt || arg->kind == symbolic::Kind::kFloat || arg->kind == symbolic::Kind::kBool;
    };
    return !scalar->args.empty() && !std::all_of(scalar->args.begin(), scalar->args.end(), is_literal) &&
           std::all_of(scalar->args.begin(), scalar->args.end(),
                       [&](const ir::Scalar& arg) { return is_literal(arg) || IsOfLaunch(arg); });
  }

  ir::Scalar Named(const ir::Scalar& scalar, Span span, Region& lets) {
    if (scalar->kind == symbolic::Kind::kDiv && IsFloat(scalar->dtype) && IsOfLaunch(scalar)) {
      const auto known =
          std::find_if(lets.begin(), lets.end(), [&](const Op& let) { return symbolic::Equal(let.scalars[0], scalar); });
      if (known != lets.end()) return symbolic::Name(known->symbol, scalar->dtype);
      lets.push_back(Let(used_.TakeFree("quotient"), scalar, span));
      return symbolic::Name(lets.back().symbol, scalar->dtype);
    }
    std::vector<ir::Scalar> args;
    bool changed = false;
    for (const ir::Scalar& arg : scalar->args) {
      args.push_back(Named(arg, span, lets));
      changed |= args.back() != arg;
    }
    if (!changed) return scalar;
    symbolic::Node node = *scalar;
    node.args = std::move(args);
    return std::make_shared<const symbolic::Node>(std::move(node));
  }

  ir::TakenNames used_;
  std::set<std::string> launch_;
};

}  // namespace

Result<void> HoistInvariants(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  Quotients quotients(kernel);
  for (ir::Worker& worker : kernel.workers) {
    if (!worker.Computes()) continue;
    quotients.Name(worker);
    Hoist(kernel, worker, target);
  }
  return {};
}

}  // namespace tkc::passes
