// SPDX-License-Identifier: MIT
#include "compiler/passes/convert_anew.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/passes/live_tiles.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

constexpr int64_t kKeptBytes = 2;  // of an element: what tk::convert_anew keeps in whole registers

class Conversions {
 public:
  Conversions(ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel), worker_(worker) {}

  void FitInto(int64_t registers) {
    while (const std::optional<Op> conversion = FindKept(registers)) {
      is_first_ = true;
      Repeat(worker_.body, *conversion);
    }
  }

 private:
  /// The conversion whose result takes the most registers where there are too few.
  std::optional<Op> FindKept(int64_t registers) const {
    const std::map<ValueId, const Op*> conversions = FindWidening(kernel_, worker_);
    std::optional<Op> found;
    int64_t most = 0;
    for (const LiveTiles& kept : KeptTiles(kernel_, worker_)) {
      if (kept.registers <= registers) continue;
      for (const ValueId value : kept.in_use) {
        const auto conversion = conversions.find(value);
        const int64_t taken = RegistersOf(kernel_.values[value].type, worker_.layout);
        if (conversion == conversions.end() || taken <= most) continue;
        most = taken;
        found = *conversion->second;
      }
    }
    return found;
  }

  /// The conversion leaves its place for those where its result is used: one serves as long as nothing keeps tiles in between.
  /// Parts of the result are converted from parts.
  void Repeat(Region& region, const Op& conversion) {
    const ValueId wide = conversion.results[0];
    Region out;
    ValueId present = ir::kNone;
    for (Op& op : region) {
      if (op.code == OpCode::kConvert && op.results[0] == wide) continue;
      const bool uses = std::find(op.operands.begin(), op.operands.end(), wide) != op.operands.end();
      if (uses && op.code == OpCode::kPart) {
        RepeatPart(std::move(op), conversion, out);
        continue;
      }
      if (uses && present == ir::kNone) {
        out.push_back(Copy(conversion));
        out.back().span = op.span;
        present = out.back().results[0];
      }
      std::replace(op.operands.begin(), op.operands.end(), wide, present);
      for (Region& inner : op.regions) Repeat(inner, conversion);
      if (KeepsTiles(op) || !op.regions.empty()) present = ir::kNone;
      out.push_back(std::move(op));
    }
    region = std::move(out);
  }

  void RepeatPart(Op part, Op conversion, Region& out) {
    const ir::Value narrow = kernel_.values[conversion.operands[0]];
    ir::Type type = kernel_.values[part.results[0]].type;
    type.dtype = narrow.type.dtype;
    conversion.results = part.results;
    part.operands = conversion.operands;
    conversion.operands = part.results = {kernel_.AddValue(narrow.name + "_columns", type)};
    conversion.number = 1;
    conversion.span = part.span;
    out.push_back(std::move(part));
    out.push_back(std::move(conversion));
  }

  Op Copy(Op conversion) {
    if (!std::exchange(is_first_, false)) {
      const ir::Value wide = kernel_.values[conversion.results[0]];
      conversion.results[0] = kernel_.AddValue(wide.name, wide.type);
    }
    conversion.number = 1;
    return conversion;
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  bool is_first_ = true;  // the first one has the name
};

}  // namespace

std::map<ir::ValueId, const ir::Op*> FindWidening(const ir::Kernel& kernel, const ir::Worker& worker) {
  std::map<ValueId, const Op*> conversions;
  ForEachOp(worker.body, [&](const Op& op) {
    if (op.code != OpCode::kConvert || op.number != 0) return;
    const ir::Value &from = kernel.values[op.operands[0]], &to = kernel.values[op.results[0]];
    const bool widens = Bytes(from.type.dtype) == kKeptBytes && Bytes(to.type.dtype) > kKeptBytes;
    if (widens && !from.is_mutable && from.type.space == ir::Space::kRegister) conversions.emplace(op.results[0], &op);
  });
  return conversions;
}

Result<void> ConvertAnew(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const int64_t registers = ShareRegisters(kernel, target).for_tiles;
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kCompute) Conversions(kernel, worker).FitInto(registers);
  }
  return {};
}

}  // namespace tkc::passes
