// SPDX-License-Identifier: MIT
#include "compiler/passes/select_layout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/matrix_unit.h"
#include "compiler/passes/reshaped_layouts.h"
#include "compiler/passes/turned_tiles.h"

namespace tkc::passes {
namespace {

/// Columns that are read, received or counted and only used as rows: they are loaded as rows (stage_operands).
std::set<ir::ValueId> TurnedColumns(const ir::Kernel& kernel, const ir::Worker& worker) {
  std::set<ir::ValueId> turned, kept;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    for (ir::ValueId value : op.operands) (op.code == ir::OpCode::kTranspose ? turned : kept).insert(value);
  });
  std::set<ir::ValueId> columns;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code != ir::OpCode::kRead && op.code != ir::OpCode::kPositions && op.code != ir::OpCode::kReceive) return;
    for (const ir::ValueId value : op.results) {
      if (kernel.TypeOf(value).cols == 1 && turned.contains(value) && !kept.contains(value)) columns.insert(value);
    }
  });
  return columns;
}

/// Rows that became columns, or columns rows, for the store behind them alone: they are stored as they were held (stage_operands).
/// `columns` are loaded as rows.
std::set<ir::ValueId> TurnedForStores(const ir::Kernel& kernel, const ir::Worker& worker, const std::set<ir::ValueId>& columns) {
  std::set<ir::ValueId> turned, kept;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kTranspose) {
      const ir::Type& type = kernel.TypeOf(op.results[0]);
      if ((type.rows == 1 || type.cols == 1) && !columns.contains(op.operands[0])) turned.insert(op.results[0]);
    }
    if (op.code != ir::OpCode::kStore) kept.insert(op.operands.begin(), op.operands.end());
  });
  std::erase_if(turned, [&](ir::ValueId value) { return kept.contains(value); });
  return turned;
}

/// The tiles of a worker that lie in memory as they are: received, read, or a part or the transpose of such.
std::set<ir::ValueId> TilesInMemory(const ir::Worker& worker) {
  std::set<ir::ValueId> tiles;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    const bool turns = op.code == ir::OpCode::kTranspose;  // a tile of registers is turned through shared memory
    const bool is_view = op.code == ir::OpCode::kPart && tiles.count(op.operands[0]) > 0;
    if (op.code == ir::OpCode::kReceive || op.code == ir::OpCode::kRead || turns || is_view)
      tiles.insert(op.results.begin(), op.results.end());
  });
  return tiles;
}

/// Tiles in memory of which the worker wants nothing but the transpose, or parts of a received one: they stay in shared memory, and
/// no layout need hold them whole. (Vectors are loaded either way round; parts of what is read may stay with the threads that hold
/// it.)
std::set<ir::ValueId> TilesOnlySeen(const ir::Kernel& kernel, const ir::Worker& worker) {
  const std::set<ir::ValueId> in_memory = TilesInMemory(worker);
  std::set<ir::ValueId> seen, held, read;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kRead) read.insert(op.results[0]);
    for (const ir::ValueId value : op.operands) {
      const ir::Type& type = kernel.TypeOf(value);
      const bool turns_tile = op.code == ir::OpCode::kTranspose && type.rows > 1 && type.cols > 1;
      const bool takes_part = op.code == ir::OpCode::kPart && !read.contains(value);
      (in_memory.contains(value) && (turns_tile || takes_part) ? seen : held).insert(value);
    }
  });
  std::erase_if(seen, [&](ir::ValueId value) { return held.contains(value); });
  return seen;
}

/// Received tiles of a few columns that are only summed up along them: where they fit no layout, columns come one by one
/// (stage_operands). The wider tiles of the worker are not to be dealt to fewer lanes for their sake.
std::set<ir::ValueId> FewColumnsReduced(const ir::Kernel& kernel, const ir::Worker& worker) {
  constexpr int64_t kFew = 16;
  std::set<ir::ValueId> reduced, kept;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    const bool along_rows = op.code == ir::OpCode::kReduce && op.IsOfRows();
    (along_rows ? reduced : kept).insert(op.operands.begin(), op.operands.end());
  });
  std::set<ir::ValueId> few;
  bool has_wider = false;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    for (const ir::ValueId value : op.results) {
      const int64_t cols = kernel.TypeOf(value).cols;
      const bool is_reduced = op.code == ir::OpCode::kReceive && reduced.contains(value) && !kept.contains(value);
      if (is_reduced && cols <= kFew)
        few.insert(value);
      else
        has_wider |= cols > kFew;
    }
  });
  return has_wider ? few : std::set<ir::ValueId>{};
}

