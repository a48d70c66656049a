// SPDX-License-Identifier: MIT
// Forward attention for sm_90a, O = softmax(scale * Q K^T) V, bf16, head dimension 128, full and causal.
//
// kernel attention_forward<D, causal, BQ = 128, W = 2>(Q: bf16[B, H, N, D], K: bf16[B, H, S, D], V: bf16[B, H, S, D],
//                                                      O: out bf16[B, H, N, D], scale: f32)
// instance attention_forward<D = 128, causal = false>    BK = 176, two slots of k
// instance attention_forward<D = 128, causal = true>     BK = 128, three slots of k
//
// One block on each SM walks over tiles of 128 queries of one head. Its warpgroups:
//
//   0   load         one thread fills q and the slots of `k` and `v` with the copy engine     24 registers a thread
//   1   compute[0]   queries  0 ..  63: scores, weights and output stay in registers         240
//   2   compute[1]   queries 64 .. 127                                                       240
//
// Keys are walked from the last block to the first, so that the one block that needs a mask (the diagonal, or the
// ragged end) is peeled off before the loop. In a step of the loop two groups of products are in flight:
//
//   tensor core   | s' = q k[j-1]^T | o += p v[j]        |                s' = q k[j-2]^T | o += p v[j-1] ...
//   compute[w]    |                 | softmax of s'          wait | p = s' |
//   the other     | softmax ...                    its products | ...        they take turns at barriers 8 and 9
//
// Everything is complete when a step ends: a score tile in flight over the back edge would be serialised by ptxas.
//
// Shared memory, 229456 bytes for 176 keys (128 keys, three slots of k: 213088):
//
//        0   q             128 x 128        32768
//    32768   k[2]      2 x 176 x 128        90112
//   122880   v[2]      2 x 176 x 128        90112
//   212992   o[2]      2 x  64 x  64        16384   half of the columns of each worker's output on their way out
//   229376   q_full, q_empty, k_full[2], k_empty[2], v_full[2], v_empty[2]

#include "tk/sm90.h"

#include "tk/host.h"

