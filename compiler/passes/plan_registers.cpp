// SPDX-License-Identifier: MIT
#include "compiler/passes/plan_registers.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/matrix_unit.h"
#include "compiler/passes/register_shares.h"

namespace tkc::passes {
namespace {

/// The mutable tiles that are in use at once, as sums are through the loops that add to them.
int64_t KeptRegisters(const ir::Kernel& kernel, const ir::Worker& worker) {
  const auto registers = [&](ir::ValueId tile) {
    const ir::Value& value = kernel.values[tile];
    return value.is_mutable ? RegistersOf(value.type, worker.layout) : 0;
  };
  int64_t most = 0;
  for (const auto& [op, kept] : RegistersBehind(kernel, worker, Loads::kInPlace, {std::identity(), registers})) {
    if (op->code != ir::OpCode::kStoreShared) most = std::max(most, kept);
  }
  return most;
}

/// "`x` 64, `y` 64, .."
std::string InUse(const ir::Kernel& kernel, const ir::RegisterLayout& layout, const LiveTiles& live) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, live.in_use.size()); ++i) {
    const ir::Value& value = kernel.values[live.in_use[i]];
    text += fmt::format("{}`{}` {}", i == 0 ? "" : ", ", value.name, RegistersOf(value.type, layout, Columns::kHeld));
  }
  return live.in_use.size() > kShown ? text + ", .." : text;
}

/// What the widest matrix instruction holds at once. ptxas allocates it within the registers of the launch, whatever is shared out
/// later.
int64_t InstructionRegisters(const ir::Kernel& kernel, const Target& target, const ir::Worker& worker) {
  if (!target.has_matrix_group) return 0;
  const int64_t widest = ShapeOf(target).n_max;
  int64_t cols = 0;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kMma) cols = std::max(cols, std::min(widest, kernel.TypeOf(op.operands[0]).cols));
  });
  return cols == 0 ? 0 : cols / 2 + target.beside_tiles.for_operands;
}

/// Whether a tile is loaded turned whose elements come one by one, each in a register, before they are packed: not those that come
/// as matrices, packed.
bool IsLoadedUnpacked(const ir::Kernel& kernel, const ir::Worker& worker, const ir::Op& op) {
  if (op.code != ir::OpCode::kLoadShared || !kernel.TypeOf(op.operands[0]).transposed) return false;
  const bool has_quads = worker.layout.lanes == 4 && worker.layout.vec == 8;  // as detail::is_quad_layout
  const int64_t bytes = Bytes(kernel.TypeOf(op.results[0]).dtype);
  return bytes < 4 && !(has_quads && bytes == 2);
}

/// Whether the compiler of the output keeps what no tile shows: sums of a scan that come from other lanes and warps, loads of the
/// next part, what either branch needs, masks of positions, which it asks ahead as they wait for no load, where chosen rows lie.
bool TakesMoreThanTiles(const ir::Kernel& kernel, const ir::Worker& worker) {
  std::set<ir::ValueId> positions;
  bool takes_more = false;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kPositions) positions.insert(op.results[0]);
    const auto is_position = [&](ir::ValueId value) { return positions.contains(value); };
    const bool is_mask = op.code == ir::OpCode::kBinary && kernel.TypeOf(op.results[0]).dtype == DType::kBool &&
                         std::any_of(op.operands.begin(), op.operands.end(), is_position);
    const bool has_branches = op.code == ir::OpCode::kIf && !op.regions[1].empty();
    takes_more |= op.code == ir::OpCode::kCumsum || op.code == ir::OpCode::kUnroll || has_branches || is_mask ||
                  ir::GathersRows(op) || IsLongFunction(kernel, op) || IsLoadedUnpacked(kernel, worker, op);
  });
  return takes_more;
}

/// Addresses of further tensors, beside `kept` registers of tiles.
int64_t RegistersOfFurtherTensors(const ir::Worker& worker, const RegistersBesideTiles& beside, int64_t kept) {
  constexpr size_t kFew = 2;
  std::set<std::string> tensors;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (ir::LoadsTile(op) || op.code == ir::OpCode::kStore) tensors.insert(op.symbol);
  });
  const int64_t for_third = tensors.size() > kFew ? kept / beside.kept_per_address : 0;
  const int64_t for_fourth = tensors.size() > kFew + 1 ? kept / beside.kept_per_fourth : 0;
  return for_third + for_fourth;
}

