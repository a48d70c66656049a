// SPDX-License-Identifier: MIT
#include "compiler/passes/separate_fields.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/overlap_products.h"
#include "compiler/passes/sent_slots.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// The fields of one receive in a loop's body that only its last product reads, on the right, where its left operand is computed
/// from another field.
class LateFields {
 public:
  LateFields(const ir::Kernel& kernel, const Region& body, const Op& receive) : kernel_(kernel), body_(body) {
    for (size_t i = 0; i < receive.results.size(); ++i) field_of_[receive.results[i]] = i;
    for (const Op& op : body) {
      const bool is_view = ir::IsPartOrTranspose(op.code);
      if (is_view && field_of_.contains(op.operands[0])) field_of_[op.results[0]] = field_of_[op.operands[0]];
    }
  }

  std::set<size_t> Find() const {
    const auto last = std::find_if(body_.rbegin(), body_.rend(), [](const Op& op) { return ir::IsProduct(op.code); });
    if (last == body_.rend() || last->code != OpCode::kAccumulate || !field_of_.contains(last->operands[2])) return {};
    const size_t late = field_of_.at(last->operands[2]);
    if (IsReadBeside(*last, late) || !ComesFromOther(*last, late)) return {};
    return {late};
  }

 private:
  bool IsReadBeside(const Op& product, size_t field) const {
    return std::any_of(field_of_.begin(), field_of_.end(), [&](const auto& view) {
      return view.second == field && std::any_of(body_.begin(), body_.end(), [&](const Op& op) {
               const bool is_view = ir::IsPartOrTranspose(op.code);
               return &op != &product && !is_view && Uses(op, view.first);
             });
    });
  }

  bool ComesFromOther(const Op& product, size_t late) const {
    std::set<ValueId> from_other;
    for (const Op& op : body_) {
      const auto reads_other = [&](ValueId value) { return field_of_.contains(value) && field_of_.at(value) != late; };
      const bool computes = ir::IsProduct(op.code) || (OutlastsOperand(kernel_, product) && !ir::IsPartOrTranspose(op.code));
      const bool begins = computes && std::any_of(op.operands.begin(), op.operands.end(), reads_other);
      const auto follows = [&](ValueId value) { return from_other.contains(value); };
      if (&op == &product) return follows(op.operands[1]);
      if (!begins && std::none_of(op.operands.begin(), op.operands.end(), follows)) continue;
      from_other.insert(op.results.begin(), op.results.end());
      if (op.code == OpCode::kAssign || op.code == OpCode::kAccumulate) from_other.insert(op.operands[0]);
    }
    return false;
  }

  const ir::Kernel& kernel_;
  const Region& body_;
  std::map<ValueId, size_t> field_of_;  // of what is received, and of views of it
};

std::set<size_t> LateIn(const ir::Kernel& kernel, const Region& region, const std::string& pipe, bool is_loop) {
  for (const Op& op : region) {
    if (is_loop && op.code == OpCode::kReceive && op.symbol == pipe) {
      if (std::set<size_t> late = LateFields(kernel, region, op).Find(); !late.empty()) return late;
    }
    for (const Region& inner : op.regions) {
      if (std::set<size_t> late = LateIn(kernel, inner, pipe, op.code == OpCode::kFor); !late.empty()) return late;
    }
  }
  return {};
}

/// Whether what is sent is read from tensors as it is.
bool IsLoaded(const ir::Kernel& kernel, const std::string& pipe) {
  for (const ir::Worker& worker : kernel.workers) {
    std::set<ValueId> reads;
    bool is_loaded = true;
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kRead) reads.insert(op.results[0]);
      if (op.code != OpCode::kSend || op.symbol != pipe) return;
      is_loaded &= std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId value) { return reads.contains(value); });
    });
    if (!is_loaded) return false;
  }
  return true;
}

/// Whether some region sends fields of the pipe one by one, and another one sends others: what fills a slot is then not in one
/// place.
bool AreSentApart(const Region& region, const std::string& pipe, std::set<int64_t>& together) {
  std::set<int64_t> here;
  for (const Op& op : region) {
    if (op.code == OpCode::kSend && op.symbol == pipe && !op.SendsAllFields()) here.insert(op.Field());
    const auto is_apart = [&](const Region& inner) { return AreSentApart(inner, pipe, together); };
    if (std::any_of(op.regions.begin(), op.regions.end(), is_apart)) return true;
  }
  if (here.empty()) return false;
  if (together.empty()) together = here;
  return here != together;
}

class FieldSeparation {
 public:
  FieldSeparation(ir::Kernel& kernel, size_t place, const std::set<size_t>& late) : kernel_(kernel), source_(kernel.pipes[place]) {
    ir::TakenNames used = kernel.UsedNames();
    for (size_t half = 0; half < 2; ++half) {
      ir::Pipe& pipe = halves_[half] = source_;
      pipe.fields.clear();
      if (pipe.fields_of.empty()) pipe.fields_of = source_.name;
      std::string names;
      for (size_t i = 0; i < source_.fields.size(); ++i) {
        if (late.contains(i) != (half == 1)) continue;
        place_[i] = {half, pipe.fields.size()};
        pipe.fields.push_back(source_.fields[i]);
        names += "_" + NameOf(i);
      }
      if (pipe.fields.size() == 1) pipe.fields[0].name.clear();
      pipe.name = used.TakeFree(source_.name + names);
    }
    kernel.pipes[place] = halves_[0];
    kernel.pipes.insert(kernel.pipes.begin() + static_cast<std::ptrdiff_t>(place) + 1, halves_[1]);
  }

