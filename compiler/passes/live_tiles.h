// SPDX-License-Identifier: MIT
// How many registers of a thread the tiles of a role take where most of them are in use at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// How a column counts: as dealt to the lanes of a warp, as more of it than that need not be there at once; or as many elements as
/// the layout gives a thread, which is what the compiler of the output takes where it may, and for what a loop keeps always. Then
/// narrow elements that a loop reads may count, once there, as it has them where it may, too: each in a register of its own.
enum class Columns : uint8_t { kDealt, kHeld, kHeldUnpacked };

/// 32-bit registers a thread for a tile of this type in a warpgroup's registers, dealt as the layout says; 0 in shared memory.
int64_t RegistersOf(const ir::Type& type, const ir::RegisterLayout& layout, Columns columns = Columns::kDealt);

/// A sum, and what two steps of a product take at once: one multiplies what is there, the next one is being loaded.
int64_t RegistersOfTwoSteps(const ir::Type& sum, const ir::Type& left, const ir::Type& right, const ir::RegisterLayout& layout);

/// Whether all elements of the tiles in use behind the operation must be in registers at once: behind a load, a reduction, a
/// product. Between two of these the output's compiler computes expressions element by element.
bool KeepsTiles(const ir::Op& op);

/// Whether the function takes branches and many instructions for each element, while operands of others stay in registers.
bool IsLongFunction(const ir::Kernel& kernel, const ir::Op& op);

/// The most registers in use at once. An operation's result takes over the registers of what it reads for the last time, as
/// elements are computed one by one. A tile that the next iteration of a loop reads is in use throughout the loop.
int64_t MostLiveRegisters(const ir::Kernel& kernel, const ir::Worker& worker, Columns columns = Columns::kDealt);

/// The most registers that a store to global memory needs: for what it writes and for the tiles in use behind it. The branches of a
/// store (whole vectors, cut by an edge, element by element) all write the same tile, which is therefore complete before them.
int64_t MostStoredRegisters(const ir::Kernel& kernel, const ir::Worker& worker, Columns columns = Columns::kDealt);

/// Where a load counts that stands behind elementwise operations: in its place, or in front of them, together with the loads before
/// it, to where the output's compiler moves it if it finds registers. kAllTogether: loads from shared memory, too.
enum class Loads : uint8_t { kInPlace, kTogether, kAllTogether };

struct LiveTiles {
  int64_t registers = 0;
  const ir::Op* where = nullptr;    // the operation behind which they are in use
  std::vector<ir::ValueId> in_use;  // the largest first
};

/// The most that is in use behind any operation that keeps tiles (KeepsTiles): what the output's compiler can't do without. `where`
/// is the first such operation in program order.
LiveTiles MostKeptTiles(const ir::Kernel& kernel, const ir::Worker& worker, Loads loads = Loads::kInPlace,
                        Columns columns = Columns::kDealt);

/// The same, only behind reductions, scans and products.
LiveTiles MostBesideReductions(const ir::Kernel& kernel, const ir::Worker& worker);

/// The tiles in use behind any operation that keeps tiles where they take more than `registers`.
std::set<ir::ValueId> KeptBeside(const ir::Kernel& kernel, const ir::Worker& worker, int64_t registers,
                                 Loads loads = Loads::kInPlace);

/// What a tile in use counts as: itself, or another one that it is had from again; and the registers of that one, which counts
/// once.
struct Counting {
  std::function<ir::ValueId(ir::ValueId)> as;
  std::function<int64_t(ir::ValueId)> registers;
};

/// Registers in use behind each operation that keeps tiles, and behind each store into shared memory: threads meet there, and
/// expressions that end behind are not computed element by element.
std::map<const ir::Op*, int64_t> RegistersBehind(const ir::Kernel& kernel, const ir::Worker& worker, Loads loads,
                                                 const Counting& counting);

}  // namespace tkc::passes
