// SPDX-License-Identifier: MIT
// The interface of an entry: its parameters, its names, the two extern "C" functions.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/emit_launcher.h"
#include "compiler/codegen/emit_op.h"
#include "compiler/codegen/mangle.h"
#include "compiler/codegen/scalar_cpp.h"
#include "compiler/support/internal_error.h"
#include "compiler/target/target.h"

namespace tkc::codegen {

std::string TensorText(const ir::TensorParam& tensor) {
  std::string text = tensor.name + ": ";
  if (tensor.mode == typed::TensorMode::kOut) text += "out ";
  if (tensor.mode == typed::TensorMode::kInOut) text += "inout ";
  text += fmt::format("{}[", Name(tensor.dtype));
  for (size_t d = 0; d < tensor.extents.size(); ++d) text += (d ? ", " : "") + symbolic::ToString(tensor.extents[d]);
  return text + "]";
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i ? std::string(separator) : "") + parts[i];
  return text;
}

bool Chooses(const ir::Module& module, const ir::Entry& entry) {
  return entry.alternatives.size() > 1 || FirstKernel(module, entry).when;
}

const Target& TargetOf(const ir::Module& module) {
  Ensure(!module.kernels.empty(), "a file without kernels");
  return TargetOf(module.kernels.front());
}

const ir::Kernel& FirstKernel(const ir::Module& module, const ir::Entry& entry) {
  Ensure(!entry.alternatives.empty() && !entry.alternatives[0].empty(), "an entry without kernels");
  return module.kernels[static_cast<size_t>(entry.alternatives[0][0])];
}

std::vector<EntryParam> EntryParams(const ir::Kernel& kernel) {
  struct Placed {
    uint32_t place;
    size_t number;
    EntryParam param;
  };
  std::vector<Placed> placed;
  for (const ir::TensorParam& tensor : kernel.tensors) {
    if (!tensor.is_work)
      placed.push_back(
          {tensor.span.begin, placed.size(), {true, tensor.name, tensor.dtype, tensor.extents.size(), TensorText(tensor)}});
  }
  for (const ir::ScalarParam& scalar : kernel.scalars) {
    placed.push_back({scalar.span.begin,
                      placed.size(),
                      {false, scalar.name, scalar.dtype, 0, fmt::format("{}: {}", scalar.name, Name(scalar.dtype))}});
  }
  // Not stable_sort: clang finds the buffer that libstdc++ 12 takes for it deprecated.
  std::sort(placed.begin(), placed.end(),
            [](const Placed& a, const Placed& b) { return a.place != b.place ? a.place < b.place : a.number < b.number; });
  std::vector<EntryParam> params;
  for (Placed& p : placed) params.push_back(std::move(p.param));
  return params;
}

std::string_view ScalarCType(DType dtype) {
  switch (dtype) {
    case DType::kBool: return "bool";
    case DType::kI32: return "int32_t";
    case DType::kU32: return "uint32_t";
    case DType::kI64: return "int64_t";
    case DType::kU64: return "uint64_t";
    case DType::kF32: return "float";
    default: InternalError("no scalar parameter has this type");
  }
}

std::string EntryFunction(const ir::Entry& entry) { return MangleEntry(entry.name); }

std::string WorkspaceFunction(const ir::Entry& entry) { return EntryFunction(entry) + "_workspace"; }

std::string EntryParamList(const std::vector<EntryParam>& params) {
  std::vector<std::string> parts;
  for (const EntryParam& param : params) {
    parts.push_back(param.is_tensor ? "const tk_tensor* " + Mangle(param.name)
                                    : fmt::format("{} {}", ScalarCType(param.dtype), Mangle(param.name)));
  }
  return Join(parts);
}

std::string WorkspaceHead(const ir::Module& module, const ir::Entry& entry) {
  return fmt::format("size_t {}({})", WorkspaceFunction(entry), EntryParamList(EntryParams(FirstKernel(module, entry))));
}

std::string EntryHead(const ir::Module& module, const ir::Entry& entry) {
  const std::string list = EntryParamList(EntryParams(FirstKernel(module, entry)));
  return fmt::format("tk_status {}({}{}void* workspace, size_t workspace_bytes, {}Stream_t stream)", EntryFunction(entry), list,
                     list.empty() ? "" : ", ", TargetOf(module).is_hip ? "hip" : "cuda");
}

void EmitEntry(const ir::Module& module, const ir::Entry& entry, std::string_view linkage, CodeWriter& out) {
  const std::vector<EntryParam> params = EntryParams(FirstKernel(module, entry));
  std::vector<std::string> values;
  for (const EntryParam& param : params) {
    const bool changes_sign = !param.is_tensor && param.dtype == DType::kU64;  // braces would not convert it
    values.push_back(changes_sign ? fmt::format(", tk::index({})", Mangle(param.name)) : ", " + Mangle(param.name));
  }
  const std::string type = Mangle(entry.name) + "_call";
  const auto arguments = [&](std::string_view stream) {
    return fmt::format("{{{{{}, {}}}{}}}", StringLiteral(entry.name), stream, Join(values, ""));
  };
  out.Open(fmt::format("{}{}", linkage, WorkspaceHead(module, entry)));
  out.Line(fmt::format("return {}{}.workspace_needed();", type, arguments("nullptr")));
  out.Close();
  out.Blank();
  out.Open(fmt::format("{}{}", linkage, EntryHead(module, entry)));
  out.Line(fmt::format("return {}{}.launch(workspace, workspace_bytes);", type, arguments("stream")));
  out.Close();
}

}  // namespace tkc::codegen
