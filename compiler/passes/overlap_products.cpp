// SPDX-License-Identifier: MIT
#include "compiler/passes/overlap_products.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/known_ranges.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/register_shares.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;
using Places = std::set<size_t>;  // of operations in the loop's body

bool ShowsSlot(const Op& op) { return ir::IsPartOrTranspose(op.code); }

/// Which operations of a loop's body move.
struct OverlapPlan {
  Places early;                    // the first products and what leads to them
  Places late;                     // the last product and the slot that it reads
  Places touching;                 // of the others, those that have to wait for the last product
  size_t held = 0;                 // the copy of the last product's left operand
  std::optional<size_t> rounding;  // what makes it, if that may stand right before it; else it is copied to registers of its own
};

/// Reads the form of one loop.
class OverlapForm {
 public:
  OverlapForm(const ir::Kernel& kernel, const Op& loop) : kernel_(kernel), loop_(loop), body_(loop.regions[0]) {
    for (size_t i = 0; i < body_.size(); ++i) {
      for (const ValueId result : body_[i].results) maker_[result] = i;
    }
  }
  /// Empty if the loop is not of that form.
  std::optional<OverlapPlan> Read() const;

 private:
  bool IsStraight() const;
  bool FindLate(OverlapPlan& plan) const;
  bool FindEarly(OverlapPlan& plan) const;
  bool LeadsToLate(const OverlapPlan& plan) const;
  void FindTouching(OverlapPlan& plan) const;
  bool MayPass(const OverlapPlan& plan) const;

  bool IsMade(ValueId value) const { return maker_.contains(value); }
  /// Whether operations other than those of `places` write the value.
  bool IsWrittenBeside(const Places& places, ValueId value) const;
  /// Adds what the operation needs, if only receives, views and tiles lead to it that the loop does not change.
  bool AddWhatLeadsTo(size_t place, Places& places) const;
  bool SentByCopies(const std::string& pipe) const;

  const ir::Kernel& kernel_;
  const Op& loop_;
  const Region& body_;
  std::map<ValueId, size_t> maker_;
};

bool OverlapForm::IsStraight() const {
  std::set<std::string> received;
  return std::all_of(body_.begin(), body_.end(), [&](const Op& op) {
    const bool moves =
        op.code == OpCode::kRead || op.code == OpCode::kView || op.code == OpCode::kLoadShared || op.code == OpCode::kStoreShared;
    if (op.code == OpCode::kReceive) return op.Is(ir::kPreviousReceive) || received.insert(op.symbol).second;
    if (op.code == OpCode::kLet) return op.Is(ir::kStays);
    return op.code == OpCode::kMma || moves || ir::OnlyComputes(op.code);
  });
}

bool OverlapForm::IsWrittenBeside(const Places& places, ValueId value) const {
  for (size_t i = 0; i < body_.size(); ++i) {
    if (!places.contains(i) && Writes(body_[i], value)) return true;
  }
  return false;
}

/// acc += p @ v, where p is computed in this iteration, v is a slot, and only the next iterations read acc.
bool OverlapForm::FindLate(OverlapPlan& plan) const {
  const auto is_product = [](const Op& op) { return op.code == OpCode::kMma; };
  const auto last = std::find_if(body_.rbegin(), body_.rend(), is_product);
  if (last == body_.rend() || last->Is(ir::kSets) || IsMade(last->operands[0])) return false;
  const size_t product = body_.size() - 1 - static_cast<size_t>(last - body_.rbegin());
  const auto uses_sum = [&](const Op& op) { return Uses(op, last->operands[0]); };
  if (std::any_of(last.base(), body_.end(), uses_sum)) return false;
  const ValueId left = last->operands[1];
  if (!IsMade(left) || CountUses(body_, left) != 1) return false;
  plan.held = maker_.at(left);
  const bool is_copy = body_[plan.held].code == OpCode::kVar && body_[plan.held].operands.size() == 1;
  if (!is_copy || kernel_.TypeOf(left).space != ir::Space::kRegister) return false;
  plan.late = {product};
  for (ValueId view = last->operands[2]; IsMade(view);) {
    const size_t place = maker_.at(view);
    const Op& op = body_[place];
    if (!ShowsSlot(op) && op.code != OpCode::kReceive) return false;
    plan.late.insert(place);
    if (op.code == OpCode::kReceive) break;
    view = op.operands[0];
  }
  // What the slot brings is read by this product only.
  return std::all_of(plan.late.begin(), plan.late.end(), [&](size_t place) {
    const std::vector<ValueId>& results = body_[place].results;
    return std::all_of(results.begin(), results.end(), [&](ValueId result) {
      for (size_t i = 0; i < body_.size(); ++i) {
        if (!plan.late.contains(i) && Uses(body_[i], result)) return false;
      }
      return true;
    });
  });
}

