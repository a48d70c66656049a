// SPDX-License-Identifier: MIT
// The file: 6 bytes of magic, 2 of version, the length of the header (2 bytes in version 1, else 4), the header (a Python
// dictionary literal with the keys descr, fortran_order and shape), then the elements without padding.
#include "compiler/support/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tkc {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;  // of the first element in the file

struct Descr {
  DType dtype;
  std::string_view code;  // without the byte order
};

// The first entry of a code is the one read, of a dtype the one written.
constexpr Descr kDescrs[] = {
    {DType::kBool, "b1"}, {DType::kI8, "i1"},   {DType::kU8, "u1"},  {DType::kI32, "i4"},  {DType::kU32, "u4"},
    {DType::kI64, "i8"},  {DType::kU64, "u8"},  {DType::kF16, "f2"}, {DType::kF32, "f4"},  {DType::kF64, "f8"},
    {DType::kBF16, "u2"}, {DType::kBF16, "V2"}, {DType::kU8, "V1"},  {DType::kE4M3, "u1"}, {DType::kE5M2, "u1"},
};

struct Header {
  std::optional<DType> dtype;
  bool big_endian = false;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;
};

/// Reads the dictionary: only the forms that NumPy writes, in any order of keys.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string& error) : text_(text), error_(error) {}

  std::optional<Header> Parse() {
    Header header;
    if (!Expect('{')) return std::nullopt;
    while (!Peek('}')) {
      std::string_view key;
      if (!String(key) || !Expect(':') || !Entry(key, header)) return std::nullopt;
      if (!Peek('}') && !Expect(',')) return std::nullopt;
    }
    ++at_;
    Skip();
    if (at_ != text_.size()) return Fail("text follows the dictionary");
    if (!header.dtype) return Fail("there is no `descr`");
    if (!header.fortran) return Fail("there is no `fortran_order`");
    if (!header.shape) return Fail("there is no `shape`");
    return header;
  }

 private:
  std::nullopt_t Fail(std::string text) {
    if (error_.empty()) error_ = "in the header, " + text;
    return std::nullopt;
  }
  bool FailEntry(std::string text) {
    Fail(std::move(text));
    return false;
  }

  void Skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  bool Peek(char c) {
    Skip();
    return at_ < text_.size() && text_[at_] == c;
  }

  bool Expect(char c) {
    if (!Peek(c)) return FailEntry(fmt::format("`{}` is missing at byte {}", c, at_));
    ++at_;
    return true;
  }

  bool String(std::string_view& value) {
    if (!Peek('\'') && !Peek('"')) return FailEntry(fmt::format("a string is missing at byte {}", at_));
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return FailEntry("a string does not end");
    value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }

  bool Word(std::string_view word) {
    Skip();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool Entry(std::string_view key, Header& header) {
    if (key == "descr") return DescrEntry(header);
    if (key == "shape") return Shape(header);
    if (key == "fortran_order") {
      if (Word("True")) {
        header.fortran = true;
      } else if (Word("False")) {
        header.fortran = false;
      } else {
        return FailEntry("`fortran_order` is neither True nor False");
      }
      return true;
    }
    return FailEntry(fmt::format("`{}` is not a key that the format has", key));
  }

  bool DescrEntry(Header& header) {
    if (Peek('[')) return FailEntry("`descr` is a structure; only plain elements are read");
    std::string_view text;
    if (!String(text)) return false;
    std::string_view code = text;
    char order = '<';
    if (!code.empty() && std::string_view("<>|=").find(code.front()) != std::string_view::npos) {
      order = code.front();
      code.remove_prefix(1);
    }
    const auto* found = std::find_if(std::begin(kDescrs), std::end(kDescrs), [&](const Descr& d) { return d.code == code; });
    if (found == std::end(kDescrs)) return FailEntry(fmt::format("the element type `{}` is not one that is read", text));
    header.dtype = found->dtype;
    header.big_endian = order == '>';
    return true;
  }

  bool Shape(Header& header) {
    if (!Expect('(')) return false;
    std::vector<int64_t> shape;
    while (!Peek(')')) {
      int64_t extent = 0;
      const size_t start = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        const int digit = text_[at_] - '0';
        if (extent > (std::numeric_limits<int64_t>::max() - digit) / 10) return FailEntry("an extent is too large");
        extent = extent * 10 + digit;
        ++at_;
      }
      if (at_ == start) return FailEntry(fmt::format("an extent is missing at byte {}", at_));
      shape.push_back(extent);
      if (!Peek(')') && !Expect(',')) return false;
    }
    ++at_;
    header.shape = std::move(shape);
    return true;
  }

  std::string_view text_;
  std::string& error_;
  size_t at_ = 0;
};

