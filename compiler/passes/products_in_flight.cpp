// SPDX-License-Identifier: MIT
#include "compiler/passes/products_in_flight.h"

#include <algorithm>

#include "compiler/passes/walk.h"

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

}  // namespace

std::optional<ProductsInFlight> FindProductsInFlight(const ir::Kernel& kernel, const Op& loop, const SlotOfView& slot_of) {
  if (loop.code != OpCode::kFor || kernel.depth == 0) return std::nullopt;
  const Region& body = loop.regions[0];
  ProductsInFlight found;
  for (size_t i = 0; i < body.size(); ++i) {
    const Op& op = body[i];
    switch (op.code) {
      case OpCode::kReceive: {
        const size_t last = LastReader(body, i, slot_of);
        if (op.number != ir::kLastReceive || !IsReadInTime(kernel, body, i, last)) return std::nullopt;
        found.read_last[last].push_back(op.symbol);
        break;
      }
      case OpCode::kMma:
        if (op.number == ir::kSets || !slot_of.contains(op.operands[1]) || !slot_of.contains(op.operands[2])) return std::nullopt;
        found.products.push_back(i);
        break;
      case OpCode::kPart:
      case OpCode::kTranspose:
        if (!slot_of.contains(op.results[0])) return std::nullopt;
        break;
      case OpCode::kLet: break;
      default: return std::nullopt;
    }
  }
  if (found.products.empty() || found.read_last.empty()) return std::nullopt;
  return found;
}

}  // namespace tkc::passes