bool OverlapForm::AddWhatLeadsTo(size_t place, Places& places) const {
  if (!places.insert(place).second) return true;
  const Op& op = body_[place];
  const bool is_allowed = op.code == OpCode::kReceive || op.code == OpCode::kMma || op.code == OpCode::kVar ||
                          op.code == OpCode::kConvert || ShowsSlot(op);
  if (!is_allowed) return false;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const ValueId operand = op.operands[i];
    if (IsMade(operand) && !AddWhatLeadsTo(maker_.at(operand), places)) return false;
    const bool is_sum = op.code == OpCode::kMma && i == 0;  // FindEarly sees to those
    if (!is_sum && IsWrittenBeside(places, operand)) return false;
  }
  return true;
}

/// Products whose sums begin in this iteration, from operands that are there as soon as their slots are.
bool OverlapForm::FindEarly(OverlapPlan& plan) const {
  for (size_t i = 0; i < body_.size(); ++i) {
    const Op& op = body_[i];
    if (op.code == OpCode::kLet) plan.early.insert(i);
    if (op.code != OpCode::kMma || plan.late.contains(i) || !IsMade(op.operands[0])) continue;
    Places with = plan.early;
    bool is_early = AddWhatLeadsTo(i, with);
    // Nothing else has touched the sum so far.
    for (size_t before = 0; before < i; ++before) is_early &= with.contains(before) || !Uses(body_[before], op.operands[0]);
    if (is_early) plan.early = std::move(with);
  }
  const bool is_apart = std::none_of(plan.late.begin(), plan.late.end(), [&](size_t place) { return plan.early.contains(place); });
  return is_apart && !plan.early.contains(plan.held);
}

/// The last product's operand comes from the first ones, or, where it is the only one and outlasts that, from shared memory:
/// otherwise nothing stands between them that the unit would wait for.
bool OverlapForm::LeadsToLate(const OverlapPlan& plan) const {
  std::set<ValueId> from_early;
  for (const size_t place : plan.early) {
    if (body_[place].code == OpCode::kMma) from_early.insert(body_[place].operands[0]);
  }
  const auto is_product = [](const Op& op) { return op.code == OpCode::kMma; };
  const Op& late = body_[*plan.late.rbegin()];
  if (std::count_if(body_.begin(), body_.end(), is_product) == 1 && OutlastsOperand(kernel_, late)) {
    for (const Op& op : body_) {
      if (op.code == OpCode::kLoadShared) from_early.insert(op.results[0]);
    }
  }
  for (const Op& op : body_) {
    const auto is_from_early = [&](ValueId value) { return from_early.contains(value); };
    if (!std::any_of(op.operands.begin(), op.operands.end(), is_from_early)) continue;
    from_early.insert(op.results.begin(), op.results.end());
    if (op.code == OpCode::kAssign) from_early.insert(op.operands[0]);
  }
  return from_early.contains(body_[plan.held].results[0]);
}

