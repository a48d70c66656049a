// SPDX-License-Identifier: MIT
// The arguments of a run from what the command line says: dims as numbers, tensors from .npy files or random, scalars.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/interp/fill.h"
#include "compiler/interp/launch.h"
#include "compiler/sema/typed.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::interp {

/// `NAME=VALUE` of the command line, taken apart.
using NameValue = std::pair<std::string, std::string>;

/// Options of `tkc run` (and of others that need arguments).
struct RunOptions {
  std::string kernel;                 // --kernel: which entry; empty: the only one of the file
  std::vector<NameValue> dims;        // --dims M=64
  std::vector<NameValue> inputs;      // --in A=a.npy
  std::vector<NameValue> outputs;     // --out C=c.npy
  std::vector<NameValue> scalars;     // --scalar x=1.0
  uint64_t seed = 1;                  // --seed, of tensors that are not given
  FillKind fill = FillKind::kNormal;  // --fill normal | integers
  bool print = false;                 // --print: all elements, not only the summary
  int64_t sms = 132;                  // multiprocessors, for `when`
};

/// Reports names that `option` gives twice.
void CheckGivenOnce(const std::vector<NameValue>& pairs, std::string_view option, Diagnostics& diagnostics);

/// The entry that the options name.
Result<const typed::Entry*> FindEntry(const typed::Program& program, const RunOptions& options, Diagnostics& diagnostics);

/// Arguments for `kernel`: extents from `--dims` and from the files, `in` and `inout` tensors that are not given random,
/// `out` tensors zero. A file of floats may be wider than the parameter: its numbers are rounded.
Result<Arguments> MakeArguments(const typed::Kernel& kernel, const RunOptions& options, Diagnostics& diagnostics);

/// The whole contents of a file; reports if it can't be read.
Result<std::string> ReadWholeFile(const std::string& path, Diagnostics& diagnostics);

}  // namespace tkc::interp