  void Rewrite(Region& region) {
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) Rewrite(inner);
      const bool is_traffic = op.code == OpCode::kReceive || op.code == OpCode::kSend;
      if (is_traffic && op.symbol == source_.name)
        InTwo(op, out);
      else
        out.push_back(std::move(op));
    }
    region = std::move(out);
  }

 private:
  struct Place {
    size_t half, field;
  };

  /// As the source calls it, in the pipe or where it is received.
  std::string NameOf(size_t field) const {
    if (!source_.fields[field].name.empty()) return source_.fields[field].name;
    std::string name = std::to_string(field);
    for (const ir::Worker& worker : kernel_.workers) {
      ForEachOp(worker.body, [&](const Op& op) {
        if (op.code == OpCode::kReceive && op.symbol == source_.name) name = kernel_.values[op.results[field]].name;
      });
    }
    return name;
  }

  void InTwo(const Op& op, Region& out) const {
    if (op.code == OpCode::kSend && !op.SendsAllFields()) {
      const Place& place = place_.at(static_cast<size_t>(op.Field()));
      out.push_back(op);
      out.back().symbol = halves_[place.half].name;
      out.back().SetField(static_cast<int64_t>(place.field));
      return;
    }
    for (size_t half = 0; half < 2; ++half) {
      Op own = op;
      own.symbol = halves_[half].name;
      std::vector<ValueId>& values = op.code == OpCode::kSend ? own.operands : own.results;
      const std::vector<ValueId> all = std::exchange(values, {});
      for (size_t i = 0; i < all.size(); ++i) {
        if (place_.at(i).half == half) values.push_back(all[i]);
      }
      out.push_back(std::move(own));
    }
  }

  ir::Kernel& kernel_;
  const ir::Pipe source_;
  ir::Pipe halves_[2];
  std::map<size_t, Place> place_;  // of each field
};

void Separate(ir::Kernel& kernel, size_t place, const std::set<size_t>& late) {
  FieldSeparation separation(kernel, place, late);
  for (ir::Worker& worker : kernel.workers) separation.Rewrite(worker.body);
}

/// A slot is complete in one place, but where a worker's own threads meet for it.
void RefuseScatteredParts(const ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  for (const ir::Pipe& pipe : kernel.pipes) {
    const auto has_traffic = [&](const ir::Worker& worker) {
      return ir::SendsInto(worker.body, pipe.name) || ir::ReceivesFrom(worker.body, pipe.name);
    };
    if (target.folds_copies && std::count_if(kernel.workers.begin(), kernel.workers.end(), has_traffic) == 1) continue;
    for (const ir::Worker& worker : kernel.workers) {
      const Op* part = PartInAnotherBranch(worker, pipe.name);
      if (!part) continue;
      diagnostics
          .Error(DiagnosticKind::kNotImplemented, part->span,
                 fmt::format("parts of one slot of `{}` in several branches are specified, not yet implemented", pipe.SourceName()))
          .Help("put one branch around all parts of the slot, or choose what is sent by `where` or an `if` expression");
      break;
    }
  }
}

}  // namespace

Result<void> SeparateFields(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  for (size_t place = kernel.pipes.size(); place-- > 0;) {
    const ir::Pipe pipe = kernel.pipes[place];
    const bool are_apart = std::any_of(kernel.workers.begin(), kernel.workers.end(), [&](const ir::Worker& worker) {
      std::set<int64_t> together;
      return AreSentApart(worker.body, pipe.name, together);
    });
    for (size_t field = pipe.fields.size(); are_apart && field-- > 1;) Separate(kernel, place, {field});
  }
  const size_t errors = diagnostics.ErrorCount();
  RefuseScatteredParts(kernel, target, diagnostics);
  return diagnostics.ErrorCount() == errors ? Result<void>() : Failure{};
}

Result<void> SeparateLateFields(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (!target.has_matrix_group || kernel.depth == 0) return {};
  for (size_t place = kernel.pipes.size(); place-- > 0;) {
    const ir::Pipe& pipe = kernel.pipes[place];
    if (pipe.fields.size() < 2 || pipe.slots == 1 || !pipe.part_of.empty() || !pipe.per_worker.empty()) continue;
    if (!IsLoaded(kernel, pipe.name)) continue;
    std::set<size_t> late;
    for (const ir::Worker& worker : kernel.workers) late.merge(LateIn(kernel, worker.body, pipe.name, false));
    if (late.empty() || late.size() == pipe.fields.size()) continue;
    Separate(kernel, place, late);
  }
  return {};
}

}  // namespace tkc::passes
