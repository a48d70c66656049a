// SPDX-License-Identifier: MIT
// Register tiles to and from blocks of global memory, any stride and alignment. Elements outside the block's
// ranges read as `fill` and are not written. Where columns are contiguous and aligned, runs of them move as
// vectors of up to 16 bytes; where they are only contiguous, as ops/unaligned_rows.h says. The common cases are told
// apart once: an aligned block that exists as a whole, of which vectors move without conditions, and any other aligned
// block, of which each vector has one condition and no branch: so all of them are in flight at the same time.
#pragma once

#include "tk/ops/atomic_global.h"
#include "tk/ops/unaligned_rows.h"

namespace tk {

namespace detail {

/// Each of the first `rows` rows of the block starts at a multiple of `bytes` and its columns follow each other.
template <class T>
TK_HOST_DEVICE bool rows_aligned(const global_block<T>& block, int rows, int bytes) {
    if (block.is_aligned) return true;
    const uint64_t stride = rows == 1 ? 0 : uint64_t(block.row_stride) * sizeof(T);
    return block.col_stride == 1 && (reinterpret_cast<uint64_t>(block.origin) | stride) % uint64_t(bytes) == 0;
}

/// The runs of V neighbouring columns of a tile may move as vectors.
template <int V, class Tile, class T>
TK_HOST_DEVICE bool has_aligned_runs(const global_block<T>& block) {
    return V == 1 || rows_aligned(block, Tile::rows, V * int(sizeof(T)));
}

/// No edge of the block lies within one of the runs of V columns that make up the first `cols`.
template <class T>
TK_HOST_DEVICE bool cuts_no_run(const global_block<T>& block, int cols, int V) {
    return (block.col_lo <= 0 || block.col_lo % V == 0) && (block.col_hi >= cols || block.col_hi % V == 0);
}

/// What is computed from x is computed where it is used. AMD's compiler would compute multiples of a stride, or conditions on columns,
/// of all elements beforehand, and keep them in scalar registers, which are few.
TK_DEVICE int late(int x) {
#ifdef TK_GFX
    return anew(x);
#else
    return x;
#endif
}
TK_DEVICE int64_t late(int64_t x) { return int64_t(uint64_t(uint32_t(late(int(x)))) | uint64_t(uint32_t(late(int(x >> 32)))) << 32); }

/// For tiles with many rows in a thread, and for blocks whose rows are not aligned. whole(register, address) for each run of V
/// neighbouring columns in this thread that may move as a vector (where the block `is_aligned`), single(register, address) for each
/// element of the others that exists.
/// The common case has no conditions. The other goes run by run: addresses and conditions are computed anew
/// for each, as all of them together would take more registers than the tile.
template <int V, class Tile, class T, class Whole, class Single>
TK_DEVICE void for_each_run_of_many(const global_block<T>& block, bool is_aligned, Whole whole, Single single) {
    using L = typename Tile::dealt;
    const lane_position at = warpgroup::position();
    const int first_col = Tile::cols == 1 ? 0 : L::col(at, 0, 0);
    const auto each_row = [&](auto f) {
        TK_UNROLL
        for (int i = 0; i < Tile::I; ++i)
            TK_UNROLL
            for (int h = 0; h < Tile::H; ++h) f(i, h, Tile::rows == 1 ? 0 : L::row(at, i, h));
    };
    if (is_aligned && block.contains(Tile::rows, Tile::cols)) {
        const int64_t col_stride = V == 1 ? block.col_stride : 1;
        return each_row([&](int i, int h, int r) {
            T* const row = block.at(r, 0) + first_col * col_stride;
            TK_UNROLL
            for (int j = 0; j < Tile::J; ++j)
                TK_UNROLL
                for (int e = 0; e < Tile::E; e += V) whole(Tile::number_of({i, j, h, e}), row + (j * L::block_cols + e) * col_stride);
        });
    }
    each_row([&](int i, int h, int r) {
        TK_UNROLL
        for (int j = 0; j < Tile::J; ++j) {
            const int c = anew(first_col);
            const int here = anew(r);
            T* const row = block.at(here, c);
            const bool has_row = block.has_row(here);
            const int64_t col_stride = late(block.col_stride);
            TK_UNROLL
            for (int e = 0; e < Tile::E; e += V) {
                const int n = Tile::number_of({i, j, h, e}), d = late(j * L::block_cols + e);
                if (is_aligned && has_row && block.has_col(c + d) && block.has_col(c + d + V - 1)) {
                    whole(n, row + d * col_stride);
                    continue;
                }
                TK_UNROLL
                for (int k = 0; k < V; ++k)
                    if (has_row && block.has_col(c + d + k)) single(n + k, row + (d + k) * col_stride);
            }
        }
    });
}

/// Many rows in a thread (fragments of the matrix unit have short runs besides): conditions for all of them would take more registers
/// than the tile.
template <class Tile>
inline constexpr bool is_tall = (Tile::layout_type::Vec == 2 && Tile::layout_type::Halves == 2) || Tile::I * Tile::H > 4;

/// AMD's compiler would keep what masks cut runs in registers of all elements.
#ifdef TK_GFX
inline constexpr bool reaches_over_edges = false;
#else
inline constexpr bool reaches_over_edges = true;
#endif

/// The runs of V neighbouring columns of a tile that each lie in one thread. For blocks that are aligned. `Reaches`: a run that an edge
/// cuts is taken as a whole where what it has beyond belongs to the row before or behind, and is masked; else it goes element by element.
template <int V, class Tile, class T, bool Reaches = false>
struct runs {
    using L = typename Tile::dealt;
    const global_block<T>& block;
    const bool is_aligned = has_aligned_runs<V, Tile>(block);
    const bool is_whole = block.contains(Tile::rows, Tile::cols);
    const bool cuts_none = V == 1 || is_whole || cuts_no_run(block, Tile::cols, V);
    const lane_position at = warpgroup::position();
    const int first_col = Tile::cols == 1 ? 0 : L::col(at, 0, 0);