/// Parts of one tile that start at different rows and overlap.
std::set<ir::ValueId> Windows(const ir::Kernel& kernel, const ir::Worker& worker) {
  std::map<ir::ValueId, std::vector<const ir::Op*>> parts;  // by what they are part of
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kPart && symbolic::IsInt(op.scalars[0])) parts[op.operands[0]].push_back(&op);
  });
  std::set<ir::ValueId> windows;
  for (const auto& [whole, all] : parts) {
    for (const ir::Op* part : all) {
      const int64_t first = part->scalars[0]->int_value, end = first + kernel.TypeOf(part->results[0]).rows;
      const bool overlaps = std::any_of(all.begin(), all.end(), [&](const ir::Op* other) {
        const int64_t start = other->scalars[0]->int_value;
        return start > first && start < end && symbolic::Equal(other->scalars[1], part->scalars[1]);
      });
      if (overlaps) windows.insert(part->results[0]);
    }
  }
  return windows;
}

/// Whether each warp must have whole rows: where rows are reduced or parts of registers taken, and where a product takes a tile of
/// registers as its left operand, which is dealt to warps by rows.
bool WantsWholeRows(const ir::Worker& worker) {
  const std::set<ir::ValueId> in_memory = TilesInMemory(worker);
  bool wants = false;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    wants |= ir::ReducesOrScans(op.code) || (op.code == ir::OpCode::kPart && in_memory.count(op.operands[0]) == 0);
    if (ir::IsProduct(op.code)) wants |= in_memory.count(op.operands[op.code == ir::OpCode::kAccumulate]) == 0;
  });
  return wants;
}

/// The fragment of a matrix instruction that a warp issues alone, and an arrangement of the four warps over rows and columns: the
/// one in which they read least of the operands from shared memory, among those that divide every tile.
ir::RegisterLayout MatrixLayout(const ir::Kernel& kernel, const ir::Worker& worker, const Target& target) {
  constexpr int64_t kFragmentCols = 16;  // of the right operand: what one load of four 8 x 8 matrices brings
  const ir::RegisterLayout layout = target.fragment;
  if (WantsWholeRows(worker)) return layout;
  const int64_t warp_rows = int64_t{layout.halves} * layout.lane_rows;
  ir::RegisterLayout best = layout;
  int64_t least = 0;
  for (const int across : {1, 2, 4}) {
    const int down = ir::kWarpsOfInstance / across;
    bool divides = true;
    int64_t traffic = 0;  // elements that a warp reads for one term of every sum
    ForEachOp(worker.body, [&](const ir::Op& op) {
      for (const ir::ValueId value : op.results) {
        const ir::Type& type = kernel.TypeOf(value);
        if (op.code == ir::OpCode::kReceive || ir::IsPartOrTranspose(op.code)) continue;
        divides &= type.rows == 1 || type.rows % (warp_rows * down) == 0;
        divides &= type.cols == 1 || type.cols % (kFragmentCols * across) == 0;
      }
      if (!ir::IsProduct(op.code)) return;
      const bool has_acc = op.code == ir::OpCode::kAccumulate;
      const ir::Type& sum = kernel.TypeOf(has_acc ? op.operands[0] : op.results[0]);
      traffic += sum.rows / down + sum.cols / across;
    });
    if (across > 1 && (!divides || traffic >= least)) continue;
    least = traffic;
    best.warp_rows = down;
    best.warp_cols = across;
  }
  return best;
}

