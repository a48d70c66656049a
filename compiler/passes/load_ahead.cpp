// SPDX-License-Identifier: MIT
#include "compiler/passes/load_ahead.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/register_shares.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// What of a loop's body moves, and where.
struct AheadPlan {
  size_t first_receive = 0, end_receives = 0;
  size_t first_product = 0, last_product = 0;
  std::vector<size_t> loads;  // of the first product's fragments
  std::vector<size_t> views;  // that these take, in order
};

/// Reads the form of one loop.
class AheadForm {
 public:
  explicit AheadForm(const Op& loop) : loop_(loop), body_(loop.regions[0]) {}
  /// Empty if the loop is not of that form.
  std::optional<AheadPlan> Read() const;

 private:
  bool FindProducts(AheadPlan& plan) const;
  bool FindLoads(AheadPlan& plan) const;
  bool FindViews(AheadPlan& plan) const;

  const Op& loop_;
  const Region& body_;
};

bool AheadForm::FindProducts(AheadPlan& plan) const {
  const auto is_product = [](const Op& op) { return op.code == OpCode::kMultiply; };
  const auto first = std::find_if(body_.begin(), body_.end(), is_product);
  const auto last = std::find_if(body_.rbegin(), body_.rend(), is_product);
  if (first == body_.end()) return false;
  plan.first_product = static_cast<size_t>(first - body_.begin());
  plan.last_product = body_.size() - 1 - static_cast<size_t>(last - body_.rbegin());
  return plan.end_receives <= plan.first_product && plan.first_product < plan.last_product;
}

bool AheadForm::FindLoads(AheadPlan& plan) const {
  std::set<ValueId> slots;  // views of what is received
  const Op& product = body_[plan.first_product];
  for (size_t i = plan.first_receive; i < body_.size(); ++i) {
    const Op& op = body_[i];
    const bool shows_slot = !op.operands.empty() && slots.count(op.operands[0]) > 0;
    if (i < plan.end_receives || (ir::IsPartOrTranspose(op.code) && shows_slot)) {
      slots.insert(op.results.begin(), op.results.end());
      continue;
    }
    // What comes behind the last product would see the next slot received already.
    if (shows_slot && i > plan.last_product) return false;
    const bool feeds = ir::LoadsFragments(op.code) && shows_slot &&
                       std::count(product.operands.begin() + 1, product.operands.end(), op.results[0]) > 0;
    if (!feeds || i > plan.first_product) continue;
    const bool lasts = std::any_of(body_.begin() + static_cast<ptrdiff_t>(plan.last_product), body_.end(),
                                   [&](const Op& other) { return Uses(other, op.results[0]); });
    if (!lasts) plan.loads.push_back(i);
  }
  return !plan.loads.empty();
}

/// They are the same in all iterations.
bool AheadForm::FindViews(AheadPlan& plan) const {
  std::set<std::string> changing{loop_.symbol};
  for (const Op& op : body_) {
    ir::ForEachScalarDefined(op, [&](const std::string& name) { changing.insert(name); });
  }
  std::set<ValueId> wanted;
  for (const size_t i : plan.loads) wanted.insert(body_[i].operands[0]);
  for (size_t i = plan.first_product; i-- > plan.end_receives;) {
    const Op& op = body_[i];
    if (!ir::IsPartOrTranspose(op.code) || wanted.count(op.results[0]) == 0) continue;
    for (const ir::Scalar& scalar : op.scalars) {
      for (const std::string& name : changing) {
        if (symbolic::Mentions(scalar, name)) return false;
      }
    }
    plan.views.insert(plan.views.begin(), i);
    wanted.insert(op.operands[0]);
  }
  return true;
}