    /// f(row block, half, row)
    template <class F>
    TK_DEVICE void each_row(F f) const {
        TK_UNROLL
        for (int i = 0; i < Tile::I; ++i)
            TK_UNROLL
            for (int h = 0; h < Tile::H; ++h) f(i, h, Tile::rows == 1 ? 0 : L::row(at, i, h));
    }

    /// f(first register, address, all of it exists) for each run, without a branch between them.
    template <class F>
    TK_DEVICE void each_vector(F f) const {
        if (is_whole) each_vector_if<false>(f);
        else each_vector_if<true>(f);
    }

    /// The first and the last run of row r, counted from first_col, that move as vectors.
    TK_DEVICE int first_run(int r) const { return block.col_lo - first_col - (has_neighbour(r - 1) ? V - 1 : 0); }
    TK_DEVICE int last_run(int r) const { return block.col_hi - first_col - V + (has_neighbour(r + 1) ? V - 1 : 0); }
    /// Row r is there and follows its neighbours without a gap.
    TK_DEVICE bool has_neighbour(int r) const {
        const int length = block.col_hi - block.col_lo;
        return Reaches && V > 1 && length >= V && block.row_stride == length && block.has_row(r);
    }

    template <bool HasEdges, class F>
    TK_DEVICE void each_vector_if(F f) const {
        const int64_t col_stride = V == 1 ? block.col_stride : 1;
        each_row([&](int i, int h, int r) {
            const int lo = late(first_run(r)), hi = late(last_run(r));
            T* const row = block.at(r, 0) + first_col * col_stride;
            const bool has_row = block.has_row(r);
            TK_UNROLL
            for (int j = 0; j < Tile::J; ++j)
                TK_UNROLL
                for (int e = 0; e < Tile::E; e += V) {
                    const int d = j * L::block_cols + e;
                    f(Tile::number_of({i, j, h, e}), row + d * col_stride, !HasEdges || (has_row && d >= lo && d <= hi));
                }
        });
    }

