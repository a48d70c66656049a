// SPDX-License-Identifier: MIT
// Shared tiles: the swizzle is a permutation, the steps along a row agree with the rule, and reads of a fragment
// meet every bank group once.
#include "check.h"
#include "tk/sm90.h"

#include <set>

namespace {

using tk::swizzle;

/// The rule as the hardware states it, bit by bit.
uint32_t Reference(uint32_t address, swizzle s) {
    const uint32_t bits = (address >> 7) & 7;
    if (s == swizzle::b128) return address ^ bits << 4;
    if (s == swizzle::b64) return address ^ (bits & 3) << 4;
    if (s == swizzle::b32) return address ^ (bits & 1) << 4;
    return address;
}

template <class T, int R, int C, swizzle S>
void CheckTile(uint32_t base) {
    const tk::shared_view<T, R, C, S, R, C> view{base, 0, 0};
    using geometry = typename decltype(view)::geometry;
    std::set<uint32_t> places;
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            const int panel = c / geometry::panel_cols, inside = c % geometry::panel_cols;
            const uint32_t linear = base + uint32_t(panel * R * geometry::pitch + r * geometry::pitch + inside * int(sizeof(T)));
            CHECK(view.linear_address(r, c) == linear);
            CHECK(view.address(r, c) == Reference(linear, S));
            CHECK(places.insert(view.address(r, c)).second);
            CHECK(view.address(r, c) >= base && view.address(r, c) < base + uint32_t(geometry::bytes));
        }
    // Walks along rows, from the columns of a group of lanes, by constant steps.
    for (int r = 0; r < R; ++r)
        for (int lane = 0; lane < 2; ++lane) {
            const auto walk = view.walk(r, lane * 8);
            for (int d = 0; d < C; d += 16) CHECK(walk(d) == view.address(r, lane * 8 + d));
        }
}

/// Windows: rows, columns, transposition, and any mixture address the same elements.
void CheckWindows() {
    const tk::shared_view<tk::bf16, 128, 256, swizzle::b128, 128, 256> view{4096, 0, 0};
    const auto window = tk::cols<64>(tk::rows<32>(view, 40), 192);
    static_assert(decltype(window)::rows == 32 && decltype(window)::cols == 64);
    CHECK(window.address(3, 5) == view.address(43, 197));
    CHECK(window.walk(3, 2)(16) == view.address(43, 210));
    const auto turned = tk::rows<16>(tk::transposed(window), 8);
    static_assert(decltype(turned)::rows == 16 && decltype(turned)::cols == 32);
    CHECK(turned.address(1, 2) == view.address(42, 201));
    CHECK(turned.walk(1, 2)(4) == view.address(46, 201));
    CHECK(tk::transposed(tk::transposed(window)).address(3, 5) == window.address(3, 5));
}

/// The eight rows of an 8x8 matrix lie in eight different 16-byte bank groups: one access serves them.
void CheckConflicts() {
    const tk::shared_view<tk::bf16, 64, 64, swizzle::b128, 64, 64> view{2048, 0, 0};
    for (int row = 0; row < 64; row += 8)
        for (int col = 0; col < 64; col += 8) {
            std::set<uint32_t> groups;
            for (int r = 0; r < 8; ++r) groups.insert(view.address(row + r, col) / 16 % 8);
            CHECK(groups.size() == 8);
        }
}

}  // namespace

int main() {
    CheckTile<tk::bf16, 64, 128, swizzle::b128>(1024);
    CheckTile<tk::bf16, 64, 128, swizzle::b128>(1024 + 128);  // starts inside the pattern
    CheckTile<tk::bf16, 32, 64, swizzle::b64>(512);
    CheckTile<tk::bf16, 32, 32, swizzle::b32>(256);
    CheckTile<tk::bf16, 16, 48, swizzle::none>(128);
    CheckTile<float, 64, 64, swizzle::b128>(1024);
    // Panels that are no multiple of the pattern.
    CheckTile<float, 22, 40, swizzle::b32>(1024);
    CheckTile<tk::bf16, 18, 96, swizzle::b64>(1024);
    CheckTile<tk::bf16, 12, 128, swizzle::b128>(1024);
    static_assert(sizeof(tk::shared_tile<float, 100, 1>) == 512 && alignof(tk::shared_tile<tk::bf16, 8, 64, swizzle::b128>) == 1024);
    CheckWindows();
    CheckConflicts();
    return 0;
}
