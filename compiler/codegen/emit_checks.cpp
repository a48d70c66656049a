// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/codegen/emit_launcher.h"
#include "compiler/codegen/mangle.h"
#include "compiler/codegen/quote.h"
#include "compiler/support/internal_error.h"

namespace tkc::codegen {
namespace {

void EmitTensors(const ir::Kernel& first, CodeWriter& out) {
  std::vector<std::string> checks, comments;
  size_t width = 0;
  for (const ir::TensorParam& tensor : first.tensors) {
    if (tensor.is_work) continue;
    checks.push_back(fmt::format("call.tensor({}, {}, {}, {});", StringLiteral(tensor.name), Mangle(tensor.name),
                                 DTypeEnum(tensor.dtype), tensor.extents.size()));
    comments.push_back(EscapeComment(TensorText(tensor)));
    width = std::max(width, checks.back().size());
  }
  for (size_t i = 0; i < checks.size(); ++i) out.Line(fmt::format("{:{}}  // {}", checks[i], width, comments[i]));
}

/// The first extent that is a bare name defines the dimension, all others are compared with it.
void EmitExtents(const ir::Kernel& first, const ScalarPrinter& host, CodeWriter& out) {
  std::set<std::string> bound;
  std::vector<std::string> checks;
  for (const ir::TensorParam& tensor : first.tensors) {
    if (tensor.is_work) continue;
    const std::string name = Mangle(tensor.name);
    for (size_t d = 0; d < tensor.extents.size(); ++d) {
      const ir::Scalar& extent = tensor.extents[d];
      if (extent->kind == symbolic::Kind::kName && bound.insert(extent->name).second) {
        out.Line(fmt::format("{} = call.dimension({}, {});", Mangle(extent->name), name, d));
        continue;
      }
      checks.push_back(fmt::format("call.extent({}, {}, {}, {}, {});", StringLiteral(tensor.name), name, d,
                                   StringLiteral(symbolic::ToString(extent)), host.Text(extent)));
    }
  }
  for (const std::string& check : checks) out.Line(check);
}

void EmitRequire(const ir::Scalar& condition, const ScalarPrinter& host, CodeWriter& out) {
  out.Line(fmt::format("call.require({}, {});", host.Text(condition), StringLiteral(symbolic::SourceText(condition))));
}

/// Whether it is required whatever schedule is chosen: it does not depend on what a set gives its parameters.
bool IsOfAll(const ir::Scalar& condition, const std::vector<const ir::Kernel*>& kernels) {
  const std::string text = symbolic::ToString(condition);
  return std::all_of(kernels.begin(), kernels.end(), [&](const ir::Kernel* kernel) {
    const std::vector<ir::Scalar>& own = kernel->launch_requires;
    return std::any_of(own.begin(), own.end(), [&](const ir::Scalar& other) { return symbolic::ToString(other) == text; });
  });
}

void EmitOverlaps(const ir::Kernel& first, CodeWriter& out) {
  for (const ir::TensorParam& tensor : first.tensors) {
    if (tensor.is_work || !ir::IsWritten(tensor)) continue;
    out.Line(fmt::format("call.written({}, {});", StringLiteral(tensor.name), Mangle(tensor.name)));
    bool is_before = true;  // a pair of written tensors is compared once
    for (const ir::TensorParam& other : first.tensors) {
      if (&other == &tensor) is_before = false;
      if (&other == &tensor || other.is_work || (ir::IsWritten(other) && is_before)) continue;
      out.Line(fmt::format("call.disjoint({}, {}, {}, {});", StringLiteral(tensor.name), Mangle(tensor.name),
                           StringLiteral(other.name), Mangle(other.name)));
    }
  }
}

}  // namespace

std::string_view DTypeEnum(DType dtype) {
  switch (dtype) {
    case DType::kBool: return "TK_BOOL";
    case DType::kI8: return "TK_I8";
    case DType::kU8: return "TK_U8";
    case DType::kI32: return "TK_I32";
    case DType::kU32: return "TK_U32";
    case DType::kI64: return "TK_I64";
    case DType::kU64: return "TK_U64";
    case DType::kF16: return "TK_F16";
    case DType::kBF16: return "TK_BF16";
    case DType::kF32: return "TK_F32";
    case DType::kE4M3: return "TK_E4M3";
    case DType::kE5M2: return "TK_E5M2";
    case DType::kF64: break;
  }
  InternalError("no tensor has this element type");
}

void EmitChecks(const ir::Kernel& first, const std::vector<const ir::Kernel*>& kernels, const ScalarPrinter& host,
                CodeWriter& out) {
  EmitTensors(first, out);
  out.Line("if (call.failed()) return;");
  EmitExtents(first, host, out);
  for (const ir::Scalar& condition : first.launch_requires) {
    if (IsOfAll(condition, kernels)) EmitRequire(condition, host, out);
  }
  EmitOverlaps(first, out);
}

void EmitOwnRequires(const ir::Kernel& kernel, const std::vector<const ir::Kernel*>& kernels, const ScalarPrinter& host,
                     CodeWriter& out) {
  for (const ir::Scalar& condition : kernel.launch_requires) {
    if (!IsOfAll(condition, kernels)) EmitRequire(condition, host, out);
  }
}

}  // namespace tkc::codegen