/// Addresses of the columns that a loop loads and stores. Their elements may lie apart, and the compiler of the output keeps over
/// the iterations where each of a thread's lies.
int64_t RegistersOfColumnAddresses(const ir::Kernel& kernel, const ir::Worker& worker) {
  constexpr int64_t kEach = 2;
  int64_t most = 0;
  ForEachOp(worker.body, [&](const ir::Op& loop) {
    if (loop.code != ir::OpCode::kFor) return;
    int64_t registers = 0;
    ForEachOp(loop.regions[0], [&](const ir::Op& op) {
      const bool is_store = op.code == ir::OpCode::kStore;
      if (!is_store && !ir::LoadsTile(op)) return;
      const ir::Type& type = kernel.TypeOf(is_store ? op.operands[0] : op.results[0]);
      if (type.cols == 1 && type.rows > 1) registers += kEach * worker.layout.PerThread(type.rows, type.cols);
    });
    most = std::max(most, registers);
  });
  return most;
}

/// Whether stored blocks have ends of their own, which are kept beside those of the tensors.
bool StoresCutBlocks(const ir::Worker& worker) {
  bool cuts = false;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    cuts |=
        op.code == ir::OpCode::kStore && std::ranges::any_of(op.axes, [](const ir::AxisRange& axis) { return axis.hi != nullptr; });
  });
  return cuts;
}

/// Each block may take what its tiles need and some for the addresses of its loads, which all are issued before the first is used,
/// or of its stores; loads with only elementwise operations between them count together.
int64_t EstimatedRegisters(const ir::Kernel& kernel, const RegistersBesideTiles& beside, const ir::Worker& worker) {
  const bool stages = kernel.dynamic || Contains(worker.body, ir::OpCode::kStoreShared);
  const int64_t for_staging = stages ? beside.for_addresses_of_staging : 0;
  const int64_t stored = MostStoredRegisters(kernel, worker, Columns::kHeldUnpacked);
  const int64_t kept = MostKeptTiles(kernel, worker, Loads::kInPlace, Columns::kHeldUnpacked).registers;
  const bool takes_more = TakesMoreThanTiles(kernel, worker);
  // What goes by these allowances where there is more of them, or little else.
  const int64_t for_columns = takes_more || kept < beside.kept_beside_columns ? 0 : RegistersOfColumnAddresses(kernel, worker);
  const int64_t for_addresses = beside.for_addresses_of_all + RegistersOfFurtherTensors(worker, beside, kept) + for_columns;
  const int64_t together = MostKeptTiles(kernel, worker, Loads::kTogether, Columns::kHeld).registers;
  const int64_t live = MostLiveRegisters(kernel, worker, Columns::kHeldUnpacked);
  const int64_t most =
      std::max({kept + for_addresses + for_staging, together + beside.for_positions, live + beside.for_positions,
                stored > 0 ? stored + beside.for_addresses_of_stores + (StoresCutBlocks(worker) ? beside.for_ends : 0) : 0});
  return takes_more ? most + beside.for_what_no_tile_shows : most;
}

/// Kernels without products stream: blocks of them share a multiprocessor, and the more there are, the more loads are in flight.
/// How many that are to be is a bound for ptxas, which takes as few registers as it likes and spills what exceeds it. Without a
/// bound it takes as many as shorten the code of one block, be it that too few blocks are resident to hide the loads.
void ShareMultiprocessor(ir::Kernel& kernel, const Target& target) {
  const RegisterRule& rule = target.registers;
  int64_t most = 0;
  for (const ir::Worker& worker : kernel.workers) {
    if (Multiplies(worker.body)) return;
    most = std::max(most, EstimatedRegisters(kernel, target.beside_tiles, worker));
  }
  if (most == 0) return;  // no worker
  const int64_t needed = RoundUp(most, rule.unit);
  const int64_t by_memory = target.BlocksByMemory(kernel.shared_bytes);
  const int64_t blocks =
      std::min({int64_t{rule.file} / (kernel.threads * needed), int64_t{target.threads_per_processor} / kernel.threads, by_memory});
  if (blocks < 2) return;
  kernel.resident = static_cast<int>(blocks);
  kernel.launch_registers = static_cast<int>(RegistersOfResident(kernel, target));
}

/// Whether each of several blocks, of which the schedule says how many share a multiprocessor, has enough; reports what takes too
/// many. Tiles that are kept have to fit, beside addresses where matrix instructions follow each other. Of the others nvcc and
/// clang keep as much at once as fits: they are computed element by element.
class SeveralBlocks {
 public:
  SeveralBlocks(const ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics)
      : kernel_(kernel), target_(target), shares_(ShareRegisters(kernel, target)), diagnostics_(diagnostics) {}

