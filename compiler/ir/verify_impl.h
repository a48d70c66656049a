// SPDX-License-Identifier: MIT
// What the parts of the verifier share: the names in scope, and how a fault is said.
#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"

namespace tkc::ir {

/// Rows and columns of the elements that `axes` covers: the kept axes, one alone being a column.
Type Covered(const std::vector<AxisRange>& axes);

class Verifier {
 public:
  Verifier(const Kernel& kernel, Level level, const Target* target)
      : kernel_(kernel), level_(level), target_(target), in_scope_(kernel.values.size()), is_defined_(kernel.values.size()) {}

  std::vector<Fault> Run();

 private:
  // verify.cpp: declarations and scopes
  void DeclareKernel();
  void CheckCost(const Cost& cost);
  void CheckTensors();
  void CheckPipes();
  void CheckPipeEnds();
  void CheckWorkers();
  void CheckFrame(const Region& region);
  void CheckRegion(const Region& region);
  void CheckOp(const Op& op);
  void CheckInnerRegions(const Op& op);
  void Define(const Op& op);
  void DefineScalar(const std::string& name);
  bool InScope(const Op& op);
  /// Whether all that it mentions exists here.
  bool IsSound(const symbolic::Node& scalar) const;
  /// `what` has it, which a fault says between quotes.
  void CheckScalar(const Scalar& scalar, std::string_view what, std::string_view quote = "");

  // verify_target.cpp: the schedule level's declarations, each by itself
  void CheckBuffers();
  void CheckBarriers();
  void CheckMaps();
  void CheckLaunch();
  void CheckRole(const Worker& worker);

  // verify_fields.cpp: whether the fields of one operation hold what op.def says
  bool CheckFields(const Op& op);

  // verify_tile_ops.cpp: operations on tiles
  void CheckTileOp(const Op& op);
  void CheckAccess(const Op& op);
  void CheckGather(const Op& op);
  void CheckPartsAccess(const Op& op);
  /// One tile that is read or stored; `is_of_its_type`: it must have the tensor's element type.
  void CheckAccess(const Op& op, bool is_of_its_type, ValueId value);
  void CheckPipeOp(const Op& op);
  void CheckElementwise(const Op& op);
  void CheckCopyOfValue(const Op& op);
  void CheckReduce(const Op& op);
  void CheckTest(const Op& op);
  void CheckReshape(const Op& op);
  void CheckPart(const Op& op);
  void CheckProduct(const Op& op);

  // verify_schedule_ops.cpp: operations of the schedule level
  void CheckScheduleOp(const Op& op);
  void CheckView(const Op& op);
  void CheckSharedAccess(const Op& op);
  bool IsBarrier(const Op& op, const std::string& name);
  bool GoesToCluster(const Op& op);
  void CheckNumberOfTile(const Op& op);
  void CheckFetch(const Op& op);
  void CheckPieces(const Op& op);
  void CheckShares(const Op& op);
  void CheckFragment(const Op& op);
  void CheckSlot(const Op& op);
  void CheckBarrierOp(const Op& op);
  void CheckEngineCopy(const Op& op);
  static bool Fills(const TensorMap& map, const Type& view);
  void CheckNamedBarrier(const Op& op);
  void CheckFrameOp(const Op& op);

  template <typename... Args>
  void FaultAt(Span span, fmt::format_string<Args...> format, Args&&... args) {
    const std::string where = worker_ ? fmt::format("worker `{}`: ", worker_->name) : "";
    faults_.push_back({where + fmt::format(format, std::forward<Args>(args)...), span});
  }
  template <typename... Args>
  void OpFault(const Op& op, fmt::format_string<Args...> format, Args&&... args) {
    FaultAt(op.span, "`{}`: {}", PrintLine(kernel_, op), fmt::format(format, std::forward<Args>(args)...));
  }

  bool IsValue(ValueId value) const { return value >= 0 && static_cast<size_t>(value) < kernel_.values.size(); }
  bool Counts(const Op& op, size_t results, size_t operands, size_t least_scalars, size_t most_scalars);
  bool Same(const Op& op, const Type& a, const Type& b);  // rows and columns
  const TensorParam* FindTensor(const std::string& name) const { return FindNamed(kernel_.tensors, name); }
  /// The tensor that the operation is about, of which it says where on each axis; null, and a fault, if it is not there so.
  const TensorParam* AccessedTensor(const Op& op);
  const Buffer* FindBuffer(const std::string& name) const { return FindNamed(kernel_.buffers, name); }
  /// Behind insert_sync, which declares all barriers: in IR text the kernel itself says so.
  bool IsScheduleLevel() const { return level_ == Level::kSchedule || kernel_.is_schedule; }
  const Barrier* FindBarrier(const std::string& name) const { return FindNamed(kernel_.barriers, name); }
  const TensorMap* FindMap(const std::string& name) const { return FindNamed(kernel_.maps, name); }
  const Pipe* FindPipe(const std::string& name) const { return FindNamed(kernel_.pipes, name); }

  const Kernel& kernel_;
  Level level_;
  const Target* target_;
  const Worker* worker_ = nullptr;
  bool in_frame_ = false;  // around the roles
  std::vector<Fault> faults_;
  std::unordered_set<std::string> scalars_;  // in scope
  std::set<std::string> rings_;              // of the role
  std::vector<bool> in_scope_;               // of each value
  std::vector<std::string> new_scalars_;     // in the order of definition: what a region leaves behind is taken out again
  std::vector<ValueId> new_values_;
  std::vector<bool> is_defined_;                // of each value: anywhere
  std::map<ValueId, const Buffer*> buffer_of_;  // of shared views
};

}  // namespace tkc::ir