/// The columns of the narrowest tile that rows are cut to and that has some; 0: none are cut.
int64_t NarrowestCut(const ir::Kernel& kernel, const ir::Worker& worker) {
  int64_t narrowest = 0;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code != ir::OpCode::kReshape || op.Is(ir::kThroughShared)) return;
    const int64_t cols = std::min(kernel.TypeOf(op.operands[0]).cols, kernel.TypeOf(op.results[0]).cols);
    if (cols > 1 && (narrowest == 0 || cols < narrowest)) narrowest = cols;
  });
  return narrowest;
}

/// By how many rows parts of tiles in registers are shifted that have all their columns: a divisor of all shifts; 0: by none.
int64_t ShiftOfParts(const ir::Kernel& kernel, const ir::Worker& worker) {
  const std::set<ir::ValueId> in_memory = TilesInMemory(worker);
  int64_t shift = 0, row = 0;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code != ir::OpCode::kPart || in_memory.contains(op.operands[0]) || !symbolic::IsInt(op.scalars[0], &row)) return;
    if (kernel.TypeOf(op.operands[0]).cols == kernel.TypeOf(op.results[0]).cols) shift = std::gcd(shift, row);
  });
  return shift;
}

/// Whether parts that are shifted stay with their threads in `layout`, and nothing else gets much worse than as tiles are dealt
/// now.
bool ServesShifts(const ir::RegisterLayout& layout, int64_t shift, const std::vector<layout::TileShape>& shapes,
                  const ir::Worker& worker, const Target& target) {
  constexpr int kNarrowest = 4;  // bytes of a vector
  const bool are_wide = std::ranges::all_of(shapes, [&](const layout::TileShape& shape) {
    return !shape.in_memory || shape.cols == 1 || layout.vec * Bytes(shape.dtype) >= kNarrowest;
  });
  bool reduces_rows = false;
  ForEachOp(worker.body, [&](const ir::Op& op) { reduces_rows |= ir::ReducesOrScans(op.code) && op.IsOfRows(); });
  return shift % layout.RowsPerBlock() == 0 && layout::IsDealtWell(layout, shapes, target.lanes) && are_wide &&
         (!reduces_rows || !layout.RowSpansWarps() || worker.layout.RowSpansWarps()) &&
         layout::CostOf(layout, shapes) <= 2 * layout::CostOf(worker.layout, shapes);
}

/// Vectors as wide as the worker's tensors let them be, unless rows are cut to less than one: if narrower ones leave all that is
/// reshaped in its registers, these.
void DealRows(const ir::Kernel& kernel, ir::Worker& worker, const Target& target) {
  const std::vector<layout::TileShape> shapes = ShapesOfRows(kernel, worker);
  worker.layout = layout::ChooseRowLayout(shapes, target.lanes);
  if (const int64_t shift = ShiftOfParts(kernel, worker); shift % worker.layout.RowsPerBlock() != 0) {
    const ir::RegisterLayout shifted = layout::ChooseRowLayout(shapes, target.lanes, layout::kAnyVector, shift);
    if (ServesShifts(shifted, shift, shapes, worker, target)) worker.layout = shifted;
  }
  const int64_t cut = NarrowestCut(kernel, worker);
  if (cut == 0 || cut >= worker.layout.vec || ReshapedLayouts(kernel, worker).fault() == nullptr) return;
  const ir::RegisterLayout wide = std::exchange(worker.layout, layout::ChooseRowLayout(shapes, target.lanes, cut));
  if (ReshapedLayouts(kernel, worker).fault() != nullptr) worker.layout = wide;
}

/// Has the first reshape whose elements this layout can't leave in their registers go through shared memory, if there is one: its
/// tiles then count where the layout is chosen.
bool MovesReshape(const ir::Kernel& kernel, ir::Worker& worker) {
  const ir::Op* const fault = ReshapedLayouts(kernel, worker).fault();
  ForEachOp(worker.body, [&](ir::Op& op) {
    if (&op == fault) op.Set(ir::kThroughShared);
  });
  return fault != nullptr;
}

