// SPDX-License-Identifier: MIT
#include "compiler/target/target.h"

#include <algorithm>
#include <cctype>

#include "compiler/support/nearest_name.h"
#include "compiler/target/tables.h"

namespace tkc {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// `sm_90` and `SM90` alike.
std::string Plain(std::string_view text) {
  std::string letters = Lower(text);
  std::erase(letters, '_');
  return letters;
}

}  // namespace

int RegisterRule::AtEntry(int threads) const {
  if (threads <= 0) return 0;
  // The count is a multiple of the unit, but 255 is the largest a kernel can be compiled for: two warpgroups enter with 256 and
  // trade from there.
  return std::min(file / threads, most_per_thread + 1) / unit * unit;
}

int64_t Target::SharedMemoryOfEach(int64_t blocks) const { return shared_memory_per_processor / blocks - TakenOfEach(); }

int64_t Target::BlocksByMemory(int64_t bytes) const {
  return shared_memory_per_processor / std::max<int64_t>(1, bytes + TakenOfEach());
}

int Target::Number() const {
  int number = 0;
  for (const char c : name) {
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  }
  return number;
}

std::vector<std::string> Target::CompilerOptions() const {
  if (is_hip) return {"--offload-arch=" + std::string(name)};
  const std::string version(name.substr(name.find('_') + 1));
  std::vector<std::string> options = {"-gencode=arch=compute_" + version + ",code=sm_" + version};
  if (!RunsOnlyThere()) options.push_back("-gencode=arch=compute_" + version + ",code=compute_" + version);
  return options;
}

std::span<const Target> Targets() {
  static constexpr Target kAll[] = {targets::kSm90a, targets::kSm80,   targets::kSm86,   targets::kSm89,
                                    targets::kSm120, targets::kSm100a, targets::kGfx942, targets::kGfx950};
  return kAll;
}

const Target* FindTarget(std::string_view name) {
  for (const Target& target : Targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

std::string TargetMeant(std::string_view name) {
  std::vector<std::string> names;
  for (const Target& target : Targets()) {
    if (!target.implemented) continue;
    const std::string own = Plain(target.name), given = Plain(name);
    if (own.starts_with(given) && own.size() <= given.size() + 1) return std::string(target.name);
    const bool is_gpu = name.size() > 2 && Lower(target.chip).find(Lower(name)) != std::string::npos;
    if (is_gpu) return std::string(target.name);
    names.emplace_back(target.name);
  }
  return NearestName(name, std::move(names));
}

const MatrixShape* FindMatrixShape(const Target& target, DType operand) {
  for (const MatrixShape& shape : target.matrix_shapes) {
    if (shape.operand == operand) return &shape;
  }
  return nullptr;
}

}  // namespace tkc
