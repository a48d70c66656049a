// SPDX-License-Identifier: MIT
// Control flow, names, variables and the matrix unit. Tile expressions: emit_tile.cpp; shared memory and pipes: emit_memory.cpp.
#include "compiler/codegen/emit_op.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/layout_text.h"
#include "compiler/codegen/mangle.h"
#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/known_ranges.h"
#include "compiler/support/internal_error.h"

namespace tkc::codegen {

using ir::Op;
using ir::OpCode;

OpEmitter::OpEmitter(const ir::Kernel& kernel, const KernelUses& uses, CodeWriter& out, SourceQuoter& quoter,
                     ScalarPrinter& scalars)
    : kernel_(kernel), uses_(uses), out_(out), quoter_(quoter), scalars_(scalars) {
  for (size_t i = 0; i < kernel.buffers.size(); ++i) buffers_.emplace(kernel.buffers[i].name, i);
  for (size_t i = 0; i < kernel.barriers.size(); ++i) barriers_.emplace(kernel.barriers[i].name, i);
}

namespace {

bool IntroducesScalar(const Op& op) { return op.code == OpCode::kFor || (op.code == OpCode::kLet && !op.Is(ir::kChanges)); }

}  // namespace

void OpEmitter::Role(const ir::Worker& role) {
  role_ = &role;
  instance_ = Mangle(InstanceName(kernel_, role));
  names_.clear();
  scalars_in_scope_ = {};
  defined_at_.clear();
  if (!kernel_.numbered_scalars.empty()) {
    ir::ForEachOp(role.body, [&](const Op& op) {
      if (IntroducesScalar(op)) defined_at_.emplace(op.symbol, defined_at_.size());
    });
  }
  taken_ = ScopedNames(kernel_.NamesBesideValues());
  ir::ForEachOp(role.body, [&](const Op& op) {
    for (const ir::ValueId id : op.results) {
      if (kernel_.values[id].IsOfSource()) taken_.Reserve(kernel_.values[id].Base());
    }
  });
  NoteChanges(role);
  NoteRings(role);
  FindHeld(role.body);
  UseLayouts();
  Body(role.body);
}

/// What is not constant in this role.
void OpEmitter::NoteChanges(const ir::Worker& role) {
  changed_.clear();
  changed_scalars_.clear();
  filled_.clear();
  std::vector<const Op*> parts;
  ir::ForEachOp(role.body, [&](const Op& op) {
    if (op.code == OpCode::kLet && op.Is(ir::kChanges)) changed_scalars_.insert(op.symbol);
    const bool is_tied = op.code == OpCode::kMmaFence || op.code == OpCode::kMmaWait;  // these take what may change
    for (const ir::ValueId id : op.operands) {
      if (is_tied || ir::Writes(op, id)) changed_.insert(id);
    }
    if (ir::FillsShared(op.code)) filled_.insert(op.operands[0]);
    if (ir::IsPartOrTranspose(op.code)) parts.push_back(&op);
  });
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (filled_.contains((*part)->results[0])) filled_.insert((*part)->operands[0]);
  }
}

void OpEmitter::NoteRings(const ir::Worker& role) {
  still_rings_.clear();
  waited_rings_.clear();
  ir::ForEachOp(role.body, [&](const Op& op) {
    if (op.code == OpCode::kRing && op.Slots() == 1) still_rings_.insert(op.symbol);  // in front of all that turns it
    if (op.code == OpCode::kAdvance) still_rings_.erase(op.symbol);
    if (op.code == OpCode::kWaitFull || op.code == OpCode::kWaitEmpty) waited_rings_.insert(ir::RingOf(op.Slot()));
  });
}

void OpEmitter::UseLayouts() {
  reshaped_.emplace(kernel_, *role_);
  layouts_.clear();
  ir::ForEachOp(role_->body, [&](const Op& op) {
    for (const ir::ValueId id : op.results) {
      const ir::RegisterLayout* layout = reshaped_->Find(id);
      if (!layout || Layout(id) != "layout") continue;
      const std::string name = taken_.TakeFree(fmt::format("layout_{}", kernel_.TypeOf(id).cols), false);
      layouts_.emplace_back(*layout, name);
      out_.Line(LayoutLine(name, *layout));
    }
  });
}

