// SPDX-License-Identifier: MIT
// Products of the matrix unit: acc (f32, in registers) += left @ right, 16-bit operands as fragments in registers.
//
// The hardware's operands are exchanged, D^T = B^T A^T: so a lane holds four neighbouring columns of one row of acc, and of a
// left operand (a row of the right one) neighbours along K. The order of K inside a step is free as long as both operands agree:
// fragments loaded from shared memory have eight neighbours (`wide`), 16 bytes of a row at once; an operand that was a product's
// result has four, and four 16 further on, and its right operand is loaded to match it.
#pragma once

#include "tk/hip/gfx9/matrix.h"
#include "tk/ops/warpgroup_shared.h"
#if TK_HAS_GFX950
#include "tk/hip/gfx950/matrix.h"
#include "tk/hip/gfx950/shared_memory.h"
#endif

namespace tk {

/// acc's layout: 16 x 16 blocks over WarpRows x WarpCols warps.
template <int WarpRows, int WarpCols = 1>
using matrix_layout = layout<4, 4, 1, 16, WarpRows, WarpCols, true>;

namespace detail {

/// Registers of `Blocks` blocks of 16 rows, or columns, by K: lane l has row l % 16 of a block, 16 of K in two registers.
template <class T, int Blocks, int K>
struct operand_fragment {
    static_assert(is_half<T> && K % 16 == 0);
    static constexpr int blocks = Blocks, depth = K;
    uint32_t data[Blocks][K / 8];
};

/// Loads with the wide order go 32 of K at a time where K has that.
template <int K, bool Wide>
inline constexpr bool loads_wide = Wide && K % 32 == 0;

/// Where in K lane group g = lane / 16 has its four elements of half h (of K / 16).
template <int K, bool Wide>
TK_HOST_DEVICE constexpr int k_of(int g, int h) { return loads_wide<K, Wide> ? h / 2 * 32 + 8 * g + h % 2 * 4 : h * 16 + 4 * g; }

/// Addresses of a lane in a view, by one computation that does not change from slot to slot: at(down, across) is that of element
/// (r + down, c + across), for constants whose bits are 0 in c and, where rows choose the swizzle, in r. Tiles start where the
/// pattern of their swizzle does, and views at multiples of their extents.
template <class View>
struct lane_walk {
    using geometry = typename View::geometry;
    View view;
    int r, c;
    uint32_t start;
    TK_DEVICE lane_walk(const View& view_, int r_, int c_)
        : view(view_), r(r_), c(c_), start(view.base + swizzled<View::swizzling>(geometry::offset(uint32_t(view.row0 + r), uint32_t(view.col0 + c)))) {}
    TK_DEVICE uint32_t at(int down, int across) const {
        const uint32_t address = (start ^ geometry::offset(0, uint32_t(across % geometry::panel_cols))) +
                                 geometry::offset(uint32_t(down), uint32_t(across / geometry::panel_cols * geometry::panel_cols));
#ifdef TK_SIM
        if (address != view.address(r + down, c + across)) sim::report_misuse("a fragment's address is not where its element lies");
#endif
        return address;
    }
};

/// Block b of a view has rows (columns) from first + b * step on. `view` has K along its columns.
template <bool Wide, int Step, class Fragment, class View>
TK_DEVICE void load_along(Fragment& to, const View& view, int first) {
    const int lane = warp::lane(), g = lane / 16;
    constexpr int K = Fragment::depth;
    const lane_walk<View> walk(view, first + lane % 16, (loads_wide<K, Wide> ? 8 : 4) * g);
    TK_UNROLL
    for (int b = 0; b < Fragment::blocks; ++b) {
        if constexpr (loads_wide<K, Wide>) {
            TK_UNROLL
            for (int s = 0; s < K / 32; ++s) {
                const auto x = arch::load_shared<gfx9::words4>(walk.at(b * Step, 32 * s));
                TK_UNROLL
                for (int n = 0; n < 4; ++n) to.data[b][4 * s + n] = x[n];
            }
        } else {
            TK_UNROLL
            for (int h = 0; h < K / 16; ++h) {
                const auto x = arch::load_shared<gfx9::words2>(walk.at(b * Step, 16 * h));
                to.data[b][2 * h] = x[0], to.data[b][2 * h + 1] = x[1];
            }
        }
    }
}

/// `view` has K along its rows: gfx950 has a transposing load, gfx942 gathers single elements.
template <bool Wide, int Step, class Fragment, class View>
TK_DEVICE void load_across(Fragment& to, const View& view, int first) {
    const int lane = warp::lane(), r = lane % 16, g = lane / 16;
    constexpr int K = Fragment::depth;
#if TK_HAS_GFX950
    const lane_walk<View> walk(view, k_of<K, Wide>(g, 0) + r / 4, first + r % 4 * 4);
#endif
    TK_UNROLL
    for (int b = 0; b < Fragment::blocks; ++b)
        TK_UNROLL
        for (int h = 0; h < K / 16; ++h) {
#if TK_HAS_GFX950
            const auto x = gfx950::load_shared_transposed_b64(walk.at(k_of<K, Wide>(0, h), b * Step));
            to.data[b][2 * h] = x[0], to.data[b][2 * h + 1] = x[1];
#else
            const int k = k_of<K, Wide>(g, h), c = first + b * Step + r;
            TK_UNROLL
            for (int n = 0; n < 2; ++n) {
                const uint32_t low = arch::load_shared<uint16_t>(view.address(k + 2 * n, c));
                const uint32_t high = arch::load_shared<uint16_t>(view.address(k + 2 * n + 1, c));
                to.data[b][2 * h + n] = low | high << 16;
            }
#endif
        }
}

/// d += b^T a^T, `depth` (16 or 32) of K.
template <class T, int Depth>
TK_DEVICE void issue_mfma(float* d, const uint32_t* left, const uint32_t* right) {
    gfx9::sums4 sums;
    __builtin_memcpy(&sums, d, sizeof sums);
    if constexpr (Depth == 32) {
#if TK_HAS_GFX950
        gfx9::words4 a, b;
        __builtin_memcpy(&a, left, sizeof a);
        __builtin_memcpy(&b, right, sizeof b);
        if constexpr (std::is_same_v<T, bf16>) gfx950::mfma_16x16x32_bf16(sums, b, a);
        else gfx950::mfma_16x16x32_f16(sums, b, a);
#endif
    } else {
        gfx9::words2 a, b;
        __builtin_memcpy(&a, left, sizeof a);
        __builtin_memcpy(&b, right, sizeof b);
        if constexpr (std::is_same_v<T, bf16>) gfx9::mfma_16x16x16_bf16(sums, b, a);
        else gfx9::mfma_16x16x16_f16(sums, b, a);
    }
    __builtin_memcpy(d, &sums, sizeof sums);
}

/// acc (+)= left @ right; left(i, h) and right(j, h) are the registers of half h of K.
template <class T, int K, int R, int C, class L, class Left, class Right>
TK_DEVICE void multiply_fragments(register_tile<float, R, C, L>& acc, Left left, Right right) {
    static_assert(std::is_same_v<L, matrix_layout<L::WarpRows, L::WarpCols>>, "the layout in which the matrix unit leaves its sums");
    constexpr int depth = TK_HAS_GFX950 && K % 32 == 0 ? 32 : 16;
    TK_UNROLL
    for (int k = 0; k < K; k += depth)
        TK_UNROLL
        for (int i = 0; i < acc.I; ++i)
            TK_UNROLL
            for (int j = 0; j < acc.J; ++j) issue_mfma<T, depth>(acc.data + acc.number_of({i, j, 0, 0}), left(i, k / 16), right(j, k / 16));
}

/// The left operand's registers with all signs turned: the matrix unit only adds.
template <class Fragment>
TK_DEVICE Fragment negated(Fragment x) {
    TK_UNROLL
    for (auto& block : x.data)
        TK_UNROLL
        for (uint32_t& pair : block) pair ^= 0x80008000u;
    return x;
}

}  // namespace detail

/// The part of a left operand [R, K] in one lane, for products into tiles of layout L; of a right operand [K, C].
template <class T, int R, int K, class L>
struct left_fragment : detail::operand_fragment<T, R / L::block_rows, K> {
    using value_type = T;
};
template <class T, int K, int C, class L>
struct right_fragment : detail::operand_fragment<T, C / L::block_cols, K> {
    using value_type = T;
};

namespace warpgroup {

/// The left operand of a product into a tile of Layout, from shared memory: [R, K], a view either way around.
template <class Layout, class From>
TK_DEVICE auto load_left(const From& from) {
    const auto view = as_view(from);
    using View = std::remove_const_t<decltype(view)>;
    left_fragment<typename View::value_type, View::rows, View::cols, Layout> result;
    const int first = position().warp % Layout::WarpRows * 16;
    if constexpr (detail::is_transposed<View>) detail::load_across<true, Layout::block_rows>(result, view.view, first);
    else detail::load_along<true, Layout::block_rows>(result, view, first);
    return result;
}

/// The right operand, [K, C]. `BesideRegisters`: the left one is a register tile.
template <class Layout, bool BesideRegisters = false, class From>
TK_DEVICE auto load_right(const From& from) {
    const auto view = as_view(from);
    using View = std::remove_const_t<decltype(view)>;
    right_fragment<typename View::value_type, View::rows, View::cols, Layout> result;
    const int first = Layout::warp_col(position()) * 16;
    if constexpr (detail::is_transposed<View>) detail::load_along<!BesideRegisters, Layout::block_cols>(result, view.view, first);
    else detail::load_across<!BesideRegisters, Layout::block_cols>(result, view, first);
    return result;
}

/// acc += left @ right
template <class T, int R, int C, int K, class L>
TK_DEVICE void multiply(register_tile<float, R, C, L>& acc, const left_fragment<T, R, K, L>& left, const right_fragment<T, K, C, L>& right) {
    detail::multiply_fragments<T, K>(acc, [&](int i, int h) { return &left.data[i][2 * h]; }, [&](int j, int h) { return &right.data[j][2 * h]; });
}

/// acc += left @ right, left a tile of the worker's own, whose rows lie in one warp each.
template <class T, int R, int C, int K, class L>
    requires is_half<T>
TK_DEVICE void multiply(register_tile<float, R, C, L>& acc, const register_tile<T, R, K, L>& left, const right_fragment<T, K, C, L>& right) {
    static_assert(L::WarpCols == 1, "a row of the left operand must lie in one warp");
    uint32_t pairs[left.I][K / 8];
    TK_UNROLL
    for (int i = 0; i < left.I; ++i)
        TK_UNROLL
        for (int n = 0; n < K / 8; ++n) pairs[i][n] = load_pair(left.data + left.number_of({i, n / 2, 0, n % 2 * 2}));
    detail::multiply_fragments<T, K>(acc, [&](int i, int h) { return &pairs[i][2 * h]; }, [&](int j, int h) { return &right.data[j][2 * h]; });
}

/// acc -= left @ right
template <int R, int C, class L, class Left, class Right>
TK_DEVICE void multiply_subtract(register_tile<float, R, C, L>& acc, const Left& left, const Right& right) {
    if constexpr (tile<Left>) {
        Left turned = left;
        TK_UNROLL
        for (int n = 0; n < Left::size; n += 2) store_pair(turned.data + n, load_pair(turned.data + n) ^ 0x80008000u);
        multiply(acc, turned, right);
    } else {
        multiply(acc, detail::negated(left), right);
    }
}

/// acc = left @ right
template <int R, int C, class L, class Left, class Right>
TK_DEVICE void multiply_zero(register_tile<float, R, C, L>& acc, const Left& left, const Right& right) {
    acc = fill<float, R, C, L>(0.0f);
    multiply(acc, left, right);
}

}  // namespace warpgroup

}  // namespace tk
