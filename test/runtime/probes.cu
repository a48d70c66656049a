// SPDX-License-Identifier: MIT
// Kernels that use the tile operations as a compiler may combine them. They are compiled, not run: ptxas must keep
// every product asynchronous and spill nothing. `run` compiles them where nvcc is at hand.
#include "tk/sm90.h"

namespace {

using tk::bf16, tk::f16, tk::swizzle;
using rows_layout = tk::layout<32, 4, 1, 1, 4>;
using mma = tk::mma_layout;
namespace group = tk::warpgroup;

struct chain_shared {
    tk::shared_tile<bf16, 128, 64, swizzle::b128> q, k, v;
    tk::shared_tile<float, 64, 64, swizzle::b128> f;
    tk::shared_tile<bf16, 64, 64, swizzle::b128> o;
    tk::reduce_scratch<float, 64> scratch;
};

/// Two products in a chain, the second from registers, with an online softmax between them.
TK_KERNEL(256) chained(tk::tensor<bf16, 2> out, tk::tensor<float, 1> sums, int steps) {
    auto& shared = tk::block::shared<chain_shared>();
    const int w = group::index();
    auto o = tk::fill<float, 64, 64, mma>(0);
    auto highest = tk::fill<float, 64, 1, mma>(-1e30f);
    for (int step = 0; step < steps; ++step) {
        tk::register_tile<float, 64, 128, mma> scores;
        group::mma_fence();
        group::mma_zero(scores, tk::rows<64>(shared.q, 64 * w), tk::transposed(shared.k));
        group::mma_commit();
        group::mma_wait<0>(scores);
        const auto now = tk::max(highest, tk::row_max(scores));
        auto weights = tk::convert<bf16>(tk::exp2(scores - now));
        o *= tk::exp2(highest - now);
        highest = now;
        group::mma_fence(o, weights);
        group::mma(o, weights, shared.v);
        group::mma_commit();
        group::mma_wait<0>(o);
    }
    const auto keep = tk::row_positions<64, mma>(5) <= tk::col_positions<64, mma>(0);
    o = tk::where(keep & (o > 0.0f), o, 0.0f);
    group::store(tk::transposed(sums.block(tk::span(64 * w))), tk::col_sum(o, shared.scratch));
    group::store_shared(shared.o, tk::convert<bf16>(o));
    group::store_shared(shared.f, o);
    group::sync();
    group::store(out.block(tk::span(64 * w), tk::span(0)), group::load_shared<mma>(tk::transposed(shared.o)));
}

/// A layer normalisation along rows that a warp holds whole.
TK_KERNEL(128) row_wise(tk::tensor<float, 3> x, tk::tensor<float, 1> gain, tk::tensor<bf16, 3> y, tk::tensor<float, 2> sum) {
    const auto v = group::load<16, 512, rows_layout>(x.block(tk::at(tk::block::index()), tk::span(16), tk::span(0)));
    const auto centred = v - tk::row_sum(v) / 512.0f;
    const auto variance = tk::row_sum(centred * centred) * (1 / 512.0f);
    const auto scale = group::load<1, 512, rows_layout>(tk::transposed(gain.block(tk::span(0))));
    const auto result = centred * tk::rsqrt(variance + 1e-5f) * scale;
    group::store(y.block(tk::at(tk::block::index()), tk::span(16), tk::span(0, 3, 500)), tk::convert<bf16>(result));
    group::add(sum.block(tk::span(0), tk::span(0)), result);
}

struct operand_shared {
    tk::shared_tile<f16, 64, 128, swizzle::b128> a;   // [K, M]
    tk::shared_tile<f16, 320, 64, swizzle::b128> b;   // [N, K]
    tk::shared_tile<f16, 32, 64, swizzle::b64> a64;   // [K, M]
    tk::shared_tile<f16, 32, 48, swizzle::b32> b32;   // [K, N]
    tk::shared_tile<f16, 128, 64, swizzle::b128> c;
};

/// Both operands transposed, more columns than one instruction takes.
TK_KERNEL(128) wide(tk::tensor<f16, 2> y) {
    auto& shared = tk::block::shared<operand_shared>();
    auto acc = tk::fill<float, 64, 320, mma>(0);
    group::mma_fence(acc);
    group::mma(acc, tk::transposed(tk::cols<64>(shared.a, 64)), tk::transposed(shared.b));
    group::mma_commit();
    group::mma_wait<0>(acc);
    group::store(y.block(tk::span(0), tk::span(0)), tk::convert<f16>(acc));
}

/// Narrow swizzles, steps along K by hand, subtraction, and an operand copied by ordinary loads.
TK_KERNEL(128) narrow(tk::tensor<f16, 2> x, tk::tensor<f16, 2> y) {
    auto& shared = tk::block::shared<operand_shared>();
    group::copy_global_to_shared(shared.a64, x.block(tk::span(0), tk::span(0)));
    tk::warp::copy_global_to_shared(tk::transposed(shared.b32), tk::transposed(x.block(tk::span(0), tk::span(0))), -1.0f);
    tk::fence_async_proxy();
    group::sync();
    auto acc = tk::fill<float, 64, 48, mma>(0);
    TK_UNROLL
    for (int k = 0; k < 32; k += 16) {
        group::mma_fence(acc);
        const auto a = tk::transposed(tk::rows<16>(shared.a64, k));
        const auto b = tk::rows<16>(shared.b32, k);
        if (k > 0) group::mma(acc, a, b);
        else group::mma_zero(acc, a, b);
        group::mma_commit();
        group::mma_wait<0>(acc);
    }
    group::mma_fence(acc);
    group::mma_subtract(acc, tk::transposed(shared.a64), shared.b32);
    group::mma_commit();
    group::mma_wait<0>(acc);
    group::store(y.block(tk::span(0), tk::span(0)), tk::convert<f16>(acc));
}

struct copy_shared {
    tk::shared_tile<float, 64, 128, swizzle::b128> tile;
    tk::shared_tile<float, 64, 1> column;
    tk::shared_tile<bf16, 64, 128, swizzle::b128> half;
    tk::reduce_scratch<float, 128> scratch;
    tk::barrier full;
};

/// The copy engine on a rank-3 tensor and on a column, adding on the way out; elementwise functions between.
TK_KERNEL(128) copied(TK_TENSOR_MAP x_map, TK_TENSOR_MAP column_map, tk::tensor<float, 3> x, tk::tensor<float, 1> v, tk::tensor<int, 2> signs, int first) {
    auto& shared = tk::block::shared<copy_shared>();
    if (tk::warp::index() == 0 && tk::warp::elect()) {
        tk::init(shared.full, 1);
        tk::fence_barrier_init();
    }
    tk::block::sync();
    if (tk::warp::index() == 0 && tk::warp::elect()) {
        tk::expect_bytes(shared.full, shared.tile.bytes);
        tk::load_async(shared.tile, x_map, shared.full, 1, 2, 3);
    }
    tk::wait(shared.full, 0);
    auto a = group::load_shared<mma>(shared.tile) * group::load<64, 1, mma>(v.block(tk::span(5)), -1.0f);
    a = tk::where(tk::col_positions<128, mma>(first) < 1000, a, -1e30f);
    auto p = tk::sigmoid(tk::exp2(a - tk::row_max(a)));
    p = tk::max(tk::min(p, tk::col_max(p, shared.scratch)), 0.0f);
    group::store_shared(shared.half, tk::convert<bf16>(p));
    group::store_shared(shared.tile, p);
    group::store_shared(shared.column, tk::row_sum(p));
    tk::fence_async_proxy();
    group::sync();
    if (tk::thread::index() == 0) {
        tk::store_async(x_map, shared.tile, 1, 2, 3);
        tk::store_async(column_map, shared.column, 7);
        tk::commit_stores();
        tk::wait_stores<0>();
    }
    const auto h = tk::convert<float>(group::load_shared<mma>(tk::cols<64>(shared.half, 64)));
    group::add(x.block(tk::at(0), tk::span(0), tk::span(0, 0, 40)), h);
    group::store(signs.block(tk::span(0), tk::span(0)), tk::where(h > 0.0f, tk::row_positions<64, mma>(0) + tk::col_positions<64, mma>(3), 0));
}

struct split_shared {
    tk::fragment_buffer<128, 56> parts[2];
    tk::barrier full[2];
};

/// Two workers of 128 rows whose sums are shared out over a cluster.
TK_CLUSTER_KERNEL(256, 8) summed(tk::tensor<float, 2> x, tk::tensor<float, 2> y) {
    auto& shared = tk::block::shared<split_shared>();
    if (tk::warp::index() == 0 && tk::warp::elect()) {
        for (int w = 0; w < 2; ++w) tk::init(shared.full[w], 1);
        tk::fence_barrier_init();
    }
    tk::cluster::sync();
    const int w = group::index(), rank = tk::cluster::rank();
    const auto acc = group::load<128, 64, mma>(x.block(tk::span(128 * w), tk::span(64 * rank)));
    tk::split::send<8>(shared.parts[w], acc, rank, shared.full[w]);
    if (group::thread() == 0) tk::expect_bytes(shared.full[w], tk::fragment_buffer<128, 56>::bytes);
    tk::wait(shared.full[w], 0);
    group::store(y.block(tk::span(128 * w), tk::span(8 * rank)), tk::split::collect<8>(shared.parts[w], acc, rank));
}

/// Tiles of every element type.
TK_KERNEL(128) types(tk::tensor<uint32_t, 2> a, tk::tensor<uint64_t, 2> b, tk::tensor<bool, 2> c, tk::tensor<f16, 2> d) {
    const auto x = group::load<16, 128, rows_layout>(a.block(tk::span(0), tk::span(0)), 7u);
    const auto y = group::load<16, 128, rows_layout>(b.block(tk::span(0), tk::span(0)));
    const auto z = group::load<16, 128, rows_layout>(c.block(tk::span(0), tk::span(0)), false);
    group::store(a.block(tk::span(3), tk::span(5)), tk::where(z & !(x > 4u), x ^ (x + 3u), 0u));
    group::store(b.block(tk::span(3), tk::span(5)), tk::convert<uint64_t>(x) * y);
    group::store(d.block(tk::span(3), tk::span(5)), tk::convert<f16>(tk::pow(tk::abs(tk::convert<float>(z)), 2.5f)));
}

}  // namespace

/// Keeps the kernels from being dropped.
void* probes[] = {(void*)chained, (void*)row_wise, (void*)wide, (void*)narrow, (void*)copied, (void*)summed, (void*)types};
