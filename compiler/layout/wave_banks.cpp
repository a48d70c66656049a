// SPDX-License-Identifier: MIT
#include "compiler/layout/wave_banks.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <vector>

namespace tkc::layout {
namespace {

constexpr int kWaveBits = 6, kFragmentRows = 16;

/// Elements of one lane's access, and its first element in the tile.
struct LanePlace {
  int64_t row, col;
};

int64_t Depth(const SharedTile& tile, FragmentRead read) {
  const int64_t k = read.k_along_columns ? tile.cols : tile.rows;
  return k % 32 == 0 ? 32 : 16;
}

bool IsWide(const SharedTile& tile, FragmentRead read) { return read.wide && Depth(tile, read) == 32; }

int WidthOf(const SharedTile& tile, FragmentRead read) {
  if (read.k_along_columns) return IsWide(tile, read) ? 16 : 8;
  return read.transposes ? 8 : Bytes(tile.dtype);
}

WaveAccess AccessOf(FragmentRead read) {
  return !read.k_along_columns && read.transposes ? WaveAccess::kTransposingLoad : WaveAccess::kLoad;
}

/// The first instruction of the load; the others add constants to it.
LanePlace PlaceOf(const SharedTile& tile, FragmentRead read, int lane) {
  const int row = lane % kFragmentRows, group = lane / kFragmentRows, k = (IsWide(tile, read) ? 8 : 4) * group;
  if (read.k_along_columns) return {row, k};
  return read.transposes ? LanePlace{k + row / 4, row % 4 * 4} : LanePlace{k, row};
}

const BankRule& RuleFor(std::span<const BankRule> rules, WaveAccess access, int width) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const BankRule& rule) {
    return rule.access == access && rule.width == std::max(width, kWord);
  });
  return found != rules.end() ? *found : rules.front();
}

int GroupBits(const BankRule& rule) {
  return static_cast<int>(std::count_if(rule.together.begin(), rule.together.end(), [](uint8_t lane) { return lane != 0; }));
}

}  // namespace

BankCost EnumerateFragmentConflicts(std::span<const BankRule> rules, const SharedTile& tile, FragmentRead read) {
  const int width = WidthOf(tile, read);
  const BankRule& rule = RuleFor(rules, AccessOf(read), width);
  BankCost cost;
  std::set<int> served;
  for (int first = 0; first < kWaveLanes; ++first) {
    if (served.contains(first)) continue;
    std::map<int64_t, std::set<int64_t>> words_of_bank;
    for (int member = 0; member < 1 << GroupBits(rule); ++member) {
      int lane = first;
      for (int bit = 0; bit < GroupBits(rule); ++bit) lane ^= member >> bit & 1 ? rule.together[bit] : 0;
      served.insert(lane);
      const LanePlace place = PlaceOf(tile, read, lane);
      const int64_t address = tile.Offset(place.row, place.col);
      for (int64_t word = address / kWord; word <= (address + width - 1) / kWord; ++word)
        words_of_bank[word % rule.banks].insert(word);
    }
    size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    cost.cycles += static_cast<int>(most);
    cost.degree = std::max(cost.degree, static_cast<int>(most));
    ++cost.ideal;
  }
  return cost;
}

BankCost FragmentConflicts(std::span<const BankRule> rules, const SharedTile& tile, FragmentRead read) {
  if (!std::has_single_bit(static_cast<uint64_t>(tile.Pitch()))) return EnumerateFragmentConflicts(rules, tile, read);
  const int width = WidthOf(tile, read);
  const BankRule& rule = RuleFor(rules, AccessOf(read), width);
  // Lane numbers go to addresses linearly: rows, chunks and the swizzle's XOR have bits of their own.
  std::array<uint64_t, kWaveBits> address_of_bit{};
  for (int bit = 0; bit < kWaveBits; ++bit) {
    const LanePlace place = PlaceOf(tile, read, 1 << bit);
    address_of_bit[bit] = static_cast<uint64_t>(tile.Offset(place.row, place.col));
  }
  std::vector<uint64_t> words;
  for (int member = 0; member < GroupBits(rule); ++member) {
    uint64_t address = 0;
    for (int bit = 0; bit < kWaveBits; ++bit) address ^= rule.together[member] >> bit & 1 ? address_of_bit[bit] : 0;
    words.push_back(address);
  }
  for (int word = kWord; word < width; word *= 2) words.push_back(static_cast<uint64_t>(word));
  constexpr uint64_t kWordMask = ~uint64_t{3};
  const uint64_t bank_mask = static_cast<uint64_t>(rule.banks - 1) * kWord;
  const int degree = 1 << (Rank(words, kWordMask) - Rank(words, bank_mask)), groups = kWaveLanes >> GroupBits(rule);
  return {groups * degree, degree, groups};
}

Swizzle ChooseFragmentSwizzle(std::span<const BankRule> rules, const SharedTile& tile, std::span<const FragmentRead> reads) {
  Swizzle best = Swizzle::kNone;
  int least = 0;
  for (const Swizzle swizzle : {Swizzle::k128, Swizzle::kT128, Swizzle::k64, Swizzle::k32, Swizzle::kNone}) {
    SharedTile candidate = tile;
    candidate.swizzle = swizzle;
    if (swizzle != Swizzle::kNone && tile.cols % candidate.PanelCols() != 0) continue;
    int clocks = 0;
    for (const FragmentRead& read : reads) clocks += FragmentConflicts(rules, candidate, read).cycles;
    if (least != 0 && clocks >= least) continue;
    best = swizzle;
    least = clocks;
  }
  return best;
}

}  // namespace tkc::layout