/// Product of the extents, or nothing if it does not fit; zero-size arrays have 0 elements whatever the other extents.
std::optional<int64_t> Count(const std::vector<int64_t>& extents) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  int64_t count = 1;
  for (int64_t extent : extents) {
    if (count > std::numeric_limits<int64_t>::max() / 8 / extent) return std::nullopt;
    count *= extent;
  }
  return count;
}

void CopyElement(uint8_t* to, const char* from, size_t size, bool reverse) {
  std::copy_n(reinterpret_cast<const uint8_t*>(from), size, to);
  if (reverse) std::reverse(to, to + size);
}

/// Element (i, j, k) of a Fortran-order file lies at i + I * (j + J * k).
void CopyElements(NpyArray& array, std::string_view data, bool fortran, bool reverse) {
  const auto size = static_cast<size_t>(Bytes(array.dtype));
  const size_t rank = array.extents.size();
  std::vector<int64_t> index(rank, 0);
  const int64_t count = array.size();
  for (int64_t i = 0; i < count; ++i) {
    int64_t source = i;
    if (fortran) {
      source = 0;
      for (size_t axis = rank; axis-- > 0;) source = source * array.extents[axis] + index[axis];
      for (size_t axis = rank; axis-- > 0;) {
        if (++index[axis] < array.extents[axis]) break;
        index[axis] = 0;
      }
    }
    CopyElement(array.bytes.data() + static_cast<size_t>(i) * size, data.data() + static_cast<size_t>(source) * size, size,
                reverse);
  }
}

}  // namespace

int64_t NpyArray::size() const { return Count(extents).value_or(0); }

std::optional<NpyArray> ParseNpy(std::string_view file, std::string& error) {
  error.clear();
  const auto fail = [&](std::string text) {
    if (error.empty()) error = std::move(text);
    return std::nullopt;
  };
  if (file.substr(0, kMagic.size()) != kMagic) return fail("this is not a NumPy file: it does not begin with \\x93NUMPY");
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(file[at])); };
  if (file.size() < 10) return fail("the file ends inside its first 10 bytes");
  const size_t version = byte(6);
  if (version < 1 || version > 3) return fail(fmt::format("version {}.{} of the format is not one that is read", version, byte(7)));
  const size_t prefix = version == 1 ? 10 : 12;
  if (file.size() < prefix) return fail("the file ends before its header");
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > file.size() - prefix)
    return fail(fmt::format("the header has {} bytes, but the file ends after {}", length, file.size() - prefix));
  const std::optional<Header> header = HeaderParser(file.substr(prefix, length), error).Parse();
  if (!header) return fail("the header is malformed");
  NpyArray array;
  array.dtype = *header->dtype;
  array.extents = *header->shape;
  const std::optional<int64_t> count = Count(array.extents);
  if (!count) return fail("the shape has more elements than can be addressed");
  const std::string_view data = file.substr(prefix + length);
  const size_t wanted = static_cast<size_t>(*count) * static_cast<size_t>(Bytes(array.dtype));
  if (data.size() != wanted)
    return fail(fmt::format("the shape asks for {} bytes of elements, but {} follow the header", wanted, data.size()));
  array.bytes.resize(wanted);
  CopyElements(array, data, *header->fortran, header->big_endian);
  return array;
}

std::string FormatNpy(const NpyArray& array) {
  const auto* descr = std::find_if(std::begin(kDescrs), std::end(kDescrs), [&](const Descr& d) { return d.dtype == array.dtype; });
  std::string shape;
  for (int64_t extent : array.extents) shape += fmt::format("{}{},", shape.empty() ? "" : " ", extent);
  if (array.extents.size() > 1) shape.pop_back();
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   Bytes(array.dtype) == 1 ? '|' : '<', descr->code, shape);
  const bool is_long = header.size() + kAlignment > 0xffff;
  const size_t prefix = is_long ? 12 : 10;
  header.append(kAlignment - 1 - (prefix + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string file(kMagic);
  file += is_long ? '\2' : '\1';
  file += '\0';
  for (size_t i = 0; i < prefix - 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  file += header;
  file.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return file;
}

}  // namespace tkc
