// gemm.tk for sm_90a, in clusters of two blocks.
//
// kernel gemm<BM = 128, BN = 256, BK = 64, W = 2>(A: bf16[M, K], B: bf16[K, N], C: out bf16[M, N])
//
// The two blocks of a cluster take tiles of C that lie below each other. They need the same block of B: each
// fetches one half of it and the copy engine delivers that to both, so B is read from L2 once for two tiles.
// The warpgroups of a block:
//
//   0   load         one thread fills the slots of pipe `ab` with the copy engine      40 registers a thread
//   1   compute[0]   rows   0 ..  63 of the tile on the tensor core                   232
//   2   compute[1]   rows  64 .. 127                                                  232
//
// Pipe `ab`, four slots. A load worker writes into both blocks, so a slot is free when the compute workers of
// both blocks have handed it back; they arrive at the barriers of both:
//
//   load        wait empty[0] | a[0], half of b[0] to both blocks | wait empty[1] | ...
//                     ^                        |
//                     | 16 warps               v full[0]: 49152 bytes, 16384 of them from the other block
//   compute           |         products of slot 0               | products of slot 1
//                     +-------------------------------------------- until slot 0's are complete: arrive in both
//
// Neither block may leave while the other still arrives at its barriers: they meet once more at the end.
//
// Shared memory, 229440 of 232448 bytes: as without clusters.
//
//        0   a[4]      4 x 128 x 64  bf16   65536
//    65536   b[4]      4 x  64 x 256 bf16  131072
//   196608   c[2][2]   4 x  64 x 64  bf16   32768   two chunks of C on their way out, for each compute worker
//   229376   full[4], empty[4]                 64

#include "tk/sm90.h"

#include "tk/host.h"

namespace {

constexpr int BM = 128, BN = 256, BK = 64, W = 2;
constexpr int slots = 4;       // of pipe ab
constexpr int chunk = 64;      // columns of C stored at a time
constexpr int super_rows = 8;  // tile rows walked together, so that their parts of A and B stay in L2
constexpr int threads = 384;
constexpr int cluster = 2;     // blocks, below each other along m

using bf16 = tk::bf16;

struct gemm_shared {
    tk::shared_tile<bf16, BM, BK, tk::swizzle::b128> a[slots];
    tk::shared_tile<bf16, BK, BN, tk::swizzle::b128> b[slots];
    tk::shared_tile<bf16, BM / W, chunk, tk::swizzle::b128> c[W][2];
    tk::barrier full[slots];   // 1 arrival: load announces the bytes of a and b
    tk::barrier empty[slots];  // 16 arrivals: four warps of each compute worker of both blocks
};

struct gemm_arguments {
    int M, N, K;
    tk::tensor<bf16, 2> C;
    bool C_by_copy_engine;
};

TK_CLUSTER_KERNEL(threads, cluster)
gemm_kernel(TK_TENSOR_MAP A_map, TK_TENSOR_MAP B_map, TK_TENSOR_MAP C_map, const gemm_arguments arguments) {
    auto& shared = tk::block::shared<gemm_shared>();
    const auto [M, N, K, C, C_by_copy_engine] = arguments;
    const int pairs_m = tk::cdiv(M, BM * cluster), tiles_n = tk::cdiv(N, BN), pairs = pairs_m * tiles_n;
    const int rank = tk::cluster::rank();

    if (tk::warp::index() == 0 && tk::warp::elect()) {
        tk::prefetch(A_map);
        tk::prefetch(B_map);
        if (C_by_copy_engine) tk::prefetch(C_map);
        for (int s = 0; s < slots; ++s) {
            tk::init(shared.full[s], 1);
            tk::init(shared.empty[s], 4 * W * cluster);
        }
        tk::fence_barrier_init();
    }
    tk::cluster::sync();
    // The prologue ran under the end of the launch before; its results and its reads are done from here on.
    tk::grid::wait_previous();

    tk::ring<slots> ab;
    const int role = tk::warpgroup::index();
    if (role == 0) {
        // worker load
        tk::warpgroup::decrease_registers<40>();
        if (tk::warp::index() == 0 && tk::warp::elect()) {
            // grid m in M by BM, n in N by BN
            for (int pair = tk::cluster::index(); pair < pairs; pair += tk::cluster::count()) {
                const auto [pair_m, n] = tk::grouped_order(pair, pairs_m, tiles_n, super_rows / cluster);
                const int m = pair_m * cluster + rank;  // past the end in the last pair of an odd number: reads zeros, writes nothing
                // for k in K by BK
                for (int k = 0; k < K; k += BK) {
                    // ab <- (A[m, k], B[k, n])
                    tk::wait(shared.empty[ab.slot], ab.phase ^ 1);
                    tk::expect_bytes(shared.full[ab.slot], shared.a[0].bytes + shared.b[0].bytes);
                    tk::load_async(shared.a[ab.slot], A_map, shared.full[ab.slot], m * BM, k);
                    tk::load_multicast(tk::cols<BN / cluster>(shared.b[ab.slot], rank * (BN / cluster)), B_map, shared.full[ab.slot], 0b11, k,
                                       n * BN + rank * (BN / cluster));
                    ab.advance();
                }
            }
        }
    } else {
        // worker compute[W] as w
        tk::warpgroup::increase_registers<232>();
        const int w = role - 1;
        // grid m in M by BM, n in N by BN
        for (int pair = tk::cluster::index(); pair < pairs; pair += tk::cluster::count()) {
            const auto [pair_m, n] = tk::grouped_order(pair, pairs_m, tiles_n, super_rows / cluster);
            const int m = pair_m * cluster + rank;  // past the end in the last pair of an odd number: reads zeros, writes nothing
            // var acc: f32[BM / W, BN] = 0
            auto acc = tk::fill<float, BM / W, BN, tk::mma_layout>(0);
            // for k in K by BK
            for (int k = 0; k < K; k += BK) {
                // let (a, b) = <-ab
                tk::wait(shared.full[ab.slot], ab.phase);
                // acc += a.rows(w) @ b
                tk::warpgroup::mma_fence();
                tk::warpgroup::mma(acc, tk::rows<BM / W>(shared.a[ab.slot], w * (BM / W)), shared.b[ab.slot]);
                tk::warpgroup::mma_commit();
                // The products of the slot before are complete: it goes back to load.
                tk::warpgroup::mma_wait<1>();
                if (k > 0) tk::warp::arrive_cluster(shared.empty[ab.previous()], cluster);
                ab.advance();
            }
            tk::warpgroup::mma_wait<0>(acc);
            if (K > 0) tk::warp::arrive_cluster(shared.empty[ab.previous()], cluster);

            // C[m, n].rows(w) <- acc
            const int row = m * BM + w * (BM / W);
            TK_UNROLL
            for (int col = 0; col < BN; col += chunk) {
                auto& staged = shared.c[w][col / chunk % 2];
                if (tk::warpgroup::thread() == 0) tk::wait_stores_read<1>();  // the chunk before the last has left
                tk::warpgroup::sync(1 + w);
                tk::warpgroup::store_shared(staged, tk::convert<bf16>(tk::columns<chunk>(acc, col)));
                tk::fence_async_proxy();
                tk::warpgroup::sync(1 + w);
                if (!C_by_copy_engine) {
                    tk::warpgroup::copy_shared_to_global(C.block(tk::span(row), tk::span(n * BN + col)), staged);
                } else if (tk::warpgroup::thread() == 0) {
                    tk::store_async(C_map, staged, row, n * BN + col);
                    tk::commit_stores();
                }
            }
        }
        if (tk::warpgroup::thread() == 0) tk::wait_stores_read<0>();  // shared memory outlives the copies
    }
    tk::cluster::sync();
}

}  // namespace