std::string OpEmitter::Layout(ir::ValueId id) const {
  const ir::RegisterLayout* layout = reshaped_->Find(id);
  for (const auto& [known, name] : layouts_) {
    if (layout && known == *layout) return name;
  }
  return "layout";
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
  const auto [place, is_new] = names_.try_emplace(id);
  const ir::Value& value = kernel_.values[id];
  if (is_new) {
    // A copy for the matrix unit is called as what it copies, if that has no variable of its own.
    std::string_view base = value.Base();
    if (base.ends_with(ir::kOperandSuffix) && !value.is_named && !copies_.contains(id))
      base.remove_suffix(ir::kOperandSuffix.size());
    place->second = Mangle(taken_.TakeFree(std::string(base), value.IsOfSource()));
  }
  return place->second;
}

std::string OpEmitter::Arguments(const Op& op) const {
  std::string text;
  for (const ir::ValueId operand : op.operands) text += ", " + Argument(operand);
  return text;
}

std::string OpEmitter::TileType(ir::ValueId id) const {
  const ir::Type& type = kernel_.TypeOf(id);
  return fmt::format("tk::register_tile<{}, {}, {}, {}>", CppType(type.dtype), type.rows, type.cols, Layout(id));
}

/// Tensor coordinates are ints from which the elements of a block are counted on, up to here. What was computed in 64 bits, or may
/// be any int, may lie further away, and finds nothing then; of what nothing is known, as of numbers of tiles, the grid sees to it.
std::string OpEmitter::Coordinate(const ir::Scalar& scalar) const {
  const std::string text = scalars_.Text(scalar);
  constexpr int64_t kMostOfBlock = 32768;
  if (scalars_.IsWithin(scalar, INT32_MIN + kMostOfBlock, INT32_MAX - kMostOfBlock)) return scalars_.IntText(scalar);
  const bool may_be_far = scalars_.IsWide(scalar) || scalars_.FitsInt(scalar);
  return may_be_far ? fmt::format("tk::coordinate({})", text) : text;
}

std::string OpEmitter::Coordinates(const Op& op, size_t count) const {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += ", " + Coordinate(op.scalars[i]);
  return text;
}

/// Whether an access takes all of a dimension whose extent is a literal, to which the launcher holds the caller.
bool OpEmitter::IsAll(const Op& op, size_t i) const {
  const ir::AxisRange& axis = op.axes[i];
  int64_t start = 1, extent = 0;
  return !axis.lo && !axis.hi && symbolic::IsInt(axis.start, &start) && start == 0 &&
         symbolic::IsInt(ir::FindTensor(kernel_, op.symbol).extents[i], &extent) && extent == axis.extent;
}

/// Whether it reads a tensor whose other elements may be changing, as the grid writes them, or may hold nothing, as a grid before
/// it wrote some of them: no element but those asked for is read then.
bool OpEmitter::ReadsExactly(const Op& op) const {
  const bool reads = op.code == OpCode::kRead || op.code == OpCode::kGather || op.code == OpCode::kReadParts ||
                     op.code == OpCode::kCopyToShared || op.code == OpCode::kCopyAsync;
  return reads && ir::IsWritten(ir::FindTensor(kernel_, op.symbol));
}

std::string OpEmitter::Block(const Op& op) const {
  const bool has_parts = op.code == OpCode::kReadParts || op.code == OpCode::kStoreParts;
  const bool is_chosen = op.code == OpCode::kGather;
  std::string text = is_chosen ? "tk::chosen(" + Mangle(op.symbol) : Mangle(op.symbol) + (has_parts ? ".parts(" : ".block(");
  size_t column = 0;
  for (size_t i = 0; i + has_parts < op.axes.size(); ++i) {
    const ir::AxisRange& axis = op.axes[i];
    if (i || is_chosen) text += ", ";
    if (axis.chosen) {
      text += Argument(op.operands[column++]);
    } else if (axis.dropped) {
      text += fmt::format("tk::{}({})", axis.exists ? "inside" : "at", Coordinate(axis.start));
    } else if (IsAll(op, i)) {
      text += fmt::format("tk::all<{}>()", axis.extent);
    } else if (axis.exists) {
      text += fmt::format("tk::inside<{}>({})", axis.extent, Coordinate(axis.start));
    } else if (axis.lo || axis.hi) {
      const auto end = [&](const ir::Scalar& scalar) {
        return scalars_.IsWide(scalar) ? Coordinate(scalar) : scalars_.Text(scalar);
      };
      text += fmt::format("tk::span({}, {}, {})", Coordinate(axis.start), axis.lo ? end(axis.lo) : "0",
                          axis.hi ? end(axis.hi) : fmt::format("{}.extent[{}]", Mangle(op.symbol), i));
    } else {
      text += fmt::format("tk::span({})", Coordinate(axis.start));
    }
  }
  text += ")";
  if (op.IsTurned()) text = fmt::format("tk::transposed({})", text);
  if (op.axes.back().aligned) text = fmt::format("tk::aligned({})", text);
  return ReadsExactly(op) ? fmt::format("tk::exact({})", text) : text;
}

