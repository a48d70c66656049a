// SPDX-License-Identifier: MIT
// What the steps of one agent act on: which barrier, buffer, element of a ring or part of a tile.
#pragma once

#include <map>
#include <string>

#include "compiler/certify/program.h"

namespace tkc::certify {

/// Views are followed in the order of the role's text; what can't be resolved is added to Program::unknowns.
class Places {
 public:
  Places(Program& program, Agent& agent, const Scope& scope)
      : program_(program), kernel_(*program.kernel), agent_(agent), scope_(scope) {}

  /// A view that is part of another, or the transposed of one.
  void Derive(const ir::Op& op);
  /// The fields of the step of `op`: barrier, ring or element, buffer, accesses, amount.
  void Fill(const ir::Op& op, Step& step);

 private:
  /// A view of shared memory: of which root, which elements, turned or not.
  struct View {
    int root = -1;
    Rect rect{};
    bool is_transposed = false, is_reshaped = false, is_exact = true;
  };

  void NotKnown(const ir::Op& op, std::string what);
  int RingOf(const ir::Op& op, const std::string& slot, int64_t* offset);
  int BarrierOf(const std::string& name) const;
  bool FillBarrier(const ir::Op& op, Step& step, const std::string& name);
  void FillView(const ir::Op& op, Step& step);
  void FillAdvance(const ir::Op& op, Step& step);
  void FillNamed(const ir::Op& op, Step& step);
  /// The views among its operands.
  void AddAccesses(const ir::Op& op, Step& step);
  int BufferOf(const std::string& name) const;
  /// The array, or that of the instance whose the slot is said to be.
  std::string ArrayOf(const ir::Op& op, const std::string& array) const;
  /// Ring, or the number of the element: the slot, or the scalar at this place.
  void ElementOf(const ir::Op& op, Step& step, size_t scalar);
  void BlockOf(const ir::Op& op, Step& step);

  Program& program_;
  const ir::Kernel& kernel_;
  Agent& agent_;
  const Scope& scope_;
  std::map<ir::ValueId, View> views_{};
};

}  // namespace tkc::certify
