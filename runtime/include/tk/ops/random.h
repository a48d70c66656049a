// SPDX-License-Identifier: MIT
// Random bits as a function of a key and a position: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as
// 1, 2, 3; SC 2011). Number `index` is word index mod 4 of the block at counter index div 4, the same on every target.
#pragma once

#include "tk/ops/positions.h"

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

namespace detail {

/// Blocks that are made side by side: enough to wait for no product, and few enough that what they are made of fits beside the tile.
template <int Groups>
inline constexpr int random_blocks = Groups % 4 == 0 ? 4 : Groups;

/// Of numbers that follow each other in groups from a multiple of the group on: each group shares a block.
template <class T, int R, int C, class L, int Group>
TK_DEVICE register_tile<uint32_t, R, C, L> random_runs(uint64_t seed, const register_tile<T, R, C, L>& at) {
    register_tile<uint32_t, R, C, L> result;
    constexpr int together = random_blocks<result.size / Group>;
    TK_UNROLL
    for (int first = 0; first < result.size; first += together * Group) {
        random_block block[together];
        TK_UNROLL
        for (int b = 0; b < together; ++b) {
            const uint64_t counter = uint64_t(int64_t(at.data[first + b * Group])) / 4;
            block[b] = {{uint32_t(counter), uint32_t(counter >> 32), 0, 0}};
        }
        philox(block, seed);
        TK_UNROLL
        for (int k = 0; k < together * Group; ++k) {
            const random_block& own = block[k / Group];
            result.data[first + k] = Group == 4 ? own.word[k % 4] : word_of(own, uint32_t(at.data[first + k]));
        }
    }
    return result;
}

/// Of any numbers: each takes a block of its own, in a loop that keeps the code small.
template <class T, int R, int C, class L>
TK_DEVICE register_tile<uint32_t, R, C, L> random_each(uint64_t seed, const register_tile<T, R, C, L>& at) {
    register_tile<uint32_t, R, C, L> result;
    TK_UNROLL
    for (int n = 0; n < result.size; ++n) result.data[n] = 0;
    TK_NO_UNROLL
    for (int turn = 0; turn < result.size; ++turn) {
        uint64_t own = 0;
        TK_UNROLL
        for (int n = 0; n < result.size; ++n) own = turn == n ? uint64_t(int64_t(at.data[n])) : own;
        const uint32_t bits = word_of(philox(seed, own / 4), uint32_t(own));
        TK_UNROLL
        for (int n = 0; n < result.size; ++n) result.data[n] = turn == n ? bits : result.data[n];
    }
    return result;
}

/// Each word but the last becomes the one Step behind it, if they move. (In a loop over steps nvcc would not unroll this one, and keep
/// the words in memory.)
template <int Step, int N>
TK_DEVICE void move_down(uint32_t (&words)[N], bool moves) {
    TK_UNROLL
    for (int n = 0; n < N - Step; ++n) {
        const uint32_t here = words[n], there = words[n + Step];  // by value, as in word_run
        words[n] = moves ? there : here;
    }
}

/// Of numbers that follow each other in each run of a row, from anywhere on: a run of E lies in E / 4 + 1 blocks, whose words move up
/// to its first.
template <class T, int R, int C, class L>
TK_DEVICE register_tile<uint32_t, R, C, L> random_shifted(uint64_t seed, const register_tile<T, R, C, L>& at) {
    register_tile<uint32_t, R, C, L> result;
    constexpr int E = result.E, blocks = E / 4 + 1;
    TK_UNROLL
    for (int n = 0; n < result.size; n += E) {
        const uint64_t first = uint64_t(int64_t(at.data[n]));
        random_block block[blocks];
        TK_UNROLL
        for (int b = 0; b < blocks; ++b) {
            const uint64_t counter = (first + uint64_t(4 * b)) / 4;
            block[b] = {{uint32_t(counter), uint32_t(counter >> 32), 0, 0}};
        }
        philox(block, seed);
        uint32_t word[4 * blocks];
        TK_UNROLL
        for (int k = 0; k < 4 * blocks; ++k) word[k] = block[k / 4].word[k % 4];
        move_down<2>(word, (first & 2) != 0);
        move_down<1>(word, (first & 1) != 0);
        TK_UNROLL
        for (int e = 0; e < E; ++e) result.data[n + e] = word[e];
    }
    return result;
}

template <int Size>
inline constexpr int random_group = Size % 4 == 0 ? 4 : Size % 2 == 0 ? 2 : 1;

}  // namespace detail

/// 32 random bits for each element of a tile of positions. Where each four neighbours of a thread are numbered on from a multiple of
/// four, the usual case of a row-major position, they share a block.
template <class T, int R, int C, class L>
    requires(std::is_integral_v<T>)
TK_DEVICE register_tile<uint32_t, R, C, L> random(uint64_t seed, const register_tile<T, R, C, L>& at) {
    constexpr int size = register_tile<T, R, C, L>::size, group = detail::random_group<size>;
    bool are_runs = true;
    TK_UNROLL
    for (int n = 0; n < size; n += group) {
        const uint64_t first = uint64_t(int64_t(at.data[n]));
        are_runs = are_runs && first % group == 0;
        TK_UNROLL
        for (int k = 1; k < group; ++k) are_runs = are_runs && uint64_t(int64_t(at.data[n + k])) == first + uint64_t(k);
    }
    return are_runs ? detail::random_runs<T, R, C, L, group>(seed, at) : detail::random_each(seed, at);
}

/// The same of numbers that are known to follow each other along rows: only where rows begin is to be seen.
template <class T, int R, int C, class L>
    requires(std::is_integral_v<T>)
TK_DEVICE register_tile<uint32_t, R, C, L> random(uint64_t seed, const row_numbers<T, R, C, L>& at) {
    constexpr int group = detail::random_group<register_tile<T, R, C, L>::E>;
    bool are_runs = group > 1;
    TK_UNROLL
    for (int n = 0; n < at.first.size; ++n) are_runs = are_runs && uint64_t(int64_t(at.first.data[n])) % group == 0;
    if (are_runs) return detail::random_runs<T, R, C, L, group>(seed, at);
    if constexpr (sizeof(T) < 8) {  // numbers that begin anew in a run
        bool follow = true;
        TK_UNROLL
        for (int n = 0; n < at.size; ++n)
            follow = follow && (n % at.E == 0 || int64_t(at.data[n]) == int64_t(at.data[n - 1]) + 1);
        if (!follow) return detail::random_each(seed, at);
    }
    if constexpr (group == 4) return detail::random_shifted(seed, at);
    else return detail::random_each(seed, at);
}

/// Numbers of which each four neighbours of a thread are known to follow each other from a multiple of four on.
template <tile X>
struct aligned_numbers {
    X numbers;
};
template <tile X>
TK_DEVICE aligned_numbers<X> aligned(X numbers) { return {numbers}; }

/// Of these nothing is left to be seen when the kernel runs.
template <tile X>
    requires(std::is_integral_v<typename X::value_type>)
TK_DEVICE auto random(uint64_t seed, const aligned_numbers<X>& at) {
#ifdef TK_SIM
    for (int n = 0; n < X::size; ++n)
        if (int64_t(at.numbers.data[n]) != int64_t(at.numbers.data[n / 4 * 4]) / 4 * 4 + n % 4)
            return sim::report_misuse("numbers that begin inside a block of random bits"), detail::random_each(seed, at.numbers);
#endif
    return detail::random_runs<typename X::value_type, X::rows, X::cols, typename X::layout_type, 4>(seed, at.numbers);
}

}  // namespace tk
