// SPDX-License-Identifier: MIT
// What the copy engine can move: blocks of tensors in boxes, each of which is told to it in a map.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/index_facts.h"
#include "compiler/target/target.h"

namespace tkc::passes {

constexpr int64_t kSwizzleRows = 8;  // the pattern of a swizzle repeats after so many

/// Rows of each of the boxes, all alike, that a tile of so many rows comes in; 0 if no such boxes fill it.
int64_t BoxRows(const Target& target, int64_t rows);

struct CopyEngine {
  ir::Kernel& kernel;
  const Target& target;
  IndexFacts facts{kernel};

  /// What keeps the copy engine from moving this access; empty if nothing does. It clips by the tensor's own bounds only, rows then
  /// columns innermost, boxes in range, the first column of each box at a multiple of 16 bytes, and stores nothing before the first
  /// element. It takes other coordinates for an illegal instruction (measured on an H200).
  /// `where`: takes the conditions under which the engine serves a block of a range that may end inside one; without it, that is an
  /// obstacle.
  std::string Obstacle(const ir::Op& access, const ir::Type& type, std::vector<ir::Scalar>* where = nullptr) const;
  /// The name of a map for these boxes, made on first use.
  std::string Map(const ir::Op& access, const ir::Buffer& buffer, bool is_store);

 private:
  bool ShowsAll(const ir::AxisRange& axis, const ir::Scalar& extent, std::vector<ir::Scalar>* where) const;
};

/// Where the access starts.
std::vector<ir::Scalar> Coordinates(const ir::Op& access);

/// The engine is told where a block starts; that it is no block of a loop the certificate wants to know besides.
void KeepSlices(const ir::Op& access, ir::Op& copy);

}  // namespace tkc::passes
