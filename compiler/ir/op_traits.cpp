// SPDX-License-Identifier: MIT
// Names and traits of the operations, from op.def.
#include <algorithm>
#include <string_view>
#include <type_traits>

#include "compiler/ir/op_traits.h"

namespace tkc::ir {
namespace {

using std::string_view_literals::operator""sv;

struct OpInfo {
  std::string_view text;
  std::string_view traits;
  Executors threads;
};

/// Nothing is taken to be harmless because nobody has said what it is.
constexpr bool IsClassified(std::string_view traits) {
  const auto classes = std::count_if(traits.begin(), traits.end(), [](char c) { return "CRMBF"sv.find(c) != "CRMBF"sv.npos; });
  return classes == (traits.find('S') == traits.npos ? 0 : 1);
}

#define TKC_OP(code, text, traits, threads, slot, number)                                                       \
  static_assert(IsClassified(traits),                                                                           \
                "`" text "` must be one of C, R, M, B and F: op.def says what the certificate takes these as"); \
  static_assert(Executors::threads != Executors::kByNumber || std::is_enum_v<number>, "the number of `" text "` is no choice");
#include "compiler/ir/op.def"
#undef TKC_OP

constexpr OpInfo kOps[] = {
#define TKC_OP(code, text, traits, threads, slot, number) {text, traits, Executors::threads},
#include "compiler/ir/op.def"
#undef TKC_OP
};

const OpInfo& Info(OpCode code) { return kOps[static_cast<int>(code)]; }
bool Has(OpCode code, char trait) { return Info(code).traits.find(trait) != std::string_view::npos; }

}  // namespace

std::string_view OpText(OpCode code) { return Info(code).text; }
bool InTileLevel(OpCode code) { return Has(code, 'T'); }
bool InScheduleLevel(OpCode code) { return Has(code, 'S'); }
bool AccessesGlobal(OpCode code) { return Has(code, 'G'); }
bool IsReplayed(OpCode code) { return Has(code, 'M'); }
bool FillsShared(OpCode code) { return Has(code, 'W'); }
bool ReadsViews(OpCode code) { return Has(code, 'V'); }
bool IsOfFrame(OpCode code) { return Has(code, 'F'); }
bool IsEvent(OpCode code) { return Has(code, 'E'); }
Executors ExecutorsOf(OpCode code) { return Info(code).threads; }

std::pair<Scalar, int64_t> ColumnOfBox(const Kernel& kernel, const Op& copy) {
  const TensorMap& map = *FindNamed(kernel.maps, copy.symbol);
  const TensorParam& tensor = *FindNamed(kernel.tensors, map.tensor);
  return {copy.scalars[tensor.extents.size() - 1], Bytes(tensor.dtype)};
}

}  // namespace tkc::ir
