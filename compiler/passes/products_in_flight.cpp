// SPDX-License-Identifier: MIT
#include "compiler/passes/products_in_flight.h"

#include <algorithm>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

/// The last product that reads a slot received in the loop; the receive itself if there is none.
size_t LastReader(const Region& body, size_t receive, const SlotOfView& slot_of) {
  size_t last = receive;
  for (size_t i = receive + 1; i < body.size(); ++i) {
    if (body[i].code == OpCode::kMma && UsesSlot(body[i], body[receive].results, slot_of)) last = i;
  }
  return last;
}

/// Whether nothing else of the pipe is received before the slot has been read: two slots of it are held, one of a product in flight
/// and one of that before it.
bool IsReadInTime(const ir::Kernel& kernel, const Region& body, size_t receive, size_t last_reader) {
  const std::string& pipe = body[receive].symbol;
  const auto is_next = [&](const Op& op) { return op.code == OpCode::kReceive && op.symbol == pipe; };
  return last_reader > receive && FindPipe(kernel, pipe).slots >= 2 &&
         std::none_of(body.begin() + static_cast<ptrdiff_t>(receive) + 1, body.begin() + static_cast<ptrdiff_t>(last_reader),
                      is_next);
}

/// Whether the branches touch no sum, and read no slot that goes back before the next iteration.
bool AreAside(const Region& body, const std::vector<size_t>& branches, const ProductsInFlight& flight, const SlotOfView& slot_of) {
  return std::all_of(branches.begin(), branches.end(), [&](size_t branch) {
    for (const size_t product : flight.products) {
      if (Uses(body[branch], body[product].operands[0])) return false;
    }
    for (size_t i = 0; i < body.size(); ++i) {
      const bool reads = body[i].code == OpCode::kReceive && UsesSlot(body[branch], body[i].results, slot_of);
      if (reads && LastReader(body, i, slot_of) != flight.products.back()) return false;
    }
    return true;
  });
}

}  // namespace

bool ComputesAside(const Region& region, const SlotOfView& slot_of) {
  return std::all_of(region.begin(), region.end(), [&](const Op& op) {
    if (op.code == OpCode::kIf)
      return std::all_of(op.regions.begin(), op.regions.end(), [&](const Region& inner) { return ComputesAside(inner, slot_of); });
    if (op.code == OpCode::kLoadShared) return slot_of.contains(op.operands[0]);
    return op.code == OpCode::kComment || (ir::OnlyComputes(op.code) && !ir::IsProduct(op.code));
  });
}

std::optional<ProductsInFlight> FindProductsInFlight(const ir::Kernel& kernel, const Op& loop, const SlotOfView& slot_of) {
  if (loop.code != OpCode::kFor || kernel.depth == 0) return std::nullopt;
  const Region& body = loop.regions[0];
  ProductsInFlight found;
  std::vector<size_t> branches;
  for (size_t i = 0; i < body.size(); ++i) {
    const Op& op = body[i];
    switch (op.code) {
      case OpCode::kReceive: {
        const size_t last = LastReader(body, i, slot_of);
        if (!op.Is(ir::kLastReceive) || !IsReadInTime(kernel, body, i, last)) return std::nullopt;
        found.read_last[last].push_back(op.symbol);
        break;
      }
      case OpCode::kMma:
        if (op.Is(ir::kSets) || !slot_of.contains(op.operands[1]) || !slot_of.contains(op.operands[2])) return std::nullopt;
        found.products.push_back(i);
        break;
      case OpCode::kPart:
      case OpCode::kTranspose:
        if (!slot_of.contains(op.results[0])) return std::nullopt;
        break;
      case OpCode::kLet: break;
      case OpCode::kIf:
        if (!ComputesAside({op}, slot_of)) return std::nullopt;
        branches.push_back(i);
        break;
      default: return std::nullopt;
    }
  }
  if (found.products.empty() || found.read_last.empty()) return std::nullopt;
  if (!AreAside(body, branches, found, slot_of)) return std::nullopt;
  return found;
}

}  // namespace tkc::passes
