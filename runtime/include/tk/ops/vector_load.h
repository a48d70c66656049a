// SPDX-License-Identifier: MIT
// Parts of a vector in global memory as rows of register tiles. A part that begins anywhere is read as the two aligned runs of up to 16
// bytes around each run of the tile, whose words are then shifted: 15 instructions for 8 values, where 8 loads would each touch as
// much of the cache as one of 16 bytes. Neighbouring threads read a run twice, the second time from the first-level cache.
#pragma once

#include "tk/ops/warpgroup_global.h"

namespace tk {

namespace detail {

/// Bytes `from` .. `from` + Bytes - 1 of two words that follow each other.
template <int Bytes>
TK_DEVICE auto shifted_word(const typename word<Bytes>::type& first, const typename word<Bytes>::type& second, int from) {
    constexpr int N = Bytes / 4;
    uint32_t all[2 * N];
    const auto halves = __builtin_bit_cast(vector<uint32_t, N>, first), others = __builtin_bit_cast(vector<uint32_t, N>, second);
    TK_UNROLL
    for (int n = 0; n < N; ++n) all[n] = halves.value[n], all[N + n] = others.value[n];
    TK_UNROLL
    for (int step = N / 2; step > 0; step /= 2) {
        const bool moves = (from & 4 * step) != 0;
        TK_UNROLL
        for (int n = 0; n < N + step; ++n) {
            // By value: clang would choose an address, and keep the words in memory.
            const uint32_t here = all[n], there = all[n + step];
            all[n] = moves ? there : here;
        }
    }
    vector<uint32_t, N> result;
    TK_UNROLL
    for (int n = 0; n < N; ++n) result.value[n] = uint32_t((uint64_t(all[n + 1]) << 32 | all[n]) >> 8 * (from & 3));
    return __builtin_bit_cast(typename word<Bytes>::type, result);
}

}  // namespace detail

namespace warpgroup {

/// The C elements from the row's 0 on, dealt as Layout.
template <int R, int C, class Layout, class From, class Fill = float>
TK_DEVICE auto load(const vector_row<From>& block, Fill fill_value = 0) {
    using T = std::remove_const_t<From>;
    using result_tile = register_tile<T, R, C, Layout>;
    constexpr int V = detail::vector_length<T, result_tile::E>, bytes = V * int(sizeof(T));
    const global_block<From>& any = block;
    const auto fill_word = detail::filled_word<T, V>(convert<T>(fill_value));
    using Word = std::remove_const_t<decltype(fill_word)>;
    Word words[result_tile::size / V];
    const int before = int(reinterpret_cast<uint64_t>(any.origin) % uint64_t(bytes)) / int(sizeof(T));
    if (R != 1 || V == 1 || bytes < 4 || block.is_aligned || before == 0 || any.col_stride != 1 || !any.has_row(0)) {
        detail::load_words<V, result_tile>(any, fill_word, words);
    } else if constexpr (R == 1 && V > 1 && bytes >= 4) {
        const int first_col = C == 1 ? 0 : Layout::col(position(), 0, 0);
        const From* const start = any.origin + first_col;
        // Both runs around columns c .. c + V - 1 exist.
        const int lo = any.col_lo + before - first_col, hi = any.col_hi + before - first_col - 2 * V;
        TK_UNROLL
        for (int n = 0; n < result_tile::size; n += V) {
            const int d = n / result_tile::E * Layout::block_cols + n % result_tile::E;
            const bool exist = d >= lo && d <= hi;
            const auto first = exist ? detail::load_word<T, V>(start + d - before) : fill_word;
            const auto second = exist ? detail::load_word<T, V>(start + d - before + V) : fill_word;
            words[n / V] = detail::shifted_word<bytes>(first, second, before * int(sizeof(T)));
        }
        TK_UNROLL
        for (int n = 0; n < result_tile::size; n += V) {
            const int d = n / result_tile::E * Layout::block_cols + n % result_tile::E;
            if (d >= lo && d <= hi) continue;
            auto v = __builtin_bit_cast(detail::vector<T, V>, words[n / V]);
            TK_UNROLL
            for (int k = 0; k < V; ++k)
                if (any.has_col(first_col + d + k)) v.value[k] = arch::load_global(start + d + k);
            words[n / V] = __builtin_bit_cast(Word, v);
        }
    }
    return detail::taken_apart<V, result_tile>(words);
}

}  // namespace warpgroup

}  // namespace tk
