// SPDX-License-Identifier: MIT
// NumPy files: what NumPy writes is read, what is written NumPy reads, and malformed files are named for what is wrong.
#include "compiler/support/npy.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tkc {
namespace {

/// A file as NumPy would write it, without alignment.
std::string File(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) file += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
  return file + dictionary + data;
}

std::string Fault(const std::string& file) {
  std::string error;
  EXPECT_FALSE(ParseNpy(file, error).has_value());
  return error;
}

template <typename T>
std::vector<T> As(const NpyArray& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

template <typename T>
std::string Data(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(Npy, ReadsWhatItWrites) {
  for (const DTypeInfo& info : kDTypes) {
    if (info.dtype == DType::kE4M3 || info.dtype == DType::kE5M2) continue;
    NpyArray array{info.dtype, {2, 3}, {}};
    for (int i = 0; i < 6 * info.bytes; ++i) array.bytes.push_back(static_cast<uint8_t>(i * 37));
    const std::string file = FormatNpy(array);
    EXPECT_EQ((file.size() - array.bytes.size()) % 64, 0u);
    std::string error;
    const auto back = ParseNpy(file, error);
    ASSERT_TRUE(back.has_value()) << error;
    EXPECT_EQ(back->dtype, info.dtype);
    EXPECT_EQ(back->extents, array.extents);
    EXPECT_EQ(back->bytes, array.bytes);
  }
}

TEST(Npy, WritesScalarsVectorsAndEmptyArrays) {
  std::string error;
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{}, {3}, {0}, {2, 0, 4}}) {
    NpyArray array{DType::kF32, extents, {}};
    array.bytes.resize(static_cast<size_t>(array.size()) * 4);
    const auto back = ParseNpy(FormatNpy(array), error);
    ASSERT_TRUE(back.has_value()) << error;
    EXPECT_EQ(back->extents, extents);
  }
  EXPECT_NE(FormatNpy({DType::kF32, {3}, std::vector<uint8_t>(12)}).find("'shape': (3,), }"), std::string::npos);
  EXPECT_NE(FormatNpy({DType::kBool, {1, 2}, std::vector<uint8_t>(2)}).find("'descr': '|b1'"), std::string::npos);
}

TEST(Npy, ReadsFortranOrder) {
  std::string error;
  const std::string data = Data<int32_t>({1, 2, 3, 4, 5, 6});
  const auto array = ParseNpy(File("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n", data), error);
  ASSERT_TRUE(array.has_value()) << error;
  EXPECT_EQ(As<int32_t>(*array), (std::vector<int32_t>{1, 3, 5, 2, 4, 6}));
}

TEST(Npy, ReadsBigEndianLaterVersionsAndAnyOrderOfKeys) {
  std::string error;
  const auto big =
      ParseNpy(File("{'shape': (2,), 'fortran_order': False, 'descr': '>i4'}", std::string("\0\0\0\1\0\0\2\0", 8), 2), error);
  ASSERT_TRUE(big.has_value()) << error;
  EXPECT_EQ(As<int32_t>(*big), (std::vector<int32_t>{1, 512}));
}

TEST(Npy, ReadsBf16AsItsBits) {
  std::string error;
  for (const std::string descr : {"<u2", "|V2", "<V2"}) {
    const auto array =
        ParseNpy(File("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,)}", Data<uint16_t>({0x3f80})), error);
    ASSERT_TRUE(array.has_value()) << error;
    EXPECT_EQ(array->dtype, DType::kBF16);
  }
}

TEST(Npy, WritesSmallFloatsAsTheirBits) {
  std::string error;
  for (const DType dtype : {DType::kE4M3, DType::kE5M2}) {
    const std::string file = FormatNpy({dtype, {2}, {0x38, 0xb8}});
    EXPECT_NE(file.find("'descr': '|u1'"), std::string::npos);
    const auto back = ParseNpy(file, error);
    ASSERT_TRUE(back.has_value()) << error;
    EXPECT_EQ(back->bytes, (std::vector<uint8_t>{0x38, 0xb8}));
  }
}

TEST(Npy, NamesWhatIsWrong) {
  const std::string good = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_NE(Fault("").find("not a NumPy file"), std::string::npos);
  EXPECT_NE(Fault("P6 640 480").find("not a NumPy file"), std::string::npos);
  EXPECT_NE(Fault("\x93NUMPY\x01").find("first 10 bytes"), std::string::npos);
  EXPECT_NE(Fault(File(good, "", 9)).find("version 9.0"), std::string::npos);
  EXPECT_NE(Fault(File(good, "").substr(0, 30)).find("the file ends after"), std::string::npos);
  EXPECT_EQ(Fault(File(good, "1234567")), "the shape asks for 8 bytes of elements, but 7 follow the header");
  EXPECT_EQ(Fault(File(good, "123456789")), "the shape asks for 8 bytes of elements, but 9 follow the header");
  EXPECT_NE(Fault(File("{'descr': '<c8', 'fortran_order': False, 'shape': ()}", "")).find("`<c8`"), std::string::npos);
  EXPECT_NE(Fault(File("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': ()}", "")).find("structure"), std::string::npos);
  EXPECT_NE(Fault(File("{'descr': '<i4', 'fortran_order': 0, 'shape': ()}", "")).find("neither True nor False"), std::string::npos);
  EXPECT_NE(Fault(File("{'descr': '<i4', 'fortran_order': False}", "")).find("no `shape`"), std::string::npos);
  EXPECT_NE(Fault(File("{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}", "")).find("an extent is missing"),
            std::string::npos);
  EXPECT_NE(Fault(File("{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "")).find("too large"),
            std::string::npos);
  EXPECT_NE(Fault(File("{'descr': '<i4', 'fortran_order': False, 'shape': (9999999999, 9999999999)}", "")).find("addressed"),
            std::string::npos);
  EXPECT_NE(Fault(File("{'descr", "")).find("does not end"), std::string::npos);
  EXPECT_NE(Fault(File(good + "x", "")).find("follows the dictionary"), std::string::npos);
}

}  // namespace
}  // namespace tkc
