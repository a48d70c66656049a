// SPDX-License-Identifier: MIT
#include "compiler/passes/shared_moves.h"

#include <algorithm>
#include <numeric>

#include "compiler/layout/bank_model.h"
#include "compiler/layout/conflict.h"

namespace tkc::passes {
namespace {

using layout::BankCost;
using layout::kIdle;
using layout::kLanes;
using layout::LaneAddresses;
using layout::RegisterLayout;

constexpr int kWidest = 16;         // bytes of the widest access
constexpr int kFragmentBytes = 16;  // of a 64 x 8 block of f32, in one thread

layout::SharedTile TileOf(const ir::Buffer& buffer) { return {buffer.dtype, buffer.rows, buffer.cols, buffer.swizzle}; }

void Add(MoveCost& cost, const LaneAddresses& addresses, bool is_store) {
  const BankCost one = is_store ? layout::StoreCost(addresses, cost.width) : layout::LoadCost(addresses, cost.width);
  if (one.cycles == 0) return;
  ++cost.instructions;
  cost.wavefronts += one.cycles;
  cost.ideal += one.ideal;
}

void Repeat(MoveCost& cost, int64_t times) {
  cost.instructions *= times;
  cost.wavefronts *= times;
  cost.ideal *= times;
}

/// Behind so many rows the swizzle begins again, in the same banks.
int64_t RowsOfPattern(const ir::Buffer& buffer) {
  return buffer.Alignment() / std::gcd(buffer.Alignment(), TileOf(buffer).Pitch());
}

/// Four matrices of one ldmatrix or stmatrix: lane l names row l % 8 of matrix l / 8.
void AddMatrices(MoveCost& cost, const LaneAddresses& rows) {
  ++cost.instructions;
  for (int matrix = 0; matrix < kLanes / kRowsOfMatrix; ++matrix) {
    std::array<int64_t, kRowsOfMatrix> addresses{};
    std::copy_n(rows.begin() + matrix * kRowsOfMatrix, kRowsOfMatrix, addresses.begin());
    const BankCost one = layout::MatrixCost(addresses);
    cost.wavefronts += one.cycles;
    cost.ideal += one.ideal;
  }
}

/// detail::for_each_matrix_group
MoveCost MatrixMove(const RegisterLayout& l, const Window& window) {
  MoveCost cost;
  cost.width = kWidest;
  cost.as_matrices = true;
  for (int64_t i = 0; i < window.rows / l.RowsPerBlock(); ++i) {
    for (int64_t warp = 0; warp < ir::kWarpsOfInstance; ++warp) {
      for (int64_t j = 0; j < window.cols / 8; j += 2) {
        LaneAddresses rows{};
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          const int64_t first = (i * l.warp_rows + warp % l.warp_rows) * 16;
          rows[lane] = window.transposed ? window.Address(first + lane / 8 % 2 * 8, lane / 16 * 8 + lane % 8 + j * 8)
                                         : window.Address(first + lane % 16, lane / 16 * 8 + j * 8);
        }
        AddMatrices(cost, rows);
      }
    }
  }
  return cost;
}

/// detail::load_turned_matrices
MoveCost TurnedMatrixMove(const RegisterLayout& l, const Window& window) {
  MoveCost cost;
  cost.width = kWidest;
  cost.as_matrices = true;
  for (int64_t i = 0; i < window.rows / l.RowsPerBlock(); ++i) {
    for (int64_t j = 0; j < window.cols / l.ColsPerBlock(); ++j) {
      for (int64_t warp = 0; warp < ir::kWarpsOfInstance; ++warp) {
        LaneAddresses rows{};
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          const int64_t matrix = lane / kRowsOfMatrix, named = lane % kRowsOfMatrix / 2;
          const int64_t across = j * l.warp_cols + warp / l.warp_rows % l.warp_cols;
          rows[lane] = window.Address((i * l.warp_rows + warp % l.warp_rows) * kRowsOfMatrix,
                                      (across * l.lanes + named) * l.vec + (matrix + named) % 4 * 2 + lane % 2);
        }
        AddMatrices(cost, rows);
      }
    }
  }
  return cost;
}

/// detail::stores: of the lanes that hold copies, one stores.
bool Stores(const RegisterLayout& l, const Window& window, int warp, int lane) {
  const bool is_copy = warp >= l.warp_rows * l.warp_cols || lane >= l.lanes * l.lane_rows;
  const bool owns_row = window.rows > 1 || (warp % l.warp_rows == 0 && lane < l.lanes);
  return !is_copy && owns_row && (window.cols > 1 || (warp < l.warp_rows && lane % l.lanes == 0));
}

