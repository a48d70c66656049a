// SPDX-License-Identifier: MIT
// The accesses of a state that later ones may have to be ordered behind.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/certify/program.h"
#include "compiler/ir/ir.h"

namespace tkc::certify {

struct Record {
  int place = 0;  // a tile of shared memory
  int warp = 0;
  int agent = 0;
  bool writes = false;
  bool is_async = false;   // over later than issued: by the copy engine, the matrix unit or copy_async
  bool by_engine = false;  // of these two: the asynchronous proxy
  int dealt = 0;           // what the slot holds now was copied by all threads of the block, from this tensor (its number and one)
  Rect rect{};
  int event = -1;
  const ir::Op* op = nullptr;
};

/// By place, as nearly every question is about one; of a place, the earliest first.
class Records {
 public:
  explicit Records(size_t places = 0) : of_place_(places) {}

  std::vector<Record>& Of(int place) { return of_place_[static_cast<size_t>(place)]; }
  const std::vector<Record>& Of(int place) const { return of_place_[static_cast<size_t>(place)]; }
  const std::vector<std::vector<Record>>& OfPlaces() const { return of_place_; }

  void Add(const Record& record) { Of(record.place).push_back(record); }

 private:
  std::vector<std::vector<Record>> of_place_;
};

}  // namespace tkc::certify
