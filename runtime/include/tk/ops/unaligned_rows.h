// SPDX-License-Identifier: MIT
// Rows whose columns follow each other and that begin anywhere: those of a tensor of odd length, parts of a vector. They move as the
// aligned words of up to 16 bytes that they lie in, whose bytes are shifted: 15 instructions for 8 values, where 8 accesses would
// each touch as much of the cache as one of 16 bytes. Each row has an offset of its own. The integer pipe is what binds here (it
// takes every second cycle): what a block that exists as a whole goes through has no conditions and no masks.
#pragma once

#include "tk/ops/warpgroup_shared.h"
#include "tk/types/global_tensor.h"

namespace tk::detail {

/// x, of which the compiler knows nothing any more: what is computed from it is computed behind this, and accesses to
/// memory stay on their side of it.
TK_DEVICE int anew(int x) {
    TK_TIE("+" TK_REGISTER(x));
    return x;
}

/// Runs of V are shifted where that takes fewer accesses than their elements. (Bytes of less than a word aren't shifted.)
template <class T, int V>
inline constexpr bool shifts_runs = V > 2 && V * int(sizeof(T)) >= 4;

/// Blocks of which a thread holds many elements would take more registers than their kernels have for the aligned case: a load has all
/// of its words, twice as many as the tile, under way at once. So single rows, which can be cut where memory is aligned, are shifted
/// where they are short only.
template <class Tile, int V>
inline constexpr bool shifts_tile =
    shifts_runs<typename Tile::value_type, V> && Tile::size * int(sizeof(typename Tile::value_type)) <= (Tile::rows == 1 ? 32 : 64);

/// The multiple of Bytes at or before a place.
template <int Bytes, class T>
TK_DEVICE T* word_at(T* place) { return static_cast<T*>(TK_GLOBAL_PLACE(TK_GLOBAL_NUMBER(place) & ~uint64_t(Bytes - 1))); }

/// Words that follow each other, in registers of 4 bytes.
template <int Bytes, int Count>
struct word_run {
    using Word = typename word<Bytes>::type;
    static constexpr int N = Bytes / 4, size = N * Count;
    uint32_t all[size];

    TK_DEVICE explicit word_run(const Word (&words)[Count]) {
        TK_UNROLL
        for (int k = 0; k < Count; ++k) {
            const auto parts = __builtin_bit_cast(vector<uint32_t, N>, words[k]);
            TK_UNROLL
            for (int n = 0; n < N; ++n) all[N * k + n] = parts.value[n];
        }
    }
    TK_DEVICE Word get(int k) const {
        vector<uint32_t, N> parts;
        TK_UNROLL
        for (int n = 0; n < N; ++n) parts.value[n] = all[N * k + n];
        return __builtin_bit_cast(Word, parts);
    }

    /// Towards the first by `bytes`, fewer than a word has: each but the last becomes what begins in it. Selected values, not selected
    /// places: clang would choose an address, and keep the words in memory.
    template <int Step = N / 2>
    TK_DEVICE void shift_down(int bytes) {
        const bool moves = (bytes & 4 * Step) != 0;
        TK_UNROLL
        for (int n = 0; n < size - N + Step; ++n) {
            const uint32_t here = all[n], there = all[n + (Step > 0 ? Step : 1)];
            if constexpr (Step > 0) all[n] = moves ? there : here;
            else all[n] = uint32_t((uint64_t(there) << 32 | here) >> 8 * (bytes & 3));
        }
        if constexpr (Step > 0) shift_down<Step / 2>(bytes);
    }
    /// Towards the last: each but the first becomes what ends in it.
    template <int Step = N / 2>
    TK_DEVICE void shift_up(int bytes) {
        const bool moves = (bytes & 4 * Step) != 0;
        TK_UNROLL
        for (int n = size - 1; n >= N - Step; --n) {
            const uint32_t here = all[n], there = all[n - (Step > 0 ? Step : 1)];
            if constexpr (Step > 0) all[n] = moves ? there : here;
            else all[n] = uint32_t((uint64_t(here) << 32 | there) << 8 * (bytes & 3) >> 32);
        }
        if constexpr (Step > 0) shift_up<Step / 2>(bytes);
    }
};

/// Row r of a block from column `first` on, as runs of V columns. Each covers the end of one aligned word and the beginning of the next.
template <int V, class T>
struct shifted_row {
    using value = std::remove_const_t<T>;
    static constexpr int bytes = V * int(sizeof(T));
    T* start;
    int before;  // elements between a multiple of V and each run
    int lo, hi;  // the first and last run, counted from `first`, that begins in a word that exists as a whole

