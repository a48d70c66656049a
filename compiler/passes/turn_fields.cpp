// SPDX-License-Identifier: MIT
#include "compiler/passes/turn_fields.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

class RowFields {
 public:
  explicit RowFields(ir::Kernel& kernel) : kernel_(kernel) {
    for (const ir::Worker& worker : kernel_.workers) {
      ForEachOp(worker.body, [&](const Op& op) {
        const bool is_column = !op.results.empty() && kernel_.TypeOf(op.results[0]).cols == 1;
        if (op.code == OpCode::kRead && is_column) columns_.insert(op.results[0]);
        if (op.code == OpCode::kTranspose && columns_.contains(op.operands[0])) rows_[op.results[0]] = op.operands[0];
      });
    }
  }

  void Turn(ir::Pipe& pipe, size_t field) {
    std::swap(pipe.fields[field].rows, pipe.fields[field].cols);
    for (ir::Worker& worker : kernel_.workers) {
      Turn(worker.body, pipe.name, field);
      std::set<ValueId> used;
      ForEachOp(worker.body, [&](const Op& op) { used.insert(op.operands.begin(), op.operands.end()); });
      DropUnused(worker.body, used);
    }
  }

  /// Whether all that is sent to the field are rows that were read as columns, slot by slot.
  bool AreColumns(const ir::Pipe& pipe, size_t field) const {
    if (pipe.fields[field].rows != 1 || pipe.fields[field].cols == 1) return false;
    bool are_columns = true;
    for (const ir::Worker& worker : kernel_.workers) {
      ForEachOp(worker.body, [&](const Op& op) {
        if (op.symbol != pipe.name) return;
        if (op.code == OpCode::kSend) are_columns &= op.SendsAllFields() && rows_.contains(op.operands[field]);
      });
    }
    return are_columns;
  }

 private:
  void Turn(Region& region, const std::string& pipe, size_t field) {
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) Turn(inner, pipe, field);
      const bool is_of_pipe = op.symbol == pipe;
      if (is_of_pipe && op.code == OpCode::kSend) op.operands[field] = rows_.at(op.operands[field]);
      if (!is_of_pipe || op.code != OpCode::kReceive) {
        out.push_back(std::move(op));
        continue;
      }
      const ValueId row = op.results[field];
      ir::Type type = kernel_.TypeOf(row);
      std::swap(type.rows, type.cols);
      op.results[field] = kernel_.AddValueAfter(row, "_column", type);
      Op turn{OpCode::kTranspose, {row}, {op.results[field]}};
      turn.span = op.span;
      out.push_back(std::move(op));
      out.push_back(std::move(turn));
    }
    region = std::move(out);
  }

  void DropUnused(Region& region, const std::set<ValueId>& used) const {
    for (Op& op : region) {
      for (Region& inner : op.regions) DropUnused(inner, used);
    }
    std::erase_if(region, [&](const Op& op) {
      return op.code == OpCode::kTranspose && rows_.contains(op.results[0]) && !used.contains(op.results[0]);
    });
  }

  ir::Kernel& kernel_;
  std::set<ValueId> columns_;        // tiles that are read as such
  std::map<ValueId, ValueId> rows_;  // these turned -> the column
};

}  // namespace

Result<void> TurnFields(ir::Kernel& kernel, Diagnostics&) {
  RowFields fields(kernel);
  for (ir::Pipe& pipe : kernel.pipes) {
    for (size_t i = 0; i < pipe.fields.size(); ++i) {
      if (fields.AreColumns(pipe, i)) fields.Turn(pipe, i);
    }
  }
  return {};
}

}  // namespace tkc::passes
