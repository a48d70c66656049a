// SPDX-License-Identifier: MIT
#include "compiler/passes/cut_statements.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/convert_anew.h"
#include "compiler/passes/kernel_state.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/store_loops.h"
#include "compiler/passes/store_parts.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// Operations of a region, one behind the other, of which those on tiles of `extent` columns are done by parts.
struct Stretch {
  size_t begin = 0, end = 0;
  int64_t extent = 0;
  StoreParts::Operations own;
  std::vector<ValueId> results;  // of these, what others use
  int64_t parts = 0;             // the most that its loops, which store by parts, have in common; 0: there are no loops
};

/// Beside the sums of products, of which none may go to memory, the compiler of the output has all loads of a statement first. What
/// only streams it fits into what there is.
Loads LoadsOf(const ir::Worker& worker) { return worker.layout.IsFragment() ? Loads::kTogether : Loads::kInPlace; }

class Statements {
 public:
  Statements(ir::Kernel& kernel, const ir::Worker& worker, int64_t registers, PartsOf which)
      : kernel_(kernel), worker_(worker), registers_(registers), by_rows_(which == PartsOf::kRows), parts_(kernel, worker, which) {}

  void FitInto(Region& region) {
    size_t looked_at = 0;  // no stretch begins before
    for (size_t i = 0; i < region.size(); ++i) {
      if (!region[i].regions.empty()) {
        around_.push_back(region[i].symbol);
        for (Region& inner : region[i].regions) FitInto(inner);
        around_.pop_back();
        looked_at = i;
      }
      if (i < looked_at) continue;
      const Stretch stretch = Find(region, i, looked_at);
      if (stretch.end == i) continue;
      i = Cut(region, stretch) - 1;
      looked_at = i + 1;
    }
  }

 private:
  /// Whether the operation computes on tiles, loads what no other part of the statement changes, or stores: stores to different
  /// places may change their order.
  bool MayBeCut(const Op& op) const {
    if (ir::LoadsTile(op)) return KeepsTensor(kernel_, op.symbol) && !(by_rows_ && ir::GathersRows(op));
    return ir::ComputesElements(op.code) || op.code == OpCode::kLoadShared || op.code == OpCode::kStore;
  }

  /// The columns (rows) of what it makes, or stores.
  int64_t ExtentOf(const Op& op) const { return parts_.ExtentOf(op.results.empty() ? op.operands[0] : op.results[0]); }

  /// The columns that a loop stores by parts: it may stand in a loop with what it stores. 0: the operation is none.
  int64_t ColumnsOf(const Op& op) const { return by_rows_ ? 0 : ColumnsStored(kernel_, op); }

  static bool DrawsBits(const Op& op) { return op.code == OpCode::kBinary && op.Is(typed::Op::kRandom); }

  /// Views of shared memory may be taken earlier.
  bool IsView(const Op& op) const {
    const bool shows = ir::IsPartOrTranspose(op.code) || op.code == OpCode::kView;
    return shows && kernel_.TypeOf(op.results[0]).space == ir::Space::kShared;
  }

  /// The longest stretch from `begin` on, and how far that was looked for; one that ends there: nothing as far as that is cut.
  Stretch Find(Region& region, size_t begin, size_t& looked_at) {
    Stretch found{begin, begin, 0, {}, {}, 0};
    std::set<ValueId> own;
    looked_at = begin;
    for (size_t i = begin; i < region.size(); ++i) {
      looked_at = i + 1;
      Op& op = region[i];
      if (IsView(op)) continue;
      const int64_t stored = ColumnsOf(op);
      if (stored == 0 && !MayBeCut(op)) break;
      const int64_t extent = stored != 0 ? stored : ExtentOf(op);
      if (extent == 1) continue;  // columns (rows) and numbers are of no part
      if (found.extent == 0) found.extent = extent;
      const bool is_access = ir::LoadsTile(op) || op.code == OpCode::kStore;
      if (extent != found.extent || (is_access && !parts_.AxisOf(op))) break;
      if (stored != 0) found.parts = std::gcd(found.parts, op.Trips());
      (ir::LoadsTile(op) ? found.own.loads : found.own.others).push_back(op);
      own.insert(op.results.begin(), op.results.end());
      found.end = i + 1;
    }
    if (own.empty()) return found;
    if (!uses_) CountUses(worker_.body, uses_.emplace());
    std::map<ValueId, int> within;
    CountUses(std::span(region).subspan(begin, found.end - begin), within);
    std::copy_if(own.begin(), own.end(), std::back_inserter(found.results),
                 [&](ValueId value) { return within[value] != (*uses_)[value]; });
    return found;
  }