    TK_DEVICE shifted_row(const global_block<T>& block, int r, int first) : shifted_row(block, r, first, block.at(r, 0) + first) {}
    /// Of a row that begins at `begin`, counted from `first`.
    TK_DEVICE shifted_row(const global_block<T>& block, int r, int first, T* begin)
        : start(begin), before(int(reinterpret_cast<uint64_t>(start) % bytes / sizeof(T))),
          lo(block.has_row(r) ? block.col_lo + before - first : 0x7fffffff), hi(block.col_hi + before - first - V) {}

    /// Of the run d columns on: the word in which it begins exists as a whole; both of its words do. The element d columns on exists.
    TK_DEVICE bool has_word(int d) const { return d >= lo && d <= hi; }
    TK_DEVICE bool has(int d) const { return d >= lo && d <= hi - V; }
    TK_DEVICE bool has_element(int d) const { return d >= lo - before && d < hi - before + V; }

    /// Count runs from the one d columns on, all of whose words exist. Neighbouring threads read a word twice, the second time from the
    /// first-level cache.
    template <int Count, class Word>
    TK_DEVICE void load(int d, Word (&runs)[Count]) const {
        Word words[Count + 1];
        TK_UNROLL
        for (int k = 0; k <= Count; ++k) words[k] = load_word<value, V>(word_at<bytes>(start) + (d + k * V));
        word_run<bytes, Count + 1> all(words);
        all.shift_down(before * int(sizeof(T)));
        TK_UNROLL
        for (int k = 0; k < Count; ++k) runs[k] = all.get(k);
    }
    /// The run d columns on, or the fill where has(d) is false.
    template <class Word>
    TK_DEVICE Word load_one(int d, const Word& fill_word) const {
        const bool exist = has(d);
        const T* const from = start + (d - before);
        const Word words[2] = {exist ? load_word<value, V>(from) : fill_word, exist ? load_word<value, V>(from + V) : fill_word};
        word_run<bytes, 2> all(words);
        all.shift_down(before * int(sizeof(T)));
        return all.get(0);
    }
};

/// f(row block, half, row, its number) for the rows of a thread, each from column `first` on.
template <int V, class Tile, class T, class F>
TK_DEVICE void each_shifted_row(const global_block<T>& block, lane_position at, int first, F f) {
    using L = typename Tile::dealt;
    const int first_row = Tile::rows == 1 ? 0 : L::row(at, 0, 0);
    T* const start = block.at(first_row, 0) + first;
    TK_UNROLL
    for (int i = 0; i < Tile::I; ++i)
        TK_UNROLL
        for (int h = 0; h < Tile::H; ++h) {
            const int down = i * L::block_rows + h * L::LaneRows;  // multiples of a stride: the same for all threads
            f(i, h, shifted_row<V, T>(block, first_row + down, first, start + down * block.row_stride), first_row + down);
        }
}

/// V columns of the block from (r, c) on, element by element, and the fill where they do not exist: for the ends of rows, where a word
/// may hold what lies outside the tensor.
template <int V, class T, class Word>
TK_DEVICE Word load_elements(const global_block<T>& block, int r, int c, const Word& fill_word) {
    auto v = __builtin_bit_cast(vector<std::remove_const_t<T>, V>, fill_word);
    TK_UNROLL
    for (int k = 0; k < V; ++k)
        if (block.has_row(r) && block.has_col(c + k)) v.value[k] = arch::load_global(block.at(r, c + k));
    return __builtin_bit_cast(Word, v);
}

/// The words of V neighbours that a tile is made of.
template <int V, class Tile, class From, class Word>
TK_DEVICE void load_shifted_words(const global_block<From>& block, const Word& fill_word, Word (&words)[Tile::size / V]) {
    using L = typename Tile::dealt;
    const lane_position at = warpgroup::position();
    const int first_col = anew(L::col(at, 0, 0));
    // f(first register, row, row's number, column) for the runs of each row of a lane that follow each other.
    const auto each = [&](int first, auto f) {
        each_shifted_row<V, Tile>(block, at, first, [&](int i, int h, const auto& row, int r) {
            TK_UNROLL
            for (int j = 0; j < Tile::J; ++j) f(Tile::number_of({i, j, h, 0}), row, r, j * L::block_cols);
        });
    };
    constexpr int runs = Tile::E / V;
    const bool has_ends = !block.contains(Tile::rows, Tile::cols) || block.col_lo > 1 - V || block.col_hi < Tile::cols + V;
    // Runs of a lane share words, which are loaded once where nothing is asked.
    if constexpr (runs > 1)
        if (!has_ends)
            return each(first_col, [&](int n, const auto& row, int, int d) {
                Word result[runs];
                row.load(d, result);
                TK_UNROLL
                for (int k = 0; k < runs; ++k) words[n / V + k] = result[k];
            });
    each(first_col, [&](int n, const auto& row, int, int d) {
        TK_UNROLL
        for (int k = 0; k < runs; ++k) words[n / V + k] = row.load_one(d + k * V, fill_word);
    });
    if (!has_ends) return;
    const int again = anew(first_col);
    each(again, [&](int n, const auto& row, int r, int d) {
        TK_UNROLL
        for (int k = 0; k < runs; ++k)
            if (!row.has(d + k * V)) words[n / V + k] = load_elements<V>(block, r, again + d + k * V, fill_word);
    });
}

/// Stores exchange words between the lanes of a row.
#ifdef TK_GFX
template <int V, class Tile>
inline constexpr bool shifts_stores = false;  // lanes are exchanged through the unit of shared memory
#else
template <int V, class Tile>
inline constexpr bool shifts_stores =
    shifts_tile<Tile, V> && Tile::layout_type::Lanes >= 8 && !Tile::layout_type::ColumnsFirst;
#endif

template <class Word>
TK_DEVICE Word shuffle_word(const Word& x, int lane) {
    auto v = __builtin_bit_cast(vector<uint32_t, int(sizeof(Word)) / 4>, x);
    TK_UNROLL
    for (uint32_t& value : v.value) value = arch::shuffle_from(value, lane);
    return __builtin_bit_cast(Word, v);
}

/// One of two words. By value, as in word_run: nvcc would choose an address, too.
template <class Word>
TK_DEVICE Word chosen_word(bool is_first, const Word& first, const Word& second) {
    using parts = vector<uint32_t, int(sizeof(Word)) / 4>;
    auto result = __builtin_bit_cast(parts, first);
    const auto others = __builtin_bit_cast(parts, second);
    TK_UNROLL
    for (int n = 0; n < int(sizeof(Word)) / 4; ++n) {
        const uint32_t here = result.value[n], there = others.value[n];
        result.value[n] = is_first ? here : there;
    }
    return __builtin_bit_cast(Word, result);
}

/// Element k of a word of V, where k is known when the kernel runs only.
template <class T, int V, class Word>
TK_DEVICE T chosen_element(const Word& x, int k) {
    constexpr int N = int(sizeof(Word)) / 4, size = int(sizeof(T));
    auto all = __builtin_bit_cast(vector<uint32_t, N>, x);
    TK_UNROLL
    for (int step = N / 2; step > 0; step /= 2) {
        const bool moves = (k * size & 4 * step) != 0;
        TK_UNROLL
        for (int n = 0; n < step; ++n) {
            const uint32_t here = all.value[n], there = all.value[n + step];  // by value, as in word_run
            all.value[n] = moves ? there : here;
        }
    }
    return __builtin_bit_cast(T, typename word<size>::type(all.value[0] >> 8 * (k * size & 3)));
}

/// Columns that lie in the lanes of one warp and follow each other in memory, all J blocks or each by itself. The words that they fill
/// are written as they are; with what is before the first and behind the last of these another word would be full: its elements are
/// dealt out to the lanes.
template <int V, class Tile>
struct stored_stretch {
    using T = typename Tile::value_type;
    using L = typename Tile::dealt;
    using Word = typename word<V * int(sizeof(T))>::type;
    static constexpr int runs = Tile::E / V, blocks = L::WarpCols == 1 ? Tile::J : 1;
    static constexpr int cols = (blocks - 1) * L::block_cols + L::Lanes * Tile::E;

