// SPDX-License-Identifier: MIT
// Addresses handed to the machine: the rows that ldmatrix and stmatrix are given, and the descriptors of wgmma,
// against the hardware's own description of which byte goes where.
#include "check.h"
#include "tk/sm90.h"

#include <map>
#include <utility>
#include <vector>

namespace {

using tk::lane_position;
using tk::swizzle;

/// Register i of lane l is matrix i, row l / 4, columns 2 (l % 4) and + 1; with .trans rows and columns exchanged.
template <int R, int C, class View>
void CheckMatrices(const View& view) {
    using tile = tk::register_tile<tk::bf16, R, C, tk::mma_layout>;
    constexpr bool transposed = tk::detail::is_transposed<View>;
    for (int warp = 0; warp < 4; ++warp) {
        std::map<int, std::vector<uint32_t>> rows;  // by first register: the address from each lane
        for (int lane = 0; lane < 32; ++lane)
            tk::detail::for_each_matrix_group<tile>(lane_position{warp, lane}, view, [&](int n, uint32_t address) {
                CHECK(address % 16 == 0);
                rows[n].push_back(address);
            });
        CHECK(int(rows.size()) * 8 == tile::size);
        for (const auto& [n, address] : rows)
            for (int lane = 0; lane < 32; ++lane)
                for (int m = 0; m < 4; ++m)
                    for (int e = 0; e < 2; ++e) {
                        const tk::place p = tile::place_of(n + 2 * m + e);
                        const int r = tk::mma_layout::row({warp, lane}, p.i, p.h), c = tk::mma_layout::col({warp, lane}, p.j, p.e);
                        const uint32_t hardware = transposed ? address[size_t(8 * m + 2 * (lane % 4) + e)] + uint32_t(lane / 4 * 2)
                                                             : address[size_t(8 * m + lane / 4)] + uint32_t((2 * (lane % 4) + e) * 2);
                        CHECK(hardware == view.address(r, c));
                    }
    }
}

/// The byte that wgmma reads for element (mn, k) of an operand, before swizzling, from the descriptor's fields.
template <bool KMajor>
uint32_t Operand(uint64_t descriptor, int width, int mn, int k) {
    const auto field = [&](int at) { return uint32_t(descriptor >> at & 0x3fff) << 4; };
    const uint32_t start = field(0), leading = field(16), stride = field(32);
    const uint32_t m = uint32_t(mn), kk = uint32_t(k), w = uint32_t(width);
    if (KMajor) return start + m / 8 * stride + m % 8 * w + kk * 2;
    return start + m / (w / 2) * leading + kk / 8 * stride + kk % 8 * w + m % (w / 2) * 2;
}

/// Every 16-deep step and 64-row block of an operand [MN, K] (or B's [K, MN]) meets the elements of the tile.
template <bool KMajor, class View>
void CheckDescriptor(const View& view, int extent_mn, int extent_k, int block) {
    constexpr int width = View::geometry::pitch;
    const tk::detail::matrix_descriptor<View, KMajor> descriptor(view);
    for (int mn0 = 0; mn0 < extent_mn; mn0 += block)
        for (int k0 = 0; k0 < extent_k; k0 += 16) {
            const uint64_t bits = descriptor.at(mn0, k0);
            CHECK(bits >> 62 == (width == 128 ? 1 : width == 64 ? 2 : 3) && (bits >> 49 & 7) == 0);
            for (int mn = 0; mn < block; ++mn)
                for (int k = 0; k < 16; ++k) {
                    const uint32_t expected = KMajor ? view.linear_address(mn0 + mn, k0 + k) : view.linear_address(k0 + k, mn0 + mn);
                    CHECK(Operand<KMajor>(bits, width, mn, k) == expected);
                }
        }
}

template <int R, int C, swizzle S>
tk::shared_view<tk::bf16, R, C, S, R, C> Whole(uint32_t base) { return {base, 0, 0}; }

}  // namespace

int main() {
    CheckMatrices<64, 64>(Whole<64, 64, swizzle::b128>(1024));
    CheckMatrices<128, 96>(Whole<128, 96, swizzle::b64>(2048));
    CheckMatrices<64, 32>(Whole<64, 32, swizzle::b32>(256));
    CheckMatrices<64, 48>(Whole<64, 48, swizzle::none>(128));
    CheckMatrices<64, 64>(tk::cols<64>(tk::rows<64>(Whole<128, 256, swizzle::b128>(1024), 64), 128));
    CheckMatrices<64, 32>(tk::cols<32>(Whole<64, 128, swizzle::b128>(1024), 32));
    CheckMatrices<64, 128>(tk::transposed(Whole<128, 64, swizzle::b128>(1024)));
    CheckMatrices<128, 32>(tk::transposed(Whole<32, 128, swizzle::b64>(1024)));

    CheckDescriptor<true>(Whole<128, 64, swizzle::b128>(1024), 128, 64, 64);
    CheckDescriptor<true>(tk::rows<64>(Whole<128, 128, swizzle::b128>(1024), 64), 64, 128, 64);
    CheckDescriptor<true>(Whole<64, 96, swizzle::b64>(512), 64, 96, 64);
    CheckDescriptor<true>(Whole<176, 32, swizzle::b32>(256), 176, 32, 176);
    CheckDescriptor<true>(tk::cols<16>(Whole<64, 64, swizzle::b128>(1024), 48), 64, 16, 64);
    CheckDescriptor<false>(Whole<64, 256, swizzle::b128>(1024), 256, 64, 256);
    CheckDescriptor<false>(tk::cols<128>(Whole<64, 256, swizzle::b128>(1024), 128), 128, 64, 128);
    CheckDescriptor<false>(tk::rows<16>(Whole<64, 128, swizzle::b64>(512), 32), 128, 16, 64);
    CheckDescriptor<false>(Whole<32, 48, swizzle::b32>(256), 48, 32, 48);
    return 0;
}
