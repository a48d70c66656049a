// gemm.tk for sm_90a, K split over clusters of four blocks.
//
// kernel gemm<BM = 64, BN = 128, BK = 128, W = 1>(A: bf16[M, K], B: bf16[K, N], C: out bf16[M, N])
//
// For a C of few tiles, which would leave most of the GPU idle. A cluster works on one 64x128 tile of C, each of its
// blocks on a quarter of K. Then every block adds up what all four have of a quarter of the columns, in the order of
// their ranks, and stores that: no second kernel, no memory beyond the blocks' own, the same result each time.
// The warpgroups of a block:
//
//   0   load      one thread fills the slots of pipe `ab` with the copy engine
//   1   compute   the tile on the tensor core
//
// Pipe `ab`, four slots. A slot is handed back once the products that read it are complete, which is known one
// step later, as one group of products stays in flight:
//
//   load        wait empty[0] | copy a[0], b[0] | wait empty[1] | copy a[1], b[1] | ...
//                     ^               |                                  :
//                     |               v full[0]: 49152 bytes             v full[1]
//   compute           |         products of slot 0               | products of slot 1
//                     +-------------------------------------------- until slot 0's are complete: arrive empty[0]
//
// Nobody reaches into a block that has received its parts: it leaves when it is done.
//
// Shared memory, 221256 of 232448 bytes:
//
//        0   a[4]      4 x  64 x 128 bf16   65536
//    65536   b[4]      4 x 128 x 128 bf16  131072
//   196608   parts         64 x 96 f32      24576   what the others have of this block's columns
//   221184   full[4], empty[4], parts_full     72

#include "tk/sm90.h"

#include "tk/host.h"

namespace {

constexpr int BM = 64, BN = 128, BK = 128;
constexpr int slots = 4;    // of pipe ab
constexpr int threads = 256;
constexpr int cluster = 4;  // blocks, along K

using bf16 = tk::bf16;

struct gemm_shared {
    tk::shared_tile<bf16, BM, BK, tk::swizzle::b128> a[slots];
    tk::shared_tile<bf16, BK, BN, tk::swizzle::b128> b[slots];
    tk::fragment_buffer<BM, BN / cluster * (cluster - 1)> parts;
    tk::barrier full[slots];   // 1 arrival: load announces the bytes of a and b
    tk::barrier empty[slots];  // 4 arrivals: the warps of compute
    tk::barrier parts_full;    // 1 arrival, and the bytes from the other three blocks
};

struct gemm_arguments {
    int M, N, K;
    tk::tensor<bf16, 2> C;
};

TK_CLUSTER_KERNEL(threads, cluster)
gemm_kernel(TK_TENSOR_MAP A_map, TK_TENSOR_MAP B_map, const gemm_arguments arguments) {
    auto& shared = tk::block::shared<gemm_shared>();
    const auto [M, N, K, C] = arguments;
    // grid m in M by BM, n in N by BN
    const int tiles_n = tk::cdiv(N, BN), tile = tk::cluster::index();
    const int m = tile / tiles_n, n = tile % tiles_n;
    // This block's part of K; empty in the last blocks of a short K.
    const int rank = tk::cluster::rank(), share = tk::cdiv(tk::cdiv(K, BK), cluster) * BK;
    const int k_begin = tk::min(rank * share, K), k_end = tk::min(k_begin + share, K);

    if (tk::warp::index() == 0 && tk::warp::elect()) {
        tk::prefetch(A_map);
        tk::prefetch(B_map);
        for (int s = 0; s < slots; ++s) {
            tk::init(shared.full[s], 1);
            tk::init(shared.empty[s], 4);
        }
        tk::init(shared.parts_full, 1);
        tk::fence_barrier_init();
    }
    tk::cluster::arrive();
    tk::block::sync();
    // The prologue ran under the end of the launch before; its results and its reads are done from here on.
    tk::grid::wait_previous();

    tk::ring<slots> ab;
    const int role = tk::warpgroup::index();
    if (role == 0) {
        // worker load
        if (tk::warp::index() == 0 && tk::warp::elect()) {
            // for k in K by BK
            for (int k = k_begin; k < k_end; k += BK) {
                // ab <- (A[m, k], B[k, n])
                tk::wait(shared.empty[ab.slot], ab.phase ^ 1);
                tk::expect_bytes(shared.full[ab.slot], shared.a[0].bytes + shared.b[0].bytes);
                tk::load_async(shared.a[ab.slot], A_map, shared.full[ab.slot], m * BM, k);
                tk::load_async(shared.b[ab.slot], B_map, shared.full[ab.slot], k, n * BN);
                ab.advance();
            }
        }
    } else {
        // worker compute
        // var acc: f32[BM, BN] = 0
        auto acc = tk::fill<float, BM, BN, tk::mma_layout>(0);
        // for k in K by BK
        for (int k = k_begin; k < k_end; k += BK) {
            // let (a, b) = <-ab
            tk::wait(shared.full[ab.slot], ab.phase);
            // acc += a @ b
            tk::warpgroup::mma_fence();
            tk::warpgroup::mma(acc, shared.a[ab.slot], shared.b[ab.slot]);
            tk::warpgroup::mma_commit();
            // The products of the slot before are complete: it goes back to load.
            tk::warpgroup::mma_wait<1>();
            if (k > k_begin) tk::warp::arrive(shared.empty[ab.previous()]);
            ab.advance();
        }
        tk::warpgroup::mma_wait<0>(acc);

        // The sum over the cluster, of columns rank * BN / cluster and on.
        tk::cluster::wait();
        tk::split::send<cluster>(shared.parts, acc, rank, shared.parts_full);
        if (tk::warpgroup::thread() == 0) tk::expect_bytes(shared.parts_full, shared.parts.bytes);
        tk::wait(shared.parts_full, 0);
        const auto sum = tk::split::collect<cluster>(shared.parts, acc, rank);

        // C[m, n] <- acc
        tk::warpgroup::store(C.block(tk::span(m * BM), tk::span(n * BN + rank * (BN / cluster))), tk::convert<bf16>(sum));
    }
}

}  // namespace

extern "C" size_t gemm_split_workspace(const tk_tensor* A, const tk_tensor* B, const tk_tensor*) {
    return tk::host::packing_bytes(A) + tk::host::packing_bytes(B);
}

extern "C" tk_status gemm_split(const tk_tensor* A, const tk_tensor* B, const tk_tensor* C, void* workspace,
                                size_t workspace_bytes, cudaStream_t stream) {
    tk::host::call call("gemm_split", stream);
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
    call.workspace(workspace, workspace_bytes, gemm_split_workspace(A, B, C));

    // What the copy engine can't read goes through the workspace.
    const tk_tensor A_packed = call.packed(A), B_packed = call.packed(B);
    const tk::tensor_map A_map = call.map<BM, BK, tk::swizzle::b128>(A_packed, 0);
    const tk::tensor_map B_map = call.map<BK, BN, tk::swizzle::b128>(B_packed, 0);
    if (call.failed()) return call.status();

    const int tiles = tk::cdiv(M, BM) * tk::cdiv(N, BN);
    return call.launch<gemm_kernel, cluster>(tiles * cluster, threads, sizeof(gemm_shared), A_map, B_map,
                                    gemm_arguments{M, N, K, tk::host::as_tensor<bf16, 2>(*C)});
}
