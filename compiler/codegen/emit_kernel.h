// SPDX-License-Identifier: MIT
// One kernel at schedule level as a struct of shared memory and a __global__ function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/code_writer.h"
#include "compiler/codegen/emit.h"
#include "compiler/codegen/emit_op.h"
#include "compiler/codegen/source_statements.h"

namespace tkc::codegen {

/// A parameter of the __global__ function.
struct KernelParam {
  enum class Kind : uint8_t { kMap, kTensor, kScalar, kDivisor, kUsable };
  Kind kind;
  std::string name;  // in the IR: of the map, tensor or scalar; of the map for kUsable
  std::string type;  // C++
  std::string CppName() const;
};

/// In order: copy-engine maps, tensors, scalars and what was found out about stores. Only what the kernel mentions.
std::vector<KernelParam> KernelParams(const ir::Kernel& kernel, const KernelUses& uses);

/// The C++ name of the __global__ function: never that of an entry.
std::string KernelFunction(const ir::Kernel& kernel);
/// Bytes from where the union begins in which the buffer shares room with others; 0 where it is in none.
int64_t PlaceInUnion(const ir::Kernel& kernel, const ir::Buffer& buffer);
inline std::string SharedStruct(const ir::Kernel& kernel) { return KernelFunction(kernel) + "_shared"; }
inline bool HasSharedMemory(const ir::Kernel& kernel) { return !kernel.buffers.empty() || !kernel.barriers.empty(); }

/// `condition`, if not empty, of the preprocessor: the compiler's pass takes the body if it holds. It takes the head always.
void EmitKernel(const ir::Kernel& kernel, const SourceStatements& statements, const EmitOptions& options,
                std::string_view condition, CodeWriter& out);

/// What the source says above `declaration` (`///`), line by line. Without `//`.
std::vector<std::string> Documentation(Span declaration, const SourceManager& sources);

/// The lines above a kernel: its head in the source, that of its grid, its roles, its pipes as a drawing, its shared memory.
/// Without `//`.
std::vector<std::string> DescribeKernel(const ir::Kernel& kernel, const SourceStatements& statements);

}  // namespace tkc::codegen
