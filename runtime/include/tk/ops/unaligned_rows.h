// SPDX-License-Identifier: MIT
// Rows whose columns follow each other and that begin anywhere: those of a tensor of odd length, parts of a vector. They move as the
// aligned words of up to 16 bytes that they lie in, whose bytes are shifted: 15 instructions for 8 values, where 8 accesses would
// each touch as much of the cache as one of 16 bytes. Each row has an offset of its own.
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

/// Elements from the multiple of V elements at or before `start` on to it.
template <int V, class T>
TK_DEVICE int elements_before(const T* start) { return int(reinterpret_cast<uint64_t>(start) % (V * sizeof(T)) / sizeof(T)); }

/// Bytes `from` .. `from` + Bytes - 1 of two words that follow each other; of one word twice: it, rotated.
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

/// Row r of a block from column `first` on, as runs of V columns. Each covers the end of one aligned word and the beginning of the next.
template <int V, class T>
struct shifted_row {
    using value = std::remove_const_t<T>;
    T* start;
    int before;  // elements between a multiple of V and each run
    int lo, hi;  // the first and last run, counted from `first`, that begins in a word that exists as a whole

    TK_DEVICE shifted_row(const global_block<T>& block, int r, int first)
        : start(block.origin + (r * block.row_stride + first)), before(elements_before<V>(start)),
          lo(block.has_row(r) ? block.col_lo + before - first : 0x7fffffff), hi(block.col_hi + before - first - V) {}

    /// Of the run d columns on: the word in which it begins exists, both of its words do, all of its elements do; so
    /// does the element d columns on.
    TK_DEVICE bool has_word(int d) const { return d >= lo && d <= hi; }
    TK_DEVICE bool has(int d) const { return d >= lo && d <= hi - V; }
    TK_DEVICE bool has_run(int d) const { return d >= lo - before && d <= hi - before; }
    TK_DEVICE bool has_element(int d) const { return d >= lo - before && d < hi - before + V; }

