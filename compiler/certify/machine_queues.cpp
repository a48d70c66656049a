// SPDX-License-Identifier: MIT
// The two queues of an agent: matrix products, whose accumulators nobody may touch meanwhile, and stores by the copy engine.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/certify/machine.h"
#include "compiler/ir/op_traits.h"

namespace tkc::certify {
namespace {

using ir::OpCode;
using ir::ValueId;

bool Has(const std::vector<ValueId>& list, ValueId value) { return std::find(list.begin(), list.end(), value) != list.end(); }
void Insert(std::vector<ValueId>& list, ValueId value) {
  const auto place = std::lower_bound(list.begin(), list.end(), value);
  if (place == list.end() || *place != value) list.insert(place, value);
}

/// Whether a product under way writes (or, as its left operand, reads) the registers of a tile.
bool IsAccumulating(const AgentState& self, ValueId value) {
  return Has(self.open.accumulators, value) ||
         std::any_of(self.groups.begin(), self.groups.end(), [&](const ProductGroup& g) { return Has(g.accumulators, value); });
}
bool IsOperand(const AgentState& self, ValueId value) {
  return Has(self.open.lefts, value) ||
         std::any_of(self.groups.begin(), self.groups.end(), [&](const ProductGroup& g) { return Has(g.lefts, value); });
}

}  // namespace

/// Ordinary code reads its operands and writes its results.
bool Machine::Touch(Context& c) {
  const auto fail = [&](ValueId value, const char* what) {
    return Fail(c, DiagnosticKind::kCertificateAccumulator,
                fmt::format("`{}` {}: `{}`", c.agent.name, what, kernel_.values[static_cast<size_t>(value)].name));
  };
  const bool assigns = ir::Assigns(c.op.code) || (c.op.code == OpCode::kMultiply && c.op.Is(ir::kSets));
  for (size_t i = 0; i < c.op.operands.size() + c.op.results.size(); ++i) {
    const bool is_result = i >= c.op.operands.size();
    const ValueId value = is_result ? c.op.results[i - c.op.operands.size()] : c.op.operands[i];
    if (kernel_.TypeOf(value).space != ir::Space::kRegister || !product_values_[static_cast<size_t>(value)]) continue;
    const bool writes = is_result || (assigns && i == 0);
    if (IsAccumulating(c.self, value))
      return fail(value, writes ? "writes the accumulator of a product in flight" : "reads the accumulator of a product in flight");
    if (writes && IsOperand(c.self, value)) return fail(value, "overwrites an operand of a product in flight");
    if (!writes && Has(c.self.unset, value)) return fail(value, "reads registers that nothing has set");
    if (writes) std::erase(c.self.unset, value);
    if (is_result && c.op.code == OpCode::kVar && c.op.operands.empty()) Insert(c.self.unset, value);
    if (!is_result && Has(c.self.unnamed, value)) return fail(value, "uses the result of a product that no wait names");
    if (is_result) std::erase(c.self.unnamed, value);
    Insert(c.self.touched, value);
    if (writes && !Has(c.self.unset, value)) Insert(c.self.loose, value);
  }
  return true;
}

/// The machine orders all registers; of its compiler only what is named must lie before.
void Machine::FenceProducts(Context& c) {
  c.self.touched.clear();
  for (const ValueId value : c.op.operands) std::erase(c.self.loose, value);
}

bool Machine::Product(Context& c) {
  const ValueId accumulator = c.op.operands[0], left = c.op.operands[1];
  const bool has_left = kernel_.TypeOf(left).space == ir::Space::kRegister;
  const auto fail = [&](ValueId value, const char* what) {
    return Fail(c, DiagnosticKind::kCertificateAccumulator,
                fmt::format("`{}` of `{}` {}", kernel_.values[static_cast<size_t>(value)].name, c.agent.name, what));
  };
  for (const ValueId value : {accumulator, left}) {
    if (value == left && !has_left) continue;
    if (Has(c.self.touched, value)) return fail(value, "was used by ordinary code, and no fence lies before this product");
  }
  if (has_left && Has(c.self.loose, left)) return fail(left, "was written by ordinary code, and the fence does not name it");
  if (!c.op.Is(ir::kSets) && Has(c.self.loose, accumulator))
    return fail(accumulator, "was written by ordinary code, and the fence does not name it");
  if (!c.op.Is(ir::kSets) && Has(c.self.unset, accumulator)) return fail(accumulator, "is added to, and nothing has set it");
  std::erase(c.self.unset, accumulator);
  if (has_left && (IsAccumulating(c.self, left) || Has(c.self.unnamed, left)))
    return fail(left, "is an operand while another product still makes it");
  if (IsOperand(c.self, accumulator)) return fail(accumulator, "is written while another product still reads it");
  Insert(c.self.open.accumulators, accumulator);
  if (has_left) Insert(c.self.open.lefts, left);
  Insert(c.self.unnamed, accumulator);
  for (const Access& access : c.step.accesses) {
    if (!AccessView(c, {access, false, true, Shares(c), &c.self.open.reads})) return false;
  }
  return true;
}

void Machine::WaitProducts(Context& c) {
  std::vector<ProductGroup>& groups = c.self.groups;
  while (static_cast<int64_t>(groups.size()) > c.op.Unfinished()) {
    for (const auto& [warp, event] : groups.front().reads) c.state.knowledge.Learn(warp, event);
    groups.erase(groups.begin());
  }
  for (const ValueId value : c.op.operands) {
    if (!IsAccumulating(c.self, value)) std::erase(c.self.unnamed, value);
  }
}

bool Machine::StoreAsync(Context& c) {
  std::vector<std::pair<int, int>> events;
  if (!AccessView(c, {c.step.accesses[0], false, true, Shares(c), &events})) return false;
  for (const auto& [warp, event] : events) c.self.open_stores.push_back(event);
  return true;
}

/// Groups belong to the thread that issued them; whoever else waits learns nothing.
void Machine::WaitStores(Context& c) {
  std::vector<std::vector<int>>& stores = c.self.stores;
  while (static_cast<int64_t>(stores.size()) > c.op.Unfinished()) {
    for (const int event : stores.front()) c.state.knowledge.Learn(c.agent.first_warp, event);
    stores.erase(stores.begin());
  }
}

}  // namespace tkc::certify
