// SPDX-License-Identifier: MIT
// Operations as passes write them.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace tkc::passes {

ir::Op MakeOp(ir::OpCode code, const std::string& symbol, const std::string& slot, int64_t number, Span span);

/// A line in the output that says why what follows is there.
ir::Op Explain(const std::string& text, Span span);

ir::Op Let(const std::string& name, ir::Scalar value, Span span);

/// `otherwise` if the condition does not hold.
ir::Op If(ir::Scalar condition, ir::Region then, ir::Region otherwise, Span span);
/// The operations if the comparison holds.
ir::Op If(symbolic::Kind compare, ir::Scalar a, ir::Scalar b, ir::Region then, Span span);
/// Adds the operations, to be done if a range has a step; as they are, or not at all, where its ends are numbers.
void AppendIfAny(const ir::Scalar& lo, const ir::Scalar& hi, ir::Region then, Span span, ir::Region& out);

/// The operations `times` times, with the counter from 0 on.
ir::Op Unroll(const std::string& counter, int64_t times, ir::Region body, Span span);

/// The value in the element type, converted behind `out` if it is of another, then named `name`.
ir::ValueId ConvertTo(ir::Kernel& kernel, ir::ValueId value, DType dtype, const std::string& name, Span span, ir::Region& out);

/// What a reduction by this function, a sum, a maximum or a minimum, gives of nothing: no other element changes by it.
ir::Scalar NeutralOf(typed::Op function, DType dtype);

}  // namespace tkc::passes