/// Of two operations, whether one writes what the other reads or writes. A buffer that both go through is reason enough: which
/// parts of it they touch is not asked.
bool Conflict(const Op& a, const Op& b) {
  const auto stores = [](const Op& op) { return op.code == OpCode::kStoreShared; };
  const auto moves = [&](const Op& op) { return stores(op) || op.code == OpCode::kLoadShared; };
  if (moves(a) && moves(b) && (stores(a) || stores(b))) return true;
  const auto touches = [](const Op& writer, const Op& other) {
    std::vector<ValueId> values = writer.results;
    values.insert(values.end(), writer.operands.begin(), writer.operands.end());
    return std::any_of(values.begin(), values.end(),
                       [&](ValueId value) { return Writes(writer, value) && (Uses(other, value) || Writes(other, value)); });
  };
  return touches(a, b) || touches(b, a);
}

/// The held operand, the sum, and whatever can't be moved in front of what touches these.
void OverlapForm::FindTouching(OverlapPlan& plan) const {
  const size_t product = *plan.late.rbegin();
  const ValueId sum = body_[product].operands[0];
  for (size_t i = 0; i < body_.size(); ++i) {
    if (plan.early.contains(i) || plan.late.contains(i)) continue;
    const bool follows =
        std::any_of(plan.touching.begin(), plan.touching.end(), [&](size_t place) { return Conflict(body_[place], body_[i]); });
    if (i == plan.held || Uses(body_[i], sum) || follows) plan.touching.insert(i);
  }
  // To round right into what is held saves a copy. To widen there would cost more than one.
  const ValueId rounded = body_[plan.held].operands[0];
  const auto maker = maker_.find(rounded);
  if (maker == maker_.end() || body_[maker->second].code != OpCode::kConvert || CountUses(body_, rounded) != 1) return;
  const auto bytes = [&](ValueId value) { return Bytes(kernel_.TypeOf(value).dtype); };
  if (bytes(body_[maker->second].operands[0]) < bytes(rounded)) return;
  for (size_t i = maker->second + 1; i < body_.size(); ++i) {
    if (i != plan.held && Conflict(body_[maker->second], body_[i])) return;
  }
  plan.touching.erase(maker->second);
  plan.rounding = maker->second;
}

bool OverlapForm::SentByCopies(const std::string& pipe) const {
  return std::all_of(kernel_.workers.begin(), kernel_.workers.end(),
                     [&](const ir::Worker& worker) { return !worker.Computes() || !ir::SendsInto(worker.body, pipe); });
}

/// The first products' slots are received before those that the last product of the iteration before reads: their sender, which
/// fills them by turns, must not wait for these.
bool OverlapForm::MayPass(const OverlapPlan& plan) const {
  std::set<std::string> names{loop_.symbol};
  for (const Op& op : body_) {
    if (op.code == OpCode::kReceive && !SentByCopies(op.symbol)) return false;
    if (op.code == OpCode::kLet) names.insert(op.symbol);
  }
  return std::all_of(plan.late.begin(), plan.late.end(), [&](size_t place) {
    const Op& op = body_[place];
    if (NamesScalar(op, names)) return false;
    if (op.code != OpCode::kReceive) return true;
    const int64_t least = op.Is(ir::kPreviousReceive) ? 3 : 2;  // kept, at hand, and one that is filled meanwhile
    return FindPipe(kernel_, op.symbol).slots >= least;
  });
}

std::optional<OverlapPlan> OverlapForm::Read() const {
  OverlapPlan plan;
  const bool fits = loop_.code == OpCode::kFor && !KnownAtLaunch(kernel_).IsOneStepAtMost(loop_) && IsStraight() &&
                    FindLate(plan) && FindEarly(plan) && LeadsToLate(plan) && MayPass(plan);
  if (!fits) return std::nullopt;
  FindTouching(plan);
  return plan;
}

