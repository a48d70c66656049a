// SPDX-License-Identifier: MIT
#include "compiler/driver/targets.h"

#include <fmt/format.h>

#include "compiler/driver/options.h"

namespace tkc {
namespace {

struct Row {
  std::string_view name;
  std::string_view what;
};
constexpr Row kRows[] = {{"sm_90a", "NVIDIA Hopper: H100, H200, GH200"}};

}  // namespace

int ListTargets() {
  for (const Row& row : kRows) fmt::print("{:<8} {}\n", row.name, row.what);
  return kExitOk;
}

bool IsTarget(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return true;
  }
  return false;
}

}  // namespace tkc
