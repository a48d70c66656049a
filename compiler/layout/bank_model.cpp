// SPDX-License-Identifier: MIT
#include "compiler/layout/bank_model.h"

#include <algorithm>

namespace tkc::layout {
namespace {

constexpr int kBanks = 32;
constexpr int kWidestWords = 4;

/// Most different words in one bank among lanes [first, first + count).
int WordsPerBank(const LaneAddresses& addresses, int first, int count, int width) {
  std::array<std::array<int64_t, kLanes * kWidestWords>, kBanks> words;  // of each bank, as many as `different` says
  std::array<int, kBanks> different{};
  int most = 0;
  for (int lane = first; lane < first + count; ++lane) {
    if (addresses[lane] == kIdle) continue;
    const int64_t last = (addresses[lane] + width - 1) / kWord;
    for (int64_t word = addresses[lane] / kWord; word <= last; ++word) {
      auto& of_bank = words[word % kBanks];
      int& size = different[word % kBanks];
      if (std::find(of_bank.begin(), of_bank.begin() + size, word) != of_bank.begin() + size) continue;
      of_bank[size++] = word;
      most = std::max(most, size);
    }
  }
  return most;
}

BankCost Cost(const LaneAddresses& addresses, int width, int group) {
  BankCost cost;
  for (int first = 0; first < kLanes; first += group) {
    const int words = WordsPerBank(addresses, first, group, width);
    cost.cycles += words;
    cost.degree = std::max(cost.degree, words);
    cost.ideal += words > 0;
  }
  return cost;
}

int GroupOf(int width) { return width <= kWord ? kLanes : kLanes * kWord / width; }

}  // namespace

BankCost StoreCost(const LaneAddresses& addresses, int width) { return Cost(addresses, width, GroupOf(width)); }

BankCost LoadCost(const LaneAddresses& addresses, int width) {
  bool pairs_agree = true;
  for (int lane = 0; lane < kLanes; lane += 2) {
    const int64_t even = addresses[lane], odd = addresses[lane + 1];
    pairs_agree = pairs_agree && (even == odd || even == kIdle || odd == kIdle);
  }
  if (!pairs_agree) return Cost(addresses, width, GroupOf(width));
  BankCost cost = Cost(addresses, width, std::min(2 * GroupOf(width), kLanes));
  if (width == 16 && cost.cycles == 1) cost.cycles = cost.ideal = 2;  // its floor
  return cost;
}

BankCost MatrixCost(const std::array<int64_t, 8>& rows) {
  std::array<int64_t, 8> different = rows;
  std::sort(different.begin(), different.end());
  std::array<int, 8> in_column{};
  for (auto row = different.begin(), end = std::unique(row, different.end()); row != end; ++row) ++in_column[*row / 16 % 8];
  const int most = *std::max_element(in_column.begin(), in_column.end());
  return {most, most, 1};
}

}  // namespace tkc::layout
