// SPDX-License-Identifier: MIT
// Random bits as a function of a key and a position: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as
// 1, 2, 3; SC 2011). Number `index` is word index mod 4 of the block at counter index div 4, the same on every target.
#pragma once

#include "tk/types/register_tile.h"

namespace tk {

/// One block: four words.
struct random_block {
    uint32_t word[4];
};

/// Ten rounds over `Count` counters of 128 bits, side by side. A round multiplies two of the words, and mixes the upper halves of the
/// products with the other two and the key.
template <int Count>
TK_DEVICE void philox(random_block (&block)[Count], uint64_t seed) {
    uint32_t key0 = uint32_t(seed), key1 = uint32_t(seed >> 32);
    TK_UNROLL
    for (int round = 0; round < 10; ++round) {
        TK_UNROLL
        for (int n = 0; n < Count; ++n) {
            uint32_t(&word)[4] = block[n].word;
            const uint64_t first = uint64_t(0xd2511f53u) * word[0], second = uint64_t(0xcd9e8d57u) * word[2];
            word[0] = uint32_t(second >> 32) ^ word[1] ^ key0;
            word[1] = uint32_t(second);
            word[2] = uint32_t(first >> 32) ^ word[3] ^ key1;
            word[3] = uint32_t(first);
        }
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
}

TK_DEVICE random_block philox(const random_block& counter, uint64_t seed) {
    random_block block[1] = {counter};
    philox(block, seed);
    return block[0];
}

/// The block at a counter of 64 bits.
TK_DEVICE random_block philox(uint64_t seed, uint64_t counter) {
    return philox({{uint32_t(counter), uint32_t(counter >> 32), 0, 0}}, seed);
}

namespace detail {

/// Selects, not an array in memory.
TK_DEVICE uint32_t word_of(const random_block& block, uint32_t number) {
    const uint32_t low = number & 1 ? block.word[1] : block.word[0], high = number & 1 ? block.word[3] : block.word[2];
    return number & 2 ? high : low;
}

}  // namespace detail

/// 32 random bits for each element of a tile of positions. Where each four neighbours of a thread are numbered on from a multiple of
/// four, the usual case of a row-major position, they share a block, and all blocks of the thread are made side by side; elsewhere
/// each element takes a block of its own, in a loop that keeps the code small.
template <class T, int R, int C, class L>
    requires(std::is_integral_v<T>)
TK_DEVICE register_tile<uint32_t, R, C, L> random(uint64_t seed, const register_tile<T, R, C, L>& at) {
    register_tile<uint32_t, R, C, L> result;
    constexpr int size = register_tile<T, R, C, L>::size, group = size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
    bool are_runs = true;
    TK_UNROLL
    for (int n = 0; n < size; n += group) {
        const uint64_t first = uint64_t(int64_t(at.data[n]));
        are_runs = are_runs && first % group == 0;
        TK_UNROLL
        for (int k = 1; k < group; ++k) are_runs = are_runs && uint64_t(int64_t(at.data[n + k])) == first + uint64_t(k);
    }
    if (are_runs) {
        random_block block[size / group];
        TK_UNROLL
        for (int n = 0; n < size; n += group) {
            const uint64_t counter = uint64_t(int64_t(at.data[n])) / 4;
            block[n / group] = {{uint32_t(counter), uint32_t(counter >> 32), 0, 0}};
        }
        philox(block, seed);
        TK_UNROLL
        for (int n = 0; n < size; ++n) {
            const random_block& own = block[n / group];
            result.data[n] = group == 4 ? own.word[n % 4] : detail::word_of(own, uint32_t(at.data[n]));
        }
        return result;
    }
    TK_UNROLL
    for (int n = 0; n < size; ++n) result.data[n] = 0;
    TK_NO_UNROLL
    for (int turn = 0; turn < size; ++turn) {
        uint64_t own = 0;
        TK_UNROLL
        for (int n = 0; n < size; ++n) own = turn == n ? uint64_t(int64_t(at.data[n])) : own;
        const uint32_t bits = detail::word_of(philox(seed, own / 4), uint32_t(own));
        TK_UNROLL
        for (int n = 0; n < size; ++n) result.data[n] = turn == n ? bits : result.data[n];
    }
    return result;
}

}  // namespace tk