/// The extent that fits, next to `extent`: also as the terms of a product's sum.
int64_t ExtentBeside(int64_t extent, int64_t unit) {
  constexpr int64_t kTerms = 16;  // a multiple of any unit of columns that is less
  const int64_t step = std::max(unit, kTerms);
  return extent == 1 ? 1 : RoundUp(extent, step);
}

/// What else has as many rows goes along when products are given rows that the unit takes.
std::set<int64_t> RowsOfSums(const ir::Kernel& kernel, const ir::Worker& worker) {
  std::set<int64_t> rows;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (ir::IsProduct(op.code)) rows.insert(kernel.TypeOf(ir::SumOf(op)).rows);
  });
  return rows;
}

/// `Y[m, :] <- cat(a, b)` of columns: nothing else has the tile that they make.
bool JoinsStoredColumns(const ir::Kernel& kernel, const ir::Worker& worker, const ir::Op& op) {
  if (op.code != ir::OpCode::kCat) return false;
  bool is_only_stored = true;
  ForEachOp(worker.body, [&](const ir::Op& user) {
    const bool takes = std::count(user.operands.begin(), user.operands.end(), op.results[0]) > 0;
    is_only_stored &= !takes || user.code == ir::OpCode::kStore;
  });
  return is_only_stored &&
         std::all_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId part) { return kernel.TypeOf(part).cols == 1; });
}

/// A worker that multiplies keeps all its tiles as the matrix unit does: 16 rows of a warp at a time, 8 columns at a time on most.
void CheckMatrixTiles(const ir::Kernel& kernel, const ir::Worker& worker, const Target& target, Diagnostics& diagnostics) {
  const int64_t unit_rows = worker.layout.RowUnit(), unit_cols = worker.layout.ColsPerBlock();
  const std::set<int64_t> rows_of_sums = RowsOfSums(kernel, worker);
  const std::set<ir::ValueId> columns = TurnedColumns(kernel, worker);
  const std::set<ir::ValueId> only_multiplied = OnlyMultiplied(worker.body);
  // By rows and columns, where it stands first in the worker, or else in what it calls: the same mend will do for it elsewhere.
  struct Misfit {
    ir::Type type;
    const ir::Op* op;
  };
  std::map<std::pair<int64_t, int64_t>, Misfit> misfits;
  std::set<ir::ValueId> parts;
  const auto place = [&](const ir::Op& op) {
    return std::pair(op.span.file != worker.span.file || op.span.begin < worker.span.begin, op.span.begin);
  };
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kPart) parts.insert(op.results[0]);
    if (op.code == ir::OpCode::kReceive || op.code == ir::OpCode::kTranspose) return;  // may stay in shared memory
    if (op.code == ir::OpCode::kRead && only_multiplied.contains(op.results[0])) return;
    for (ir::ValueId value : op.results) {
      const ir::Type& type = kernel.TypeOf(value);
      const bool fits = worker.layout.HoldsRows(type.rows) && worker.layout.HoldsCols(type.cols);
      if (fits || op.code == ir::OpCode::kPart || columns.contains(value)) continue;
      const auto [misfit, is_new] = misfits.try_emplace({type.rows, type.cols}, Misfit{type, &op});
      if (!is_new && place(op) < place(*misfit->second.op)) misfit->second = {type, &op};
    }
  });
  for (const auto& [shape, misfit] : misfits) {
    const int64_t rows = rows_of_sums.contains(shape.first) ? UnitOf(target, worker.layout).rows : unit_rows;
    DiagnosticBuilder report = ReportMatrixShape(worker, misfit.type, misfit.op->span, diagnostics);
    if (target.has_matrix_group && !worker.layout.HoldsRows(misfit.type.rows))
      TurnedTiles(kernel, worker).NoteObstacle(target, report);
    if (JoinsStoredColumns(kernel, worker, *misfit.op))
      report.Help("store its columns one by one, each at an index of its own: `Y[m, 0] <- x`");
    else if (misfit.op->code == ir::OpCode::kReshape)  // its shape follows from others
      report.Help("send what is reshaped through a pipe, and let a worker that does not multiply go on with it");
    else
      report.Help(fmt::format("take {} x {}: of a block, what lies beyond the end of a tensor is zero, and is not stored",
                              ExtentBeside(shape.first, rows), ExtentBeside(shape.second, unit_cols)));
    const std::vector<ir::ValueId>& operands = misfit.op->operands;
    if (std::any_of(operands.begin(), operands.end(), [&](ir::ValueId operand) { return parts.contains(operand); }))
      report.Help("or send the whole through a pipe, and let a worker that does not multiply take it apart");
  }
}

}  // namespace

