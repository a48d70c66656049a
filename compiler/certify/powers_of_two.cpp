// SPDX-License-Identifier: MIT
#include "compiler/certify/powers_of_two.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>

#include "compiler/ir/op_traits.h"

namespace tkc::certify {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using symbolic::Kind;

constexpr int kMost = 16;  // no more are asked for, and no integer is so narrow that it loses one of these

int Twos(int64_t number) { return number == 0 ? kMost : std::min(kMost, std::countr_zero(static_cast<uint64_t>(number))); }

/// Of integers, by name: how many times two divides them.
class Powers {
 public:
  Powers(const ir::Kernel& kernel, int64_t bytes) : kernel_(kernel), bytes_(bytes) {
    for (const auto& [name, value] : kernel.launch_lets) names_[name] = Of(value);
    // That a tile's place is one of the grid's is proved by CheckGrid.
    for (const ir::GridAxis& axis : kernel.axes) names_[axis.name] = std::min(Of(axis.lo), Twos(axis.step));
    for (const Op& op : kernel.lets) Define(op);
  }

  bool Hold(const Region& region) {
    return std::all_of(region.begin(), region.end(), [&](const Op& op) { return Holds(op); });
  }

 private:
  bool Holds(const Op& op) {
    if (ir::IsEngineCopy(op.code)) {
      const auto [column, element] = ir::ColumnOfBox(kernel_, op);
      return Of(column) + Twos(element) >= Twos(bytes_);
    }
    Define(op);
    return std::all_of(op.regions.begin(), op.regions.end(), [&](const Region& inner) { return Hold(inner); });
  }

  void Define(const Op& op) {
    if (op.code == OpCode::kFor) return Set(op.symbol, std::min(Of(op.scalars[0]), Twos(op.Step())));
    if (op.code == OpCode::kLet && op.Is(ir::kStays)) return Set(op.symbol, Of(op.scalars[0]));
    if (ir::IsLoop(op.code)) Set(op.symbol, 0);
    ir::ForEachScalarDefined(op, [&](const std::string& name) { Set(name, 0); });
  }

  void Set(const std::string& name, int twos) {
    if (!ir::FindNamed(kernel_.axes, name)) names_[name] = twos;
  }

  int Of(const Scalar& scalar) const {
    const auto of_arg = [&](size_t i) { return Of(scalar->args[i]); };
    switch (scalar->kind) {
      case Kind::kInt: return Twos(scalar->int_value);
      case Kind::kName: {
        const auto place = names_.find(scalar->name);
        return place == names_.end() ? 0 : place->second;
      }
      case Kind::kAdd:
      case Kind::kSub:
      case Kind::kMin:
      case Kind::kMax:
      case Kind::kMod: return std::min(of_arg(0), of_arg(1));
      case Kind::kSelect: return std::min(of_arg(1), of_arg(2));
      case Kind::kMul: return std::min(kMost, of_arg(0) + of_arg(1));
      case Kind::kNeg: return of_arg(0);
      case Kind::kConvert: return IsInteger(scalar->dtype) && IsInteger(scalar->args[0]->dtype) ? of_arg(0) : 0;
      default: return 0;
    }
  }

  const ir::Kernel& kernel_;
  const int64_t bytes_;
  std::map<std::string, int> names_;
};

}  // namespace

bool BoxesBeginAt(int64_t bytes, const ir::Kernel& kernel, const ir::Worker& worker) {
  return Powers(kernel, bytes).Hold(worker.body);
}

}  // namespace tkc::certify
