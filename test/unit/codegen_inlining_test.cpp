// SPDX-License-Identifier: MIT
// Which operations print as a part of the statement that uses them, and which get a name.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/emit_op.h"
#include "test/unit/codegen_role.h"

namespace tkc::codegen {
namespace {

using ir::Op;
using ir::OpCode;

ir::Type Registers(int64_t rows, int64_t cols) { return {DType::kF32, rows, cols, ir::Space::kRegister, false}; }

TEST(Inlining, FollowsTheSource) {
  ir::Kernel kernel;
  const ir::ValueId x = kernel.AddValue("x", Registers(64, 64)), t = kernel.AddValue("", Registers(64, 64)),
                    y = kernel.AddValue("y", Registers(64, 64)), acc = kernel.AddValue("acc", Registers(64, 64), true);
  const auto op = [](OpCode code, std::vector<ir::ValueId> results, std::vector<ir::ValueId> operands, typed::Op number,
                     Span span) {
    Op made{code};
    made.results = std::move(results);
    made.operands = std::move(operands);
    made.raw_number = static_cast<int64_t>(number);
    made.span = span;
    return made;
  };
  const auto print = [&](ir::Region body) {
    ir::Worker role;
    role.kind = ir::RoleKind::kCompute;
    role.body = std::move(body);
    kernel.workers = {role};
    return PrintedRole(kernel, KernelUses(kernel));
  };
  const Span statement = {0, 0, 20}, inner = {0, 5, 10}, other = {0, 30, 40};
  const Op exp = op(OpCode::kUnary, {t}, {x}, typed::Op::kExp, inner);
  EXPECT_EQ(print({exp, op(OpCode::kAssign, {}, {acc, t}, typed::Op::kNone, statement)}), "acc = tk::exp(x);\n");
  EXPECT_EQ(print({exp, op(OpCode::kAssign, {}, {acc, t}, typed::Op::kNone, other)}),
            "const auto value = tk::exp(x);\nacc = value;\n");
  EXPECT_EQ(print({exp, op(OpCode::kMmaWait, {}, {}, typed::Op::kNone, statement),
                   op(OpCode::kAssign, {}, {acc, t}, typed::Op::kNone, statement)}),
            "const auto value = tk::exp(x);\ntk::warpgroup::mma_wait<0>();\nacc = value;\n");
  EXPECT_EQ(print({exp, op(OpCode::kBinary, {y}, {t, t}, typed::Op::kAdd, statement),
                   op(OpCode::kAssign, {}, {acc, y}, typed::Op::kNone, statement)}),
            "const auto value = tk::exp(x);\nacc = value + value;\n");
  EXPECT_EQ(print({exp, op(OpCode::kBinary, {y}, {x, t}, typed::Op::kSub, statement),
                   op(OpCode::kAssign, {}, {acc, y}, typed::Op::kNone, statement)}),
            "acc = x - tk::exp(x);\n");

  // Where warps meet nothing else may pass, but a variable takes what it is given at once, however long that is.
  const ir::ValueId v = kernel.AddValue("v", Registers(64, 1), true), sum = kernel.AddValue("sum", Registers(64, 1));
  Op reduce = op(OpCode::kReduce, {sum}, {x}, typed::Op::kAdd, inner);
  reduce.symbol = "partial_sums_of_a_reduction_over_many_warps_by_name_of_the_tile_that_is_summed";
  reduce.raw_slot = "rows";
  kernel.buffers.emplace_back().name = reduce.symbol;
  const std::string call = "tk::row_sum(x, shared." + reduce.symbol + ");\n";
  EXPECT_EQ(print({reduce, op(OpCode::kVar, {v}, {sum}, typed::Op::kNone, statement)}), "const auto v = " + call);
  EXPECT_EQ(print({reduce, exp, op(OpCode::kAssign, {}, {v, sum}, typed::Op::kNone, statement)}),
            "const auto sum = " + call + "v = sum;\n");

  // A variable that nothing changes is a constant.
  const Op var = op(OpCode::kVar, {v}, {sum}, typed::Op::kNone, statement);
  EXPECT_EQ(print({reduce, var, op(OpCode::kMmaFence, {}, {v}, typed::Op::kNone, other)}),
            "auto v = " + call + "tk::warpgroup::mma_fence(v);\n");
  EXPECT_EQ(print({reduce, var, op(OpCode::kAssign, {}, {v, x}, typed::Op::kNone, other)}), "auto v = " + call + "v = x;\n");
}

}  // namespace
}  // namespace tkc::codegen
