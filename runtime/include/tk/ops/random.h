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

/// Ten rounds over a counter of 128 bits. A round multiplies two of the words, and mixes the upper halves of the products with the
/// other two and the key.
TK_DEVICE random_block philox(const random_block& counter, uint64_t seed) {
    uint32_t key0 = uint32_t(seed), key1 = uint32_t(seed >> 32);
    uint32_t a = counter.word[0], b = counter.word[1], c = counter.word[2], d = counter.word[3];
    TK_UNROLL
    for (int round = 0; round < 10; ++round) {
        const uint64_t first = uint64_t(0xd2511f53u) * a, second = uint64_t(0xcd9e8d57u) * c;
        a = uint32_t(second >> 32) ^ b ^ key0;
        b = uint32_t(second);
        c = uint32_t(first >> 32) ^ d ^ key1;
        d = uint32_t(first);
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    return {{a, b, c, d}};
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

/// 32 random bits for each element of a tile of positions. Four neighbours of a thread that are numbered on from a multiple of four,
/// the usual case of a row-major position, share a block; others take one each, in a loop that keeps the code small.
template <class T, int R, int C, class L>
    requires(std::is_integral_v<T>)
TK_DEVICE register_tile<uint32_t, R, C, L> random(uint64_t seed, const register_tile<T, R, C, L>& at) {
    register_tile<uint32_t, R, C, L> result;
    constexpr int size = register_tile<T, R, C, L>::size, group = size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
    TK_UNROLL
    for (int n = 0; n < size; n += group) {
        const uint64_t first = uint64_t(int64_t(at.data[n]));
        bool is_run = first % group == 0;
        TK_UNROLL
        for (int k = 1; k < group; ++k) is_run = is_run && uint64_t(int64_t(at.data[n + k])) == first + uint64_t(k);
        if (is_run) {
            const random_block block = philox(seed, first / 4);
            TK_UNROLL
            for (int k = 0; k < group; ++k)
                result.data[n + k] = group == 4 ? block.word[k] : detail::word_of(block, uint32_t(first) + uint32_t(k));
        } else {
            TK_UNROLL
            for (int k = 0; k < group; ++k) result.data[n + k] = 0;
            TK_NO_UNROLL
            for (int turn = 0; turn < group; ++turn) {
                uint64_t own = first;
                TK_UNROLL
                for (int k = 1; k < group; ++k) own = turn == k ? uint64_t(int64_t(at.data[n + k])) : own;
                const uint32_t bits = detail::word_of(philox(seed, own / 4), uint32_t(own));
                TK_UNROLL
                for (int k = 0; k < group; ++k) result.data[n + k] = turn == k ? bits : result.data[n + k];
            }
        }
    }
    return result;
}

}  // namespace tk
