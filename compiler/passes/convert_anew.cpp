// SPDX-License-Identifier: MIT
#include "compiler/passes/convert_anew.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/register_shares.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

constexpr int64_t kKeptBytes = 2;  // of an element: what tk::convert_anew keeps in whole registers

/// Whether the result can be had again from a tile that takes fewer registers.
bool Widens(const ir::Kernel& kernel, const Op& op) {
  if (op.code != OpCode::kConvert || !op.Is(ir::kConvertOnce)) return false;
  const ir::Value &from = kernel.values[op.operands[0]], &to = kernel.values[op.results[0]];
  const bool widens = Bytes(from.type.dtype) == kKeptBytes && Bytes(to.type.dtype) > kKeptBytes;
  return widens && !from.is_mutable && from.type.space == ir::Space::kRegister;
}

class Conversions {
 public:
  Conversions(ir::Kernel& kernel, ir::Worker& worker, Loads loads) : kernel_(kernel), worker_(worker), loads_(loads) {}

  void FitInto(int64_t registers) {
    const Region before = worker_.body;
    Merge(worker_.body, {});
    const std::vector<Op> kept = FindKept(registers);
    for (const Op& conversion : kept) {
      is_first_ = true;
      Repeat(worker_.body, conversion);
    }
    if (kept.empty()) {
      worker_.body = before;
    } else {
      EraseUnusedParts();
    }
  }

 private:
  /// What is converted so far, and its type: the result.
  using Known = std::map<std::pair<ValueId, DType>, ValueId>;

  /// What is converted twice, whole or in part, the compiler of the output converts once, and keeps.
  void Merge(Region& region, Known known) {
    Region out;
    std::map<ValueId, Op> parts;
    for (Op& op : region) {
      ReplaceOperands(op, merged_);
      for (Region& inner : op.regions) Merge(inner, known);
      if (op.code == OpCode::kPart) parts.emplace(op.results[0], op);
      if (Widens(kernel_, op)) {
        const DType dtype = kernel_.TypeOf(op.results[0]).dtype;
        const auto [place, is_new] = known.try_emplace({op.operands[0], dtype}, op.results[0]);
        if (!is_new) {
          merged_[op.results[0]] = place->second;
          continue;
        }
        const auto part = parts.find(op.operands[0]);
        const auto whole = part == parts.end() ? known.end() : known.find({part->second.operands[0], dtype});
        if (whole != known.end()) op = PartOf(whole->second, part->second, op);
      }
      out.push_back(std::move(op));
    }
    region = std::move(out);
  }

  void EraseUnusedParts() {
    std::set<ValueId> used;
    ForEachOp(worker_.body, [&](const Op& op) { used.insert(op.operands.begin(), op.operands.end()); });
    const auto erase = [&](Region& region) {
      std::erase_if(region, [&](const Op& op) { return op.code == OpCode::kPart && !used.contains(op.results[0]); });
    };
    ForEachOp(worker_.body, [&](Op& op) { std::for_each(op.regions.begin(), op.regions.end(), erase); });
    erase(worker_.body);
  }

  static Op PartOf(ValueId wide, Op part, const Op& conversion) {
    part.operands = {wide};
    part.results = conversion.results;
    part.span = conversion.span;
    return part;
  }

  /// The conversions whose results are in use anywhere where tiles take more than that. To keep some of them would save
  /// instructions, but the compiler of the output does better with none.
  std::vector<Op> FindKept(int64_t registers) const {
    const std::set<ValueId> in_use = KeptBeside(kernel_, worker_, registers, loads_);
    std::vector<Op> found;
    ForEachOp(worker_.body, [&](const Op& op) {
      if (Widens(kernel_, op) && in_use.contains(op.results[0])) found.push_back(op);
    });
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
    const ir::ValueId narrow = conversion.operands[0];
    ir::Type type = kernel_.TypeOf(part.results[0]);
    type.dtype = kernel_.TypeOf(narrow).dtype;
    conversion.results = part.results;
    part.operands = conversion.operands;
    conversion.operands = part.results = {kernel_.AddValueAfter(narrow, "_columns", type)};
    conversion.Set(ir::kConvertAnew);
    conversion.span = part.span;
    out.push_back(std::move(part));
    out.push_back(std::move(conversion));
  }

  Op Copy(Op conversion) {
    if (!std::exchange(is_first_, false)) {
      const ir::ValueId wide = conversion.results[0];
      conversion.results[0] = kernel_.AddValueAfter(wide, "", kernel_.TypeOf(wide));
    }
    conversion.Set(ir::kConvertAnew);
    return conversion;
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  Loads loads_;
  std::map<ValueId, ValueId> merged_;  // conversions into those before them
  bool is_first_ = true;               // the first one has the name
};

}  // namespace

std::map<ir::ValueId, const ir::Op*> FindWidening(const ir::Kernel& kernel, const ir::Worker& worker) {
  std::map<ValueId, const Op*> conversions;
  ForEachOp(worker.body, [&](const Op& op) {
    if (Widens(kernel, op)) conversions.emplace(op.results[0], &op);
  });
  return conversions;
}

void ConvertAnewWithin(ir::Kernel& kernel, ir::Worker& worker, int64_t registers) {
  Conversions(kernel, worker, Loads::kInPlace).FitInto(registers);
}

Result<void> ConvertAnew(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const RegisterShares shares = ShareRegisters(kernel, target);
  for (ir::Worker& worker : kernel.workers) {
    if (!worker.Computes()) continue;
    ConvertAnewWithin(kernel, worker, shares.for_tiles);
    // The compiler of the output has loads that stand in one expression under way together, and where they do not fit, does not
    // always notice.
    Conversions(kernel, worker, Loads::kTogether).FitInto(shares.computing);
  }
  return {};
}

}  // namespace tkc::passes
