// SPDX-License-Identifier: MIT
#include "compiler/passes/copy_pieces.h"

#include <algorithm>

#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

constexpr int64_t kPiece = 16;  // bytes

/// Rows and columns of an input, none of them left out but behind its end, the first column at a multiple of `granule` bytes. A
/// range that ends with a block, or with the tensor, leaves out no others: blocks behind its end are not received.
bool IsBlockOfRows(const ir::Kernel& kernel, const IndexFacts& facts, const ir::Op& read, int64_t granule) {
  if (read.axes.size() < 2 || read.axes.back().dropped) return false;
  const ir::TensorParam& tensor = FindTensor(kernel, read.symbol);
  const auto kept = std::count_if(read.axes.begin(), read.axes.end(), [](const ir::AxisRange& axis) { return !axis.dropped; });
  bool is_ranged = false;
  for (size_t i = 0; i < read.axes.size(); ++i) {
    const auto ends = facts.EndsInsideBlocks(read.axes[i], tensor.extents[i]);
    is_ranged |= !ends || !ends->empty() || !facts.IsNonNegative(read.axes[i].start);
  }
  return !tensor.is_work && tensor.mode == typed::TensorMode::kIn && kept == 2 && !is_ranged &&
         facts.Divisor(read.axes.back().start) * Bytes(tensor.dtype) % granule == 0;
}

}  // namespace

bool GoesInPieces(const ir::Kernel& kernel, const IndexFacts& facts, const Target& target, const ir::Op& read, int64_t threads,
                  bool is_operand) {
  const ir::Type& tile = kernel.TypeOf(read.results[0]);
  const int64_t row = tile.cols * Bytes(tile.dtype);
  if (read.IsTurned() || row % target.copy_bytes != 0 || !IsBlockOfRows(kernel, facts, read, target.copy_bytes)) return false;
  return target.counts_copy_instructions ? tile.rows * row / target.copy_bytes % threads == 0 : is_operand;
}

bool GoesThroughRegisters(const ir::Kernel& kernel, const IndexFacts& facts, const Target& target, const ir::Op& read,
                          const ir::Type& tile, bool is_turned) {
  const int64_t bytes = Bytes(tile.dtype), round = kPiece * kernel.threads, elements = tile.rows * tile.cols;
  const auto computing =
      std::count_if(kernel.workers.begin(), kernel.workers.end(), [](const ir::Worker& worker) { return worker.Computes(); });
  if (!target.stages_copies || kernel.threads == 0 || computing != 1 || !IsBlockOfRows(kernel, facts, read, kPiece)) return false;
  if (!is_turned) return tile.cols * bytes % kPiece == 0 && elements * bytes % round == 0;
  constexpr int64_t kLeastPatch = 4 * 2;  // elements of a thread
  return bytes == 2 && tile.cols % 4 == 0 && tile.rows % 8 == 0 && elements % (kLeastPatch * kernel.threads) == 0;
}

}  // namespace tkc::passes
