// SPDX-License-Identifier: MIT
#include "compiler/symbolic/reach.h"

#include <algorithm>
#include <initializer_list>

#include "compiler/support/floor_div.h"

namespace tkc::symbolic {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

bool HasEnds(const Reach& reach) { return reach.least != kLeast && reach.most != kMost; }

/// What does not fit 64 bits has no end.
int64_t End(__int128 number) { return static_cast<int64_t>(std::clamp<__int128>(number, kLeast, kMost)); }

Reach Product(const Reach& a, const Reach& b) {
  if (!HasEnds(a) || !HasEnds(b)) return {};
  const std::initializer_list<__int128> corners = {__int128{a.least} * b.least, __int128{a.least} * b.most,
                                                   __int128{a.most} * b.least, __int128{a.most} * b.most};
  return {End(std::min(corners)), End(std::max(corners))};
}

}  // namespace

Reach ReachOf(DType dtype) {
  switch (dtype) {
    case DType::kI8: return {std::numeric_limits<int8_t>::min(), std::numeric_limits<int8_t>::max()};
    case DType::kU8: return {0, std::numeric_limits<uint8_t>::max()};
    case DType::kI32: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case DType::kU32: return {0, std::numeric_limits<uint32_t>::max()};
    case DType::kU64: return {0, kMost};
    default: return {};
  }
}

Reach Sum(const Reach& a, const Reach& b) {
  return {a.least == kLeast || b.least == kLeast ? kLeast : End(__int128{a.least} + b.least),
          a.most == kMost || b.most == kMost ? kMost : End(__int128{a.most} + b.most)};
}

Reach Difference(const Reach& a, const Reach& b) {
  return Sum(a, {b.most == kMost ? kLeast : -b.most, b.least == kLeast ? kMost : End(-__int128{b.least})});
}

bool Fits(const Reach& reach, DType dtype) {
  const Reach type = ReachOf(dtype);
  return HasEnds(reach) && reach.least >= type.least && reach.most <= type.most;
}

Reach ReachOf(const Scalar& scalar, const std::function<Reach(const Scalar&)>& of_atom) {
  const auto of = [&](size_t i) { return ReachOf(scalar->args[i], of_atom); };
  int64_t divisor = 0;
  switch (scalar->kind) {
    case Kind::kInt: return {scalar->int_value, scalar->int_value};
    case Kind::kName:
    case Kind::kElement: return of_atom(scalar);
    case Kind::kConvert: {
      const bool keeps = !IsFloat(scalar->args[0]->dtype) && Fits(of(0), scalar->dtype);
      return keeps ? of(0) : ReachOf(scalar->dtype);
    }
    default: break;
  }
  if (scalar->dtype != DType::kI64) return ReachOf(scalar->dtype);  // may wrap
  switch (scalar->kind) {
    case Kind::kNeg: return Difference({0, 0}, of(0));
    case Kind::kAdd: return Sum(of(0), of(1));
    case Kind::kSub: return Difference(of(0), of(1));
    case Kind::kMul: return Product(of(0), of(1));
    case Kind::kMin: return {std::min(of(0).least, of(1).least), std::min(of(0).most, of(1).most)};
    case Kind::kMax: return {std::max(of(0).least, of(1).least), std::max(of(0).most, of(1).most)};
    case Kind::kSelect: return {std::min(of(1).least, of(2).least), std::max(of(1).most, of(2).most)};
    case Kind::kDiv:
    case Kind::kCdiv: {
      if (!IsInt(scalar->args[1], &divisor) || divisor <= 0) return {};
      const Reach divided = of(0);
      const int64_t up = scalar->kind == Kind::kCdiv ? 1 : 0;
      return {divided.least == kLeast ? kLeast : FloorDiv(divided.least, divisor),
              divided.most == kMost ? kMost : FloorDiv(divided.most, divisor) + up};
    }
    case Kind::kMod: return IsInt(scalar->args[1], &divisor) && divisor > 0 ? Reach{0, divisor - 1} : Reach{};
    default: return {};
  }
}

}  // namespace tkc::symbolic
