// SPDX-License-Identifier: MIT
// Random bits against the known answers of Philox4x32-10 that its authors publish (Random123, kat_vectors), and 8-bit floats:
// every pattern there and back, every tie, saturation.
#include "check.h"
#include "tk/sm90.h"

#include <cmath>

namespace {

void CheckKnownAnswers() {
    struct {
        uint32_t counter[4], key[2], word[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
        {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
        {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}, {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}},
    };
    for (const auto& k : known) {
        const tk::random_block block = tk::philox({{k.counter[0], k.counter[1], k.counter[2], k.counter[3]}}, uint64_t(k.key[1]) << 32 | k.key[0]);
        for (int i = 0; i < 4; ++i) CHECK(block.word[i] == k.word[i]);
    }
    CHECK(tk::philox(0, 0).word[2] == known[0].word[2]);
}

/// Elements of a tile: runs that share a block, runs that begin between multiples of four, and numbers far apart.
void CheckTiles() {
    using layout = tk::layout<8, 4, 1, 4, 4>;
    const uint64_t seed = 0x123456789abcdef0u;
    for (const int64_t start : {int64_t(0), int64_t(4), int64_t(6), int64_t(-3), (int64_t(1) << 40) + 1})
        for (const int64_t step : {1, 2, 5}) {
            tk::register_tile<int64_t, 16, 32, layout> at;
            for (int n = 0; n < at.size; ++n) at.data[n] = start + n * step;
            const auto bits = tk::random(seed, at);
            for (int n = 0; n < at.size; ++n) {
                const auto number = uint64_t(at.data[n]);
                CHECK(bits.data[n] == tk::philox(seed, number / 4).word[number % 4]);
            }
        }
    for (const int64_t start : {int64_t(0), int64_t(8), int64_t(6), int64_t(1), int64_t(-1), int64_t(-3)}) {
        tk::register_tile<int64_t, 16, 1, layout> rows;
        for (int n = 0; n < rows.size; ++n) rows.data[n] = start + 1000 * n;
        const tk::row_numbers<int64_t, 16, 32, layout> at(rows);
        const auto bits = tk::random(seed, at);
        for (int n = 0; n < at.size; ++n) CHECK(bits.data[n] == tk::philox(seed, uint64_t(at.data[n]) / 4).word[uint64_t(at.data[n]) % 4]);
    }
    tk::register_tile<int, 16, 1, layout> column;
    for (int n = 0; n < column.size; ++n) column.data[n] = 7 * n + 3;
    const auto bits = tk::random(seed, column);
    for (int n = 0; n < column.size; ++n) CHECK(bits.data[n] == tk::philox(seed, uint64_t(column.data[n]) / 4).word[column.data[n] % 4]);
}

template <class T>
T FromBits(uint32_t bits) {
    T result;
    result.bits = uint8_t(bits);
    return result;
}

template <class T>
void CheckFloat8(int fraction, int bias, float largest) {
    for (uint32_t bits = 0; bits < 256; ++bits) {
        const float value = float(FromBits<T>(bits));
        const int exponent = int(bits >> fraction) & ((1 << (7 - fraction)) - 1), low = int(bits) & ((1 << fraction) - 1);
        const float magnitude = exponent == 0 ? std::ldexp(float(low), 1 - bias - fraction)
                                              : std::ldexp(float(low | 1 << fraction), exponent - bias - fraction);
        const float software = tk::detail::widen_float8<T::fraction>(uint8_t(bits));
        CHECK(std::isnan(value) ? std::isnan(software) : value == software && std::signbit(value) == std::signbit(software));
        if (std::isnan(value)) {
            CHECK((T(value).bits & 0x7f) == 0x7f);
            CHECK(fraction == 3 ? (bits & 0x7f) == 0x7f : (bits & 0x7f) > 0x7c);
        } else if (std::isinf(value)) {
            CHECK(fraction == 2 && (bits & 0x7f) == 0x7c && std::signbit(value) == (bits >> 7 != 0));
        } else {
            CHECK(std::fabs(value) == magnitude && std::signbit(value) == (bits >> 7 != 0));
            CHECK(T(value).bits == bits);
        }
        const float next = float(FromBits<T>(bits + 1));
        if ((bits & 0x7f) == 0x7f || !std::isfinite(value) || !std::isfinite(next)) continue;
        const float middle = (value + next) / 2;  // exact: one bit more
        CHECK(T(middle).bits == (bits & 1 ? bits + 1 : bits));
        CHECK(T(std::nextafter(middle, value)).bits == bits && T(std::nextafter(middle, next)).bits == bits + 1);
    }
    for (uint64_t word = 0; word < 1 << 16; ++word) {  // random bits, exponents around the format's
        const uint32_t random = tk::philox(7, word).word[1];
        const uint32_t bits = word % 4 == 0 ? random : (random & 0x807fffffu) | (100 + random / 5 % 50) << 23;
        const float value = __builtin_bit_cast(float, bits);
        CHECK(T(value).bits == tk::detail::round_to_float8<T::fraction>(value));
    }
    for (const float sign : {1.0f, -1.0f})
        for (const float x : {largest, largest * 1.01f, largest * 2, 3e38f, tk::infinity()})
            CHECK(float(T(sign * x)) == sign * largest);
}

void CheckSaturation() {
    CHECK(tk::convert<uint32_t>(4294967296.0f) == ~0u && tk::convert<uint32_t>(-1.0f) == 0 && tk::convert<uint32_t>(3e9f) == 3000000000u);
    CHECK(tk::convert<int>(3e9f) == 0x7fffffff && tk::convert<int>(-3e9f) == -0x7fffffff - 1 && tk::convert<int>(-2.9f) == -2);
    CHECK(tk::convert<int>(tk::not_a_number()) == 0 && tk::convert<int64_t>(tk::infinity()) == 0x7fffffffffffffff);
}

/// Tiles convert pairs of neighbours.
void CheckTileOfFloat8() {
    using layout = tk::layout<8, 4, 1, 4, 4>;
    tk::register_tile<float, 16, 32, layout> x;
    for (int n = 0; n < x.size; ++n) x.data[n] = float(n * n) - 2.3f;
    const auto narrow = tk::convert<tk::e4m3>(x);
    const auto wide = tk::convert<float>(narrow), anew = tk::convert_anew<float>(narrow);
    for (int n = 0; n < x.size; ++n) CHECK(narrow.data[n].bits == tk::e4m3(x.data[n]).bits && wide.data[n] == float(narrow.data[n]) && anew.data[n] == wide.data[n]);
}

/// What is converted anew is what is converted: words of two elements, and elements that fill none.
template <class T>
void CheckConvertAnew() {
    using layout = tk::layout<8, 4, 1, 4, 4>;
    tk::register_tile<T, 16, 32, layout> x;
    tk::register_tile<T, 16, 1, layout> single;
    for (int n = 0; n < x.size; ++n) x.data[n] = tk::convert<T>(float(n) * 1.37f - 2.3f);
    single.data[0] = tk::convert<T>(-0.3f);
    const auto once = tk::convert<float>(x), anew = tk::convert_anew<float>(x);
    for (int n = 0; n < x.size; ++n) CHECK(once.data[n] == anew.data[n]);
    CHECK(tk::convert_anew<float>(single).data[0] == tk::convert<float>(single).data[0]);
}

}  // namespace

int main() {
    CheckKnownAnswers();
    CheckTiles();
    CheckFloat8<tk::e4m3>(3, 7, 448.0f);
    CheckFloat8<tk::e5m2>(2, 15, 57344.0f);
    CheckTileOfFloat8();
    CheckConvertAnew<tk::bf16>();
    CheckConvertAnew<tk::f16>();
    CheckSaturation();
}