extern "C" size_t gemm_cluster_workspace(const tk_tensor* A, const tk_tensor* B, const tk_tensor*) {
    return tk::host::packing_bytes(A) + tk::host::packing_bytes(B);
}

extern "C" tk_status gemm_cluster(const tk_tensor* A, const tk_tensor* B, const tk_tensor* C, void* workspace,
                                  size_t workspace_bytes, cudaStream_t stream) {
    tk::host::call call("gemm_cluster", stream);
    // A: bf16[M, K], B: bf16[K, N], C: out bf16[M, N]
    call.tensor("A", A, TK_BF16, 2);
    call.tensor("B", B, TK_BF16, 2);
    call.tensor("C", C, TK_BF16, 2);
    const int M = call.dimension(A, 0), K = call.dimension(A, 1), N = call.dimension(B, 1);
    call.extent("B", B, 0, "K", K);
    call.extent("C", C, 0, "M", M);
    call.extent("C", C, 1, "N", N);
    call.written("C", C);
    call.disjoint("C", C, "A", A);
    call.disjoint("C", C, "B", B);
    call.device(90, sizeof(gemm_shared));
    if (call.failed() || M == 0 || N == 0) return call.status();
    call.workspace(workspace, workspace_bytes, gemm_cluster_workspace(A, B, C));

    // What the copy engine can't read goes through the workspace; what it can't write, by ordinary stores.
    const tk_tensor A_packed = call.packed(A), B_packed = call.packed(B);
    const bool C_by_copy_engine = tk::host::copy_engine_stores(*C);
    const tk::tensor_map A_map = call.map<BM, BK, tk::swizzle::b128>(A_packed, 0);
    const tk::tensor_map B_map = call.map<BK, BN, tk::swizzle::b128>(B_packed, 0);
    const tk::tensor_map C_map = C_by_copy_engine ? call.map<BM / W, chunk, tk::swizzle::b128>(*C, 0) : tk::tensor_map{};
    if (call.failed()) return call.status();

    const int pairs = tk::cdiv(M, BM * cluster) * tk::cdiv(N, BN);
    return call.launch<gemm_kernel, cluster>(tk::min(pairs, call.processors() / cluster) * cluster, threads, sizeof(gemm_shared), A_map, B_map, C_map,
                                    gemm_arguments{M, N, K, tk::host::as_tensor<bf16, 2>(*C), C_by_copy_engine});
}