    /// Of the runs that an edge cuts, after each_vector: single(register, address) for the elements that exist, or mask(register, column)
    /// where the run was taken as a whole.
    template <class Single, class Mask>
    TK_DEVICE void each_cut(Single single, Mask mask) const {
        if (cuts_none) return;
        each_row([&](int i, int h, int r) {
            T* const row = block.at(r, 0) + first_col;
            const bool has_row = block.has_row(r);
            TK_UNROLL
            for (int j = 0; j < Tile::J; ++j)
                TK_UNROLL
                for (int e = 0; e < Tile::E; e += V) {
                    const int d = late(j * L::block_cols + e), c = late(first_col) + d;
                    const bool is_cut = (c < block.col_lo && c + V > block.col_lo) || (c < block.col_hi && c + V > block.col_hi);
                    if (!has_row || !is_cut) continue;
                    if (Reaches && d >= first_run(r) && d <= last_run(r)) {
                        mask(Tile::number_of({i, j, h, e}), c);
                        continue;
                    }
                    TK_UNROLL
                    for (int k = 0; k < V; ++k)
                        if (block.has_col(c + k)) single(Tile::number_of({i, j, h, e}) + k, row + (d + k));
                }
        });
    }
};

/// The runs and elements of a tile that exist in the block: for stores, whose other elements are dropped.
template <int V, class Tile, class T, class Whole, class Single>
TK_DEVICE void for_each_run(const global_block<T>& block, Whole whole, Single single) {
    if constexpr (!is_tall<Tile>) {
        const runs<V, Tile, T> all{block};
        if (all.is_aligned) {
            all.each_vector([&](int n, T* to, bool exists) {
                if (exists) whole(n, to);
            });
            return all.each_cut(single, [](int, int) {});
        }
    }
    for_each_run_of_many<V, Tile>(block, is_tall<Tile> && has_aligned_runs<V, Tile>(block), whole, single);
}

/// Element n of a tile, taken out of its word here: it would be taken out ahead of the branches that store single elements.
template <class T, int R, int C, class L>
TK_DEVICE T element_anew(const register_tile<T, R, C, L>& from, int n) {
    if constexpr (sizeof(T) == 1 && register_tile<T, R, C, L>::fills_words) {
        constexpr int per_word = 4 / int(sizeof(T));
        uint32_t word = word_of<T, per_word>(from.data + n / per_word * per_word);
        TK_TIE_VALUE("+" TK_REGISTER(word));
        return element_of<T, per_word>(word, n % per_word);
    } else {
        return from.data[n];
    }
}

/// f(address, value) for each element of the tile that exists in the block, by the thread that owns it.
template <class T, int R, int C, class L, class F>
TK_DEVICE void for_each_stored(const global_block<T>& block, const register_tile<T, R, C, L>& from, F f) {
    using from_tile = register_tile<T, R, C, L>;
    if (!stores<from_tile>()) return;
    const auto each = [&](int n, T* to) { f(to, from.data[n]); };
    for_each_run<1, from_tile>(block, each, each);
}

/// The words of V neighbours that a tile is made of; those of elements that do not exist are `fill_word`. As words on every path, taken
/// apart behind all of them: to take one apart is to wait for it, and it must not be waited for before the loads of the next tile are
/// under way.
template <int V, class Tile, bool Exactly, bool IsVector, class From, class Word>
TK_DEVICE void load_words(const global_block<From>& block, Word fill_word, Word (&words)[Tile::size / V]) {
    using T = std::remove_const_t<From>;
    TK_UNROLL
    for (int n = 0; n < Tile::size / V; ++n) words[n] = fill_word;
    const auto single = [&](int n, const T* from) {
        auto v = __builtin_bit_cast(vector<T, V>, words[n / V]);
        v.value[n % V] = arch::load_global(from);
        words[n / V] = __builtin_bit_cast(Word, v);
    };
    if constexpr (!is_tall<Tile>) {
        const runs<V, Tile, From, reaches_over_edges && !Exactly> all{block};
        if (all.is_aligned) {
            all.each_vector([&](int n, const T* from, bool exists) {
                if (exists) words[n / V] = load_word<T, V>(from);
            });
            return all.each_cut(single, [&](int n, int c) {
                auto v = __builtin_bit_cast(vector<T, V>, words[n / V]);
                const auto fill = __builtin_bit_cast(vector<T, V>, fill_word);
                TK_UNROLL
                for (int k = 0; k < V; ++k)
                    if (!block.has_col(c + k)) v.value[k] = fill.value[k];
                words[n / V] = __builtin_bit_cast(Word, v);
            });
        }
    }
    if constexpr ((IsVector ? shifts_runs<T, V> : shifts_tile<Tile, V>) && !Exactly)
        if (block.col_stride == 1 && !has_aligned_runs<V, Tile>(block)) return load_shifted_words<V, Tile>(block, fill_word, words);
    // Asked again, though what is not tall is not aligned here: without the vectors nvcc takes the tile apart before, and spills.
    const bool is_aligned = has_aligned_runs<V, Tile>(block);
    for_each_run_of_many<V, Tile>(block, is_aligned, [&](int n, const T* from) { words[n / V] = load_word<T, V>(from); }, single);
}

/// The tile of these words.
template <int V, class Tile, class Word>
TK_DEVICE Tile taken_apart(const Word (&words)[Tile::size / V]) {
    Tile result;
    TK_UNROLL
    for (int n = 0; n < Tile::size; ++n) result.data[n] = element_of<typename Tile::value_type, V>(words[n / V], n % V);
    return result;
}

/// Whether neighbours of the block lie in rows of the tile.
template <class Tile, class Block>
inline constexpr bool lies_turned = false;
template <class Tile, template <class> class Block, class T>
inline constexpr bool lies_turned<Tile, Block<T>> = Tile::rows > 1 && Tile::cols > 1 && std::is_base_of_v<turned_block<T>, Block<T>>;

/// Values that may move together between a tile and a block.
template <class Tile, class Block>
inline constexpr int global_vector = lies_turned<Tile, Block> ? 1 : vector_length<typename Tile::value_type, Tile::E>;

/// Whether a tile comes as matrices of pairs that are neighbours in the block, and is turned in registers.
template <class Tile, class Block>
inline constexpr bool loads_turned_pairs =
    lies_turned<Tile, Block> && is_half<typename Tile::value_type> && is_matrix_layout<typename Tile::layout_type>;

template <class Tile, class From>
TK_DEVICE Tile load_turned(const turned_block<From>& block, uint32_t fill_pair) {
    using T = typename Tile::value_type;
    using L = typename Tile::dealt;
    const auto lying = transposed(block);  // a row for each column of the tile
    const lane_position at = warpgroup::position();
    const int row = L::warp_col(at) * 8 + at.lane / 4, col = at.warp % L::WarpRows * (2 * L::LaneRows) + at.lane % 4 * 2;
    Tile result;
    // pair(row, column): all are on their way before the first is turned. Halves together, as they share sectors of memory.
    const auto each = [&](auto pair) {
        TK_UNROLL
        for (int i = 0; i < Tile::I; ++i)
            TK_UNROLL
            for (int j = 0; j < Tile::J; ++j)
                TK_UNROLL
                for (int h = 0; h < Tile::H; ++h)
                    store_pair(result.data + Tile::number_of({i, j, h, 0}), pair(row + j * L::block_cols, col + i * L::block_rows + h * L::LaneRows));
    };
    const bool is_aligned = rows_aligned(lying, Tile::cols, 4);
    if (is_aligned && lying.contains(Tile::cols, Tile::rows)) {
        each([&](int r, int c) { return load_word<T, 2>(lying.at(r, 0) + c); });
    } else {
        each([&](int r, int c) {
            const bool is_whole = is_aligned && lying.has_row(r) && lying.has_col(c) && lying.has_col(c + 1);
            return is_whole ? load_word<T, 2>(lying.at(r, 0) + c) : load_elements<2>(lying, r, c, fill_pair);
        });
    }
    transpose_matrices(result);
    return result;
}

}  // namespace detail

namespace warpgroup {

/// The R x C elements from the block's (0, 0) on, dealt as Layout. Unless the block is exact, other elements of the tensor may be read as
/// well, and dropped.
template <int R, int C, class Layout, template <class> class Block, class From, class Fill = float>
TK_DEVICE auto load(const Block<From>& block, Fill fill_value = 0) {
    using T = std::remove_const_t<From>;
    using result_tile = register_tile<T, R, C, Layout>;
    if constexpr (detail::loads_turned_pairs<result_tile, Block<From>>) {
        return detail::load_turned<result_tile>(block, detail::filled_word<T, 2>(convert<T>(fill_value)));
    } else {
        constexpr int V = detail::global_vector<result_tile, Block<From>>;
        const auto fill_word = detail::filled_word<T, V>(convert<T>(fill_value));
        std::remove_const_t<decltype(fill_word)> words[result_tile::size / V];
        constexpr bool is_exact = std::is_same_v<Block<From>, exact_block<From>> || std::is_same_v<Block<From>, exact_turned_block<From>>;
        constexpr bool is_vector = std::is_same_v<Block<From>, vector_row<From>>;
        detail::load_words<V, result_tile, is_exact, is_vector>(block, fill_word, words);
        return detail::taken_apart<V, result_tile>(words);
    }
}

/// Writes the tile; of threads with copies of an element one writes it.
template <template <class> class Block, class T, int R, int C, class L>
TK_DEVICE void store(const Block<T>& block, const register_tile<T, R, C, L>& from) {
    using from_tile = register_tile<T, R, C, L>;
    constexpr int V = detail::global_vector<from_tile, Block<T>>;
    if constexpr (detail::shifts_stores<V, from_tile>)
        if (block.col_stride == 1 && !detail::has_aligned_runs<V, from_tile>(block)) return detail::store_shifted<V>(block, from);
    if (!detail::stores<from_tile>()) return;
    detail::for_each_run<V, from_tile>(
        block,
        [&](int n, T* to) {
            const auto word = detail::word_of<T, V>(from.data + n);
            arch::store_global(reinterpret_cast<std::remove_const_t<decltype(word)>*>(to), word);
        },
        [&](int n, T* to) { arch::store_global(to, detail::element_anew(from, n)); });
}

/// Adds the tile to the block, element by element, atomically and in no fixed order.
template <template <class> class Block, class T, int R, int C, class L>
TK_DEVICE void add(const Block<T>& block, const register_tile<T, R, C, L>& from) {
    using from_tile = register_tile<T, R, C, L>;
    constexpr int V = std::is_same_v<T, float> ? detail::global_vector<from_tile, Block<T>> : 1;
    if (!detail::stores<from_tile>()) return;
    detail::for_each_run<V, from_tile>(
        block,
        [&](int n, T* to) {
            if constexpr (V > 1) detail::add_global_vector<V>(to, from.data + n);
            else detail::add_global(to, from.data[n]);
        },
        [&](int n, T* to) { detail::add_global(to, from.data[n]); });
}

/// The larger (the smaller) of tile and block, element by element, atomically. A NaN loses.
template <class T, int R, int C, class L>
TK_DEVICE void max(const global_block<T>& block, const register_tile<T, R, C, L>& from) {
    detail::for_each_stored(block, from, [](T* p, T x) { detail::max_global(p, x); });
}
template <class T, int R, int C, class L>
TK_DEVICE void min(const global_block<T>& block, const register_tile<T, R, C, L>& from) {
    detail::for_each_stored(block, from, [](T* p, T x) { detail::min_global(p, x); });
}

}  // namespace warpgroup

}  // namespace tk