// ---- statements ------------------------------------------------------------------------------------------------------

namespace {

/// Where the operations end that hand the slot of one statement on, and begin at `begin`; `begin` itself if none does.
size_t EndOfHandOver(const ir::Region& region, size_t begin) {
  size_t end = begin;
  for (size_t i = begin; i < region.size() && region[i].span == region[begin].span; ++i) {
    const OpCode code = region[i].code;
    if (code == OpCode::kArrive || code == OpCode::kAdvance)
      end = i + 1;
    else if (code != OpCode::kComment && code != OpCode::kFenceAsync)
      break;
  }
  return end;
}

}  // namespace

/// Whether a comment of one statement stands before an operation of another one, which is quoted there.
bool OpEmitter::IsOfOther(const ir::Region& region, size_t comment) const {
  size_t next = comment + 1;
  while (next < region.size() && region[next].code == OpCode::kComment) ++next;
  return next < region.size() && !quoter_.SameStatement(region[next].span, region[comment].span);
}

void OpEmitter::Body(const ir::Region& region) {
  FindInlined(region);
  const size_t scope = taken_.BeginScope(), scalars = scalars_in_scope_.BeginScope();
  const int block = quoter_.BeginBlock();
  size_t hand_over = 0;  // ends there
  for (size_t i = 0; i < region.size(); ++i) {
    if (i >= hand_over) hand_over = EndOfHandOver(region, i);
    const Op& op = region[i];
    if (op.code == OpCode::kComment && IsOfOther(region, i)) {
      out_.Comment(EscapeComment(op.symbol));
      continue;
    }
    const size_t around = scalars_in_scope_.BeginScope();
    if (IntroducesScalar(op)) scalars_in_scope_.TakeFree(NameOfScalar(op), true);
    Emit(op, i < hand_over);
    if (op.code == OpCode::kFor) scalars_in_scope_.EndScope(around);
  }
  taken_.EndScope(scope);
  quoter_.EndBlock(block);
  scalars_in_scope_.EndScope(scalars);
}

/// What code calls the scalar that the operation defines: a second one of the source's name has a number only where the first is in
/// scope, or may come to be.
std::string OpEmitter::NameOfScalar(const Op& op) {
  const auto numbered = kernel_.numbered_scalars.find(op.symbol);
  if (numbered == kernel_.numbered_scalars.end()) return op.symbol;
  const std::string& first = numbered->second;
  const bool is_behind = defined_at_.contains(first) && defined_at_.at(first) < defined_at_.at(op.symbol);
  const std::string& called = is_behind && !scalars_in_scope_.IsInScope(first) ? first : op.symbol;
  scalars_.CallName(op.symbol, called);
  return called;
}

void OpEmitter::Quote(const Op& op) {
  for (const Span span : op.joined) quoter_.AtIfNotYet(span);
  Quote(op.span);
}

void OpEmitter::Emit(const Op& op, bool hands_over) {
  if (IsUnusedScalar(op, uses_.names_of.at(role_)) || (op.code == OpCode::kRing && still_rings_.contains(op.symbol))) return;
  if (const CppExpr expr = Expression(op); !expr.text.empty()) return Define(op, expr);
  // A slot goes back amid another statement, where its last reader is done. Its receive was quoted where it was.
  if (hands_over)
    quoter_.Amid(op.span);
  else
    Quote(op);
  const bool is_known = EmitControl(op) || EmitTile(op) || EmitShared(op) || EmitCopy(op) || EmitMeeting(op) || EmitPipe(op);
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
  const std::string_view type = op.code != OpCode::kView ? "const auto" : filled_.contains(id) ? "auto&" : "const auto&";
  out_.Line(fmt::format("{} {} = {};", type, Name(id), expr.text));
}

