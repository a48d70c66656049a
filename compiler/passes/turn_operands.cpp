// SPDX-License-Identifier: MIT
#include "compiler/passes/turn_operands.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/copy_pieces.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// What keeps a field of a pipe from being turned, and what is to be changed where nothing does.
struct Field {
  bool can_turn = true;
  bool is_right = true, is_turned_left = true;  // of products, and nothing else
  std::set<ValueId> sent, received;
};
using Fields = std::map<std::string, std::vector<Field>>;

/// Results of `op`, which shows all or a part of one of these.
bool Shows(const Op& op, const std::set<ValueId>& values) {
  return ir::IsPartOrTranspose(op.code) && values.count(op.operands[0]) > 0;
}

/// How the worker uses what it receives. A right operand is the last one of a product. Beside a left one in registers it is loaded
/// four terms at a time, and those of 16 rows that lie turned meet in banks.
void SurveyUses(const ir::Worker& worker, const std::set<ValueId>& in_slots, Field& field) {
  std::set<ValueId> lying = field.received;  // what is received, and parts of it
  std::set<ValueId> turned;                  // the same turned around
  ForEachOp(worker.body, [&](const Op& op) {
    const size_t count = op.operands.size();
    const bool multiplies = op.code == OpCode::kMatmul || op.code == OpCode::kAccumulate;
    const bool is_product = multiplies && in_slots.count(op.operands[count - 2]) > 0;
    for (size_t i = 0; i < count; ++i) {
      const ValueId value = op.operands[i];
      field.is_right &= field.received.count(value) == 0 || (is_product && i + 1 == count);
      field.is_turned_left &= lying.count(value) == 0 || Shows(op, lying);
      field.is_turned_left &= turned.count(value) == 0 || op.code == OpCode::kPart || (is_product && i + 2 == count);
    }
    if (!Shows(op, lying) && !Shows(op, turned)) return;
    (op.code == OpCode::kPart && lying.count(op.operands[0]) > 0 ? lying : turned).insert(op.results[0]);
  });
}

void Survey(const ir::Kernel& kernel, const ir::Worker& worker, const Target& target, Fields& fields) {
  const IndexFacts facts(kernel);
  const auto can_turn = [&](const Op& read) {
    ir::Type tile = kernel.TypeOf(read.results[0]);
    std::swap(tile.rows, tile.cols);
    return !read.IsTurned() && read.scalars.empty() && GoesThroughRegisters(kernel, facts, target, read, tile, true);
  };
  std::map<ValueId, const Op*> reads;
  std::set<ValueId> in_slots;  // what is received, and parts of it
  ForEachOp(worker.body, [&](const Op& op) {
    if (op.code == OpCode::kReceive) in_slots.insert(op.results.begin(), op.results.end());
    if (Shows(op, in_slots)) in_slots.insert(op.results[0]);
    if (op.code == OpCode::kRead) reads[op.results[0]] = &op;
    if (op.code != OpCode::kSend && op.code != OpCode::kReceive) return;
    const bool sends = op.code == OpCode::kSend;
    std::vector<Field>& all = fields[op.symbol];
    all.resize(FindPipe(kernel, op.symbol).fields.size());
    for (size_t i = 0; i < all.size(); ++i) {
      Field& field = all[i];
      const std::vector<ValueId>& values = sends ? op.operands : op.results;
      if ((sends && !op.SendsAllFields()) || i >= values.size()) {
        field.can_turn = false;
        continue;
      }
      (sends ? field.sent : field.received).insert(values[i]);
      const auto read = reads.find(values[i]);
      if (sends) field.can_turn &= read != reads.end() && can_turn(*read->second) && CountUses(worker.body, values[i]) == 1;
    }
  });
  for (auto& [pipe, all] : fields) {
    for (Field& field : all) SurveyUses(worker, in_slots, field);
  }
}

/// Received as it lies, and turned back.
Region Turned(ir::Kernel& kernel, const Region& region, const std::set<ValueId>& received) {
  Region out;
  for (const Op& source : region) {
    out.push_back(source);
    Op& op = out.back();
    for (Region& inner : op.regions) inner = Turned(kernel, inner, received);
    if (op.code != OpCode::kReceive) continue;
    Region turns;
    for (ValueId& value : op.results) {
      if (received.count(value) == 0) continue;
      const ir::Value field = kernel.values[value];
      ir::Type type = field.type;
      std::swap(type.rows, type.cols);
      Op turn{OpCode::kTranspose, {value}, {kernel.AddValue(field.name + "_turned", type)}};
      turn.span = op.span;
      value = turn.operands[0];
      turns.push_back(std::move(turn));
    }
    out.insert(out.end(), turns.begin(), turns.end());
  }
  return out;
}

/// Of tiles that lie turned already: parts are taken the other way round, and what was turned around is the tile itself.
Region WithoutTurns(ir::Kernel& kernel, const Region& region, std::set<ValueId>& lying, std::map<ValueId, ValueId>& instead) {
  Region out;
  for (const Op& source : region) {
    const bool shows = Shows(source, lying);
    if (shows && source.code == OpCode::kTranspose) {
      instead[source.results[0]] = source.operands[0];
      continue;
    }
    out.push_back(source);
    for (Region& inner : out.back().regions) inner = WithoutTurns(kernel, inner, lying, instead);
    if (!shows) continue;
    std::swap(out.back().scalars[0], out.back().scalars[1]);
    ir::Type& type = kernel.TypeOf(source.results[0]);
    std::swap(type.rows, type.cols);
    lying.insert(source.results[0]);
  }
  return out;
}

}  // namespace

Result<void> TurnOperands(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (!target.stages_copies) return {};
  Fields fields;
  for (const ir::Worker& worker : kernel.workers) Survey(kernel, worker, target, fields);
  std::set<ValueId> sent, rights, lefts;
  for (ir::Pipe& pipe : kernel.pipes) {
    const auto found = fields.find(pipe.name);
    if (found == fields.end()) continue;
    for (size_t i = 0; i < pipe.fields.size() && i < found->second.size(); ++i) {
      const Field& field = found->second[i];
      if (!field.can_turn || field.sent.empty() || field.received.empty() || Bytes(pipe.fields[i].dtype) != 2) continue;
      if (!field.is_right && !field.is_turned_left) continue;
      std::swap(pipe.fields[i].rows, pipe.fields[i].cols);
      sent.insert(field.sent.begin(), field.sent.end());
      (field.is_right ? rights : lefts).insert(field.received.begin(), field.received.end());
    }
  }
  for (const ValueId value : lefts) {
    std::swap(kernel.TypeOf(value).rows, kernel.TypeOf(value).cols);
    kernel.values[value].name += "_turned";
  }
  for (ir::Worker& worker : kernel.workers) {
    worker.body = Turned(kernel, worker.body, rights);
    std::map<ValueId, ValueId> instead;
    worker.body = WithoutTurns(kernel, worker.body, lefts, instead);
    ForEachOp(worker.body, [&](Op& op) {
      ReplaceOperands(op, instead);
      if (op.code != OpCode::kRead || sent.count(op.results[0]) == 0) return;
      op.SetTurned(true);
      ir::Type& type = kernel.TypeOf(op.results[0]);
      std::swap(type.rows, type.cols);
    });
  }
  return {};
}

}  // namespace tkc::passes
