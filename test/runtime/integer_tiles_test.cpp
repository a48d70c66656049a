// SPDX-License-Identifier: MIT
// Integers of tiles are those of two's complement: what leaves the range of a type, signed ones too, comes in at its other end, and is
// nothing that a compiler may conclude from (this is built with checks for undefined behaviour). Conversions to and from floats at the
// ends of their ranges, and comparisons of positions with numbers of 64 bits.
#include "check.h"
#include "tk/sm90.h"

#include <climits>
#include <cmath>
#include <limits>

namespace {

using layout = tk::layout<8, 4, 1, 4, 4>;
template <class T>
using cell = tk::register_tile<T, 1, 1, layout>;

template <class T>
cell<T> Of(T value) { return tk::fill<T, 1, 1, layout>(value); }
template <class Tile>
auto In(const Tile& tile) { return tile.data[0]; }

template <class T>
void CheckWrapping() {
    constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    CHECK(In(Of(most) + T(1)) == least && In(Of(least) - T(1)) == most);
    CHECK(In(Of(most) * T(2)) == T(-2) && In(Of(most) * Of(most)) == T(1));
    cell<T> sum = Of(most);
    sum += T(2);
    CHECK(In(sum) == T(least + 1));
    CHECK(In(tk::floor_div(Of(T(7)), T(2))) == 3 && In(tk::floor_mod(Of(T(7)), T(4))) == 3);
    CHECK(In(-Of(T(3))) == T(-3) && In(-Of(least)) == tk::negated(least));
    CHECK(In(tk::abs(Of(T(5)))) == 5 && In(tk::abs(Of(most))) == most);
    if constexpr (std::is_signed_v<T>) CHECK(In(tk::abs(Of(T(-5)))) == 5 && In(tk::abs(Of(least))) == least);
    static_assert(std::is_same_v<decltype(In(Of(most) + T(1))), T> && std::is_same_v<decltype(In(tk::abs(Of(most)))), T>);
}

void CheckOthers() {
    CHECK(In(Of(1.5f) + 2.0f) == 3.5f && In(-Of(2.0f)) == -2.0f && In(tk::abs(Of(-2.0f))) == 2.0f);
    CHECK(std::signbit(In(-Of(0.0f))));
}

template <class T>
void CheckFromFloat() {
    constexpr float inf = tk::infinity();
    constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    CHECK(tk::convert<T>(tk::not_a_number()) == 0 && tk::convert<T>(-tk::not_a_number()) == 0);
    CHECK(tk::convert<T>(inf) == most && tk::convert<T>(-inf) == least);
    CHECK(tk::convert<T>(std::ldexp(1.0f, 8 * int(sizeof(T)))) == most && tk::convert<T>(-std::ldexp(1.0f, 8 * int(sizeof(T)))) == least);
    CHECK(tk::convert<T>(2.75f) == 2 && tk::convert<T>(-0.75f) == 0);
    CHECK(tk::convert<T>(tk::bf16(tk::not_a_number())) == 0);
}

float Bf16(int64_t x) { return float(tk::convert<tk::bf16>(x)); }

/// Rounded once: an f32 in between would round to a tie, and that to even.
void CheckToBf16() {
    CHECK(Bf16((1 << 24) + (1 << 16) + 1) == 16908288.0f && Bf16((1 << 24) + (1 << 16)) == 16777216.0f && Bf16((1 << 24) + (1 << 16) - 1) == 16777216.0f);
    CHECK(Bf16((1 << 24) + 3 * (1 << 16) - 1) == 16908288.0f);
    CHECK(Bf16(-((1 << 24) + (1 << 16) + 1)) == -16908288.0f);
    CHECK(Bf16(300) == 300.0f && Bf16(-257) == -256.0f && Bf16(0) == 0.0f);
    CHECK(Bf16((int64_t(1) << 60) + (int64_t(1) << 52) + 1) == std::ldexp(129.0f, 53));
    CHECK(Bf16(INT64_MAX) == std::ldexp(1.0f, 63) && Bf16(INT64_MIN) == -std::ldexp(1.0f, 63));
    CHECK(float(tk::convert<tk::bf16>(INT_MIN)) == -std::ldexp(1.0f, 31) && float(tk::convert<tk::bf16>(INT_MAX)) == std::ldexp(1.0f, 31));
    CHECK(float(tk::convert<tk::bf16>(UINT64_MAX)) == std::ldexp(1.0f, 64) && float(tk::convert<tk::bf16>(UINT32_MAX)) == std::ldexp(1.0f, 32));
    CHECK(float(tk::convert<tk::bf16>((1u << 31) + (1u << 23) + 1)) == std::ldexp(129.0f, 24));
    CHECK(float(tk::convert<tk::f16>(65519)) == 65504.0f && std::isinf(float(tk::convert<tk::f16>(65520))));
}

template <class F>
void CheckFar(F compare) {
    using positions = tk::row_numbers<tk::index, 1, 64, layout>;
    for (const int64_t first : {int64_t(0), int64_t(-7), int64_t(1000), INT64_MAX - 64, INT64_MIN})
        for (const int64_t bound : {INT64_MIN, INT64_MIN + 1, int64_t(-1), int64_t(0), int64_t(5), INT64_MAX - 1, INT64_MAX}) {
            const positions columns(tk::fill<tk::index, 1, 1, layout>(first));
            const auto mask = compare(columns, bound);
            for (int n = 0; n < columns.size; ++n) CHECK(mask.data[n] == compare(columns.data[n], bound));
        }
    const tk::row_numbers<int, 1, 64, layout> narrow(tk::fill<int, 1, 1, layout>(5));
    for (const int64_t bound : {INT64_MIN, int64_t(7), INT64_MAX}) {
        const auto mask = compare(narrow, bound);
        for (int n = 0; n < narrow.size; ++n) CHECK(mask.data[n] == compare(int64_t(narrow.data[n]), bound));
    }
}

}  // namespace

int main() {
    CheckWrapping<int32_t>(), CheckWrapping<uint32_t>(), CheckWrapping<int64_t>(), CheckWrapping<uint64_t>();
    CheckOthers();
    CheckFromFloat<int32_t>(), CheckFromFloat<uint32_t>(), CheckFromFloat<int64_t>(), CheckFromFloat<uint64_t>();
    CheckToBf16();
    CheckFar([](const auto& a, const auto& b) { return a < b; });
    CheckFar([](const auto& a, const auto& b) { return a <= b; });
    CheckFar([](const auto& a, const auto& b) { return a > b; });
    CheckFar([](const auto& a, const auto& b) { return a >= b; });
    CheckFar([](const auto& a, const auto& b) { return a == b; });
    CheckFar([](const auto& a, const auto& b) { return a != b; });
}
