// SPDX-License-Identifier: MIT
// What a GPU offers, as data: capacities, engines, matrix shapes. Passes ask the table and never the name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/layout/register_layout.h"
#include "compiler/layout/wave_banks.h"
#include "compiler/support/dtype.h"
#include "compiler/target/registers_beside_tiles.h"

namespace tkc {

/// One matrix instruction: [m, k] @ [k, n] of `operand`. n is any multiple of n_step up to n_max.
struct MatrixShape {
  DType operand;
  int m, k;
  int n_step, n_max;
};

/// `setmaxnreg`: warpgroups trade registers inside the pool the block was launched with,
/// (registers per thread at entry) * (warpgroups). A request beyond the pool blocks forever.
struct RegisterRule {
  int file = 65536;  // 32-bit registers of a multiprocessor
  int most_per_thread = 255;
  int unit = 8;                // counts are multiples
  int least = 24, most = 256;  // of a request

  /// Whether there is such an instruction.
  bool Moves() const { return most > 0; }
  /// Registers per thread that a block of `threads` is launched with, under __launch_bounds__(threads, 1).
  int AtEntry(int threads) const;
  /// The most that the requests of all warpgroups may add up to.
  int Pool(int threads) const { return AtEntry(threads) * (threads / 128); }
};

struct Target {
  std::string_view name;
  std::string_view chip;  // for --list-targets
  bool implemented = false;
  int64_t shared_memory_per_block = 0;  // bytes a block may use
  int64_t shared_memory_per_processor = 0;
  int threads_per_processor = 2048;
  int max_threads_per_block = 1024;
  int lanes = 32;           // of a warp
  int named_barriers = 16;  // 0 is the block's own
  RegisterRule registers;
  RegistersBesideTiles beside_tiles = {};
  bool is_hip = false;
  bool folds_copies = false;              // no engine that copies and signals a barrier: who computes issues the copies, too
  bool counts_copy_instructions = false;  // its waits count copy instructions of a thread, not groups of them
  bool alternates = false;                // waves of two instances share a matrix unit, and meet wherever each stands
  bool draws_tiles = false;               // blocks may take tiles from a counter (`dynamic`)
  bool has_grid_dependency = false;       // a launch may begin under the end of the one before
  bool stages_copies = false;             // copies of operands go through registers, fetched a step before they are put down
  bool loads_tiles_whole = false;  // its compiler has all loads of a tile under way, each in registers, before it uses the first
  layout::RegisterLayout fragment = layout::kMatrixFragment;  // in which its matrix unit leaves a product, over an instance's rows
  int64_t wide_depth = 0;  // K of a step of fragments, where it divides K: loads then bring 16 bytes a lane; 0: none does
  bool permutes_right_operand = false;  // a right operand beside a left one in registers has its elements in another order
  bool loads_by_offset = false;         // loads of pieces count bytes from the tensor's start in 32 bits: a launcher says how far
  bool loads_ahead = false;             // fragments of a loop's first product are loaded in front of the last product before it
  bool advances_copies = false;         // copies in a loop keep where their pieces lie
  int most_slots = 6;                   // of a pipe that says none: more hide no latency that fewer do not
  int chiplets = 1;                     // groups of multiprocessors with a cache each, to which blocks go in turn
  int copy_bytes = 16;                  // that one asynchronous copy instruction of a thread moves
  std::string_view runtime_header = "tk/sm90.h";
  bool has_tensor_copy = false;   // TMA
  bool has_matrix_group = false;  // wgmma
  bool has_clusters = false;
  bool has_async_copy = false;    // cp.async, buffer loads to shared memory; for --list-targets
  int64_t copy_box_extent = 256;  // elements of a box along one dimension
  int64_t copy_granule = 16;      // bytes: base, outer strides and inner box are multiples
  int copy_rank = 5;
  std::span<const MatrixShape> matrix_shapes;
  std::span<const layout::BankRule> bank_rules = {};  // of waves of 64 lanes

  /// Whether blocks of a cluster work together there: not where whoever computes copies, too.
  bool UsesClusters() const { return has_clusters && !folds_copies; }
  /// Bytes of shared memory that the hardware takes of each block beside its own: what the largest one leaves.
  int64_t TakenOfEach() const { return shared_memory_per_processor - shared_memory_per_block; }
  /// Bytes of shared memory that a block may use where `blocks` of them are on a multiprocessor.
  int64_t SharedMemoryOfEach(int64_t blocks) const;
  /// How many blocks of so many bytes are on a multiprocessor at once.
  int64_t BlocksByMemory(int64_t bytes) const;

  /// 80 of sm_80, 90 of sm_90a, 942 of gfx942.
  int Number() const;
  /// Whether its code runs on this GPU and on no later one.
  bool RunsOnlyThere() const { return is_hip || name.ends_with('a'); }
  /// What the host compiler is told, to make code for it: options of nvcc or hipcc.
  std::vector<std::string> CompilerOptions() const;
};

/// All targets, implemented or not, in the order of --list-targets.
std::span<const Target> Targets();

/// Null if there is none of that name.
const Target* FindTarget(std::string_view name);

/// The name of the target that somebody meant who wrote `name`: one called nearly so, or that of a GPU called so (`h100`). Empty if
/// none is near.
std::string TargetMeant(std::string_view name);

/// The matrix instruction for operands of this type, or null: the type is then multiplied in a wider one.
const MatrixShape* FindMatrixShape(const Target& target, DType operand);

}  // namespace tkc
