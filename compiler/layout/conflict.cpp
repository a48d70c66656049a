// SPDX-License-Identifier: MIT
// Why ranks suffice. The word that a lane touches is a linear function of the bits of its lane number and of the word's number in
// its vector. The lanes of a group (a subspace) touch 2^rank words; their banks, the word's low five bits, are a projection of the
// same map, so every bank that is touched at all is touched by equally many: 2^(rank - rank of the banks). Another instruction of
// the same move adds a constant, which changes neither.
#include "compiler/layout/conflict.h"

#include <algorithm>

namespace tkc::layout {
namespace {

constexpr int kWidest = 16;
constexpr uint64_t kWordMask = ~uint64_t{3};  // the address without the byte in the word
constexpr uint64_t kBankMask = uint64_t{31} << 2;
constexpr uint64_t kColumnMask = uint64_t{7} << 4;  // which 16 of 128 bytes
constexpr int kMatricesPerInstruction = 4;

bool IsMatrix(AccessKind kind) { return kind == AccessKind::kLoadMatrix || kind == AccessKind::kStoreMatrix; }

BankCost Times(BankCost cost, int count) { return {cost.cycles * count, cost.degree, cost.ideal * count}; }

/// The shape of the register tile.
int64_t RegisterRows(const SharedTile& tile, Access access) { return access.transposed ? tile.cols : tile.rows; }
int64_t RegisterCols(const SharedTile& tile, Access access) { return access.transposed ? tile.rows : tile.cols; }

/// Lane bits whose lanes do something: all when loading, when storing those that do not hold copies.
bool IsActive(const RegisterLayout& layout, const SharedTile& tile, Access access, int bit) {
  if (access.kind != AccessKind::kStore) return true;
  const int lanes = Log2(layout.lanes), lane_rows = Log2(layout.lane_rows);
  if (bit < lanes) return RegisterCols(tile, access) > 1;
  return bit < lanes + lane_rows && RegisterRows(tile, access) > 1;
}

/// From register bits to the address, for the tile as the access sees it.
std::optional<BitMatrix> RegisterToAddress(const RegisterLayout& layout, const SharedTile& tile, Access access) {
  const int cols = Log2(layout.ColsPerBlock()), rows = Log2(layout.RowsPerBlock());
  if (!access.transposed) {
    const std::optional<BitMatrix> address = AddressMap(tile, cols, rows);
    return address ? std::optional(address->After(RegisterMap(layout))) : std::nullopt;
  }
  const std::optional<BitMatrix> address = AddressMap(tile, rows, cols);
  if (!address) return std::nullopt;
  std::vector<uint64_t> turned;  // register columns are the tile's rows
  for (int bit = 0; bit < cols; ++bit) turned.push_back(address->Column(rows + bit));
  for (int bit = 0; bit < rows; ++bit) turned.push_back(address->Column(bit));
  return BitMatrix(address->Outputs(), std::move(turned)).After(RegisterMap(layout));
}

BankCost VectorConflicts(const BitMatrix& map, const RegisterLayout& layout, const SharedTile& tile, Access access) {
  const int width = AccessWidth(layout, tile, access);
  const int first_lane = Log2(layout.vec) + Log2(layout.halves);
  int group_bits = width <= 4 ? kLaneBits : kLaneBits - Log2(width / 4);
  if (access.kind == AccessKind::kLoad && map.Column(first_lane) == 0) group_bits = std::min(group_bits + 1, kLaneBits);
  std::vector<uint64_t> words;
  int groups = 1;
  for (int bit = 0; bit < kLaneBits; ++bit) {
    if (!IsActive(layout, tile, access, bit)) continue;
    if (bit < group_bits) {
      words.push_back(map.Column(first_lane + bit));
    } else {
      groups *= 2;
    }
  }
  for (int word = 4; word < width; word *= 2) words.push_back(static_cast<uint64_t>(word));
  const int degree = 1 << (Rank(words, kWordMask) - Rank(words, kBankMask));
  return {groups * degree, degree, groups};
}

/// Rows of a matrix are eight consecutive rows of the tile, either way around, or (TakesTurnedMatrices) one of each eighth: rows
/// that lie a multiple of eight apart meet the same banks.
BankCost MatrixConflicts(const BitMatrix& rows) {
  const int degree = 1 << (rows.Rank() - Rank(rows.Columns(), kColumnMask));
  return Times({degree, degree, 1}, kMatricesPerInstruction);
}

/// Place of a register in its tile.
struct Place {
  int64_t row, col;
};

Place PlaceOf(const RegisterLayout& layout, int64_t i, int64_t j, int half, int element, int warp, int lane) {
  const int64_t row = (i * layout.warp_rows + warp % layout.warp_rows) * (layout.halves * layout.lane_rows) +
                      half * layout.lane_rows + lane / layout.lanes % layout.lane_rows;
  const int64_t across = j * layout.warp_cols + warp / layout.warp_rows % layout.warp_cols;
  return {row, (across * layout.lanes + lane % layout.lanes) * layout.vec + element};
}

LaneAddresses AddressesOf(const RegisterLayout& layout, const SharedTile& tile, Access access, int64_t i, int64_t j, int half,
                          int element, int warp) {
  LaneAddresses addresses{};
  for (int lane = 0; lane < kLanes; ++lane) {
    bool is_active = true;
    for (int bit = 0; bit < kLaneBits; ++bit) {
      if ((lane >> bit & 1) && !IsActive(layout, tile, access, bit)) is_active = false;
    }
    Place place = PlaceOf(layout, i, j, half, element, warp, lane);
    if (RegisterRows(tile, access) == 1) place.row = 0;
    if (RegisterCols(tile, access) == 1) place.col = 0;
    if (access.transposed) std::swap(place.row, place.col);
    addresses[lane] = is_active ? tile.Offset(place.row, place.col) : kIdle;
  }
  return addresses;
}

BankCost EnumerateMatrices(const SharedTile& tile) {
  BankCost worst;
  for (int64_t row = 0; row + 8 <= tile.rows; row += 8) {
    for (int64_t col = 0; col + 8 <= tile.cols; col += 8) {
      std::array<int64_t, 8> addresses{};
      for (int k = 0; k < 8; ++k) addresses[k] = tile.Offset(row + k, col);
      const BankCost cost = MatrixCost(addresses);
      if (cost.cycles > worst.cycles) worst = cost;
    }
  }
  return Times(worst, kMatricesPerInstruction);
}

}  // namespace

bool TakesTurnedMatrices(const RegisterLayout& layout, DType dtype) {
  return Bytes(dtype) == 2 && layout.vec == 8 && layout.halves == 1 && layout.lanes == 4 && layout.lane_rows == 8;
}

int AccessWidth(const RegisterLayout& layout, const SharedTile& tile, Access access) {
  if (IsMatrix(access.kind)) return kWidest;
  // Neighbours in a register are neighbours in memory only along the tile's rows.
  if (access.transposed || tile.cols == 1) return Bytes(tile.dtype);
  return std::min(kWidest, layout.vec * Bytes(tile.dtype));
}

BankCost Conflicts(const RegisterLayout& layout, const SharedTile& tile, Access access) {
  if (IsMatrix(access.kind)) {
    const std::optional<BitMatrix> rows = AddressMap(tile, 0, 3);
    return rows ? MatrixConflicts(*rows) : EnumerateConflicts(layout, tile, access);
  }
  const std::optional<BitMatrix> map = RegisterToAddress(layout, tile, access);
  return map ? VectorConflicts(*map, layout, tile, access) : EnumerateConflicts(layout, tile, access);
}

BankCost EnumerateConflicts(const RegisterLayout& layout, const SharedTile& tile, Access access) {
  if (IsMatrix(access.kind)) return EnumerateMatrices(tile);
  const int width = AccessWidth(layout, tile, access);
  const int step = std::max(1, width / Bytes(tile.dtype));
  const int64_t blocks_down = std::max<int64_t>(1, RegisterRows(tile, access) / layout.RowsPerBlock());
  const int64_t blocks_across = std::max<int64_t>(1, RegisterCols(tile, access) / layout.ColsPerBlock());
  BankCost worst;
  for (int64_t i = 0; i < blocks_down; ++i) {
    for (int64_t j = 0; j < blocks_across; ++j) {
      for (int half = 0; half < layout.halves; ++half) {
        for (int element = 0; element < layout.vec; element += step) {
          for (int warp = 0; warp < 4; ++warp) {
            const LaneAddresses addresses = AddressesOf(layout, tile, access, i, j, half, element, warp);
            const BankCost cost = access.kind == AccessKind::kStore ? StoreCost(addresses, width) : LoadCost(addresses, width);
            if (cost.cycles > worst.cycles) worst = cost;
          }
        }
      }
    }
  }
  return worst;
}

}  // namespace tkc::layout
