// SPDX-License-Identifier: MIT
// The workspace of an entry: scratch tensors, and copies of tensors that a schedule can't read where they lie.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/code_writer.h"
#include "compiler/codegen/scalar_cpp.h"
#include "compiler/ir/ir.h"

namespace tkc::codegen {

/// By tensor, elements along each of its dimensions.
using BoxesOfTensors = std::map<std::string, std::vector<int64_t>>;

/// The tensors whose copies into shared memory need rows that are whole pieces, and the most that a copy takes of each dimension.
BoxesOfTensors CopiedInPieces(const ir::Kernel& kernel);
/// What a launcher says of such a tensor, behind its name: how far buffer loads, which count offsets in 32 bits, have to reach.
std::string ReachOfPieces(const ir::Kernel& kernel, const std::vector<int64_t>& box);
/// Element type and extents of a scratch tensor.
std::string WorkShape(const ir::TensorParam& tensor, const ScalarPrinter& host);

class Workspace {
 public:
  Workspace(const ir::Module& module, const ir::Entry& entry, const ScalarPrinter& host);

  /// The function `workspace_size`, of the number of the schedule where it depends on that.
  void EmitSize(CodeWriter& out) const;

  bool depends_on_schedule() const { return depends_; }
  /// Whether the size is asked for what may not be copied at all: then the call fails.
  bool checks() const { return checks_; }
  bool is_none() const { return is_same_ && bytes_[0] == "0"; }

 private:
  enum class Use : uint8_t { kScratch, kPacking, kPieces };
  static std::string_view TextOf(Use use);
  std::string BytesOf(const ir::Module& module, const std::vector<int>& alternative, const ScalarPrinter& host);
  std::string Comment() const;

  std::vector<std::string> bytes_;  // of each schedule
  std::set<Use> uses_;
  bool is_same_ = false;   // bytes of all schedules
  bool may_fail_ = false;  // there may be no schedule
  bool depends_ = false;
  bool checks_ = false;
};

}  // namespace tkc::codegen
