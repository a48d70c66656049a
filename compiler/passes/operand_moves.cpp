// SPDX-License-Identifier: MIT
#include "compiler/passes/operand_moves.h"

#include <algorithm>

#include "compiler/ir/queries.h"
#include "compiler/layout/bank_model.h"
#include "compiler/layout/wave_banks.h"

namespace tkc::passes {
namespace {

using layout::kLanes;

constexpr int64_t kStep = 16;   // of K, in one instruction
constexpr int64_t kBlock = 16;  // rows of a left operand in one warp, and columns of two right ones

/// One ldmatrix of four matrices: lane l names row l % 8 of matrix l / 8 of the tile as it lies.
template <class Place>
void AddWindowMatrices(MoveCost& cost, const Window& stored, const Place& place) {
  ++cost.instructions;
  for (int matrix = 0; matrix < kLanes / kRowsOfMatrix; ++matrix) {
    std::array<int64_t, kRowsOfMatrix> addresses{};
    for (int row = 0; row < kRowsOfMatrix; ++row) {
      const auto [r, c] = place(matrix * kRowsOfMatrix + row);
      addresses[static_cast<size_t>(row)] = stored.Address(r, c);
    }
    const layout::BankCost one = layout::MatrixCost(addresses);
    cost.wavefronts += one.cycles;
    cost.ideal += one.ideal;
  }
}

Window Stored(const Window& window) {
  Window stored = window;
  stored.transposed = false;
  if (window.transposed) std::swap(stored.rows, stored.cols);
  return stored;
}

}  // namespace

MoveCost LeftMove(const ir::RegisterLayout& registers, const Window& window) {
  MoveCost cost;
  cost.width = 16;
  cost.as_matrices = true;
  const Window stored = Stored(window);
  const int64_t block_rows = kBlock * registers.warp_rows;
  for (int warp = 0; warp < ir::kWarpsOfInstance; ++warp) {
    const int64_t first = warp % registers.warp_rows * kBlock;
    for (int64_t k = 0; k < window.cols; k += kStep) {
      for (int64_t i = 0; i < window.rows / block_rows; ++i) {
        AddWindowMatrices(cost, stored, [&](int lane) -> std::pair<int64_t, int64_t> {
          const int64_t row = first + i * block_rows;
          if (window.transposed) return {k + lane / 16 * 8 + lane % 8, row + lane / 8 % 2 * 8};
          return {row + lane % 16, k + lane / 16 * 8};
        });
      }
    }
  }
  return cost;
}

MoveCost RightMove(const ir::RegisterLayout& registers, const Window& window) {
  MoveCost cost;
  cost.width = 16;
  cost.as_matrices = true;
  const Window stored = Stored(window);
  const int64_t block = int64_t{8} * registers.warp_cols;
  for (int warp = 0; warp < ir::kWarpsOfInstance; ++warp) {
    const int64_t first = int64_t{8} * (warp / registers.warp_rows % registers.warp_cols);
    for (int64_t k = 0; k < window.rows; k += kStep) {
      const int64_t blocks = window.cols / block;
      for (int64_t j = 0; j < blocks; j += 2) {
        // At an odd end the last block twice.
        const int64_t next = j + 1 < blocks ? block : 0;
        AddWindowMatrices(cost, stored, [&](int lane) -> std::pair<int64_t, int64_t> {
          const int64_t col = first + j * block + lane / 16 * next;
          if (window.transposed) return {col + lane % 8, k + lane / 8 % 2 * 8};
          return {k + lane % 16, col};
        });
      }
    }
  }
  return cost;
}

MoveCost WaveOperandMove(const ir::RegisterLayout& registers, const Target& target, const Window& window, bool is_left,
                         bool is_alone) {
  const ir::Buffer& buffer = *window.buffer;
  const layout::SharedTile tile{buffer.dtype, buffer.rows, buffer.cols, buffer.swizzle};
  const bool transposes = std::any_of(target.bank_rules.begin(), target.bank_rules.end(), [](const layout::BankRule& rule) {
    return rule.access == layout::WaveAccess::kTransposingLoad;
  });
  const layout::FragmentRead read{window.transposed != is_left, !is_alone, transposes};
  const layout::BankCost one = layout::FragmentConflicts(target.bank_rules, tile, read);
  const int64_t steps = is_left ? window.cols : window.rows, others = is_left ? window.rows : window.cols;
  const int64_t each = kStep * (is_left ? registers.warp_rows : registers.warp_cols);
  MoveCost cost;
  cost.width = 16;
  cost.instructions = ir::kWarpsOfInstance * std::max<int64_t>(1, steps / (2 * kStep)) * std::max<int64_t>(1, others / each);
  cost.wavefronts = cost.instructions * one.cycles;
  cost.ideal = cost.instructions * one.ideal;
  return cost;
}

std::set<ir::ValueId> RightsBesideRegisters(const ir::Kernel& kernel, const ir::Worker& worker) {
  std::set<ir::ValueId> rights;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kMultiply && kernel.TypeOf(op.operands[1]).space == ir::Space::kRegister)
      rights.insert(op.operands[2]);
  });
  return rights;
}

MoveCost WaveCopyMove(const Target& target, const Window& window) {
  MoveCost cost;
  cost.width = target.copy_bytes;
  cost.instructions = window.buffer->TileBytes() / (int64_t{target.copy_bytes} * target.lanes);
  cost.wavefronts = cost.ideal = cost.instructions;
  return cost;
}

}  // namespace tkc::passes
