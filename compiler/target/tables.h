// SPDX-License-Identifier: MIT
// The tables themselves. Sizes of shared memory: CUDA guide and, for sm_90a, measured on an H200.
#pragma once

#include "compiler/target/target.h"

namespace tkc::targets {

// wgmma: operands from shared memory, the left one also from registers; either way around for 16-bit types only.
inline constexpr MatrixShape kSm90Matrix[] = {
    {DType::kBF16, 64, 16, 8, 256}, {DType::kF16, 64, 16, 8, 256}, {DType::kE4M3, 64, 32, 8, 256},
    {DType::kE5M2, 64, 32, 8, 256}, {DType::kI8, 64, 32, 16, 256}, {DType::kU8, 64, 32, 16, 256},
};

// mma.sync: one warp, operands in registers. The first four are those of sm_80; products of fp8 came with sm_89.
inline constexpr MatrixShape kSm89Matrix[] = {
    {DType::kBF16, 16, 16, 8, 8}, {DType::kF16, 16, 16, 8, 8},  {DType::kI8, 16, 32, 8, 8},
    {DType::kU8, 16, 32, 8, 8},   {DType::kE4M3, 16, 32, 8, 8}, {DType::kE5M2, 16, 32, 8, 8},
};
inline constexpr std::span<const MatrixShape> kSm80Matrix = std::span(kSm89Matrix).first(4);

// MFMA: one wave of 64 lanes.
inline constexpr MatrixShape kGfx942Matrix[] = {
    {DType::kBF16, 16, 16, 16, 16},
    {DType::kF16, 16, 16, 16, 16},
    {DType::kI8, 16, 32, 16, 16},
};

inline constexpr MatrixShape kGfx950Matrix[] = {
    {DType::kBF16, 16, 32, 16, 16},
    {DType::kF16, 16, 32, 16, 16},
    {DType::kI8, 16, 64, 16, 16},
};

// Shared memory of CDNA, by instruction (AMD's documents, HipKittens' counters, Triton; not measured here).
inline constexpr layout::BankRule kGfx942Banks[] = {
    {layout::WaveAccess::kLoad, 4, 32, {1, 2, 4, 8, 16}}, {layout::WaveAccess::kLoad, 8, 32, {1, 2, 4, 8}},
    {layout::WaveAccess::kLoad, 16, 32, {1, 2, 20}},      {layout::WaveAccess::kStore, 4, 32, {1, 2, 4, 8, 16}},
    {layout::WaveAccess::kStore, 8, 32, {1, 2, 4, 8}},    {layout::WaveAccess::kStore, 16, 32, {1, 2, 4}},
};
inline constexpr layout::BankRule kGfx950Banks[] = {
    {layout::WaveAccess::kLoad, 4, 64, {1, 2, 4, 8, 16, 32}},
    {layout::WaveAccess::kLoad, 8, 64, {1, 2, 4, 8, 16}},
    {layout::WaveAccess::kLoad, 16, 64, {1, 2, 12, 20}},
    {layout::WaveAccess::kStore, 4, 32, {1, 2, 4, 8, 16}},
    {layout::WaveAccess::kTransposingLoad, 8, 64, {1, 2, 4, 8, 16}},
    {layout::WaveAccess::kStore, 8, 32, {1, 2, 4, 8}},
    {layout::WaveAccess::kStore, 16, 32, {1, 2, 4}},
};

inline constexpr RegisterRule kNoMoves = {.least = 0, .most = 0};
// A compute unit has 512 KB: 512 registers for each lane of a SIMD, ordinary and accumulation ones.
inline constexpr RegisterRule kCdnaRegisters = {.file = 131072, .most_per_thread = 511, .least = 0, .most = 0};

inline constexpr Target kSm90a = {.name = "sm_90a",
                                  .chip = "NVIDIA Hopper: H100, H200",
                                  .implemented = true,
                                  .shared_memory_per_block = 232448,
                                  .shared_memory_per_processor = 233472,
                                  .registers = {},
                                  .draws_tiles = true,
                                  .has_grid_dependency = true,
                                  .has_tensor_copy = true,
                                  .has_matrix_group = true,
                                  .has_clusters = true,
                                  .has_async_copy = true,
                                  .matrix_shapes = kSm90Matrix};

/// What sm_80 and those that are programmed like it have in common: warps multiply, and whoever computes copies, too.
constexpr Target LikeAmpere(Target target) {
  target.implemented = true;
  target.folds_copies = true;
  target.loads_ahead = true;
  target.advances_copies = true;
  target.most_slots = 4;
  target.runtime_header = "tk/sm80.h";
  target.has_async_copy = true;
  target.draws_tiles = true;
  return target;
}

inline constexpr Target kSm80 = LikeAmpere({.name = "sm_80",
                                            .chip = "NVIDIA Ampere: A100",
                                            .shared_memory_per_block = 163 * 1024,
                                            .shared_memory_per_processor = 164 * 1024,
                                            .registers = kNoMoves,
                                            .matrix_shapes = kSm80Matrix});
inline constexpr Target kSm86 = LikeAmpere({.name = "sm_86",
                                            .chip = "NVIDIA Ampere: RTX 30, A10, A40",
                                            .shared_memory_per_block = 99 * 1024,
                                            .shared_memory_per_processor = 100 * 1024,
                                            .threads_per_processor = 1536,
                                            .registers = kNoMoves,
                                            .matrix_shapes = kSm80Matrix});
inline constexpr Target kSm89 = LikeAmpere({.name = "sm_89",
                                            .chip = "NVIDIA Ada: RTX 40, L4, L40",
                                            .shared_memory_per_block = 99 * 1024,
                                            .shared_memory_per_processor = 100 * 1024,
                                            .threads_per_processor = 1536,
                                            .registers = kNoMoves,
                                            .matrix_shapes = kSm89Matrix});
inline constexpr Target kSm120 = LikeAmpere({.name = "sm_120",
                                             .chip = "NVIDIA Blackwell: RTX 50",
                                             .shared_memory_per_block = 99 * 1024,
                                             .shared_memory_per_processor = 100 * 1024,
                                             .threads_per_processor = 1536,
                                             .registers = kNoMoves,
                                             .has_tensor_copy = true,
                                             .has_clusters = true,
                                             .matrix_shapes = kSm89Matrix});

// Its matrix unit (tcgen05, tensor memory) has no table yet.
inline constexpr Target kSm100a = {.name = "sm_100a",
                                   .chip = "NVIDIA Blackwell: B200",
                                   .shared_memory_per_block = 232448,
                                   .shared_memory_per_processor = 233472,
                                   .registers = {},
                                   .has_grid_dependency = true,
                                   .has_tensor_copy = true,
                                   .has_clusters = true,
                                   .has_async_copy = true,
                                   .matrix_shapes = {}};

/// What the CDNA generations have in common: waves of 64 lanes, chiplets, copies that are counted, fragments by columns.
constexpr Target LikeCdna(Target target) {
  target.implemented = true;
  target.lanes = 64;
  target.named_barriers = 0;
  target.is_hip = true;
  target.folds_copies = true;
  target.counts_copy_instructions = true;
  target.alternates = true;
  target.loads_tiles_whole = true;
  target.fragment = {4, 4, 1, 16, 4, 1, true};
  target.wide_depth = 32;
  target.permutes_right_operand = true;
  target.loads_by_offset = true;
  target.chiplets = 8;
  target.has_async_copy = true;
  return target;
}

inline constexpr Target kGfx942 = LikeCdna({.name = "gfx942",
                                            .chip = "AMD CDNA3: MI300X, MI325X",
                                            .shared_memory_per_block = 65536,
                                            .shared_memory_per_processor = 65536,
                                            .registers = kCdnaRegisters,
                                            .stages_copies = true,
                                            .most_slots = 2,
                                            .copy_bytes = 4,
                                            .runtime_header = "tk/gfx942.h",
                                            .matrix_shapes = kGfx942Matrix,
                                            .bank_rules = kGfx942Banks});
inline constexpr Target kGfx950 = LikeCdna({.name = "gfx950",
                                            .chip = "AMD CDNA4: MI350X, MI355X",
                                            .shared_memory_per_block = 163840,
                                            .shared_memory_per_processor = 163840,
                                            .registers = kCdnaRegisters,
                                            .most_slots = 4,
                                            .runtime_header = "tk/gfx950.h",
                                            .matrix_shapes = kGfx950Matrix,
                                            .bank_rules = kGfx950Banks});

}  // namespace tkc::targets