  int64_t Each() const { return shares_.computing; }

  bool Suffices(const ir::Worker& worker) {
    const int64_t instruction = InstructionRegisters(kernel_, target_, worker);
    if (instruction > Each()) {
      Report(worker, fmt::format("a matrix instruction of worker `{}` takes {} registers a thread; {} are left to it",
                                 worker.SourceName(), instruction, Each()));
      return false;
    }
    const int64_t left = instruction > 0 ? shares_.for_tiles : Each(), kept = MostKeptTiles(kernel_, worker).registers;
    if (kept > left) {
      Report(worker,
             fmt::format("worker `{}` keeps tiles of {} registers a thread; {} are left to it", worker.SourceName(), kept, left));
      return false;
    }
    return true;
  }

 private:
  void Report(const ir::Worker& worker, std::string headline) {
    diagnostics_.Error(DiagnosticKind::kRegisterOverflow, worker.span, std::move(headline))
        .Note(worker.span, fmt::format("{} resident blocks of {} threads share {} registers", kernel_.resident, kernel_.threads,
                                       target_.registers.file))
        .Help("take fewer resident blocks, or smaller tiles")
        .DependsOnSizes();
  }

  const ir::Kernel& kernel_;
  const Target& target_;
  const RegisterShares shares_;
  Diagnostics& diagnostics_;
};

/// Whether one block, which deals out its registers to roles, has enough for each; reports what takes too many.
class OneBlock {
 public:
  OneBlock(const ir::Kernel& kernel, const Target& target, const RegisterShares& shares, Diagnostics& diagnostics)
      : kernel_(kernel), target_(target), shares_(shares), diagnostics_(diagnostics) {}

  /// Of a worker that computes.
  bool Suffices(const ir::Worker& worker) {
    if (const int64_t needed = InstructionRegisters(kernel_, target_, worker); needed > shares_.at_entry) {
      ReportInstruction(worker, needed);
      return false;
    }
    const int64_t kept = KeptRegisters(kernel_, worker);
    if (!Fits(kept)) {
      ReportKept(worker, kept);
      return false;
    }
    // What that compiler has under way at once, it has to keep at once.
    const Loads loads = target_.loads_tiles_whole ? Loads::kAllTogether : Loads::kInPlace;
    if (const LiveTiles in_use = MostKeptTiles(kernel_, worker, loads, Columns::kHeld); !Fits(in_use.registers)) {
      ReportInUse(worker, in_use);
      return false;
    }
    return true;
  }

 private:
  int64_t Beside() const {
    return target_.has_matrix_group ? target_.beside_tiles.for_operands : target_.beside_tiles.for_addresses;
  }
  int64_t Left() const { return shares_.computing - Beside(); }
  bool Fits(int64_t registers) const { return registers <= Left(); }

  std::string Share() const {
    return fmt::format("{} threads share {} registers: {} each for this worker, {} of them for addresses and counters",
                       kernel_.threads, target_.registers.file, shares_.computing, Beside());
  }

  void ReportInstruction(const ir::Worker& worker, int64_t needed) {
    diagnostics_
        .Error(DiagnosticKind::kRegisterOverflow, worker.span,
               fmt::format("a matrix instruction of worker `{}` takes {} registers a thread; a launch of {} threads starts with {}",
                           worker.SourceName(), needed, kernel_.threads, shares_.at_entry))
        .Help("use fewer worker instances, or tiles of fewer columns")
        .DependsOnSizes();
  }

  int64_t ThreadsOfInstance() const { return int64_t{target_.lanes} * ir::kWarpsOfInstance; }
  /// How many of them have a part of their own of a tile.
  static int64_t ThreadsWithParts(const ir::RegisterLayout& l) {
    return int64_t{l.lanes} * l.lane_rows * l.warp_rows * l.warp_cols;
  }