    /// The run d columns on, both of whose words exist. Neighbouring threads read a word twice, the second time from the first-level
    /// cache.
    TK_DEVICE auto load(int d) const {
        const T* const from = start + (d - before);
        return shifted_word<V * int(sizeof(T))>(load_word<value, V>(from), load_word<value, V>(from + V), before * int(sizeof(T)));
    }
    /// The same, or the fill where has(d) is false.
    template <class Word>
    TK_DEVICE Word load(int d, const Word& fill_word) const {
        const bool exist = has(d);
        const T* const from = start + (d - before);
        const Word first = exist ? load_word<value, V>(from) : fill_word;
        const Word next = exist ? load_word<value, V>(from + V) : fill_word;
        return shifted_word<V * int(sizeof(T))>(first, next, before * int(sizeof(T)));
    }
};

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
    // f(register, run, row, column) for each run.
    const auto each_run = [&](int first, auto f) {
        TK_UNROLL
        for (int i = 0; i < Tile::I; ++i)
            TK_UNROLL
            for (int h = 0; h < Tile::H; ++h) {
                const int r = Tile::rows == 1 ? 0 : L::row(at, i, h);
                const shifted_row<V, From> row(block, r, first);
                TK_UNROLL
                for (int j = 0; j < Tile::J; ++j)
                    TK_UNROLL
                    for (int e = 0; e < Tile::E; e += V) f(words[Tile::number_of({i, j, h, e}) / V], row, r, j * L::block_cols + e);
            }
    };
    const bool has_ends = !block.contains(Tile::rows, Tile::cols) || block.col_lo > 1 - V || block.col_hi < Tile::cols + V;
    // Runs of a lane share words, which are loaded once where nothing is asked.
    if constexpr (Tile::E > V)
        if (!has_ends) return each_run(first_col, [&](Word& word, const auto& row, int, int d) { word = row.load(d); });
    each_run(first_col, [&](Word& word, const auto& row, int, int d) { word = row.load(d, fill_word); });
    if (!has_ends) return;
    const int again = anew(first_col);
    each_run(again, [&](Word& word, const auto& row, int r, int d) {
        if (!row.has(d)) word = load_elements<V>(block, r, again + d, fill_word);
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

/// Own bytes from number `from` on, those before of `other`.
template <int Bytes>
TK_DEVICE auto joined_word(const typename word<Bytes>::type& other, const typename word<Bytes>::type& own, int from) {
    auto result = __builtin_bit_cast(vector<uint32_t, Bytes / 4>, own);
    const auto before = __builtin_bit_cast(vector<uint32_t, Bytes / 4>, other);
    TK_UNROLL
    for (int n = 0; n < Bytes / 4; ++n) {
        const int bits = 8 * (from - 4 * n);
        const uint32_t mask = bits <= 0 ? ~0u : bits >= 32 ? 0 : ~0u << bits;
        result.value[n] = (result.value[n] & mask) | (before.value[n] & ~mask);
    }
    return __builtin_bit_cast(typename word<Bytes>::type, result);
}

template <class Word>
TK_DEVICE Word shuffle_word(const Word& x, int lane) {
    auto v = __builtin_bit_cast(vector<uint32_t, int(sizeof(Word)) / 4>, x);
    TK_UNROLL
    for (uint32_t& value : v.value) value = arch::shuffle_from(value, lane);
    return __builtin_bit_cast(Word, v);
}

/// Bytes `from` .. `from` + Bytes - 1 of a word, where `from` is a multiple of Bytes.
template <int Bytes, int N>
TK_DEVICE typename word<Bytes>::type part_of(vector<uint32_t, N> all, int from) {
    TK_UNROLL
    for (int step = N / 2; step > 0 && 4 * step >= Bytes; step /= 2) {
        const bool moves = (from & 4 * step) != 0;
        TK_UNROLL
        for (int n = 0; n < step; ++n) {
            const uint32_t here = all.value[n], there = all.value[n + step];  // by value, as in shifted_word
            all.value[n] = moves ? there : here;
        }
    }
    if constexpr (Bytes < 4) {
        return typename word<Bytes>::type(all.value[0] >> 8 * (from & (4 - Bytes)));
    } else {
        vector<uint32_t, Bytes / 4> result;
        TK_UNROLL
        for (int n = 0; n < Bytes / 4; ++n) result.value[n] = all.value[n];
        return __builtin_bit_cast(typename word<Bytes>::type, result);
    }
}

/// Writes the first `count` elements of an aligned word of V elements, or the last: in pieces of V / 2, V / 4, .. elements, each at a
/// multiple of its size.
template <int V, int Piece = V / 2, class T, class Word>
TK_DEVICE void store_part(T* start, const Word& word_of_elements, int count, bool is_front) {
    constexpr int size = int(sizeof(T)), bytes = Piece * size;
    const int rest = count & -2 * Piece, at = is_front ? rest : V - Piece - rest;
    const auto part = part_of<bytes>(__builtin_bit_cast(vector<uint32_t, V * size / 4>, word_of_elements), at * size);
    if ((count & Piece) != 0) arch::store_global(reinterpret_cast<typename word<bytes>::type*>(start + at), part);
    if constexpr (Piece > 1) store_part<V, Piece / 2>(start, word_of_elements, count, is_front);
}

/// How a run is stored: which of the two words it lies in are written whole, together with what other runs have of them, and whether
/// what is left of it is part of one word.
struct stored_run {
    bool has_first, has_second, has_part;
};

/// Writes a tile whose rows are runs of neighbouring lanes: a lane writes the word in which its run begins, together with what the lane
/// before has of it. Parts of words go where no lane is before (behind), single elements where not all of a run exists. By all lanes of
/// a warp.
template <int V, class T, int R, int C, class L>
TK_DEVICE void store_shifted(const global_block<T>& block, const register_tile<T, R, C, L>& from) {
    using Tile = register_tile<T, R, C, L>;
    constexpr int size = int(sizeof(T)), bytes = V * size;
    using Word = typename word<bytes>::type;
    const bool owns = stores<Tile>();
    const lane_position at = warpgroup::position();
    const int lane_col = L::lane_col(at.lane), lane_before = at.lane - lane_col + (lane_col + L::Lanes - 1) % L::Lanes, first_col = anew(L::col(at, 0, 0));
    const auto each_row = [&](auto f) {
        TK_UNROLL
        for (int i = 0; i < Tile::I; ++i)
            TK_UNROLL
            for (int h = 0; h < Tile::H; ++h) {
                shifted_row<V, T> row(block, Tile::rows == 1 ? 0 : Tile::dealt::row(at, i, h), first_col);
                if (!owns) row.lo = 0x7fffffff;
                f(row, i, h);
            }
    };
    const auto stored = [&](const shifted_row<V, T>& row, int j, int e) {
        const int d = j * L::block_cols + e;
        // Warps side by side: the blocks of columns before and behind belong to others.
        const bool is_first = e == 0 && (L::WarpCols > 1 || j == 0), is_last = e == Tile::E - V && (L::WarpCols > 1 || j == Tile::J - 1);
        const bool has_first = row.has_word(d) && (!is_first || lane_col > 0 || row.before == 0);
        const bool has_second = row.has_word(d + V) && (!is_last || lane_col < L::Lanes - 1 || row.before == 0);
        return stored_run{has_first, has_second, (is_first || is_last) && has_first != has_second && row.has_run(d)};
    };
    each_row([&](const shifted_row<V, T>& row, int i, int h) {
        Word previous{};  // of the row: the run before, its bytes rotated to their places in a word
        TK_UNROLL
        for (int j = 0; j < Tile::J; ++j) {
            Word rotated[Tile::E / V];
            TK_UNROLL
            for (int e = 0; e < Tile::E; e += V) {
                const Word run = word_of<T, V>(from.data + Tile::number_of({i, j, h, e}));
                rotated[e / V] = shifted_word<bytes>(run, run, (V - row.before) * size);
            }
            const Word neighbour = shuffle_word(rotated[Tile::E / V - 1], lane_before);
            TK_UNROLL
            for (int e = 0; e < Tile::E; e += V) {
                const stored_run how = stored(row, j, e);
                const Word other = e > 0 ? rotated[(e > 0 ? e : V) / V - 1] : lane_col > 0 ? neighbour : previous;
                T* const to = row.start + (j * L::block_cols + e - row.before);
                if (how.has_first) arch::store_global(reinterpret_cast<Word*>(to), joined_word<bytes>(other, rotated[e / V], row.before * size));
                if (how.has_part) store_part<V>(to + (how.has_first ? V : 0), rotated[e / V], how.has_first ? row.before : V - row.before, how.has_first);
            }
            previous = neighbour;
        }
    });
    if (block.contains(R, C)) return;
    each_row([&](const shifted_row<V, T>& row, int i, int h) {
        TK_UNROLL
        for (int j = 0; j < Tile::J; ++j)
            TK_UNROLL
            for (int e = 0; e < Tile::E; e += V) {
                const stored_run how = stored(row, j, e);
                if (how.has_part || (how.has_first && how.has_second)) continue;
                const int d = j * L::block_cols + e;
                TK_UNROLL
                for (int k = 0; k < V; ++k)
                    if (!(k < V - row.before ? how.has_first : how.has_second) && row.has_element(d + k))
                        arch::store_global(row.start + (d + k), from.data[Tile::number_of({i, j, h, e}) + k]);
            }
    });
}

}  // namespace tk::detail