/// For a last product whose slot others of the iteration read, too: the slot is kept, and the product reads it as the previous one.
/// False if there is none.
bool KeepSlotOfLast(ir::Kernel& kernel, Region& body) {
  const auto last = std::find_if(body.rbegin(), body.rend(), [](const Op& op) { return op.code == OpCode::kMma; });
  if (last == body.rend()) return false;
  const size_t product = body.size() - 1 - static_cast<size_t>(last - body.rbegin());
  const auto maker = [&](ValueId value) {
    return std::find_if(body.begin(), body.end(),
                        [&](const Op& op) { return std::find(op.results.begin(), op.results.end(), value) != op.results.end(); });
  };
  Region late{body[product]};  // the last first
  auto source = maker(body[product].operands[2]);
  for (; source != body.end() && ShowsSlot(*source); source = maker(source->operands[0])) late.push_back(*source);
  if (source == body.end() || source->code != OpCode::kReceive || !source->Is(ir::kLastReceive)) return false;
  const auto count_uses = [&](int count, ValueId value) { return count + CountUses(body, value); };
  const bool is_shared =
      std::accumulate(source->results.begin(), source->results.end(), 0, count_uses) > 1 ||
      std::any_of(late.begin() + 1, late.end(), [&](const Op& view) { return CountUses(body, view.results[0]) > 1; });
  if (!is_shared) return false;
  late.push_back(*source);
  source->Set(ir::kKeptReceive);
  std::reverse(late.begin(), late.end());
  std::map<ValueId, ValueId> previous;
  for (Op& op : late) {
    if (op.code == OpCode::kReceive) op.Set(ir::kPreviousReceive);
    ReplaceOperands(op, previous);
    for (ValueId& result : op.results) result = previous[result] = kernel.AddValueAfter(result, "_previous", kernel.TypeOf(result));
  }
  body.erase(body.begin() + static_cast<std::ptrdiff_t>(product));
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(product), late.begin(), late.end());
  // Views that were for this product alone.
  for (size_t i = body.size(); i-- > 0;) {
    if (ShowsSlot(body[i]) && CountUses(body, body[i].results[0]) == 0) body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return true;
}

class Overlap {
 public:
  explicit Overlap(ir::Kernel& kernel) : kernel_(kernel) {}

  /// The loops of the region, at any depth.
  bool Rewrite(Region& region) {
    bool changes = false;
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) changes |= Rewrite(inner);
      const std::optional<OverlapPlan> plan = op.code == OpCode::kFor ? PlanOf(op) : std::nullopt;
      if (!plan) {
        out.push_back(std::move(op));
        continue;
      }
      Turn(std::move(op), *plan, out);
      changes = true;
    }
    region = std::move(out);
    return changes;
  }

 private:
  /// Of a loop, which may come to keep a slot for its last product.
  std::optional<OverlapPlan> PlanOf(Op& loop);
  /// The operations of a body, each part in order.
  struct Parts {
    Region early, late, others, touching;
  };
  void Turn(Op loop, const OverlapPlan& plan, Region& out);
  Parts Deal(const Region& body, const OverlapPlan& plan);
  /// But for its last product, with names of its own.
  Region FirstIteration(const Parts& parts);
  /// What stands for the copy of the last product's left operand: an assignment to what is carried.
  Region Carry(const Region& body, const OverlapPlan& plan);

  ir::Kernel& kernel_;
};

std::optional<OverlapPlan> Overlap::PlanOf(Op& loop) {
  if (std::optional<OverlapPlan> plan = OverlapForm(kernel_, loop).Read()) return plan;
  const Region& body = loop.regions[0];
  if (std::none_of(body.begin(), body.end(), [](const Op& op) { return op.code == OpCode::kMma; })) return std::nullopt;
  const size_t values = kernel_.values.size();
  Op keeping = loop;
  if (KeepSlotOfLast(kernel_, keeping.regions[0])) {
    if (std::optional<OverlapPlan> plan = OverlapForm(kernel_, keeping).Read()) {
      loop = std::move(keeping);
      return plan;
    }
    kernel_.values.resize(values);
  }
  return std::nullopt;
}

Region Overlap::Carry(const Region& body, const OverlapPlan& plan) {
  const Op& held = body[plan.held];
  ValueId value = held.operands[0];
  Region carry;
  if (plan.rounding) {
    carry.push_back(body[*plan.rounding]);
  } else {
    const ValueId copy = kernel_.AddValueAfter(value, "_copy", kernel_.TypeOf(value), true);
    carry.push_back({OpCode::kVar, {copy}, {value}, {}, {}, {}, ir::kOwnRegisters});
    value = copy;
  }
  carry.push_back({OpCode::kAssign, {}, {held.results[0], value}});
  for (Op& op : carry) op.span = held.span;
  return carry;
}