  /// All tiles of a worker have one layout, which has to suit the narrowest.
  void NoteLayout(const ir::Worker& worker, DiagnosticBuilder& report) const {
    std::set<int64_t> rows, cols;
    ForEachOp(worker.body, [&](const ir::Op& op) {
      for (const ir::ValueId value : op.results) {
        const ir::Type& type = kernel_.TypeOf(value);
        if (type.space != ir::Space::kRegister) continue;
        if (type.rows > 1) rows.insert(type.rows);
        if (type.cols > 1) cols.insert(type.cols);
      }
    });
    report.Note(
        fmt::format("{} of {} threads have a part of their own: all tiles are dealt in blocks of {} x {}, which suit the "
                    "narrowest; they have {} rows and {} columns",
                    ThreadsWithParts(worker.layout), ThreadsOfInstance(), worker.layout.RowUnit(), worker.layout.ColsPerBlock(),
                    Listed(rows), Listed(cols)));
    report.Help(
        "let rows, and columns, have a large power of two in common, compute what has few of them in a worker of its own, "
        "use more worker instances, or smaller tiles");
  }

  /// `1`, `16`, `14, 16`, the greatest last.
  static std::string Listed(const std::set<int64_t>& extents) {
    return extents.empty() ? "1" : fmt::format("{}", fmt::join(extents, ", "));
  }

  void ReportKept(const ir::Worker& worker, int64_t kept) {
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kRegisterOverflow, worker.span,
                           fmt::format("worker `{}` keeps tiles of {} registers a thread; {} are left beside its addresses",
                                       worker.SourceName(), kept, Left()));
    report.DependsOnSizes().Note(worker.span, Share());
    if (ThreadsWithParts(worker.layout) < ThreadsOfInstance()) return NoteLayout(worker, report);
    report.Help("use more worker instances, or smaller tiles");
  }

  void ReportInUse(const ir::Worker& worker, const LiveTiles& in_use) {
    const ir::Type& type = kernel_.TypeOf(in_use.in_use[0]);
    const int64_t widest = RegistersOf(type, worker.layout, Columns::kHeld);
    const bool is_one = !Fits(widest);
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kRegisterOverflow, in_use.where->span,
                           fmt::format("{} {} registers a thread; {} are left to worker `{}` beside its addresses",
                                       is_one ? "a tile of" : "tiles in use at once take", is_one ? widest : in_use.registers,
                                       Left(), worker.SourceName()));
    report.DependsOnSizes().Note(worker.span, Share());
    if (!is_one) report.Note(fmt::format("in use here: {}", InUse(kernel_, worker.layout, in_use)));
    const int64_t threads = ThreadsWithParts(worker.layout), all = ThreadsOfInstance();
    const int64_t if_by_all = type.Bytes() / 4 / all;
    const auto is_power_of_two = [](int64_t extent) { return std::has_single_bit(static_cast<uint64_t>(extent)); };
    if (threads < all && Fits(if_by_all) && is_power_of_two(type.rows) && is_power_of_two(type.cols))
      return NoteLayout(worker, report);
    if (threads < all && Fits(if_by_all)) {
      report.Note(fmt::format("{} of {} threads have a part of their own: {} x {} is dealt out by powers of two", threads, all,
                              type.rows, type.cols));
      report.Help("take blocks of powers of two, as 32 by 64: elements beyond an edge do not exist, so that any extent will do");
    } else {
      report.Help("walk over the tile in smaller blocks, or use more worker instances");
    }
  }

  const ir::Kernel& kernel_;
  const Target& target_;
  const RegisterShares& shares_;
  Diagnostics& diagnostics_;
};

}  // namespace

Result<void> PlanRegisters(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  if (kernel.resident > 1) {
    SeveralBlocks blocks(kernel, target, diagnostics);
    kernel.launch_registers = static_cast<int>(blocks.Each());
    for (const ir::Worker& worker : kernel.workers) {
      if (!blocks.Suffices(worker)) return Failure{};
    }
    return {};
  }
  const RegisterShares shares = ShareRegisters(kernel, target);
  int64_t computing = 0;
  bool copies = false;
  for (ir::Worker& worker : kernel.workers) {
    const bool computes = worker.Computes();
    computing += computes ? worker.instances : 0;
    copies |= !computes;
    if (shares.copying != 0) worker.registers = static_cast<int>(computes ? shares.computing : shares.copying);
  }
  OneBlock block(kernel, target, shares, diagnostics);
  for (const ir::Worker& worker : kernel.workers) {
    if (worker.Computes() && !block.Suffices(worker)) return Failure{};
  }
  // Elsewhere a multiprocessor takes as many blocks as the registers leave room for that the kernel turns out to have.
  const bool may_share = !copies || (computing == 1 && !kernel.persistent);
  if (kernel.resident == 0 && may_share && !target.folds_copies) ShareMultiprocessor(kernel, target);
  return {};
}

}  // namespace tkc::passes