std::vector<layout::TileShape> ShapesOfRows(const ir::Kernel& kernel, const ir::Worker& worker) {
  std::vector<layout::TileShape> shapes;
  const std::set<ir::ValueId> columns = TurnedColumns(kernel, worker);
  const std::set<ir::ValueId> in_memory = TilesInMemory(worker), windows = Windows(kernel, worker);
  std::set<ir::ValueId> not_held = TilesOnlySeen(kernel, worker);
  not_held.merge(FewColumnsReduced(kernel, worker));
  const std::set<ir::ValueId> for_stores = TurnedForStores(kernel, worker, columns);
  const ReshapedLayouts reshaped(kernel, worker);
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (!op.results.empty() && columns.contains(op.results[0])) return;
    const bool is_transpose = op.code == ir::OpCode::kTranspose;
    const bool is_row = is_transpose && columns.contains(op.operands[0]);
    const bool has_parts = op.code == ir::OpCode::kReadParts || op.code == ir::OpCode::kStoreParts;
    const bool is_part = op.code == ir::OpCode::kPart && in_memory.contains(op.results[0]);
    const bool is_load =
        op.code == ir::OpCode::kRead || op.code == ir::OpCode::kReceive || ir::GathersRows(op) || is_row || has_parts || is_part;
    const auto add = [&](ir::ValueId value, bool in_memory) {
      if (!reshaped.IsOfWorker(value)) return;
      const ir::Type& type = kernel.TypeOf(value);
      const bool is_turned = is_transpose && !is_row && type.rows > 1 && type.cols > 1;
      in_memory |= is_turned;  // loaded from shared memory, as what is received
      const int64_t parts = has_parts ? op.axes.back().extent : 1;
      shapes.push_back(
          {type.rows, type.cols, type.dtype, in_memory, is_turned, windows.contains(value), parts, !for_stores.contains(value)});
    };
    for (ir::ValueId value : op.results) {
      if (!not_held.contains(value)) add(value, is_load);
    }
    if (op.code == ir::OpCode::kStore || has_parts) {
      for (ir::ValueId value : op.operands) add(value, true);
    }
  });
  return shapes;
}

DiagnosticBuilder ReportMatrixShape(const ir::Worker& worker, const ir::Type& type, Span span, Diagnostics& diagnostics) {
  const ir::RegisterLayout& l = worker.layout;
  DiagnosticBuilder report = diagnostics.Error(
      DiagnosticKind::kMatrixShape, span,
      fmt::format("a tile of {} x {} in worker `{}`; a worker that multiplies takes rows in multiples of {} and columns "
                  "in multiples of {}",
                  type.rows, type.cols, worker.SourceName(), l.RowUnit(), l.ColsPerBlock()));
  report.Label(span, fmt::format("`{}[{}, {}]`{}", Name(type.dtype), type.rows, type.cols,
                                 worker.instances > 1 ? fmt::format(" in each of {} instances", worker.instances) : ""));
  return report;
}

Result<void> SelectLayout(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  const size_t errors = diagnostics.ErrorCount();
  for (ir::Worker& worker : kernel.workers) {
    if (!worker.Computes()) continue;
    do {
      if (!Multiplies(worker.body))
        DealRows(kernel, worker, target);
      else if (!target.has_matrix_group)
        worker.layout = MatrixLayout(kernel, worker, target);
    } while (MovesReshape(kernel, worker));
    if (Multiplies(worker.body)) CheckMatrixTiles(kernel, worker, target, diagnostics);
  }
  return diagnostics.ErrorCount() == errors ? Result<void>() : Failure{};
}

}  // namespace tkc::passes