    const Tile& from;
    const shifted_row<V, T>& row;
    const int lane, lane_col = L::lane_col(lane);
    T* const first_word = word_at<sizeof(Word)>(row.start);  // nvcc would add up the parts of each address anew
    const bool owns = stores<Tile>();

    /// From register n and column d on.
    template <bool IsWhole>
    TK_DEVICE void store(int n, int d) const {
        const int lane_before = lane - lane_col + (lane_col + L::Lanes - 1) % L::Lanes;
        Word previous{};
        TK_UNROLL
        for (int b = 0; b < blocks; ++b) {
            const int here = n + b * Tile::number_of({0, 1, 0, 0});
            const Word last = shuffle_word(run(here, runs - 1), lane_before);
            const auto words = shifted(b == 0 ? last : chosen_word(lane_col > 0, last, previous), here);
            previous = last;
            TK_UNROLL
            for (int k = 0; k < runs; ++k) {
                const bool is_cut = b == 0 && k == 0 && lane_col == 0 && row.before != 0;
                if (owns && !is_cut) store_word<IsWhole>(d + b * L::block_cols + k * V, words.get(k + 1));
            }
        }
        store_cut<IsWhole>(d, shifted(previous, n).get(1));
    }

private:
    /// Run k from register n on.
    TK_DEVICE Word run(int n, int k) const { return word_of<T, V>(from.data + n + k * V); }