  /// How often each value is an operand there.
  static void CountUses(std::span<const Op> ops, std::map<ValueId, int>& uses) {
    for (const Op& op : ops) {
      for (const ValueId operand : op.operands) ++uses[operand];
      for (const Region& inner : op.regions) CountUses(inner, uses);
    }
  }

  bool IsOwn(const Stretch& stretch, const Op& op) const {
    return ColumnsOf(op) != 0 || (!IsView(op) && MayBeCut(op) && ExtentOf(op) == stretch.extent);
  }

  /// The most registers in use at once behind the loads and stores of these operations. Elements that are read from a tensor come
  /// each in a register of its own, whatever their type, as rows may begin anywhere; and the numbers that random bits are drawn
  /// for, each a long chain of instructions, are all there at once.
  int64_t Kept(const Region& region, size_t begin, size_t end) {
    if (!kept_) Measure();
    int64_t most = 0, numbers = 0;
    const auto take = [&](const Op& op) {
      if (const auto kept = kept_->find(&op); kept != kept_->end()) most = std::max(most, kept->second);
      if (DrawsBits(op) && worker_.layout.IsFragment())
        numbers = std::max(numbers, RegistersOf(kernel_.TypeOf(op.operands.back()), worker_.layout));
    };
    for (size_t i = begin; i < end; ++i) {
      take(region[i]);
      for (const Region& inner : region[i].regions) ForEachOp(inner, take);
    }
    return most + numbers;
  }

  /// Fills in kept_, of the worker as it is now.
  void Measure() {
    std::set<ValueId> read;
    ForEachOp(worker_.body, [&](const Op& op) {
      if (ir::LoadsTile(op)) read.insert(op.results[0]);
    });
    const std::map<ValueId, const Op*> widening = FindWidening(kernel_, worker_);
    const bool multiplies = worker_.layout.IsFragment();
    const auto narrow = [&](ValueId tile) {  // what is only made wider is not kept wide
      return widening.contains(tile) ? widening.at(tile)->operands[0] : tile;
    };
    const auto registers = [&](ValueId tile) {
      ir::Type type = kernel_.TypeOf(tile);
      if (multiplies && read.contains(tile) && Bytes(type.dtype) < 4) type.dtype = DType::kF32;
      return RegistersOf(type, worker_.layout);
    };
    kept_ = RegistersBehind(kernel_, worker_, LoadsOf(worker_), {narrow, registers});
  }

  /// In as few parts as registers allow; as it is if it fits, or no number of parts makes it smaller. Returns where what follows it
  /// stands.
  size_t Cut(Region& region, const Stretch& stretch) {
    int64_t kept = Kept(region, stretch.begin, stretch.end);
    const int64_t least = by_rows_ ? worker_.layout.RowsPerBlock() : worker_.layout.ColsPerBlock();
    if (kept <= registers_ || least <= 1 || stretch.extent % least != 0) return stretch.end;
    if (by_rows_ && (!stretch.results.empty() || TakesOthersRows(stretch))) return stretch.end;
    kept_.reset();
    // Parts of rows are large loads: the compiler of the output begins those of the next part before it has done with one.
    const int64_t registers = by_rows_ ? registers_ / 2 : registers_;
    const KernelState whole(kernel_, region);
    KernelState best = whole;
    size_t end = stretch.end;
    for (int64_t parts = 2; parts <= stretch.extent / least && kept > registers; ++parts) {
      if (stretch.extent % (parts * least) != 0 || (stretch.parts != 0 && parts != stretch.parts)) continue;
      const size_t behind = InParts(region, stretch, stretch.extent / parts);
      kept_.reset();
      if (const int64_t now = Kept(region, behind - 1, behind); now < kept) {
        kept = now;
        best = KernelState(kernel_, region);
        end = behind;
      }
      whole.Restore(kernel_, region);
    }
    best.Restore(kernel_, region);
    kept_.reset();
    uses_.reset();
    return end;
  }

  static std::set<ValueId> ResultsOf(const StoreParts::Operations& operations) {
    std::set<ValueId> results;
    for (const Region* ops : {&operations.loads, &operations.others}) {
      for (const Op& op : *ops) results.insert(op.results.begin(), op.results.end());
    }
    return results;
  }

  /// Rows of tiles that stay whole lie where they lie.
  bool TakesOthersRows(const Stretch& stretch) const {
    const std::set<ValueId> own = ResultsOf(stretch.own);
    return std::any_of(stretch.own.others.begin(), stretch.own.others.end(), [&](const Op& op) {
      return std::any_of(op.operands.begin(), op.operands.end(),
                         [&](ValueId value) { return !own.contains(value) && parts_.ExtentOf(value) > 1; });
    });
  }