/// detail::turned_columns: by how many columns the accesses of every other row are off, and which bit of the lane says which row.
int TurnedColumns(const RegisterLayout& l, const Window& window, int lane) {
  const ir::Buffer& buffer = *window.buffer;
  const bool is_fragment = l == layout::kMatrixFragment && Bytes(buffer.dtype) == 4 && !window.transposed && window.rows > 1;
  const int64_t panel = layout::PanelBytes(buffer.swizzle);
  if (!is_fragment || window.cols != buffer.cols || panel < 64 || window.cols * 4 % panel != 0) return 0;
  return panel == 128 ? (lane / 4 % 2) * 16 : (lane / 8 % 2) * 8;
}

/// detail::for_each_shared_vector
MoveCost VectorMove(const RegisterLayout& registers, const Window& window, bool is_store) {
  const RegisterLayout l = registers.ForRows(window.rows);
  const int size = Bytes(window.buffer->dtype);
  const int elements = window.cols == 1 ? 1 : l.vec;
  const int vector = window.transposed ? 1 : std::min(elements, kWidest / size);
  const int64_t blocks_down = window.rows == 1 ? 1 : window.rows / l.RowsPerBlock();
  const int64_t blocks_across = window.cols == 1 ? 1 : window.cols / l.ColsPerBlock();
  const int halves = window.rows == 1 ? 1 : l.halves;
  MoveCost cost;
  cost.width = vector * size;
  const auto address = [&](int64_t i, int half, int64_t j, int element, int warp, int lane) -> int64_t {
    if (is_store && !Stores(l, window, warp, lane)) return kIdle;
    const int64_t row =
        (i * l.warp_rows + warp % l.warp_rows) * (l.halves * l.lane_rows) + half * l.lane_rows + lane / l.lanes % l.lane_rows;
    const int64_t across = j * l.warp_cols + warp / l.warp_rows % l.warp_cols;
    const int64_t col = (across * l.lanes + lane % l.lanes) * l.vec + element;
    return window.Address(window.rows == 1 ? 0 : row, window.cols == 1 ? 0 : col ^ TurnedColumns(registers, window, lane));
  };
  for (int64_t i = 0; i < blocks_down; ++i) {
    for (int half = 0; half < halves; ++half) {
      for (int64_t j = 0; j < blocks_across; ++j) {
        for (int element = 0; element < elements; element += vector) {
          for (int warp = 0; warp < ir::kWarpsOfInstance; ++warp) {
            LaneAddresses addresses{};
            for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = address(i, half, j, element, warp, lane);
            Add(cost, addresses, is_store);
          }
        }
      }
    }
  }
  return cost;
}

}  // namespace

int64_t Window::Address(int64_t row, int64_t col) const {
  if (transposed) std::swap(row, col);
  return TileOf(*buffer).Offset(row0 + row, col0 + col);
}

MoveCost RegisterMove(const RegisterLayout& registers, const Window& window, bool is_store) {
  constexpr int kPair = 16;  // columns: the matrix instructions take two blocks of eight
  const RegisterLayout fitted = registers.ForRows(window.rows);
  const bool is_pairs = registers == layout::kMatrixFragment && Bytes(window.buffer->dtype) == 2 && window.rows > 1;
  // Copies are not stored.
  if (is_pairs && window.cols % kPair == 0 && (!is_store || fitted == registers)) return MatrixMove(fitted, window);
  const bool is_tile = window.rows > 1 && window.cols > 1;
  if (window.transposed && !is_store && is_tile && layout::TakesTurnedMatrices(registers, window.buffer->dtype))
    return TurnedMatrixMove(fitted, window);
  return VectorMove(registers, window, is_store);
}