std::optional<AheadPlan> AheadForm::Read() const {
  const auto is_receive = [](const Op& op) { return op.code == OpCode::kReceive; };
  AheadPlan plan;
  const auto first = std::find_if(body_.begin(), body_.end(), is_receive);
  const auto end = std::find_if_not(first, body_.end(), is_receive);
  plan.first_receive = static_cast<size_t>(first - body_.begin());
  plan.end_receives = static_cast<size_t>(end - body_.begin());
  int64_t received = 0;
  bool is_straight = true;
  for (const Op& op : body_) {
    received += is_receive(op);
    is_straight &= op.regions.empty() || op.code == OpCode::kSend;
  }
  if (received == 0 || received != end - first || !is_straight) return std::nullopt;
  if (!FindProducts(plan) || !FindLoads(plan) || !FindViews(plan)) return std::nullopt;
  return plan;
}

class Ahead {
 public:
  explicit Ahead(ir::Kernel& kernel) : kernel_(kernel) {}

  void Rewrite(Region& region) {
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) Rewrite(inner);
      const std::optional<AheadPlan> plan = op.code == OpCode::kFor ? AheadForm(op).Read() : std::nullopt;
      if (plan && RefillsAtEnd(op.regions[0], *plan)) Turn(op, *plan, out);
      out.push_back(std::move(op));
    }
    region = std::move(out);
  }

 private:
  static bool Refills(const Op& op, const std::string& pipe) {
    return op.code == OpCode::kSend && op.symbol == pipe && op.Slot() == pipe;
  }
  /// Every slot that is received is filled again behind the last product, while the next one is there.
  bool RefillsAtEnd(const Region& body, const AheadPlan& plan) const;
  void Turn(Op& loop, const AheadPlan& plan, Region& before);
  Region Early(const Region& body, const AheadPlan& plan, const std::string& suffix, const std::string& comment);
  /// Takes the copies from the end of the body, for the slot before the present one.
  static Region TakeRefills(Region& body, const AheadPlan& plan);
  static void DropUnused(Region& body);

  ir::Kernel& kernel_;
};

bool Ahead::RefillsAtEnd(const Region& body, const AheadPlan& plan) const {
  for (size_t i = plan.first_receive; i < plan.end_receives; ++i) {
    if (FindPipe(kernel_, body[i].symbol).slots < 2) return false;
    const auto behind = body.begin() + static_cast<ptrdiff_t>(plan.last_product);
    if (std::none_of(behind, body.end(), [&](const Op& op) { return Refills(op, body[i].symbol); })) return false;
  }
  return true;
}

Region Ahead::TakeRefills(Region& body, const AheadPlan& plan) {
  std::set<std::string> pipes;
  for (size_t i = plan.first_receive; i < plan.end_receives; ++i) pipes.insert(body[i].symbol);
  Region taken, rest;
  for (Op& op : body) {
    if (op.code != OpCode::kSend || pipes.count(op.symbol) == 0) {
      rest.push_back(std::move(op));
      continue;
    }
    // The line that explains the copies goes with them.
    if (!rest.empty() && rest.back().code == OpCode::kComment) {
      taken.push_back(std::move(rest.back()));
      rest.pop_back();
    }
    op.SetSlot(op.symbol + ".previous");
    for (Op& copy : op.regions[0]) {
      if (copy.code == OpCode::kView) copy.SetSlot(op.Slot());
    }
    taken.push_back(std::move(op));
  }
  body = std::move(rest);
  return taken;
}

/// The receives, views and loads once more, with values of their own, whose names end in `suffix`.
Region Ahead::Early(const Region& body, const AheadPlan& plan, const std::string& suffix, const std::string& comment) {
  Region early;
  for (size_t i = plan.first_receive; i < plan.end_receives; ++i) {
    early.push_back(body[i]);
    early.back().Set(ir::kEarlyReceive);
  }
  for (const size_t i : plan.views) early.push_back(body[i]);
  for (const size_t i : plan.loads) early.push_back(body[i]);
  early = Copied(kernel_, early, suffix);
  early.insert(early.begin(), Explain(comment, body[plan.first_receive].span));
  return early;
}

/// Behind each load of the region what `hold` makes of its number and the loaded fragment.
template <typename Hold>
void HoldLoads(Region& region, const Hold& hold) {
  Region out;
  size_t number = 0;
  for (Op& op : region) {
    const bool is_load = ir::LoadsFragments(op.code);
    const ValueId loaded = is_load ? op.results[0] : 0;
    const Span span = op.span;
    out.push_back(std::move(op));
    if (!is_load) continue;
    out.push_back(hold(number++, loaded));
    out.back().span = span;
  }
  region = std::move(out);
}