  /// The variable that ends with the statement and may hold this result.
  ValueId Ending(const Region& region, const Stretch& stretch, ValueId result, const std::set<ValueId>& taken) const {
    for (const Op& op : stretch.own.others) {
      for (const ValueId operand : op.operands) {
        const ir::Value& value = kernel_.values[static_cast<size_t>(operand)];
        if (!value.is_mutable || taken.contains(operand) || !(value.type == kernel_.TypeOf(result))) continue;
        const auto declares = [&](const Op& other) { return other.code == OpCode::kVar && other.results[0] == operand; };
        if (std::none_of(region.begin(), region.begin() + static_cast<std::ptrdiff_t>(stretch.begin), declares)) continue;
        const auto uses = [&](const Op& other) { return Uses(other, operand); };
        if (std::none_of(region.begin() + static_cast<std::ptrdiff_t>(stretch.end), region.end(), uses)) return operand;
      }
    }
    return ir::kNone;
  }

  /// The number of a part, in a statement that ends with `last`: a loop that goes up in the one around it leaves its name to that.
  std::string NameOfPart(const Op& last, int64_t parts) const {
    if (last.code == OpCode::kUnroll && last.Trips() == parts) return last.symbol;
    const std::string& name = last.results.empty() ? last.symbol : kernel_.values[static_cast<size_t>(last.results[0])].name;
    ir::TakenNames used = kernel_.UsedNames();
    used.TakeAll(around_);
    return used.Free(name + "_chunk");
  }

  /// The statement in a loop over parts of `extent` columns. Returns where what follows it stands.
  size_t InParts(Region& region, const Stretch& stretch, int64_t extent) {
    parts_.Forget();
    Region out(region.begin(), region.begin() + static_cast<std::ptrdiff_t>(stretch.begin));
    for (size_t i = stretch.begin; i < stretch.end; ++i) {
      if (!IsOwn(stretch, region[i])) out.push_back(region[i]);
    }
    const Op& last = region[stretch.end - 1];
    const int64_t parts = stretch.extent / extent;
    Op loop = Unroll(NameOfPart(last, parts), parts, {}, last.span);
    const ir::Scalar first = symbolic::Mul(symbolic::Name(loop.symbol), symbolic::Int(extent));

    // Results are wholes, which the loop makes of parts.
    std::map<ValueId, ValueId> part_of, instead;
    std::set<ValueId> taken;
    for (const ValueId result : stretch.results) {
      ValueId whole = Ending(region, stretch, result, taken);
      if (whole == ir::kNone) {
        whole = kernel_.AddValueAfter(result, "_whole", kernel_.TypeOf(result), true);
        Op declare{OpCode::kVar, {whole}};
        declare.span = last.span;
        out.push_back(std::move(declare));
      }
      taken.insert(whole);
      instead[result] = whole;
    }
    Region all = stretch.own.loads;
    Append(all, stretch.own.others);
    Region body = StoresWithin(kernel_, parts_.Part(all, stretch.own, first, extent), loop, ResultsOf(stretch.own));
    parts_.Narrow(stretch.own, extent);
    for (const auto& [result, whole] : instead) {
      Op assign{OpCode::kAssignPart, {}, {whole, result}, {symbolic::Int(0), first}};
      assign.span = last.span;
      body.push_back(std::move(assign));
    }
    loop.regions = {std::move(body)};
    out.push_back(std::move(loop));
    const size_t behind = out.size();
    Region rest(region.begin() + static_cast<std::ptrdiff_t>(stretch.end), region.end());
    ReplaceOperands(rest, instead);
    Append(out, std::move(rest));
    region = std::move(out);
    return behind;
  }

  ir::Kernel& kernel_;
  const ir::Worker& worker_;
  const int64_t registers_;
  const bool by_rows_;
  StoreParts parts_;
  std::vector<std::string> around_;  // names of the loops around: those of parts may be the same only side by side
  // Of the worker as it is now, once asked for.
  std::optional<std::map<const Op*, int64_t>> kept_;  // registers behind each operation that keeps tiles
  std::optional<std::map<ValueId, int>> uses_;
};

}  // namespace

Result<void> CutStatements(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const RegisterShares shares = ShareRegisters(kernel, target);
  for (ir::Worker& worker : kernel.workers) {
    if (!worker.Computes()) continue;
    const int64_t registers = ForStatement(shares, kernel, worker);
    for (const PartsOf which : {PartsOf::kColumns, PartsOf::kRows})
      Statements(kernel, worker, registers, which).FitInto(worker.body);
  }
  return {};
}

}  // namespace tkc::passes
