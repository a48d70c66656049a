// SPDX-License-Identifier: MIT
#include "compiler/interp/fill.h"

#include <vector>

#include "compiler/support/random.h"

namespace tkc::interp {
namespace {

/// Twelve uniform numbers have variance 12 * 1/12 = 1. Their sum is exact in double: no library function, no rounding.
double Normal(Random& random) {
  int64_t sum = 0;
  for (int i = 0; i < 6; ++i) {
    const uint64_t two = random.Next();
    sum += static_cast<int64_t>(two >> 32) + static_cast<int64_t>(two & 0xffffffff);
  }
  return static_cast<double>(sum) * 0x1p-32 - 6.0;
}

Random RandomOf(std::string_view name, uint64_t seed) {
  uint64_t hash = kHashStart;
  for (int i = 0; i < 8; ++i) hash = HashByte(hash, static_cast<uint8_t>(seed >> (8 * i)));
  for (const char c : name) hash = HashByte(hash, static_cast<uint8_t>(c));
  return Random(hash);
}

}  // namespace

void FillRandom(Tensor& tensor, std::string_view name, uint64_t seed, FillKind kind) {
  Random random = RandomOf(name, seed);
  std::vector<double> values(static_cast<size_t>(tensor.size()));
  const bool floats = IsFloat(tensor.dtype);
  for (double& value : values) {
    if (floats && kind == FillKind::kNormal) {
      value = Normal(random);
    } else if (floats && kind == FillKind::kSmall) {
      value = static_cast<double>(random.Below(5) - 2);
    } else if (tensor.dtype == DType::kBool) {
      value = static_cast<double>(random.Below(2));
    } else if (Info(tensor.dtype).is_signed) {
      value = static_cast<double>(random.Below(17) - 8);
    } else {
      value = static_cast<double>(random.Below(9));
    }
  }
  tensor.FromReals(values);
}

void FillRuns(Tensor& tensor, std::string_view name, uint64_t seed) {
  Random random = RandomOf(name, seed);
  std::vector<double> values(static_cast<size_t>(tensor.size()));
  double next = static_cast<double>(random.Below(3));
  for (double& value : values) {
    value = next;
    const bool is_empty = random.Below(3) == 0;
    next += is_empty ? 0 : static_cast<double>(random.Below(97));
  }
  tensor.FromReals(values);
}

}  // namespace tkc::interp