void OpEmitter::Let(const Op& op) {
  const ir::Scalar& value = op.scalars[0];
  const std::string name = scalars_.NameOf(op.symbol);
  const std::string text = scalars_.Text(value);
  if (op.Is(ir::kChanges)) return out_.Line(fmt::format("{} = {};", name, text));
  const bool is_const = !changed_scalars_.contains(op.symbol);
  const bool is_integer = value->dtype == DType::kI64 || value->dtype == DType::kI32;
  const bool stays = op.Is(ir::kStays);
  const bool is_narrowed = is_integer && stays && scalars_.FitsInt(value);
  const bool is_wide = is_integer && !is_narrowed && (!stays || scalars_.IsWide(value));  // what it changes to is not known
  const std::string_view type = is_wide ? "tk::index" : is_narrowed ? "int" : scalars_.TypeOf(value);
  out_.Line(fmt::format("{}{} {} = {};", is_const ? "const " : "", type, name, is_narrowed ? scalars_.IntText(value) : text));
  if (!is_integer) return;
  if (is_wide) scalars_.AddWide(op.symbol);
  if (stays && scalars_.IsNonNegative(value)) scalars_.AddNonNegative(op.symbol);
  scalars_.AddExtent(op.symbol);
  const bool is_axis = std::ranges::any_of(kernel_.axes, [&](const ir::GridAxis& axis) { return axis.name == op.symbol; });
  if (!is_axis) scalars_.Ranges().Define(op.symbol, value, !stays);
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

void OpEmitter::ForTiles(const Op& op) {
  const std::string name = Mangle(op.symbol), whose = Mangle(op.WhoseTurn());
  std::string begin = fmt::format("int {} = {}", name, scalars_.Text(op.scalars[0]));
  std::string next;  // the body says it where tiles are drawn
  if (op.scalars.size() > 2) {
    const std::string stride = scalars_.Text(op.scalars[2]);
    next = kernel_.is_uneven ? fmt::format(" {} = tk::there_and_back({}, {})", name, name, stride)
                             : fmt::format(" {} += {}", name, stride);
  }
  if (op.TakesTurns()) {
    begin += fmt::format(", {} = 0", whose);
    next += fmt::format("{} {} = ({} + 1) % {}", next.empty() ? "" : ",", whose, whose, op.Turns());
    scalars_.AddNonNegative(op.WhoseTurn());
  }
  const std::string end = scalars_.Expr(op.scalars[1]).Within(CppExpr::kAdd);
  Loop(op, fmt::format("for ({}; {} < {};{})", begin, name, end, next), true);
}

void OpEmitter::For(const Op& op) {
  const std::string name = scalars_.NameOf(op.symbol);
  const ir::Scalar &lo = op.scalars[0], &hi = op.scalars[1];
  using symbolic::IntRange;
  const IntRange first = scalars_.Ranges().Of(lo), end = scalars_.Ranges().Of(hi);
  const bool has_end = end.hi != IntRange::kMost;
  // The step that ends the loop has to fit, too.
  const int64_t most = INT32_MAX - op.Step() + 1;
  const bool fits = scalars_.FitsInt(lo) && end.hi <= most;
  const bool is_wide = !fits && (scalars_.IsWide(lo) || scalars_.IsWide(hi) || (has_end && end.hi > most));
  if (is_wide) scalars_.AddWide(op.symbol);
  scalars_.AddExtent(op.symbol);
  scalars_.Ranges().DefineWithin(op.symbol, {first.lo, has_end ? std::max(first.lo, end.hi - 1) : IntRange::kMost});
  const std::string step = op.Step() == 1 ? "++" + name : fmt::format("{} += {}", name, op.Step());
  Loop(op,
       fmt::format("for ({} {} = {}; {} < {}; {})", is_wide ? "tk::index" : "int", name,
                   is_wide ? scalars_.Text(lo) : scalars_.IntText(lo), name, scalars_.Expr(hi).Within(CppExpr::kAdd), step),
       scalars_.IsNonNegative(lo));
}

bool OpEmitter::EmitControl(const Op& op) {
  const std::string name = Mangle(op.symbol);
  switch (op.code) {
    case OpCode::kLet: Let(op); return true;
    case OpCode::kTest:
      out_.Line(fmt::format("const bool {} = tk::warpgroup::holds({});", name, Argument(op.operands[0])));
      return true;
    case OpCode::kFor: {
      For(op);
      return true;
    }
    case OpCode::kForTiles: ForTiles(op); return true;
    case OpCode::kUnroll:
      scalars_.Ranges().DefineWithin(op.symbol, {0, op.Trips() - 1});
      out_.Line("TK_UNROLL");
      Loop(op, fmt::format("for (int {} = 0; {} < {}; ++{})", name, name, op.Trips(), name), true);
      return true;
    case OpCode::kTilePosition: {
      const auto [row, col] = ir::NamesOfPosition(op);
      out_.Line(fmt::format("const auto [{}, {}] = tk::grouped_order({}, {}, {}, {});", Mangle(row), Mangle(col),
                            scalars_.Text(op.scalars[0]), scalars_.Text(op.scalars[1]), scalars_.Text(op.scalars[2]), op.Group()));
      scalars_.AddNonNegative(row);
      scalars_.AddNonNegative(col);
      return true;
    }
    case OpCode::kIf: If(op); return true;
    case OpCode::kIfElected: {
      const size_t mark = out_.Mark();
      out_.Open(op.Is(ir::kOfWarpgroup) ? "if (tk::warpgroup::thread() == 0)" : "if (tk::warp::elect())");
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
      if (!op.operands.empty() && !expressions_.contains(op.operands[0])) copies_.insert(op.results[0]);
      const std::string name = Name(op.results[0]);
      if (op.operands.empty())
        out_.Line(fmt::format("{} {};", TileType(op.results[0]), name));
      else if (op.Is(ir::kOwnRegisters))
        out_.Line(fmt::format("auto {} = tk::warpgroup::own_copy({});", name, Argument(op.operands[0])));
      else
        out_.Line(fmt::format("{}auto {} = {};", changed_.contains(op.results[0]) ? "" : "const ", name, Argument(op.operands[0])));
      return true;
    }
    case OpCode::kAssign: out_.Line(fmt::format("{} = {};", Argument(op.operands[0]), Argument(op.operands[1]))); return true;
    case OpCode::kAssignPart:
      out_.Line(fmt::format("tk::assign_part({}, {}, {}, {});", Argument(op.operands[0]), Argument(op.operands[1]),
                            scalars_.Text(op.scalars[0]), scalars_.Text(op.scalars[1])));
      return true;
    case OpCode::kStore: {
      constexpr std::string_view kNames[] = {"store", "add", "max", "min"};
      out_.Line(fmt::format("tk::warpgroup::{}({}, {});", kNames[static_cast<size_t>(op.As<typed::StoreOp>())], Block(op),
                            Argument(op.operands[0])));
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
        out_.Line(fmt::format("tk::warpgroup::mma_wait<{}>({});", op.Unfinished(), tiles));
      return true;
    }
    case OpCode::kMma: {
      constexpr std::string_view kNames[] = {"mma", "mma_subtract", "mma_zero"};
      out_.Line(fmt::format("tk::warpgroup::{}({}, {}, {});", kNames[op.As<ir::ProductInto>()], Argument(op.operands[0]),
                            Argument(op.operands[1]), Argument(op.operands[2])));
      return true;
    }
    case OpCode::kMultiply: {
      constexpr std::string_view kNames[] = {"multiply", "multiply_subtract", "multiply_zero"};
      out_.Line(fmt::format("tk::warpgroup::{}({}, {}, {});", kNames[op.As<ir::ProductInto>()], Argument(op.operands[0]),
                            Argument(op.operands[1]), Argument(op.operands[2])));
      return true;
    }
    case OpCode::kMmaCommit: out_.Line("tk::warpgroup::mma_commit();"); return true;
    case OpCode::kSplitSend: {
      Op full = op;
      full.symbol = ir::SharesBarrier(op.symbol);
      out_.Line(fmt::format("tk::split::send<{}>({}, {}, tk::cluster::rank(), {});", op.Blocks(), Buffer(op.symbol),
                            Argument(op.operands[0]), Barrier(full)));
      return true;
    }
    case OpCode::kSplitWait: out_.Line(fmt::format("tk::wait({}, /*parity=*/0);", Barrier(op))); return true;
    default: return false;
  }
}

}  // namespace tkc::codegen
