// SPDX-License-Identifier: MIT
#include "compiler/passes/store_loops.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// Whether the loop takes this part of a tile, and with it all of the tile.
bool TakesEach(const ir::Kernel& kernel, const Op& loop, const Op& part) {
  const ir::Type &whole = kernel.TypeOf(part.operands[0]), &taken = kernel.TypeOf(part.results[0]);
  const ir::Scalar first = symbolic::Mul(symbolic::Name(loop.symbol), symbolic::Int(taken.cols));
  return taken.rows == whole.rows && loop.Trips() * taken.cols == whole.cols && symbolic::IsInt(part.scalars[0]) &&
         symbolic::Equal(part.scalars[1], first);
}

bool IsOfStore(const Op& op) {
  switch (op.code) {
    case OpCode::kConvert:
    case OpCode::kView:
    case OpCode::kStoreShared:
    case OpCode::kStoreAsync:
    case OpCode::kCopyToGlobal: return true;
    case OpCode::kIf:
      return std::all_of(op.regions.begin(), op.regions.end(),
                         [](const Region& region) { return std::all_of(region.begin(), region.end(), IsOfStore); });
    default: return false;
  }
}

/// The loop of `times` parts within one of those of `around`.
Region Within(Op loop, const Op& around, int64_t times, const std::set<ValueId>& own) {
  ir::Scalar number = symbolic::Mul(symbolic::Name(around.symbol), symbolic::Int(times));
  if (times > 1) number = symbolic::Add(number, symbolic::Name(loop.symbol));
  Region body;
  for (Op& op : loop.regions[0]) {
    if (op.code == OpCode::kPart && own.contains(op.operands[0])) {  // of what is a part itself
      if (times > 1) body.push_back(std::move(op));
      continue;
    }
    Region one = {std::move(op)};
    Substitute(one, loop.symbol, number);
    body.push_back(std::move(one[0]));
  }
  if (times == 1) return body;
  loop.SetTrips(times);
  loop.regions[0] = std::move(body);
  return {std::move(loop)};
}

/// Chunks that go through one staging buffer in each iteration of a loop.
struct Turns {
  int64_t stores = 0;  // that have chunks there
  int64_t in_all = 0;  // chunks of all of them
  int64_t taken = 0;   // of the stores before
};

/// The staging buffer of a loop that stores a tile by parts.
std::string StagedIn(const Op& loop) {
  std::string buffer;
  ForEachOp(loop.regions[0], [&](const Op& op) {
    if (op.code == OpCode::kView) buffer = op.symbol;
  });
  return buffer;
}

/// The chunk goes to the buffer's place for the `number`-th: the wait before it counts on places that are taken in turn.
void TakeInTurn(const ir::Kernel& kernel, const std::string& buffer, const ir::Scalar& number, Region& body) {
  const int64_t places = FindBuffer(kernel, buffer).count;
  ForEachOp(body, [&](Op& op) {
    if (op.code != OpCode::kView || op.symbol != buffer || op.scalars.empty()) return;
    op.scalars = {symbolic::Make(symbolic::Kind::kMod, DType::kI64, {number, symbolic::Int(places)})};
  });
}

}  // namespace

int64_t ColumnsStored(const ir::Kernel& kernel, const Op& loop) {
  if (loop.code != OpCode::kUnroll || !Contains(loop.regions[0], OpCode::kStoreShared)) return 0;
  int64_t columns = 0;
  for (const Op& op : loop.regions[0]) {
    if (IsOfStore(op)) continue;
    if (op.code != OpCode::kPart || !TakesEach(kernel, loop, op)) return 0;
    columns = kernel.TypeOf(op.operands[0]).cols;
  }
  return columns;
}

Region StoresWithin(const ir::Kernel& kernel, Region operations, const Op& around, const std::set<ValueId>& own) {
  std::map<std::string, Turns> turns;  // of staging buffers
  for (const Op& op : operations) {
    if (op.code != OpCode::kUnroll) continue;
    Turns& of_buffer = turns[StagedIn(op)];
    of_buffer.in_all += op.Trips() / around.Trips();
    ++of_buffer.stores;
  }
  Region out;
  for (Op& op : operations) {
    if (op.code != OpCode::kUnroll) {
      out.push_back(std::move(op));
      continue;
    }
    const int64_t times = op.Trips() / around.Trips();
    std::map<ValueId, ValueId> whole;  // of parts, where they are all that there is of a tile
    for (const Op& inner : op.regions[0]) {
      if (times == 1 && inner.code == OpCode::kPart && own.contains(inner.operands[0])) whole[inner.results[0]] = inner.operands[0];
    }
    const std::string buffer = StagedIn(op), part = op.symbol;
    Region body = Within(std::move(op), around, times, own);
    if (Turns& of_buffer = turns[buffer]; of_buffer.stores > 1) {
      const ir::Scalar before = symbolic::Add(symbolic::Mul(symbolic::Name(around.symbol), symbolic::Int(of_buffer.in_all)),
                                              symbolic::Int(of_buffer.taken));
      TakeInTurn(kernel, buffer, times > 1 ? symbolic::Add(before, symbolic::Name(part)) : before, body);
      of_buffer.taken += times;
    }
    ReplaceOperands(body, whole);
    Append(out, std::move(body));
  }
  return out;
}

}  // namespace tkc::passes
