// SPDX-License-Identifier: MIT
// Names and levels of the operations, from op.def.
#include <string_view>

#include "compiler/ir/op_traits.h"

namespace tkc::ir {
namespace {

struct OpInfo {
  std::string_view text;
  std::string_view levels;
};

constexpr OpInfo kOps[] = {
#define TKC_OP(code, text, levels) {text, levels},
#include "compiler/ir/op.def"
#undef TKC_OP
};

const OpInfo& Info(OpCode code) { return kOps[static_cast<int>(code)]; }

}  // namespace

std::string_view OpText(OpCode code) { return Info(code).text; }
bool InTileLevel(OpCode code) { return Info(code).levels.find('T') != std::string_view::npos; }
bool InScheduleLevel(OpCode code) { return Info(code).levels.find('S') != std::string_view::npos; }

std::pair<Scalar, int64_t> ColumnOfBox(const Kernel& kernel, const Op& copy) {
  const TensorMap& map = *FindNamed(kernel.maps, copy.symbol);
  const TensorParam& tensor = *FindNamed(kernel.tensors, map.tensor);
  return {copy.scalars[tensor.extents.size() - 1], Bytes(tensor.dtype)};
}

}  // namespace tkc::ir
