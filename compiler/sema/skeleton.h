// SPDX-License-Identifier: MIT
// The traffic of one worker instance: its body with everything left out but sends, receives, and the loops and branches
// around them. What depends on the number of the instance is decided.
#pragma once

#include <string>
#include <vector>

#include "compiler/sema/symbolic_table.h"
#include "compiler/sema/typed.h"
#include "compiler/support/diagnostic.h"

namespace tkc::sema {

/// A part of one field of a slot.
struct Rectangle {
  int field = 0;
  int64_t row = 0, col = 0, rows = 0, cols = 0;

  bool Contains(const Rectangle& other) const {
    return field == other.field && row <= other.row && other.row + other.rows <= row + rows && col <= other.col &&
           other.col + other.cols <= col + cols;
  }
};

struct TrafficItem {
  enum class Kind : uint8_t { kSend, kReceive, kLoop, kIf, kLet };
  Kind kind = Kind::kLet;
  const typed::Stmt* stmt = nullptr;
  int ring = 0;                  // number of the ring in the section
  std::vector<Rectangle> parts;  // kSend
  std::vector<TrafficItem> body, orelse;
  std::vector<int> rings;  // every ring in it, sorted
};

struct Skeleton {
  std::string name;  // `compute[1]`, or `load` where there is one instance
  int worker = 0;
  int64_t instance = 0;
  std::vector<TrafficItem> items;
  SymbolicTable table;
  explicit Skeleton(const typed::Kernel& kernel) : table(kernel) {}
};

/// First ring of each pipe; one more entry for their number.
std::vector<int> NumberRings(const typed::Section& section);

/// One skeleton for each instance; a worker that takes tiles in turn is one.
std::vector<Skeleton> BuildSkeletons(const typed::Kernel& kernel, const typed::Section& section, Diagnostics& diagnostics);

/// `for k in K by 64 { p <-; <-q }`, of the rings in `shown` only.
std::string SkeletonText(const typed::Kernel& kernel, const typed::Section& section, const std::vector<TrafficItem>& items,
                         const std::vector<int>& shown);

bool Touches(const TrafficItem& item, int ring);

}  // namespace tkc::sema
