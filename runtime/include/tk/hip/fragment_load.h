// SPDX-License-Identifier: MIT
// Operands of products from shared memory into fragments (tk/hip/fragment.h).
#pragma once

#include "tk/hip/fragment.h"
#include "tk/hip/gfx9/word.h"
#include "tk/ops/scope.h"
#include "tk/types/shared_tile.h"
#if TK_HAS_GFX950
#include "tk/hip/gfx950/shared_memory.h"
#endif

namespace tk {

namespace detail {

/// Loads with the wide order go 32 of K at a time where K has that.
template <int K, bool Wide>
inline constexpr bool loads_wide = Wide && K % 32 == 0;

/// Where in K lane group g = lane / 16 has its four elements of half h (of K / 16).
template <int K, bool Wide>
TK_HOST_DEVICE constexpr int k_of(int g, int h) { return loads_wide<K, Wide> ? h / 2 * 32 + 8 * g + h % 2 * 4 : h * 16 + 4 * g; }

/// Addresses of a lane in a view, by one computation that does not change from slot to slot: at(down, across) is that of element
/// (r + down, c + across), for constants whose bits are 0 in r and c as far as the swizzle's pattern goes. Tiles start where the
/// pattern does; swizzling is linear in XOR, so that within the pattern constants are swizzled by themselves, in views that begin
/// where no bit of theirs meets one of the constants. Where a view begins is known when it is compiled.
template <class View>
struct lane_walk {
    using geometry = typename View::geometry;
    static constexpr int pattern_rows = View::swizzling == swizzle::t128 ? 16 : 8;
    View view;
    int r, c;
    uint32_t start;
    TK_DEVICE lane_walk(const View& view_, int r_, int c_)
        : view(view_), r(r_), c(c_), start(view.base + swizzled<View::swizzling>(geometry::offset(uint32_t(view.row0 + r), uint32_t(view.col0 + c)))) {}
    TK_DEVICE bool begins_well() const {
        return view.row0 % (View::rows < pattern_rows ? View::rows : pattern_rows) == 0 && view.col0 % View::column_unit == 0;
    }
    TK_DEVICE uint32_t at(int down, int across) const {
        if (!begins_well()) return view.address(r + down, c + across);
        const int in_pattern = down % pattern_rows, in_panel = across % geometry::panel_cols;
        const uint32_t within = swizzled<View::swizzling>(geometry::offset(uint32_t(in_pattern), uint32_t(in_panel)));
        const uint32_t address = (View::swizzling == swizzle::none ? start + within : start ^ within) +
                                 geometry::offset(uint32_t(down - in_pattern), uint32_t(across - in_panel));
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
#else
    const int k = k_of<K, Wide>(g, 0), c = first + r;
    const lane_walk<View> rows[] = {{view, k, c}, {view, k + 1, c}, {view, k + 2, c}, {view, k + 3, c}};
#endif
    TK_UNROLL
    for (int b = 0; b < Fragment::blocks; ++b)
        TK_UNROLL
        for (int h = 0; h < K / 16; ++h) {
#if TK_HAS_GFX950
            const auto x = gfx950::load_shared_transposed_b64(walk.at(k_of<K, Wide>(0, h), b * Step));
            to.data[b][2 * h] = x[0], to.data[b][2 * h + 1] = x[1];
#else
            TK_UNROLL
            for (int n = 0; n < 2; ++n) {
                const uint16_t low = arch::load_shared<uint16_t>(rows[2 * n].at(k_of<K, Wide>(0, h), b * Step));
                const uint16_t high = arch::load_shared<uint16_t>(rows[2 * n + 1].at(k_of<K, Wide>(0, h), b * Step));
                to.data[b][2 * h + n] = gfx9::pack_halves(low, high);
            }
#endif
        }
}

}  // namespace detail

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

}  // namespace warpgroup

}  // namespace tk