void Ahead::Turn(Op& loop, const AheadPlan& plan, Region& before) {
  Region& body = loop.regions[0];
  std::vector<ValueId> held;
  Region first = Early(body, plan, "_first", "The operands of the loop's first product.");
  HoldLoads(first, [&](size_t number, ValueId loaded) {
    const ValueId fragment = body[plan.loads[number]].results[0];
    held.push_back(kernel_.AddValueAfter(fragment, "_held", kernel_.TypeOf(fragment), true));
    return Op{OpCode::kVar, {held.back()}, {loaded}};
  });
  Region next = Early(body, plan, "_next",
                      "The operands of the next iteration's first product are on their way beside the last product of this one.");
  HoldLoads(next, [&](size_t number, ValueId loaded) { return Op{OpCode::kAssign, {}, {held[number], loaded}}; });
  Append(before, std::move(first));
  Append(next, TakeRefills(body, plan));

  Region out;
  for (size_t i = 0; i < body.size(); ++i) {
    if (i == plan.last_product) {
      for (Op& op : next) out.push_back(std::move(op));
    }
    if (std::count(plan.loads.begin(), plan.loads.end(), i) > 0) continue;
    out.push_back(std::move(body[i]));
    for (ValueId& operand : out.back().operands) {
      for (size_t n = 0; n < held.size(); ++n) {
        if (operand == body[plan.loads[n]].results[0]) operand = held[n];
      }
    }
  }
  body = std::move(out);
  DropUnused(body);
}

/// Views of which nothing is loaded any more.
void Ahead::DropUnused(Region& body) {
  for (size_t i = body.size(); i-- > 0;) {
    if (ir::IsPartOrTranspose(body[i].code) && CountUses(body, body[i].results[0]) == 0)
      body.erase(body.begin() + static_cast<ptrdiff_t>(i));
  }
}

}  // namespace

bool CanLoadAhead(const Op& loop) { return loop.code == OpCode::kFor && AheadForm(loop).Read().has_value(); }

bool HasRoomAhead(const ir::Kernel& kernel, const ir::Worker& worker, const Target& target) {
  const RegisterShares shares = ShareRegisters(kernel, target);
  const auto has_room = [&](const Region& region) {
    std::map<ValueId, int64_t> sums;  // that products of the region add to, and none of them sets
    for (const Op& op : region) {
      if (op.code == OpCode::kMultiply) sums.try_emplace(op.operands[0], RegistersOf(kernel.TypeOf(op.operands[0]), worker.layout));
    }
    for (const Op& op : region) {
      if (op.code == OpCode::kMultiply && op.Is(ir::kSets)) sums[op.operands[0]] = 0;
    }
    return std::ranges::all_of(region, [&](const Op& op) {
      if (op.code != OpCode::kMultiply) return true;
      const auto type = [&](size_t operand) -> const ir::Type& { return kernel.TypeOf(op.operands[operand]); };
      int64_t needed = RegistersOfTwoSteps(type(0), type(1), type(2), worker.layout);
      for (const auto& [sum, kept] : sums) needed += sum == op.operands[0] ? 0 : kept;
      return needed <= ForProducts(shares, target, region);
    });
  };
  bool has_room_everywhere = has_room(worker.body);
  ForEachOp(worker.body, [&](const Op& op) {
    for (const Region& region : op.regions) has_room_everywhere &= has_room(region);
  });
  return has_room_everywhere;
}

Result<void> LoadAhead(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (!target.loads_ahead) return {};
  for (ir::Worker& worker : kernel.workers) {
    // Slots that several workers receive have barriers that say when one is done with them.
    if (worker.Computes() && !worker.alternates && IsWholeBlock(kernel, worker) && HasRoomAhead(kernel, worker, target))
      Ahead(kernel).Rewrite(worker.body);
  }
  return {};
}

}  // namespace tkc::passes