namespace {

constexpr int BQ = 128, D = 128, W = 2;
constexpr int v_slots = 2;
constexpr int chunk = 64;    // columns of O stored at a time
constexpr int threads = 384;
constexpr int turn = 8;      // barrier of compute[0]'s turn at the tensor core, the next one is compute[1]'s
constexpr float log2e = 1.4426950408889634f;
constexpr int64_t shared_cache = 32 << 20;  // bytes of the L2 that K and V of concurrent tiles may take

using bf16 = tk::bf16;

template <int BK, int k_slots>
struct attention_forward_shared {
    tk::shared_tile<bf16, BQ, D, tk::swizzle::b128> q;
    tk::shared_tile<bf16, BK, D, tk::swizzle::b128> k[k_slots], v[v_slots];
    tk::shared_tile<bf16, BQ / W, chunk, tk::swizzle::b128> o[W];
    tk::barrier q_full, q_empty;  // 1 arrival with the bytes; 8 arrivals: four warps of each compute worker
    tk::barrier k_full[k_slots], k_empty[k_slots], v_full[v_slots], v_empty[v_slots];
};

struct attention_forward_arguments {
    int B, H, N, S;
    int heads;  // walked together: their K and V share the L2
    float scale;
    tk::tensor<bf16, 4> O;
    bool O_by_copy_engine;
};

struct tile_start {
    int b, h, query;
};

/// Tile `number` of the grid. Full: head by head, so that neighbours share K and V. Causal: rows differ in length;
/// among the heads that share the L2 the longest come first, and short ones fill up the end.
template <bool causal>
TK_DEVICE tile_start tile_at(int number, const attention_forward_arguments& x) {
    const int rows = tk::cdiv(x.N, BQ);
    int head = number / rows, row = number % rows;
    if constexpr (causal) {
        const int first = head / x.heads * x.heads, inside = number - first * rows;
        const int together = tk::min(x.heads, x.B * x.H - first);
        head = first + inside % together;
        row = rows - 1 - inside / together;
    }
    return {head / x.H, head % x.H, row * BQ};
}

/// The tile that this block takes in wave `wave`: forwards, then backwards, so that long and short ones even out.
TK_DEVICE int tile_of_wave(int wave) {
    const int blocks = tk::block::count(), block = tk::block::index();
    return wave * blocks + (wave % 2 == 0 ? block : blocks - 1 - block);
}

template <bool causal, int BK, int k_slots>
TK_KERNEL(threads)
attention_forward_kernel(TK_TENSOR_MAP Q_map, TK_TENSOR_MAP K_map, TK_TENSOR_MAP V_map, TK_TENSOR_MAP O_map,
                         const attention_forward_arguments arguments) {
    auto& shared = tk::block::shared<attention_forward_shared<BK, k_slots>>();
    const int tiles = arguments.B * arguments.H * tk::cdiv(arguments.N, BQ);

    if (tk::warp::index() == 0 && tk::warp::elect()) {
        tk::prefetch(Q_map);
        tk::prefetch(K_map);
        tk::prefetch(V_map);
        tk::prefetch(O_map);
        tk::init(shared.q_full, 1);
        tk::init(shared.q_empty, 4 * W);
        for (int s = 0; s < k_slots; ++s) {
            tk::init(shared.k_full[s], 1);
            tk::init(shared.k_empty[s], 4 * W);
        }
        for (int s = 0; s < v_slots; ++s) {
            tk::init(shared.v_full[s], 1);
            tk::init(shared.v_empty[s], 4 * W);
        }
        tk::fence_barrier_init();
    }
    tk::block::sync();
    // The prologue ran under the end of the launch before; its results and its reads are done from here on.
    tk::grid::wait_previous();

    tk::ring<1> q;
    tk::ring<k_slots> k;
    tk::ring<v_slots> v;
    const int role = tk::warpgroup::index();
    if (role == 0) {
        // worker load
        tk::warpgroup::decrease_registers<24>();
        if (tk::warp::index() == 0 && tk::warp::elect()) {
            for (int wave = 0; tile_of_wave(wave) < tiles; ++wave) {
                const auto [b, h, query] = tile_at<causal>(tile_of_wave(wave), arguments);
                const int keys = causal ? tk::min(arguments.S, query + BQ) : arguments.S;
                int j = (tk::cdiv(keys, BK) - 1) * BK;
                // k <- K[b, h, last block]
                tk::wait(shared.k_empty[k.slot], k.phase ^ 1);
                tk::expect_bytes(shared.k_full[k.slot], shared.k[0].bytes);
                tk::load_async(shared.k[k.slot], K_map, shared.k_full[k.slot], b, h, j, 0);
                k.advance();
                // q <- Q[b, h, i]
                tk::wait(shared.q_empty, q.phase ^ 1);
                tk::expect_bytes(shared.q_full, shared.q.bytes);
                tk::load_async(shared.q, Q_map, shared.q_full, b, h, query, 0);
                q.advance();
                for (; j > 0; j -= BK) {
                    // k <- K[b, h, block before j]
                    tk::wait(shared.k_empty[k.slot], k.phase ^ 1);
                    tk::expect_bytes(shared.k_full[k.slot], shared.k[0].bytes);
                    tk::load_async(shared.k[k.slot], K_map, shared.k_full[k.slot], b, h, j - BK, 0);
                    k.advance();
                    // v <- V[b, h, j]
                    tk::wait(shared.v_empty[v.slot], v.phase ^ 1);
                    tk::expect_bytes(shared.v_full[v.slot], shared.v[0].bytes);
                    tk::load_async(shared.v[v.slot], V_map, shared.v_full[v.slot], b, h, j, 0);
                    v.advance();
                }
                // v <- V[b, h, first block]
                tk::wait(shared.v_empty[v.slot], v.phase ^ 1);
                tk::expect_bytes(shared.v_full[v.slot], shared.v[0].bytes);
                tk::load_async(shared.v[v.slot], V_map, shared.v_full[v.slot], b, h, 0, 0);
                v.advance();
            }
        }
    } else {
        // worker compute[W] as w
        tk::warpgroup::increase_registers<240>();
        using layout = tk::mma_layout;
        const int w = role - 1;
        const float c = arguments.scale * log2e;
        if (w == 1) tk::named_barrier_arrive(turn, 2 * 128);  // compute[0] has the first turn
        for (int wave = 0; tile_of_wave(wave) < tiles; ++wave) {
            const auto [b, h, query] = tile_at<causal>(tile_of_wave(wave), arguments);
            const int row = query + w * (BQ / W), keys = causal ? tk::min(arguments.S, query + BQ) : arguments.S;
            const auto q_rows = tk::rows<BQ / W>(shared.q, w * (BQ / W));
            int j = (tk::cdiv(keys, BK) - 1) * BK;

            // The last block of keys: s = where(pos(j) is a key that the row sees, q @ k.T, -inf)
            tk::register_tile<float, BQ / W, BK, layout> s;
            tk::wait(shared.q_full, q.phase);
            tk::wait(shared.k_full[k.slot], k.phase);
            tk::warpgroup::mma_fence();
            tk::warpgroup::mma_zero(s, q_rows, tk::transposed(shared.k[k.slot]));
            tk::warpgroup::mma_commit();
            tk::warpgroup::mma_wait<0>(s);
            tk::warp::arrive(shared.k_empty[k.slot]);
            k.advance();
            const auto key = tk::col_positions<BK, layout>(j);
            if constexpr (causal) s = tk::where(key <= tk::row_positions<BQ / W, layout>(row), s, -INFINITY);
            else s = tk::where(key < keys, s, -INFINITY);
            auto m = tk::row_max(s);
            s = tk::exp2(s * c - m * c);
            auto l = tk::row_sum(s);
            auto p = tk::convert<bf16>(s);
            auto o = tk::fill<float, BQ / W, D, layout>(0);

            if (j > 0) tk::wait(shared.k_full[k.slot], k.phase);
            for (; j > 0; j -= BK) {
                // The scores of the block before j, and behind them o += p @ v of block j.
                tk::register_tile<float, BQ / W, BK, layout> next;
                tk::named_barrier_sync(turn + w, 2 * 128);
                tk::warpgroup::mma_fence();
                tk::warpgroup::mma_zero(next, q_rows, tk::transposed(shared.k[k.slot]));
                tk::warpgroup::mma_commit();
                tk::wait(shared.v_full[v.slot], v.phase);
                tk::warpgroup::mma_fence();
                tk::warpgroup::mma(o, p, shared.v[v.slot]);
                tk::warpgroup::mma_commit();
                tk::named_barrier_arrive(turn + 1 - w, 2 * 128);

                // The scores are complete, o is not: the softmax runs under it.
                tk::warpgroup::mma_wait<1>(next);
                tk::warp::arrive(shared.k_empty[k.slot]);
                k.advance();
                const auto m_next = tk::max(m, tk::row_max(next));
                const auto decay = tk::exp2((m - m_next) * c);
                next = tk::exp2(next * c - m_next * c);
                l = l * decay + tk::row_sum(next);
                m = m_next;

                // k of the next step is awaited here: ptxas moves no later wait above this one, and so leaves the softmax
                // in front of the wait for o.
                if (j > BK) tk::wait(shared.k_full[k.slot], k.phase);
                tk::warpgroup::mma_wait<0>(o);
                tk::warp::arrive(shared.v_empty[v.slot]);
                v.advance();
                p = tk::convert<bf16>(next);
                o *= decay;
            }
            tk::warp::arrive(shared.q_empty);
            q.advance();

            // o += p @ v of the first block
            tk::wait(shared.v_full[v.slot], v.phase);
            tk::warpgroup::mma_fence(o);
            tk::warpgroup::mma(o, p, shared.v[v.slot]);
            tk::warpgroup::mma_commit();
            tk::warpgroup::mma_wait<0>(o);
            tk::warp::arrive(shared.v_empty[v.slot]);
            v.advance();

            // O[b, h, i].rows(w) <- o / l
            o *= tk::reciprocal(l);
            TK_UNROLL
            for (int col = 0; col < D; col += chunk) {
                if (tk::warpgroup::thread() == 0) tk::wait_stores_read<0>();
                tk::warpgroup::sync(1 + w);
                tk::warpgroup::store_shared(shared.o[w], tk::convert<bf16>(tk::columns<chunk>(o, col)));
                tk::fence_async_proxy();
                tk::warpgroup::sync(1 + w);
                if (!arguments.O_by_copy_engine) {
                    const auto block = arguments.O.block(tk::at(b), tk::at(h), tk::span(row), tk::span(col));
                    tk::warpgroup::copy_shared_to_global(block, shared.o[w]);
                } else if (tk::warpgroup::thread() == 0) {
                    tk::store_async(O_map, shared.o[w], b, h, row, col);
                    tk::commit_stores();
                }
            }
        }
        if (w == 0) tk::named_barrier_sync(turn, 2 * 128);  // the last turn is taken, too
        if (tk::warpgroup::thread() == 0) tk::wait_stores_read<0>();  // shared memory outlives the copies
    }
}

size_t attention_forward_workspace(const tk_tensor* Q, const tk_tensor* K, const tk_tensor* V) {
    return tk::host::packing_bytes(*Q) + tk::host::packing_bytes(*K) + tk::host::packing_bytes(*V);
}

template <bool causal, int BK, int k_slots>
tk_status attention_forward(const char* entry, const tk_tensor* Q, const tk_tensor* K, const tk_tensor* V, const tk_tensor* O,
                            float scale, void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    tk::host::call call(entry, stream);
    call.tensor("Q", Q, TK_BF16, 4);
    call.tensor("K", K, TK_BF16, 4);
    call.tensor("V", V, TK_BF16, 4);
    call.tensor("O", O, TK_BF16, 4);
    const int B = call.dimension(Q, 0), H = call.dimension(Q, 1), N = call.dimension(Q, 2), S = call.dimension(K, 2);
    for (int d = 0; d < 4; ++d) {
        constexpr const char* names[] = {"B", "H", "S", "D"};
        const int expected[] = {B, H, S, D};
        call.extent("K", K, d, names[d], expected[d]);
        call.extent("V", V, d, names[d], expected[d]);
        call.extent("O", O, d, d == 2 ? "N" : names[d], d == 2 ? N : expected[d]);
    }
    call.extent("Q", Q, 3, "D", D);
    call.require(S > 0, "S > 0");
    if constexpr (causal) call.require(N == S, "N == S");
    call.written("O", O);
    call.disjoint("O", O, "Q", Q);
    call.disjoint("O", O, "K", K);
    call.disjoint("O", O, "V", V);
    call.device(90, sizeof(attention_forward_shared<BK, k_slots>));
    if (call.failed() || B == 0 || H == 0 || N == 0) return call.status();
    call.workspace(workspace, workspace_bytes, attention_forward_workspace(Q, K, V));

    const tk_tensor Q_packed = call.packed(Q), K_packed = call.packed(K), V_packed = call.packed(V);
    const bool O_by_copy_engine = tk::host::copy_engine_stores(*O);
    const tk::tensor_map Q_map = call.map<BQ, D, tk::swizzle::b128>(Q_packed, 2);
    const tk::tensor_map K_map = call.map<BK, D, tk::swizzle::b128>(K_packed, 2);
    const tk::tensor_map V_map = call.map<BK, D, tk::swizzle::b128>(V_packed, 2);
    const tk::tensor_map O_map = O_by_copy_engine ? call.map<BQ / W, chunk, tk::swizzle::b128>(*O, 2) : tk::tensor_map{};
    if (call.failed()) return call.status();

    const int heads = int(tk::max<int64_t>(1, shared_cache / (int64_t(S) * D * 2 * sizeof(bf16))));
    const int tiles = B * H * tk::cdiv(N, BQ);
    return call.launch<attention_forward_kernel<causal, BK, k_slots>>(
        tk::min(tiles, call.processors()), threads, sizeof(attention_forward_shared<BK, k_slots>), Q_map, K_map, V_map, O_map,
        attention_forward_arguments{B, H, N, S, heads, scale, tk::host::as_tensor<bf16, 4>(*O), O_by_copy_engine});
}

}  // namespace

extern "C" size_t attention_forward_128_workspace(const tk_tensor* Q, const tk_tensor* K, const tk_tensor* V, const tk_tensor*, float) {
    return attention_forward_workspace(Q, K, V);
}

extern "C" tk_status attention_forward_128(const tk_tensor* Q, const tk_tensor* K, const tk_tensor* V, const tk_tensor* O, float scale,
                                           void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    return attention_forward<false, 176, 2>("attention_forward_128", Q, K, V, O, scale, workspace, workspace_bytes, stream);
}

extern "C" size_t attention_forward_causal_128_workspace(const tk_tensor* Q, const tk_tensor* K, const tk_tensor* V, const tk_tensor*,
                                                         float) {
    return attention_forward_workspace(Q, K, V);
}

extern "C" tk_status attention_forward_causal_128(const tk_tensor* Q, const tk_tensor* K, const tk_tensor* V, const tk_tensor* O,
                                                  float scale, void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    return attention_forward<true, 128, 3>("attention_forward_causal_128", Q, K, V, O, scale, workspace, workspace_bytes, stream);
}