    /// This lane's runs of a block, from register n on, behind another: as words of memory from the second on.
    TK_DEVICE auto shifted(const Word& before, int n) const {
        Word words[runs + 1] = {before};
        TK_UNROLL
        for (int k = 0; k < runs; ++k) words[k + 1] = run(n, k);
        word_run<int(sizeof(Word)), runs + 1> all(words);
        all.shift_up(row.before * int(sizeof(T)));
        return all;
    }

    template <bool IsWhole>
    TK_DEVICE void store_word(int d, const Word& word) const {
        if (IsWhole || row.has_word(d)) {
            arch::store_global(reinterpret_cast<Word*>(first_word + d), word);
        } else {
            TK_UNROLL
            for (int k = 0; k < V; ++k)
                if (row.has_element(d + k - row.before)) arch::store_global(first_word + (d + k), element_of<T, V>(word, k));
        }
    }

    /// The word of the first lane, whose first elements belong behind all others.
    template <bool IsWhole>
    TK_DEVICE void store_cut(int d, const Word& of_first) const {
        const Word word = shuffle_word(of_first, lane - lane_col);
        if (!owns || row.before == 0) return;
        TK_UNROLL
        for (int first = 0; first < V; first += L::Lanes) {
            const int k = first + lane_col, there = d + k - lane_col * Tile::E + (k < row.before ? cols : 0);
            if (k < V && (IsWhole || row.has_element(there - row.before)))
                arch::store_global(first_word + there, chosen_element<T, V>(word, k));
        }
    }
};

/// Writes a tile whose rows are runs of neighbouring lanes: a lane writes the word in which its run begins, together with what the lane
/// before has of it. By all lanes of a warp.
template <int V, class T, int R, int C, class L>
TK_DEVICE void store_shifted(const global_block<T>& block, const register_tile<T, R, C, L>& from) {
    using Tile = register_tile<T, R, C, L>;
    using stretch = stored_stretch<V, Tile>;
    const lane_position at = warpgroup::position();
    const int first_col = anew(L::col(at, 0, 0));
    const auto each_stretch = [&](auto f) {
        each_shifted_row<V, Tile>(block, at, first_col, [&](int i, int h, const auto& row, int) {
            TK_UNROLL
            for (int j = 0; j < Tile::J; j += stretch::blocks) f(stretch{from, row, at.lane}, Tile::number_of({i, j, h, 0}), j * L::block_cols);
        });
    };
    if (block.contains(R, C)) each_stretch([](const stretch& part, int n, int d) { part.template store<true>(n, d); });
    else each_stretch([](const stretch& part, int n, int d) { part.template store<false>(n, d); });
}

}  // namespace tk::detail
