// SPDX-License-Identifier: MIT
// Arrays in NumPy's file format, versions 1 to 3: read in C or Fortran order and either byte order, written as version 1
// (2 if the header is long), C order, little endian. Element types: bool, i8, u8, i32, u32, i64, u64, f16, f32, f64.
// NumPy has no bf16: it is stored as its bit pattern in uint16 (`<u2`), and `<u2` is read as bf16. The two-byte void type
// `V2`, which the ml_dtypes package writes for bfloat16, is read as bf16 too. e4m3 and e5m2 are written as `|u1`; that and `V1` are
// read as u8, which the reader of a parameter takes for its bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/dtype.h"

namespace tkc {

struct NpyArray {
  DType dtype = DType::kF32;
  std::vector<int64_t> extents;  // empty: one element
  std::vector<uint8_t> bytes;    // row-major, little endian

  int64_t size() const;
};

/// Reads the bytes of a whole file. On failure nothing, and `error` says what was found ("the header ends early").
std::optional<NpyArray> ParseNpy(std::string_view file, std::string& error);

/// The bytes of a file.
std::string FormatNpy(const NpyArray& array);

}  // namespace tkc
