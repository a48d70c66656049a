// SPDX-License-Identifier: MIT
// The shapes, strides and alignments that gemm_check tries: the same for every entry, or drawn around the block sizes of one
// schedule set.
#pragma once

#include "gpu_common.h"

namespace gpu {

struct Placement {
  int64_t pad = 0;     // elements between rows beyond the extent
  int64_t offset = 0;  // elements the base is moved by
  int64_t step = 1;    // from column to column
};

struct Case {
  int64_t m, n, k;
  Placement a, b, c;
  Fill fill = Fill::kNormal;
};

/// For any entry: a fixed list first (each hard extent in each place, each kind of alignment), then random ones up to `count`.
inline std::vector<Case> Cases(int count, uint64_t seed) {
  const int64_t hard[] = {0, 1, 7, 15, 16, 17, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 383, 509, 1021};
  std::vector<Case> cases;
  for (int64_t h : hard) {
    cases.push_back({h, 256, 128, {}, {}, {}});
    cases.push_back({128, h, 128, {}, {}, {}});
    cases.push_back({128, 256, h, {}, {}, {}});
    cases.push_back({h, h, h, {}, {}, {}});
  }
  for (int64_t pad : {0, 1, 3, 8, 64})
    for (int64_t offset : {0, 1, 3, 8}) {
      cases.push_back({200, 264, 136, {pad, offset}, {pad, offset}, {pad, offset}});
      cases.push_back({200, 264, 136, {pad, offset}, {}, {}});
      cases.push_back({200, 264, 136, {}, {pad, offset}, {}});
      cases.push_back({200, 264, 136, {}, {}, {pad, offset}});
    }
  for (int64_t step : {2, 3}) {
    cases.push_back({200, 264, 136, {0, 0, step}, {}, {}});
    cases.push_back({200, 264, 136, {}, {8, 0, step}, {}});
    cases.push_back({200, 264, 136, {}, {}, {8, 0, step}});
    cases.push_back({129, 257, 65, {3, 1, step}, {5, 3, step}, {7, 1, step}});
  }
  for (int64_t k : {8, 16, 24, 32, 40, 72, 520, 4096, 4099, 28672}) cases.push_back({137, 261, k, {}, {}, {}});
  cases.push_back({2048, 2048, 2048, {}, {}, {}});
  cases.push_back({1531, 2053, 1033, {}, {}, {}});
  cases.push_back({4095, 520, 333, {}, {}, {}});
  cases.push_back({16, 4096, 1000, {}, {}, {}});
  cases.push_back({1, 4096, 4096, {}, {}, {}});
  cases.push_back({4096, 1, 4096, {}, {}, {}});
  // Sums that blocks of a cluster share, whatever else comes.
  for (const Case& shared : {Case{40, 1024, 8192, {}, {}, {}}, Case{16, 2000, 4096, {}, {}, {}}, Case{64, 4096, 4160, {}, {}, {}},
                             Case{100, 1024, 4096, {}, {}, {}}, Case{300, 4096, 2048, {}, {}, {}}, Case{384, 2880, 2112, {8, 8}, {}, {8, 8}}})
    cases.push_back(shared);
  // One for each set of gemm.tk that the random extents below hardly reach, and tiles of every width, one round of them and several.
  for (const Case& turned :
       {Case{60, 8544, 192, {}, {}, {}}, Case{50, 8768, 152, {}, {}, {}}, Case{98, 8552, 128, {}, {}, {}}, Case{193, 8768, 128, {}, {}, {}},
        Case{102, 8472, 256, {8, 8}, {}, {8, 8}}, Case{388, 4688, 96, {}, {}, {}}, Case{778, 3704, 96, {}, {}, {}},
        Case{3372, 776, 128, {}, {}, {}}, Case{678, 4256, 128, {}, {}, {}}, Case{521, 6744, 128, {}, {}, {}},
        Case{290, 8632, 128, {}, {}, {}}, Case{3425, 776, 96, {}, {}, {}}, Case{1615, 2080, 96, {}, {}, {}},
        Case{329, 2865, 1109, {}, {}, {}}, Case{1024, 6144, 192, {8, 8}, {}, {8, 8}}, Case{3000, 3000, 72, {}, {}, {}},
        Case{39, 96, 2456, {}, {}, {}}, Case{66, 2488, 760, {}, {}, {}}, Case{831, 1904, 72, {}, {}, {}},
        Case{131, 8872, 72, {}, {}, {}}, Case{369, 5952, 88, {}, {}, {}}, Case{2476, 1168, 72, {}, {}, {}}, Case{110, 4576, 584, {}, {}, {}},
        Case{60, 8, 984, {}, {}, {}}, Case{2539, 72, 2792, {}, {}, {}}, Case{983, 864, 1088, {}, {}, {}}, Case{508, 6672, 160, {}, {}, {}},
        Case{304, 5696, 144, {}, {}, {}}, Case{98, 4504, 1440, {}, {}, {}}, Case{1161, 2512, 456, {}, {}, {}},
        Case{2, 144, 4736, {}, {}, {}}, Case{1252, 1616, 120, {}, {}, {}}})
    cases.push_back(turned);
  uint64_t state = seed;
  const auto next = [&](int64_t n) { return int64_t(Hash(++state * 0x51f7) % uint64_t(n)); };
  const auto extent = [&] { return next(3) == 0 ? hard[size_t(next(21))] : next(4) == 0 ? 1 + next(1700) : 1 + next(600); };
  const auto place = [&] {
    const int64_t pads[] = {0, 0, 8, 1, 5, 24, 128}, offsets[] = {0, 0, 8, 1, 2, 4, 7};
    return Placement{pads[next(7)], offsets[next(7)]};
  };
  while (int(cases.size()) < count) cases.push_back({extent(), extent(), extent(), place(), place(), place()});
  for (size_t i = 0; i < cases.size(); i += 3) cases[i].fill = Fill::kInteger;
  return cases;
}

/// Tensors of 65536 x 65536, and rows 2^31 bytes apart: few of those, whichever dimension runs over the rows in this layout.
inline std::vector<Case> BigCases(bool trans_a, bool trans_b) {
  const int64_t far = (int64_t(1) << 30) + 8;
  const auto few_rows = [&](bool of_a, bool of_b, bool of_c) {
    Case c{300, 200, 203, {}, {}, {}};
    if (of_a) (trans_a ? c.k : c.m) = 5;
    if (of_b) (trans_b ? c.n : c.k) = 5;
    if (of_c) c.m = 5;
    return c;
  };
  std::vector<Case> cases = {{65536, 64, 65536, {}, {}, {}}, {65536, 65536, 64, {}, {}, {}}};
  Case c = few_rows(true, false, false);
  c.a = {far, 0}, c.fill = Fill::kInteger;
  cases.push_back(c);
  c = few_rows(false, true, false);
  c.b = {far, 0};
  cases.push_back(c);
  c = few_rows(false, false, true);
  c.c = {far, 0};
  cases.push_back(c);
  c = few_rows(true, false, true);
  c.a = {far + 1, 3}, c.c = {far + 3, 1};
  cases.push_back(c);
  return cases;
}

/// For an entry with one schedule set of known blocks: extents at, below and above a block in each dimension, no K, one step of
/// K, as many as there are slots, one more, several laps over the slots; more tiles than there are multiprocessors, with and
/// without K; operands that the copy engine takes and others. The most telling come first.
inline std::vector<Case> BlockCases(const Blocks& block, uint64_t seed) {
  const int64_t m = block.m, n = block.n, k = block.k, lap = block.k * block.slots;
  const Placement dense{}, odd{1, 1}, even{8, 8};
  std::vector<Case> cases = {
      {m, n, 5 * lap + k, dense, dense, dense},
      {m + 1, n + 8, 3 * lap + 8, dense, dense, dense},
      {17 * m + 3, 9 * n + 8, 2 * k + 8, dense, dense, dense},
      {17 * m + 3, 9 * n + 8, 2 * lap + k, dense, even, dense},
      {2 * m + 1, 2 * n + 1, 0, dense, dense, dense},
      {17 * m, 9 * n, 0, dense, dense, dense},
      {m - 1, n - 1, 1, dense, dense, dense},
      {2 * m + 5, 3 * n - 7, 2 * lap + 3, odd, odd, odd},
      {1, 1, 1, dense, dense, dense},
      {0, n, k, dense, dense, dense},
      {m, 0, k, dense, dense, dense},
      {m + 8, n - 8, 4 * lap + 1, dense, odd, dense},
  };
  for (int64_t extent : {int64_t(1), k - 1, k, k + 1, lap - 1, lap, lap + 1, lap + k, 2 * lap, 2 * lap + k + 8, 7 * lap - 8})
    cases.push_back({m + 16, n + 24, extent, dense, dense, dense});
  for (int64_t extent : {int64_t(1), m - 1, m + 1, 2 * m, 3 * m + 7}) cases.push_back({extent, n, 2 * k, even, even, even});
  for (int64_t extent : {int64_t(1), n - 1, n + 1, 2 * n, 3 * n + 8}) cases.push_back({m, extent, 2 * k, even, even, even});
  uint64_t state = seed * 977;
  const auto draw = [&](int64_t most) { return 1 + int64_t(Hash(++state) % uint64_t(most)); };
  for (int i = 0; i < 6; ++i)
    cases.push_back({draw(4 * m), draw(4 * n), draw(3 * lap), i % 2 ? odd : even, even, i % 3 ? dense : odd});
  for (size_t i = 0; i < cases.size(); i += 3) cases[i].fill = Fill::kInteger;
  return cases;
}

}  // namespace gpu