Overlap::Parts Overlap::Deal(const Region& body, const OverlapPlan& plan) {
  Parts parts;
  for (size_t i = 0; i < body.size(); ++i) {
    if (i == plan.rounding) continue;
    if (i == plan.held) {
      const Region carry = Carry(body, plan);
      Append(parts.touching, std::move(carry));
      continue;
    }
    Region& part = plan.early.contains(i)      ? parts.early
                   : plan.late.contains(i)     ? parts.late
                   : plan.touching.contains(i) ? parts.touching
                                               : parts.others;
    part.push_back(body[i]);
  }
  return parts;
}

Region Overlap::FirstIteration(const Parts& parts) {
  Region first = parts.early;
  Append(first, parts.others);
  Append(first, parts.touching);
  first = Copied(kernel_, first, "_first");
  ir::TakenNames used = kernel_.UsedNames();
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].code != OpCode::kLet) continue;
    const std::string name = first[i].symbol;
    first[i].symbol = used.TakeFree(name + "_first");
    Substitute(first, name, symbolic::Name(first[i].symbol, first[i].scalars[0]->dtype));
  }
  return first;
}

void Overlap::Turn(Op loop, const OverlapPlan& plan, Region& out) {
  const Op& product = loop.regions[0][*plan.late.rbegin()];
  const Span late_span = product.span;
  Op held{OpCode::kVar, {product.operands[1]}};
  held.span = loop.regions[0][plan.held].span;
  const Parts parts = Deal(loop.regions[0], plan);
  const ir::Scalar lo = loop.scalars[0], hi = loop.scalars[1];
  const Span span = loop.span;

  Region first = FirstIteration(parts);
  Substitute(first, loop.symbol, lo);
  first.insert(first.begin(), Explain("The first iteration, but for its last product.", loop.span));
  Region last = Copied(kernel_, parts.late, "_last");
  last.insert(last.begin(), Explain("The last product of the last iteration.", late_span));

  Region body = parts.early;
  body.push_back(
      Explain("The last product of the iteration before: the matrix unit is at work while this one's threads compute.", late_span));
  Append(body, parts.late);
  Append(body, parts.others);
  Append(body, parts.touching);
  loop.regions[0] = std::move(body);
  loop.scalars[0] = symbolic::Add(lo, symbolic::Int(loop.Step()));

  out.push_back(Explain("The left operand of the last product, which is done an iteration later.", held.span));
  out.push_back(std::move(held));
  AppendIfAny(lo, hi, std::move(first), span, out);
  out.push_back(std::move(loop));
  AppendIfAny(lo, hi, std::move(last), span, out);
}

}  // namespace

bool OutlastsOperand(const ir::Kernel& kernel, const Op& product) {
  // Of 64 terms a product of N columns takes sm_90a's unit 2 * N clocks. A thread's 32 elements of the operand take about 256, at
  // some eight instructions each: to load, convert, compute and put them down.
  constexpr int64_t kTooFewColumns = 128;
  return kernel.TypeOf(product.operands[0]).cols > kTooFewColumns;
}

Result<void> OverlapProducts(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (!target.has_matrix_group) return {};
  if (kernel.depth == 0) return {};    // the schedule wants each product waited for at once
  if (kernel.Spread() > 1) return {};  // what other blocks put into slots, and wait to put there, keeps its order
  for (size_t i = 0; i < kernel.workers.size(); ++i) {
    // While an instance that takes turns computes, another one keeps the unit busy.
    if (!kernel.workers[i].Computes() || kernel.workers[i].in_turn) continue;
    ir::Kernel overlapped = kernel;
    if (!Overlap(overlapped).Rewrite(overlapped.workers[i].body)) continue;
    const int64_t left = ShareRegisters(overlapped, target).for_tiles;
    if (MostKeptTiles(overlapped, overlapped.workers[i]).registers <= left) kernel = std::move(overlapped);
  }
  return {};
}

}  // namespace tkc::passes