MoveCost GuardedMove(const Window& window, int threads, int width, bool is_store) {
  const int64_t elements = std::max(1, width / Bytes(window.buffer->dtype));
  const int64_t per_row = window.cols / elements, pieces = window.rows * per_row;
  // Behind so many pieces the same threads are where the swizzle begins again.
  const int64_t period =
      std::max(int64_t{1}, window.transposed ? pieces : std::lcm(threads, RowsOfPattern(*window.buffer) * per_row));
  const int64_t counted = pieces > period && pieces % period == 0 ? period : pieces,
                repeats = counted < pieces ? pieces / period : 1;
  MoveCost cost;
  cost.width = width;
  for (int64_t first = 0; first < counted; first += threads) {
    for (int64_t warp = 0; warp < threads / kLanes; ++warp) {
      LaneAddresses addresses{};
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int64_t piece = first + warp * kLanes + lane;
        addresses[lane] = piece < pieces ? window.Address(piece / per_row, piece % per_row * elements) : kIdle;
      }
      Add(cost, addresses, is_store);
    }
  }
  Repeat(cost, repeats);
  return cost;
}

bool TakesPieces(const Window& window, int width) {
  const int size = Bytes(window.buffer->dtype);
  return width == size || (!window.transposed && size < width && window.cols % (width / size) == 0);
}

MoveCost ScratchMove(const RegisterLayout& l, DType dtype, int64_t results, int64_t stretches, bool of_rows, bool is_store) {
  MoveCost cost;
  const int warps = of_rows ? l.warp_cols : l.warp_rows;  // that combine what they have
  if (warps <= 1) return cost;                            // each has its results whole: nothing to exchange
  const int size = Bytes(dtype), step = of_rows ? l.warp_rows : 1;
  cost.width = size;
  const int64_t per_block = of_rows ? l.RowsPerBlock() : l.ColsPerBlock(), in_thread = of_rows ? l.halves : l.vec;
  const int64_t values = results == 1 ? 1 : results / per_block * in_thread;
  // Rows and columns in the order of registers.
  const auto place = [&](int64_t n, int warp, int lane) -> int64_t {
    if (results == 1) return 0;
    if (of_rows) return n * l.lane_rows + lane / l.lanes % l.lane_rows;
    return (n * l.warp_cols + warp / l.warp_rows % l.warp_cols) * l.lanes + lane % l.lanes;
  };
  const auto writes = [&](int lane) {
    if (!of_rows) return lane < l.lanes;
    return lane % l.lanes == 0 && lane < (results == 1 ? l.lanes : l.lanes * l.lane_rows);
  };
  for (int64_t n = 0; n < values * stretches; ++n) {
    for (int warp = 0; warp < ir::kWarpsOfInstance; ++warp) {
      const int first = of_rows ? warp % l.warp_rows : warp / l.warp_rows % l.warp_cols * l.warp_rows;
      // Each warp writes its own row, and reads those of the warps that it combines.
      for (int k = 0; k < (is_store ? 1 : warps); ++k) {
        const int row = is_store ? warp : first + k * step;
        LaneAddresses addresses{};
        for (int lane = 0; lane < kLanes; ++lane)
          addresses[lane] =
              is_store && !writes(lane) ? kIdle : ((row * stretches + n / values) * results + place(n % values, warp, lane)) * size;
        Add(cost, addresses, is_store);
      }
    }
  }
  return cost;
}

MoveCost FragmentMove(int64_t rows, int64_t cols, int64_t shares, bool is_store) {
  MoveCost cost;
  cost.width = kFragmentBytes;
  LaneAddresses addresses{};
  for (int64_t lane = 0; lane < kLanes; ++lane) addresses[lane] = lane * kFragmentBytes;
  Add(cost, addresses, is_store);
  Repeat(cost, rows / 64 * (cols / 8) * shares * ir::kWarpsOfInstance);
  return cost;
}

MoveCost MatrixFetch(const Window& window) {
  Window stored = window;  // rows of memory, either way around
  stored.transposed = false;
  if (window.transposed) std::swap(stored.rows, stored.cols);
  const int64_t pieces = kWidest / Bytes(window.buffer->dtype);
  MoveCost worst;
  worst.width = kWidest;
  worst.instructions = worst.ideal = 1;
  const int64_t rows = std::min(stored.rows, std::lcm(int64_t{kRowsOfMatrix}, RowsOfPattern(*window.buffer)));
  for (int64_t row = 0; row + kRowsOfMatrix <= rows; row += kRowsOfMatrix) {
    for (int64_t col = 0; col < stored.cols; col += pieces) {
      std::array<int64_t, kRowsOfMatrix> addresses{};
      for (int k = 0; k < kRowsOfMatrix; ++k) addresses[k] = stored.Address(row + k, col);
      worst.wavefronts = std::max<int64_t>(worst.wavefronts, layout::MatrixCost(addresses).cycles);
    }
  }
  return worst;
}

}  // namespace tkc::passes
