// SPDX-License-Identifier: MIT
// Staging buffers of a role that computes: who waits before one is written again, and what makes it known what was written.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace tkc::passes {

class StagingSync {
 public:
  StagingSync(const ir::Kernel& kernel, const ir::Worker& worker);

  /// The buffer that a view shows, or null.
  const std::string* BufferOf(ir::ValueId view) const;
  /// Whether what is written to the buffer is gone from others: it is one of them, or lies over one.
  bool Overwrites(const std::string& buffer, const std::set<std::string>& others) const;
  /// Whether the copy engine stores from any.
  bool HasEngineStores() const { return !stored_from_.empty(); }

  /// A store into a buffer, of a tile or a copy from global memory, behind the meeting that it needs. `is_beside`: it needs none,
  /// as the stores in front of it fill other parts of the same tile.
  void Store(ir::Op op, bool is_beside, ir::Region& out);
  /// A warp may still read what `op` reads when others go on.
  void NoteReads(const ir::Op& op);
  /// A wait of each warp for itself, behind which all must meet before they write.
  void NoteWait() { batch_.has_met = false; }
  /// In front of an operation of `code`: stores behind each other share the meetings in front of and behind them.
  void Before(ir::OpCode code, ir::Region& out);
  /// What was stored may be read from here on: by all warps, and by the copy engine and the matrix unit.
  void Publish(ir::Region& out);

  void EnterLoop(const ir::Op& loop);
  void LeaveLoop();
  /// Buffers that a warp may still read, since all met: to be put back for each branch, and together behind them.
  const std::set<std::string>& in_use() const { return in_use_; }
  void SetInUse(std::set<std::string> buffers) { in_use_ = std::move(buffers); }

 private:
  bool IsNewEachTurn(ir::ValueId view) const;
  /// Whether the buffer, into which `view` looks, may still be read when it is written again.
  bool IsReused(const std::string& buffer, ir::ValueId view) const;
  void Meet(Span span, ir::Region& out);

  /// Stores that no meeting has followed yet.
  struct Batch {
    std::set<std::string> buffers;
    bool has_met = false;  // in front of them
    bool is_fenced = false;
    Span span{};
  };

  const ir::Kernel& kernel_;
  std::map<ir::ValueId, std::string> buffer_of_;
  std::map<ir::ValueId, ir::Scalar> index_of_view_;  // view of an array of buffers -> which of them
  std::set<std::string> stored_from_;                // buffers that the copy engine stores from
  std::set<std::string> read_by_units_;              // buffers that it or the matrix unit reads
  std::set<std::string> written_;                    // so far
  std::set<std::string> in_use_;
  std::vector<std::set<std::string>> before_loops_;  // what was in use in front of each loop around
  int depth_ = 0;                                    // loops around the operation at hand
  std::string chunk_;                                // what the innermost loop counts, if it is an unrolled one
  Batch batch_;
};

}  // namespace tkc::passes
