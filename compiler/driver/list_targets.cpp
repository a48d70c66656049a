// SPDX-License-Identifier: MIT
// `tkc --list-targets`: the GPUs, and a table of what each offers, from the target descriptions alone. The table is Markdown, and
// stands in lang-spec/targets.md as it is printed (test/spec/targets.test compares).
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "compiler/driver/outputs.h"
#include "compiler/target/cluster.h"

namespace tkc {
namespace {

std::string YesOrNo(bool yes) { return yes ? "yes" : "-"; }

std::string KiB(int64_t bytes) { return fmt::format("{} KiB", bytes / 1024); }

/// `64x256x16`: rows, most columns and depth of the widest instruction for this type.
std::string Product(const Target& target, DType operand) {
  const MatrixShape* shape = FindMatrixShape(target, operand);
  return shape ? fmt::format("{}x{}x{}", shape->m, shape->n_max, shape->k) : "-";
}

std::string Copies(const Target& target) {
  if (!target.folds_copies) return target.has_tensor_copy ? "tensor copies" : "-";
  return target.has_async_copy ? fmt::format("{} bytes a thread", target.copy_bytes) : "-";
}

struct Feature {
  std::string_view name;
  std::function<std::string(const Target&)> of;
};

std::vector<Feature> Features() {
  return {
      {"compiles", [](const Target& t) { return YesOrNo(t.implemented); }},
      {"output", [](const Target& t) { return std::string(t.is_hip ? "HIP" : "CUDA"); }},
      {"lanes of a warp", [](const Target& t) { return fmt::format("{}", t.lanes); }},
      {"shared memory of a block", [](const Target& t) { return KiB(t.shared_memory_per_block); }},
      {"shared memory of a multiprocessor", [](const Target& t) { return KiB(t.shared_memory_per_processor); }},
      {"load workers", [](const Target& t) { return std::string(t.folds_copies ? "folded in" : "own warps"); }},
      {"asynchronous copies", Copies},
      {"product of bf16, f16", [](const Target& t) { return Product(t, DType::kBF16); }},
      {"product of fp8 (not yet)", [](const Target& t) { return Product(t, DType::kE4M3); }},
      {"product of i8 (not yet)", [](const Target& t) { return Product(t, DType::kI8); }},
      {"operands from shared memory", [](const Target& t) { return YesOrNo(t.has_matrix_group); }},
      {"named barriers", [](const Target& t) { return t.named_barriers ? fmt::format("{}", t.named_barriers) : "-"; }},
      {"warps trade registers", [](const Target& t) { return YesOrNo(t.registers.Moves()); }},
      {"blocks of a cluster", [](const Target& t) { return t.has_clusters ? fmt::format("{}", kMostBlocksOfCluster) : "-"; }},
      {"chiplets with caches of their own", [](const Target& t) { return t.chiplets > 1 ? fmt::format("{}", t.chiplets) : "-"; }},
      {"blocks draw their tiles", [](const Target& t) { return YesOrNo(t.draws_tiles); }},
      {"a launch begins under the one before", [](const Target& t) { return YesOrNo(t.has_grid_dependency); }},
  };
}

/// One row, every cell as wide as the widest of its column.
std::string Row(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string row = "|";
  for (size_t i = 0; i < cells.size(); ++i) row += fmt::format(" {:{}} |", cells[i], widths[i]);
  return row;
}

}  // namespace

int ListTargets() {
  for (const Target& target : Targets()) {
    fmt::print("{:<8} {}{}\n", target.name, target.chip, target.implemented ? "" : " (specified, not yet implemented)");
  }
  std::vector<std::vector<std::string>> rows{{""}};
  for (const Target& target : Targets()) rows[0].emplace_back(target.name);
  for (const Feature& feature : Features()) {
    rows.push_back({std::string(feature.name)});
    for (const Target& target : Targets()) rows.back().push_back(feature.of(target));
  }
  std::vector<size_t> widths(rows[0].size(), 3);
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<std::string> rule;
  for (const size_t width : widths) rule.push_back(std::string(width, '-'));
  fmt::print("\n{}\n{}\n", Row(rows[0], widths), Row(rule, widths));
  for (size_t i = 1; i < rows.size(); ++i) fmt::print("{}\n", Row(rows[i], widths));
  return kExitOk;
}

}  // namespace tkc
