// SPDX-License-Identifier: MIT
// Control flow, names, and the operations of the matrix unit, shared memory and pipes. Tile expressions: emit_tile.cpp.
#include "compiler/codegen/emit_op.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/mangle.h"
#include "compiler/passes/walk.h"
#include "compiler/support/internal_error.h"
#include "compiler/target/target.h"

namespace tkc::codegen {

using ir::Op;
using ir::OpCode;

OpEmitter::OpEmitter(const ir::Kernel& kernel, const KernelUses& uses, CodeWriter& out, SourceQuoter& quoter,
                     ScalarPrinter& scalars)
    : kernel_(kernel), uses_(uses), out_(out), quoter_(quoter), scalars_(scalars) {
  for (size_t i = 0; i < kernel.buffers.size(); ++i) buffers_.emplace(kernel.buffers[i].name, i);
  for (size_t i = 0; i < kernel.barriers.size(); ++i) barriers_.emplace(kernel.barriers[i].name, i);
}

void OpEmitter::Role(const ir::Worker& role) {
  role_ = &role;
  instance_ = Mangle(InstanceName(kernel_, role));
  names_.clear();
  changed_.clear();
  changed_scalars_.clear();
  taken_ = kernel_.NamesBesideValues();
  passes::ForEachOp(role.body, [&](const Op& op) {
    if (op.code == OpCode::kLet && op.number == 2) changed_scalars_.insert(op.symbol);
    const bool is_tied = op.code == OpCode::kMmaFence || op.code == OpCode::kMmaWait;  // these take what may change
    for (const ir::ValueId id : op.operands) {
      if (is_tied || passes::Writes(op, id)) changed_.insert(id);
    }
    for (const ir::ValueId id : op.results) {
      if (kernel_.values[id].base.empty()) taken_.insert(kernel_.values[id].name);
    }
  });
  Body(role.body);
}

/// What comes from the kernel or the worker as a whole stands under their own lines already.
void OpEmitter::Quote(Span span) {
  if (span != kernel_.span && span != role_->span) quoter_.At(span);
}

// ---- names -----------------------------------------------------------------------------------------------------------

CppExpr OpEmitter::Value(ir::ValueId id) const {
  const auto found = expressions_.find(id);
  return found != expressions_.end() ? found->second : CppExpr{Name(id)};
}

std::string OpEmitter::Name(ir::ValueId id) const {
  const ir::Value& value = kernel_.values[id];
  if (value.base.empty()) return Mangle(value.name);
  const auto [place, is_new] = names_.try_emplace(id);
  if (is_new) {
    place->second = ir::FreeName(taken_, value.base);
    taken_.insert(place->second);
  }
  return Mangle(place->second);
}

std::string OpEmitter::Arguments(const Op& op) const {
  std::string text;
  for (const ir::ValueId operand : op.operands) text += ", " + Argument(operand);
  return text;
}

std::string OpEmitter::TileType(const ir::Type& type) const {
  return fmt::format("tk::register_tile<{}, {}, {}, layout>", CppType(type.dtype), type.rows, type.cols);
}

namespace {
/// Of "+2" or "+stage".
std::string AheadOf(const std::string& place) {
  const std::string ahead = place.substr(1);
  return ahead.find_first_not_of("0123456789") == std::string::npos ? ahead : Mangle(ahead);
}
}  // namespace

/// `array[slot]`: the element that `op.slot` (or the scalar at `scalar`) names; just `array` where there is only one.
std::string OpEmitter::Element(const std::string& array, int64_t count, const Op& op, size_t scalar) const {
  if (count <= 1) return array;
  if (op.slot.empty()) {
    Ensure(op.scalars.size() > scalar, "an element of an array without an index", op.span);
    return fmt::format("{}[{}]", array, scalars_.Text(op.scalars[scalar]));
  }
  const std::string ring = ir::RingOf(op.slot), place = op.slot.substr(ring.size());
  if (!uses_.rings.contains(ring)) return fmt::format("{}[{}]", array, Mangle(op.slot));
  if (place.empty() || place[0] == '.') return fmt::format("{}[{}.{}]", array, Mangle(ring), place.empty() ? "slot" : "previous()");
  return fmt::format("{}[{}.ahead({})]", array, Mangle(ring), AheadOf(place));
}

std::string OpEmitter::Barrier(const Op& op, size_t scalar) const {
  const auto found = barriers_.find(op.symbol);
  Ensure(found != barriers_.end(), "no barrier of this name: " + op.symbol, op.span);
  return Element("shared." + Mangle(op.symbol), kernel_.barriers[found->second].count, op, scalar);
}

/// The buffer, or the set of this worker instance.
std::string OpEmitter::Buffer(const std::string& name) const {
  const auto found = buffers_.find(name);
  Ensure(found != buffers_.end(), "no buffer of this name: " + name);
  const bool is_set = kernel_.buffers[found->second].instances > 1;
  return "shared." + Mangle(name) + (is_set ? fmt::format("[{}]", instance_) : "");
}

/// The barrier in shared memory of this instance's warps.
std::string OpEmitter::WarpsMeet() const {
  const std::string name = "shared." + Mangle(role_->warps_meet);
  return role_->instances > 1 ? fmt::format("{}[{}]", name, instance_) : name;
}

/// The role's: how many, and from which of the block on.
std::string OpEmitter::CopyingThreads() const {
  const Target* target = FindTarget(kernel_.target);
  const int64_t lanes = target ? target->lanes : 32, threads = role_->instances * 4 * lanes;
  return role_->first_warp == 0 ? fmt::format("{}", threads) : fmt::format("{}, {}", threads, role_->first_warp * lanes);
}

/// Tensor coordinates are ints. What was computed as 64 bits may lie further away than an int reaches, and finds nothing then.
std::string OpEmitter::Coordinate(const ir::Scalar& scalar) const {
  const std::string text = scalars_.Text(scalar);
  return scalars_.IsWide(scalar) ? fmt::format("tk::coordinate({})", text) : text;
}

std::string OpEmitter::Coordinates(const Op& op, size_t count) const {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += ", " + Coordinate(op.scalars[i]);
  return text;
}

/// Whether an access takes all of a dimension whose extent is a literal, to which the launcher holds the caller.
bool OpEmitter::IsAll(const Op& op, size_t i) const {
  const ir::AxisRange& axis = op.axes[i];
  const auto tensor =
      std::find_if(kernel_.tensors.begin(), kernel_.tensors.end(), [&](const ir::TensorParam& t) { return t.name == op.symbol; });
  int64_t start = 1, extent = 0;
  return tensor != kernel_.tensors.end() && !axis.lo && !axis.hi && symbolic::IsInt(axis.start, &start) && start == 0 &&
         symbolic::IsInt(tensor->extents[i], &extent) && extent == axis.extent;
}

std::string OpEmitter::Block(const Op& op) const {
  const bool has_parts = op.code == OpCode::kReadParts || op.code == OpCode::kStoreParts;
  std::string text = Mangle(op.symbol) + (has_parts ? ".parts(" : ".block(");
  for (size_t i = 0; i + has_parts < op.axes.size(); ++i) {
    const ir::AxisRange& axis = op.axes[i];
    if (i) text += ", ";
    if (axis.dropped) {
      text += fmt::format("tk::{}({})", axis.exists ? "inside" : "at", Coordinate(axis.start));
    } else if (IsAll(op, i)) {
      text += fmt::format("tk::all<{}>()", axis.extent);
    } else if (axis.exists) {
      text += fmt::format("tk::inside<{}>({})", axis.extent, Coordinate(axis.start));
    } else if (axis.lo || axis.hi) {
      text += fmt::format("tk::span({}, {}, {})", Coordinate(axis.start), axis.lo ? Coordinate(axis.lo) : "0",
                          axis.hi ? Coordinate(axis.hi) : fmt::format("{}.extent[{}]", Mangle(op.symbol), i));
    } else {
      text += fmt::format("tk::span({})", Coordinate(axis.start));
    }
  }
  text += ")";
  if (op.slot == "transposed") text = fmt::format("tk::transposed({})", text);
  return op.axes.back().aligned ? fmt::format("tk::aligned({})", text) : text;
}

// ---- statements ------------------------------------------------------------------------------------------------------

void OpEmitter::Body(const ir::Region& region) {
  FindInlined(region);
  for (const Op& op : region) Emit(op);
}

void OpEmitter::Emit(const Op& op) {
  const bool is_unused_let = op.code == OpCode::kLet && op.number == 0 && !uses_.names_of.at(role_).contains(op.symbol);
  if (is_unused_let) return;
  if (const CppExpr expr = Expression(op); !expr.text.empty()) return Define(op, expr);
  Quote(op.span);
  const bool is_known = EmitControl(op) || EmitTile(op) || EmitShared(op) || EmitPipe(op);
  Ensure(is_known, fmt::format("`{}` can't be printed", ir::OpText(op.code)), op.span);
}

/// Expressions that grow beyond half a line get a name even if they are used once.
void OpEmitter::Define(const Op& op, CppExpr expr) {
  constexpr size_t kInlineLength = 88;
  const ir::ValueId id = op.results[0];
  if (uses_.values[id] == 0) return;
  if (held_.contains(id) || (inlined_.contains(id) && expr.text.size() <= kInlineLength)) {
    expressions_[id] = std::move(expr);
    return;
  }
  Quote(op.span);
  const bool is_view = op.code == OpCode::kView;
  out_.Line(fmt::format("const auto{} {} = {};", is_view ? "&" : "", Name(id), expr.text));
}

void OpEmitter::Let(const Op& op) {
  const ir::Scalar& value = op.scalars[0];
  const std::string name = Mangle(op.symbol);
  const std::string text = scalars_.Text(value);
  if (op.number == 2) return out_.Line(fmt::format("{} = {};", name, text));
  const bool is_const = !changed_scalars_.contains(op.symbol);
  out_.Line(fmt::format("{}{} {} = {};", is_const ? "const " : "", scalars_.TypeOf(value), name, text));
  if (value->dtype != DType::kI64 && value->dtype != DType::kI32) return;
  if (scalars_.IsWide(value)) scalars_.AddWide(op.symbol);
  if (op.number == 0 && scalars_.IsNonNegative(value)) scalars_.AddNonNegative(op.symbol);
  scalars_.AddExtent(op.symbol);
}

void OpEmitter::Loop(const Op& op, const std::string& head, bool starts_non_negative) {
  if (starts_non_negative) scalars_.AddNonNegative(op.symbol);
  out_.Open(head);
  Body(op.regions[0]);
  out_.Close();
}

void OpEmitter::If(const Op& op) {
  const size_t mark = out_.Mark();
  if (op.regions[0].empty() && op.regions.size() > 1 && !op.regions[1].empty()) {
    out_.Open(fmt::format("if ({})", CppExpr{"!" + scalars_.Expr(op.scalars[0]).Within(CppExpr::kUnary)}.text));
    Body(op.regions[1]);
    out_.Close();
    return out_.OneLine(mark);
  }
  out_.Open(fmt::format("if ({})", scalars_.Text(op.scalars[0])));
  Body(op.regions[0]);
  if (op.regions.size() > 1 && !op.regions[1].empty()) {
    out_.Turn("else");
    Body(op.regions[1]);
    return out_.Close();
  }
  out_.Close();
  out_.OneLine(mark);
}

bool OpEmitter::EmitControl(const Op& op) {
  const std::string name = Mangle(op.symbol);
  switch (op.code) {
    case OpCode::kLet: Let(op); return true;
    case OpCode::kFor: {
      const bool is_wide = scalars_.IsWide(op.scalars[0]) || scalars_.IsWide(op.scalars[1]);
      if (is_wide) scalars_.AddWide(op.symbol);
      scalars_.AddExtent(op.symbol);
      const std::string step = op.number == 1 ? "++" + name : fmt::format("{} += {}", name, op.number);
      Loop(op,
           fmt::format("for ({} {} = {}; {} < {}; {})", is_wide ? "tk::index" : "int", name, scalars_.Text(op.scalars[0]), name,
                       scalars_.Expr(op.scalars[1]).Within(CppExpr::kAdd), step),
           scalars_.IsNonNegative(op.scalars[0]));
      return true;
    }
    case OpCode::kForTiles:
      Loop(op,
           fmt::format("for (int {} = {}; {} < {}; {} += {})", name, scalars_.Text(op.scalars[0]), name,
                       scalars_.Expr(op.scalars[1]).Within(CppExpr::kAdd), name, scalars_.Text(op.scalars[2])),
           true);
      return true;
    case OpCode::kUnroll:
      out_.Line("TK_UNROLL");
      Loop(op, fmt::format("for (int {} = 0; {} < {}; ++{})", name, name, op.number, name), true);
      return true;
    case OpCode::kTilePosition: {
      const size_t space = op.symbol.find(' ');
      const std::string row = op.symbol.substr(0, space), col = op.symbol.substr(space + 1);
      out_.Line(fmt::format("const auto [{}, {}] = tk::grouped_order({}, {}, {}, {});", Mangle(row), Mangle(col),
                            scalars_.Text(op.scalars[0]), scalars_.Text(op.scalars[1]), scalars_.Text(op.scalars[2]), op.number));
      scalars_.AddNonNegative(row);
      scalars_.AddNonNegative(col);
      return true;
    }
    case OpCode::kIf: If(op); return true;
    case OpCode::kIfElected: {
      const size_t mark = out_.Mark();
      out_.Open(op.number == 0 ? "if (tk::warpgroup::thread() == 0)" : "if (tk::warp::elect())");
      Body(op.regions[0]);
      out_.Close();
      out_.OneLine(mark);
      return true;
    }
    case OpCode::kComment: out_.Comment(EscapeComment(op.symbol)); return true;
    default: return false;
  }
}

bool OpEmitter::EmitTile(const Op& op) {
  switch (op.code) {
    case OpCode::kVar: {
      const std::string name = Name(op.results[0]);
      if (op.operands.empty())
        out_.Line(fmt::format("{} {};", TileType(TypeOf(op.results[0])), name));
      else
        out_.Line(fmt::format("{}auto {} = {};", changed_.contains(op.results[0]) ? "" : "const ", name, Argument(op.operands[0])));
      return true;
    }
    case OpCode::kAssign: out_.Line(fmt::format("{} = {};", Argument(op.operands[0]), Argument(op.operands[1]))); return true;
    case OpCode::kAssignPart:
      out_.Line(fmt::format("tk::assign_columns({}, {}, {});", Argument(op.operands[0]), Argument(op.operands[1]),
                            scalars_.Text(op.scalars[1])));
      return true;
    case OpCode::kStore: {
      constexpr std::string_view kNames[] = {"store", "add", "max", "min"};
      out_.Line(fmt::format("tk::warpgroup::{}({}, {});", kNames[op.number], Block(op), Argument(op.operands[0])));
      return true;
    }
    case OpCode::kReadParts: ReadParts(op); return true;
    case OpCode::kStoreParts: out_.Line(fmt::format("tk::warpgroup::store_parts({}{});", Block(op), Arguments(op))); return true;
    case OpCode::kMmaFence:
    case OpCode::kMmaWait: {
      // The tiles named are those that ordinary code touched before, or reads next.
      std::string tiles;
      for (size_t i = 0; i < op.operands.size(); ++i) tiles += (i ? ", " : "") + Argument(op.operands[i]);
      if (op.code == OpCode::kMmaFence)
        out_.Line(fmt::format("tk::warpgroup::mma_fence({});", tiles));
      else
        out_.Line(fmt::format("tk::warpgroup::mma_wait<{}>({});", op.number, tiles));
      return true;
    }
    case OpCode::kMma: {
      constexpr std::string_view kNames[] = {"mma", "mma_subtract", "mma_zero"};
      out_.Line(fmt::format("tk::warpgroup::{}({}, {}, {});", kNames[op.number], Argument(op.operands[0]), Argument(op.operands[1]),
                            Argument(op.operands[2])));
      return true;
    }
    case OpCode::kMultiply: {
      constexpr std::string_view kNames[] = {"multiply", "multiply_subtract", "multiply_zero"};
      out_.Line(fmt::format("tk::warpgroup::{}({}, {}, {});", kNames[op.number], Argument(op.operands[0]), Argument(op.operands[1]),
                            Argument(op.operands[2])));
      return true;
    }
    case OpCode::kMmaCommit: out_.Line("tk::warpgroup::mma_commit();"); return true;
    case OpCode::kSplitPublish: {
      Op ready = op;
      ready.symbol = op.symbol + "_ready";
      out_.Line(fmt::format("tk::split::publish<{}>({}, {}, {});", op.number, Buffer(op.symbol), Argument(op.operands[0]),
                            Barrier(ready)));
      return true;
    }
    case OpCode::kSplitWait: out_.Line(fmt::format("tk::wait_published({}, 0);", Barrier(op))); return true;
    default: return false;
  }
}

bool OpEmitter::EmitShared(const Op& op) {
  switch (op.code) {
    case OpCode::kStoreShared:
      out_.Line(fmt::format("tk::warpgroup::store_shared({}, {});", Argument(op.operands[0]), Argument(op.operands[1])));
      return true;
    case OpCode::kStoreCluster:
      out_.Line(fmt::format("tk::warpgroup::store_cluster<{}>({}, {}, {});", op.number, Argument(op.operands[0]),
                            Argument(op.operands[1]), Barrier(op)));
      return true;
    case OpCode::kCopyToShared: {
      if (op.operands.size() == 2) {
        out_.Line(fmt::format("tk::block::put<{}>({}, {});", kernel_.threads, Argument(op.operands[0]), Argument(op.operands[1])));
        return true;
      }
      const std::string fill = op.scalars.empty() || !op.scalars[0] ? "" : ", " + scalars_.Text(op.scalars[0]);
      const std::string scope = op.number == 0 ? "warpgroup" : op.number == 1 ? "warp" : "block";
      const std::string threads = op.number == 2 ? fmt::format("<{}>", CopyingThreads()) : "";
      out_.Line(
          fmt::format("tk::{}::copy_global_to_shared{}({}, {}{});", scope, threads, Argument(op.operands[0]), Block(op), fill));
      return true;
    }
    case OpCode::kPieces: {
      const bool is_array = kernel_.buffers[buffers_.find(op.slot)->second].count > 1;
      Op block = op;
      block.slot.clear();
      out_.Line(fmt::format("auto {} = tk::block::pieces<{}>({}{}, {});", Name(op.results[0]), CopyingThreads(), Buffer(op.slot),
                            is_array ? "[0]" : "", Block(block)));
      return true;
    }
    case OpCode::kMovePieces:
      out_.Line(
          fmt::format("{}.move({}, {});", Argument(op.operands[0]), scalars_.Text(op.scalars[0]), scalars_.Text(op.scalars[1])));
      return true;
    case OpCode::kCopyAsync:
      if (op.operands.size() == 2) {
        out_.Line(fmt::format("tk::block::copy_pieces<{}>({}, {});", CopyingThreads(), Argument(op.operands[0]),
                              Argument(op.operands[1])));
        return true;
      }
      out_.Line(fmt::format("tk::block::copy_{}<{}>({}, {});", op.number == 1 ? "pieces" : "async", CopyingThreads(),
                            Argument(op.operands[0]), Block(op)));
      return true;
    case OpCode::kFetch: {
      const ir::Type& type = kernel_.values[op.results[0]].type;
      Op block = op;
      block.slot.clear();
      out_.Line(fmt::format("const auto {} = tk::block::fetch{}<{}, {}, {}>({});", Name(op.results[0]),
                            op.slot.empty() ? "" : "_turned", kernel_.threads, type.rows, type.cols, Block(block)));
      return true;
    }
    case OpCode::kCommitCopies: out_.Line("tk::commit_copies();"); return true;
    case OpCode::kWaitCopies: out_.Line(fmt::format("tk::wait_copies<{}>();", op.number)); return true;
    case OpCode::kSyncBlock: out_.Line("tk::block::sync();"); return true;
    case OpCode::kPriority: out_.Line(fmt::format("tk::warp::set_priority<{}>();", op.number)); return true;
    case OpCode::kCopyToGlobal:
      out_.Line(fmt::format("tk::warpgroup::copy_shared_to_global({}, {});", Block(op), Argument(op.operands[0])));
      return true;
    case OpCode::kFenceAsync: out_.Line("tk::fence_async_proxy();"); return true;
    case OpCode::kSyncRole:
      if (op.number == 1) {
        out_.Line("tk::warp::sync();");
      } else if (!role_->warps_meet.empty()) {
        out_.Line(fmt::format("tk::warp::meet({});", WarpsMeet()));
      } else {
        const std::string id = op.scalars.empty() ? "" : scalars_.Text(symbolic::Add(symbolic::Int(1), op.scalars[0]));
        out_.Line(fmt::format("tk::warpgroup::sync({});", id));
      }
      return true;
    case OpCode::kNamedSync:
      if (!role_->all_meet.empty()) {
        out_.Line(fmt::format("tk::warp::meet(shared.{});", Mangle(role_->all_meet)));
        return true;
      }
      [[fallthrough]];
    case OpCode::kNamedArrive:
      out_.Line(fmt::format("tk::named_barrier_{}({}, {});", op.code == OpCode::kNamedSync ? "sync" : "arrive",
                            scalars_.Text(op.scalars[0]), op.number));
      return true;
    case OpCode::kClusterWait: out_.Line("tk::cluster::wait();"); return true;
    case OpCode::kClusterSync: out_.Line("tk::cluster::sync();"); return true;
    case OpCode::kStoreAsync:
      out_.Line(fmt::format("tk::store_async({}, {}{});", Mangle(op.symbol), Argument(op.operands[0]),
                            Coordinates(op, op.scalars.size())));
      return true;
    case OpCode::kCommitStores: out_.Line("tk::commit_stores();"); return true;
    case OpCode::kWaitStores:
      out_.Line(fmt::format("tk::wait_stores{}<{}>();", op.slot == "done" ? "" : "_read", op.number));
      return true;
    default: return false;
  }
}

bool OpEmitter::EmitPipe(const Op& op) {
  switch (op.code) {
    case OpCode::kRing: out_.Line(fmt::format("tk::ring<{}> {};", op.number, Mangle(op.symbol))); return true;
    case OpCode::kAdvance:
      if (op.scalars.empty())
        out_.Line(fmt::format("{}.advance();", Mangle(op.symbol)));
      else
        out_.Line(fmt::format("{}.skip({});", Mangle(op.symbol), Coordinate(op.scalars[0])));
      return true;
    case OpCode::kWaitFull:
    case OpCode::kWaitEmpty: {
      const std::string ring = ir::RingOf(op.slot), place = op.slot.substr(ring.size());
      Ensure(uses_.rings.contains(ring), "a wait needs a ring's phase", op.span);
      const std::string phase = place.empty()     ? ".phase"
                                : place[0] == '.' ? ".phase_of_previous()"
                                                  : fmt::format(".phase_ahead({})", AheadOf(place));
      const std::string_view wait = uses_.remote.contains(op.symbol) ? "wait_cluster" : "wait";
      out_.Line(
          fmt::format("tk::{}({}, {}{}{});", wait, Barrier(op), Mangle(ring), phase, op.code == OpCode::kWaitEmpty ? " ^ 1" : ""));
      return true;
    }
    case OpCode::kExpect: out_.Line(fmt::format("tk::expect_bytes({}, {});", Barrier(op), op.number)); return true;
    case OpCode::kArrive:
      if (op.number == 2) {
        out_.Line(fmt::format("tk::warp::arrive_cluster({}, {});", Barrier(op), kernel_.cluster));
      } else {
        out_.Line(fmt::format("tk::{}arrive({});", op.number == 0 ? "warp::" : "", Barrier(op)));
      }
      return true;
    case OpCode::kLoadAsync:
    case OpCode::kLoadMulticast: {
      const bool is_multicast = op.code == OpCode::kLoadMulticast;
      const size_t coordinates = op.scalars.size() - (is_multicast ? 1 : 0);
      Op full;  // the barrier is named by its number
      full.symbol = kernel_.barriers[static_cast<size_t>(op.number)].name;
      full.slot = op.slot;
      full.span = op.span;
      const std::string mask = is_multicast ? ", " + scalars_.Text(op.scalars.back()) : "";
      out_.Line(fmt::format("tk::{}({}, {}, {}{}{});", is_multicast ? "load_multicast" : "load_async", Argument(op.operands[0]),
                            Mangle(op.symbol), Barrier(full), mask, Coordinates(op, coordinates)));
      return true;
    }
    default: return false;
  }
}

}  // namespace tkc::codegen
