// SPDX-License-Identifier: MIT
// Tile expressions: operators and functions of the runtime on register tiles, and views of shared memory.
#include <fmt/format.h>

#include "compiler/codegen/emit_op.h"
#include "compiler/codegen/mangle.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/op_words.h"
#include "compiler/ir/queries.h"
#include "compiler/support/internal_error.h"
#include "compiler/target/target.h"

namespace tkc::codegen {

using ir::Op;
using ir::OpCode;

bool IsPure(const Op& op) {
  if (ir::ReducesOrScans(op.code)) return op.symbol.empty();  // where there is scratch the warps meet
  if (ir::ComputesElements(op.code) || ir::IsPartOrTranspose(op.code)) return true;
  switch (op.code) {
    case OpCode::kCat:
    case OpCode::kReshape:
    case OpCode::kAligned:
    case OpCode::kReduceOwn:
    case OpCode::kView:
    case OpCode::kRead:
    case OpCode::kGather:
    case OpCode::kLoadShared: return true;
    default: return false;
  }
}

namespace {

struct Operator {
  std::string_view text;  // an infix operator, or a function of the runtime
  int precedence = 0;     // 0: a function
};

Operator BinaryOperator(typed::Op op, bool is_integer) {
  using typed::Op;
  switch (op) {
    case Op::kAdd: return {"+", CppExpr::kAdd};
    case Op::kSub: return {"-", CppExpr::kAdd};
    case Op::kMul: return {"*", CppExpr::kMul};
    case Op::kDiv: return is_integer ? Operator{"floor_div"} : Operator{"/", CppExpr::kMul};
    case Op::kMod: return {"floor_mod"};
    case Op::kEq: return {"==", CppExpr::kEquality};
    case Op::kNe: return {"!=", CppExpr::kEquality};
    case Op::kLt: return {"<", CppExpr::kRelation};
    case Op::kLe: return {"<=", CppExpr::kRelation};
    case Op::kGt: return {">", CppExpr::kRelation};
    case Op::kGe: return {">=", CppExpr::kRelation};
    case Op::kAnd: return {"&", CppExpr::kBitAnd};
    case Op::kOr: return {"|", CppExpr::kBitOr};
    case Op::kMin: return {"min"};
    case Op::kMax: return {"max"};
    case Op::kPow: return {"pow"};
    case Op::kRandom: return {"random"};
    default: InternalError("not a binary operator of tiles");
  }
}

std::string_view ReduceName(typed::Op op) {
  using typed::Op;
  switch (op) {
    case Op::kAdd: return "sum";
    case Op::kMax: return "max";
    case Op::kMin: return "min";
    case Op::kAny: return "any";
    case Op::kAll: return "all";
    default: InternalError("not a reduction");
  }
}

/// `pos(n).T + first`, where a parameter or the number of an instance has made `first` 0. Of integers.
bool ChangesNothing(typed::Op op, bool is_left, const symbolic::Scalar& scalar) {
  using typed::Op;
  int64_t number = 0;
  if (!symbolic::IsInt(scalar, &number)) return false;
  return number == 0 ? op == Op::kAdd || (op == Op::kSub && !is_left) : number == 1 && op == Op::kMul;
}

/// Compilers warn about & beside | and about comparisons inside either: those keep their parentheses.
int OuterOf(int precedence) {
  return precedence == CppExpr::kBitOr || precedence == CppExpr::kBitAnd || precedence <= CppExpr::kRelation ? CppExpr::kAdd
                                                                                                             : precedence;
}

/// Whether the operation is a call that returns a tile, pure or not.
bool IsCall(const Op& op) {
  return IsPure(op) || ir::LoadsFragments(op.code) || ir::ReducesOrScans(op.code) || op.code == OpCode::kSplitCollect ||
         op.code == OpCode::kFetch;
}

bool IsAddress(const Op& op, const ir::Kernel& kernel) {
  return op.code == OpCode::kView || (ir::IsPartOrTranspose(op.code) && kernel.TypeOf(op.results[0]).space == ir::Space::kShared);
}

}  // namespace

/// A pure operation is written at its only use if that is a later operation of the same statement in the same region and nothing
/// between the two changes what it reads: for addresses of shared memory nothing but a ring's advance, else only pure operations. A
/// read that is converted later than at once stays in its place among the reads.
void OpEmitter::FindInlined(const ir::Region& region) {
  struct Pending {
    const Op* op;
    bool is_address;
  };
  std::map<ir::ValueId, Pending> open;
  for (const Op& op : region) {
    for (ir::ValueId operand : op.operands) {
      const auto found = open.find(operand);
      if (found == open.end()) continue;
      const Op* source = found->second.op;
      const bool is_read_ahead = source->code == OpCode::kRead && op.code == OpCode::kConvert && source + 1 != &op;
      if (!is_read_ahead && quoter_.SameStatement(op.span, source->span)) inlined_.insert(operand);
      open.erase(found);
    }
    const bool is_pure = IsPure(op);
    if (!is_pure) {
      const bool moves_ring = op.code == OpCode::kAdvance || !op.regions.empty();
      for (auto it = open.begin(); it != open.end();) it = moves_ring || !it->second.is_address ? open.erase(it) : std::next(it);
    }
    if (is_pure && IsUsedOnce(op.results[0])) open.emplace(op.results[0], Pending{&op, IsAddress(op, kernel_)});
  }
}

/// What a variable is given at once needs no name.
void OpEmitter::FindHeld(const ir::Region& region) {
  for (size_t i = 0; i < region.size(); ++i) {
    const Op& op = region[i];
    for (const ir::Region& inner : op.regions) FindHeld(inner);
    if ((op.code != OpCode::kVar && op.code != OpCode::kAssign) || op.operands.empty()) continue;
    const ir::ValueId value = op.operands.back();
    const bool is_held = i > 0 && IsCall(region[i - 1]) && region[i - 1].results[0] == value && IsUsedOnce(value) &&
                         quoter_.SameStatement(op.span, region[i - 1].span);
    if (is_held)
      held_.insert(value);
    else if (op.code == OpCode::kAssign)
      copies_.insert(op.operands[0]);
  }
}

bool OpEmitter::IsUsedOnce(ir::ValueId id) const { return uses_.values[id] == 1 && !kernel_.values[id].is_mutable; }

CppExpr OpEmitter::Binary(const Op& op) {
  CppExpr left, right;
  DType dtype = DType::kF32;
  if (op.operands.size() == 2) {
    left = Value(op.operands[0]);
    right = Value(op.operands[1]);
    dtype = kernel_.TypeOf(op.operands[0]).dtype;
  } else {
    const CppExpr tile = Value(op.operands[0]), scalar = scalars_.Expr(op.scalars[0]);
    left = op.HasScalarLeft() ? scalar : tile;
    right = op.HasScalarLeft() ? tile : scalar;
    dtype = kernel_.TypeOf(op.operands[0]).dtype;
    if (!IsFloat(dtype) && ChangesNothing(op.Function(), op.HasScalarLeft(), op.scalars[0])) return tile;
  }
  const Operator o = BinaryOperator(op.Function(), !IsFloat(dtype));
  if (o.precedence == 0) return {fmt::format("tk::{}({}, {})", o.text, left.text, right.text)};
  const int outer = OuterOf(o.precedence);
  return {fmt::format("{} {} {}", left.Within(outer), o.text, right.Within(outer + 1)), o.precedence};
}

CppExpr OpEmitter::Select(const Op& op) {
  const std::string_view type = CppType(kernel_.TypeOf(op.results[0]).dtype);
  const auto has_type = [&](const symbolic::Scalar& scalar) { return scalars_.TypeOf(scalar) == type; };
  // Beside a tile a number takes its type; two numbers have C++'s, which need not be that of the result.
  const bool needs_type = op.scalars.size() == 2 && !has_type(op.scalars[0]) && !has_type(op.scalars[1]);
  size_t tile = 1, scalar = 0;
  std::string text = "tk::where(" + Argument(op.operands[0]);
  for (size_t i = 0; i < 2; ++i) {
    const bool is_scalar = !op.IsTileArm(i);
    const std::string arm = is_scalar ? scalars_.Text(op.scalars[scalar++]) : Argument(op.operands[tile++]);
    text += ", " + (needs_type && i == 0 ? fmt::format("{}({})", type, arm) : arm);
  }
  return {text + ")"};
}

CppExpr OpEmitter::Part(const Op& op) {
  const ir::Type &result = kernel_.TypeOf(op.results[0]), &source = kernel_.TypeOf(op.operands[0]);
  std::string text = Argument(op.operands[0]);
  if (source.space != ir::Space::kShared) {
    if (result.rows == source.rows) return {fmt::format("tk::columns<{}>({}, {})", result.cols, text, Coordinate(op.scalars[1]))};
    return {fmt::format("tk::part<{}, {}>({}, {}, {})", result.rows, result.cols, text, Coordinate(op.scalars[0]),
                        Coordinate(op.scalars[1]))};
  }
  if (result.rows != source.rows) text = fmt::format("tk::rows<{}>({}, {})", result.rows, text, Coordinate(op.scalars[0]));
  if (result.cols != source.cols) text = fmt::format("tk::cols<{}>({}, {})", result.cols, text, Coordinate(op.scalars[1]));
  return {text};
}

CppExpr OpEmitter::Cat(const Op& op) {
  std::string parts;
  for (const ir::ValueId part : op.operands) parts += (parts.empty() ? "" : ", ") + Argument(part);
  return {fmt::format("tk::cat({})", parts)};
}

CppExpr OpEmitter::Reduce(const Op& op) {
  const std::string_view name = op.code == OpCode::kCumsum ? "cumsum" : ReduceName(op.Function());
  const bool meets = !role_->warps_meet.empty() && ir::SpansWarps(op, role_->layout);
  const std::string scratch = op.symbol.empty() ? "" : ", " + Buffer(op.symbol) + (meets ? ", " + WarpsMeet() : "");
  const std::string_view scope = op.code == OpCode::kReduceOwn ? "thread::" : "";
  const std::string_view of = op.code == OpCode::kReduceThreads ? "_of_threads" : "";
  return {fmt::format("tk::{}{}_{}{}({}{})", scope, op.IsOfRows() ? "row" : "col", name, of, Argument(op.operands[0]), scratch)};
}

CppExpr OpEmitter::Read(const Op& op) {
  const ir::Type& type = kernel_.TypeOf(op.results[0]);
  const std::string fill = op.scalars.empty() || !op.scalars[0] ? "" : ", " + scalars_.Text(op.scalars[0]);
  return {fmt::format("tk::warpgroup::load<{}, {}, {}>({}{})", type.rows, type.cols, Layout(op.results[0]), Block(op), fill)};
}

CppExpr OpEmitter::Gather(const Op& op) {
  if (ir::GathersRows(op)) return Read(op);
  size_t column = 0;
  std::string indices;
  for (const ir::AxisRange& axis : op.axes)
    indices += ", " + (axis.chosen ? Argument(op.operands[column++]) : Coordinate(axis.start));
  const std::string fill = op.scalars.empty() ? "0" : scalars_.Text(op.scalars[0]);
  return {fmt::format("tk::warpgroup::gather({}, {}{})", Mangle(op.symbol), fill, indices)};
}

void OpEmitter::ReadParts(const Op& op) {
  const ir::Type& type = kernel_.TypeOf(op.results[0]);
  std::string names;
  for (const ir::ValueId part : op.results) names += (names.empty() ? "" : ", ") + Name(part);
  const std::string fill = op.scalars.empty() || !op.scalars[0] ? "" : ", " + scalars_.Text(op.scalars[0]);
  out_.Line(fmt::format("const auto [{}] = tk::warpgroup::load_parts<{}, {}, {}, layout>({}{});", names, op.results.size(),
                        type.rows, type.cols, Block(op), fill));
}

CppExpr OpEmitter::View(const Op& op) {
  const std::string buffer = Buffer(op.symbol, ir::PlaceOfSlot(op.Slot()).instance);
  const ir::Buffer& tile = kernel_.buffers[buffers_.at(op.symbol)];
  const ir::Type& type = kernel_.TypeOf(op.results[0]);
  const std::string element = Element(buffer, tile.count, op, 0);
  return {ir::HasShapeOf(type, tile) ? element : fmt::format("tk::reshaped<{}, {}>({})", type.rows, type.cols, element)};
}

CppExpr OpEmitter::Expression(const Op& op) {
  const auto argument = [&] { return Argument(op.operands[0]); };
  switch (op.code) {
    case OpCode::kRead: return Read(op);
    case OpCode::kGather: return Gather(op);
    case OpCode::kFill: {
      const ir::Type& type = kernel_.TypeOf(op.results[0]);
      return {fmt::format("tk::fill<{}, {}, {}, {}>({})", CppType(type.dtype), type.rows, type.cols, Layout(op.results[0]),
                          scalars_.Text(op.scalars[0]))};
    }
    case OpCode::kUnary: {
      const auto function = op.Function();
      if (function == typed::Op::kNeg) return {"-" + Value(op.operands[0]).Within(CppExpr::kPrimary), CppExpr::kUnary};
      if (function == typed::Op::kNot) return {"!" + Value(op.operands[0]).Within(CppExpr::kUnary), CppExpr::kUnary};
      return {fmt::format("tk::{}({})", ir::OpWord(function), argument())};
    }
    case OpCode::kBinary: return Binary(op);
    case OpCode::kSelect: return Select(op);
    case OpCode::kConvert:
      if (kernel_.TypeOf(op.results[0]).dtype == kernel_.TypeOf(op.operands[0]).dtype && op.Is(ir::kConvertAnew))
        return {fmt::format("tk::anew({})", argument())};
      return {fmt::format("tk::convert{}<{}>({})", op.Is(ir::kConvertAnew) ? "_anew" : "",
                          CppType(kernel_.TypeOf(op.results[0]).dtype), argument())};
    case OpCode::kReduce:
    case OpCode::kReduceOwn:
    case OpCode::kReduceThreads:
    case OpCode::kCumsum: return Reduce(op);
    case OpCode::kTranspose: return {fmt::format("tk::transposed({})", argument())};
    case OpCode::kAligned: return {fmt::format("tk::aligned({})", argument())};
    case OpCode::kPart: return Part(op);
    case OpCode::kCat: return Cat(op);
    case OpCode::kReshape: {
      const ir::Type& type = kernel_.TypeOf(op.results[0]);
      return {fmt::format("tk::reshape<{}, {}, {}>({})", type.rows, type.cols, Layout(op.results[0]), argument())};
    }
    case OpCode::kPositions: {
      const bool is_column = op.IsOfRows();
      const ir::Type& type = kernel_.TypeOf(op.results[0]);
      return {fmt::format("tk::{}_positions<{}, {}{}>({})", is_column ? "row" : "col", is_column ? type.rows : type.cols,
                          Layout(op.results[0]), type.dtype == DType::kI32 ? "" : fmt::format(", {}", CppType(type.dtype)),
                          Coordinate(op.scalars[0]))};
    }
    case OpCode::kView: return View(op);
    case OpCode::kSplitCollect:
      return {fmt::format("tk::split::collect<{}>({}, {}, tk::cluster::rank())", op.Blocks(), Buffer(op.symbol), argument())};
    case OpCode::kFetch: {
      const ir::Type& type = kernel_.TypeOf(op.results[0]);
      return {fmt::format("tk::block::fetch{}<{}, {}, {}>({})", op.IsTurned() ? "_turned" : "", kernel_.threads, type.rows,
                          type.cols, PlainBlock(op))};
    }
    case OpCode::kLoadShared: return {fmt::format("tk::warpgroup::load_shared<{}>({})", Layout(op.results[0]), argument())};
    case OpCode::kLoadLeft: return {fmt::format("tk::warpgroup::load_left<layout>({})", argument())};
    case OpCode::kLoadRight:
      return {fmt::format("tk::warpgroup::load_right<layout{}>({})",
                          IsBesideRegisters(op.results[0]) ? ", /*beside_registers=*/true" : "", argument())};
    default: return {};
  }
}

bool OpEmitter::IsBesideRegisters(ir::ValueId right) const {
  if (!TargetOf(kernel_).permutes_right_operand) return false;
  bool found = false;
  ir::ForEachOp(role_->body, [&](const Op& op) {
    found |=
        op.code == OpCode::kMultiply && op.operands[2] == right && kernel_.TypeOf(op.operands[1]).space == ir::Space::kRegister;
  });
  return found;
}

}  // namespace tkc::codegen
