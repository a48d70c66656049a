// SPDX-License-Identifier: MIT
// The program of all cases on the GPU: run_gpu NAME IN_FILE OUT_WORDS OUT_FILE ..., four arguments for each case.
// Prints a line for each; after an error of the device nothing more can be run, and it ends with status 3 (run.py
// starts it again behind it). run_gpu --encode-time: how long the driver takes to encode a tensor map.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "test/conformance/case.h"

namespace {

std::vector<char> read_file(const char* path) {
    std::vector<char> bytes;
    if (std::FILE* file = std::fopen(path, "rb")) {
        char buffer[65536];
        while (size_t n = std::fread(buffer, 1, sizeof buffer, file)) bytes.insert(bytes.end(), buffer, buffer + n);
        std::fclose(file);
    }
    return bytes;
}

bool ok(cudaError_t error, const char* name, const char* what) {
    if (error != cudaSuccess) std::printf("%s: failed: %s: %s\n", name, what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

/// False if the device can't go on.
bool run_case(const char* name, const char* in_file, size_t out_words, const char* out_file) {
    const conformance::registered* found = conformance::registered::first();
    while (found && std::strcmp(found->name, name) != 0) found = found->next;
    if (!found) return std::printf("%s: failed: not in this program\n", name), true;
    const std::vector<char> in = read_file(in_file);
    std::vector<char> out(out_words * 4);
    void *device_in = nullptr, *device_out = nullptr;
    if (!ok(cudaMalloc(&device_in, in.size() + 256), name, "cudaMalloc") ||
        !ok(cudaMalloc(&device_out, out.size()), name, "cudaMalloc"))
        return false;
    if (!ok(cudaMemcpy(device_in, in.data(), in.size(), cudaMemcpyHostToDevice), name, "cudaMemcpy")) return false;
    if (!ok(cudaMemset(device_out, 0xff, out.size()), name, "cudaMemset")) return false;
    const tk_tensor a{device_in, TK_U32, 1, {int64_t(in.size() / 4)}, {1}},
        b{device_out, TK_U32, 1, {int64_t(out_words)}, {1}};
    const tk_status status = found->call(&a, &b, nullptr, 0, nullptr);
    if (status.code != TK_OK) std::printf("%s: failed: %s\n", name, status.message);
    if (!ok(cudaDeviceSynchronize(), name, "kernel")) return false;
    if (!ok(cudaMemcpy(out.data(), device_out, out.size(), cudaMemcpyDeviceToHost), name, "cudaMemcpy")) return false;
    cudaFree(device_in), cudaFree(device_out);
    if (status.code != TK_OK) return true;
    std::FILE* file = std::fopen(out_file, "wb");
    if (!file || std::fwrite(out.data(), 1, out.size(), file) != out.size() || std::fclose(file) != 0)
        return std::printf("%s: failed: can't write %s\n", name, out_file), true;
    std::printf("%s: done\n", name);
    return true;
}

/// What a launcher pays for a map.
int show_encode_time() {
    void* data = nullptr;
    if (!ok(cudaMalloc(&data, 1 << 20), "tensor map", "cudaMalloc")) return 3;
    const tk::host::map_description d{data, TK_BF16, 2, {256, 256}, {512}, {64, 64}, tk::swizzle::b128};
    tk::tensor_map map;
    constexpr int times = 20000;
    tk_status status = tk::host::encode_map(map, d);
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < times && status.code == TK_OK; ++n) status = tk::host::encode_map(map, d);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (status.code != TK_OK) return std::printf("tensor map: failed: %s\n", status.message), 1;
    return std::printf("tensor map: encoded in %.0f ns\n", seconds / times * 1e9), 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--encode-time") == 0) return show_encode_time();
    for (int i = 1; i + 3 < argc; i += 4) {
        const bool goes_on = run_case(argv[i], argv[i + 1], std::strtoull(argv[i + 2], nullptr, 10), argv[i + 3]);
        std::fflush(stdout);
        if (!goes_on) return 3;
    }
    return 0;
}
