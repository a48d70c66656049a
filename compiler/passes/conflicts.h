// SPDX-License-Identifier: MIT
// Bank conflicts of every access to shared memory in a schedule-level kernel: which instructions the runtime chooses for it
// (runtime/include/tk/ops: warpgroup_shared.h, copy_guarded.h, reduce.h, split.h), which addresses their lanes name, and what that
// costs by layout/bank_model.
//
// Assumed where no lane names an address: the copy engine moves 128 consecutive bytes at a time, and a swizzle permutes 16-byte
// pieces within 128 bytes, so its degree is 1 in every layout; the matrix unit fetches eight rows of 16 bytes at a time, as
// ldmatrix does. Parts of tiles start at a multiple of their own size. Both are compared with a GPU by test/gpu/conflicts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"

namespace tkc::passes {

enum class AccessClass : uint8_t {
  kSharedLoad,     // ld.shared
  kSharedStore,    // st.shared
  kLoadMatrix,     // ldmatrix
  kStoreMatrix,    // stmatrix
  kOperandLoad,    // a fragment of a matrix operand, on AMD
  kAsyncWrite,     // cp.async, and what AMD has for it
  kEngineWrite,    // a tensor copy into shared memory
  kEngineRead,     // a tensor copy out of it
  kMatrixOperand,  // an operand of the matrix unit
};

/// The word for it in the report and in the simulator's counters.
std::string_view Name(AccessClass kind);

/// One operation's access. The sums are those of one execution by the warps that take part: a warpgroup, or one warp.
struct SharedAccess {
  AccessClass kind = AccessClass::kSharedLoad;
  std::string buffer{};
  DType dtype = DType::kF32;
  int64_t rows = 1, cols = 1;  // of the tile that moves
  int width = 0;               // bytes a lane
  int64_t instructions = 0;    // of a warp
  int64_t wavefronts = 0;      // passes over the banks that they take
  int64_t ideal = 0;           // and would take without conflicts
  int row_alignment = 0;       // bytes to which the tensor's rows are aligned where this form of the access is chosen; 0: always
  Span span{};
  bool transposed = false;  // neighbours in a register are a row apart in memory
  int held = 0;             // neighbours of a row that a thread holds; 0: not dealt to threads by a layout

  double Degree() const { return ideal == 0 ? 1 : static_cast<double>(wavefronts) / static_cast<double>(ideal); }
};

/// In program order, role by role.
std::vector<SharedAccess> SharedAccesses(const ir::Kernel& kernel);

/// A warning for each access that has a degree above 1; one for each place of the source and kind of access. None for single rows
/// and columns, which take a few wavefronts at any degree; the report has them.
void WarnOfConflicts(const ir::Module& module, Diagnostics& diagnostics);

}  // namespace tkc::passes
