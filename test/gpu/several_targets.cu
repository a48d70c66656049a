// SPDX-License-Identifier: MIT
// A file for sm_80 and sm_90a on one GPU: which part runs is the number given (0: none, and the status says so), its products are right,
// also where the very first call is captured into a graph. several_targets.py builds it with various codes in it.
#include "several.cu"

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

int Fail(const char* what, const char* why) {
    std::printf("%s: %s\n", what, why);
    return 1;
}

tk_tensor Matrix(void* data, int64_t rows, int64_t cols) {
    tk_tensor t{};
    t.data = data;
    t.dtype = TK_BF16;
    t.rank = 2;
    t.extent[0] = rows, t.extent[1] = cols;
    t.stride[0] = cols, t.stride[1] = 1;
    return t;
}

uint16_t Bits(float value) {  // of an integer that bf16 holds
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return uint16_t(bits >> 16);
}

/// Small integers: -2 .. 2, and their products' sums stay exact in bf16 if K is at most 64.
std::vector<float> Values(int64_t count, uint32_t seed) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& v : values) {
        seed = seed * 1664525u + 1013904223u;
        v = float(int(seed >> 24) % 5 - 2);
    }
    return values;
}

struct Product {
    static constexpr int64_t M = 200, N = 136, K = 64;
    std::vector<float> a = Values(M * K, 1), b = Values(K * N, 2);
    uint16_t *A = nullptr, *B = nullptr, *C = nullptr;
    void* workspace = nullptr;
    size_t bytes = 0;

    bool Upload() {
        std::vector<uint16_t> bits;
        for (float v : a) bits.push_back(Bits(v));
        for (float v : b) bits.push_back(Bits(v));
        if (cudaMalloc(&A, (M * K + K * N + M * N) * 2) != cudaSuccess || cudaMalloc(&workspace, 1 << 24) != cudaSuccess) return false;
        B = A + M * K, C = B + K * N;
        return cudaMemcpy(A, bits.data(), bits.size() * 2, cudaMemcpyHostToDevice) == cudaSuccess;
    }
    tk_status Launch(cudaStream_t stream) {
        const tk_tensor ta = Matrix(A, M, K), tb = Matrix(B, K, N), tc = Matrix(C, M, N);
        bytes = gemm_workspace(&ta, &tb, &tc);
        return gemm(&ta, &tb, &tc, workspace, 1 << 24, stream);
    }
    bool IsRight() {
        std::vector<uint16_t> c(size_t(M * N));
        if (cudaMemcpy(c.data(), C, c.size() * 2, cudaMemcpyDeviceToHost) != cudaSuccess) return false;
        for (int64_t m = 0; m < M; ++m)
            for (int64_t n = 0; n < N; ++n) {
                float sum = 0;
                for (int64_t k = 0; k < K; ++k) sum += a[size_t(m * K + k)] * b[size_t(k * N + n)];
                if (c[size_t(m * N + n)] != Bits(sum)) return false;
            }
        return cudaMemset(C, 0xff, c.size() * 2) == cudaSuccess;
    }
};

}  // namespace

int main(int, char** argv) {
    const int expected = std::atoi(argv[1]);
    Product product;
    if (!product.Upload()) return Fail("upload", "no device memory");
    if (expected == 0) {
        const tk_status status = product.Launch(nullptr);
        if (status.code != TK_UNSUPPORTED_DEVICE) return Fail("no part fits, but", status.message);
        if (product.bytes != 0 || cudaGetLastError() != cudaSuccess) return Fail("no part fits", "but a workspace is asked for, or an error is left");
        std::printf("%s\n", status.message);
        return 0;
    }
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    if (cudaStreamCreate(&stream) != cudaSuccess || cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return Fail("capture", "not begun");
    const tk_status captured = product.Launch(stream);
    if (captured.code != TK_OK) return Fail("captured call", captured.message);
    if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess) return Fail("capture", "not ended");
    if (cudaGraphLaunch(executable, stream) != cudaSuccess || cudaStreamSynchronize(stream) != cudaSuccess) return Fail("graph", "not run");
    if (!product.IsRight()) return Fail("graph", "wrong product");
    const tk_status direct = product.Launch(stream);
    if (direct.code != TK_OK || cudaStreamSynchronize(stream) != cudaSuccess) return Fail("call", direct.message);
    if (!product.IsRight()) return Fail("call", "wrong product");
    tk_status status;
    const int part = tk::host::choose<sm_80::gemm_patch>("gemm", {80, 90}, status);
    std::printf("part %d ran\n", part);
    return part == expected ? 0 : 1;
}
