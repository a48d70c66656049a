// SPDX-License-Identifier: MIT
// Checks generated GEMM entries on random and adversarial shapes, strides and alignments.
//
// Each case poisons C and the padding of A and B with NaN, runs the entry and cuBLAS, and compares both with a float64 product
// computed here: relative Frobenius error at most 1.05 times cuBLAS's, largest error at most twice its (each no smaller than
// plain rounding of the float64 result to bf16); integer operands must give the exactly rounded bits; nothing outside C and
// outside the announced workspace may change.
// Usage: gemm_check [--cases 240] [--every 1] [--seed 1] [--big] [--overhead] [--verbose] label:lib.so:symbol:NN[:BMxBNxBKxSLOTS] ...
// With block sizes the shapes are drawn around these, and refusals and chained products are left out. --every 4: one case in four.
#include <cublas_v2.h>
#include <cuda.h>

#include <chrono>

#include "gemm_cases.h"

namespace {

using namespace gpu;

constexpr uint16_t kPoison = 0xffa5;  // a NaN that no conversion produces
constexpr int64_t kGuard = 4096;      // elements before and after each matrix
constexpr size_t kWorkspace = 1ull << 30;

struct Stats {
  double norm, ours, theirs, rounding;                    // sums of squares
  unsigned long long max_ours, max_theirs, max_rounding;  // bits of non-negative doubles
  unsigned long long inexact, unwritten, trespass;
};

__global__ void PoisonAll(uint16_t* data, int64_t count) {
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += int64_t(gridDim.x) * blockDim.x)
    data[i] = kPoison;
}

__global__ void FillMatrix(bf16* data, int64_t rows, int64_t cols, int64_t stride, int64_t step, uint64_t seed, Fill fill) {
  const int64_t count = rows * cols;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += int64_t(gridDim.x) * blockDim.x) {
    const uint32_t a = Hash(seed * 0x9e3779b97f4a7c15ull + 2 * uint64_t(i));
    const uint32_t b = Hash(seed * 0x9e3779b97f4a7c15ull + 2 * uint64_t(i) + 1);
    float value = float(int(a % 5u) - 2);
    if (fill == Fill::kNormal) {
      const float radius = sqrtf(-2.0f * logf((float(a >> 8) + 1.0f) * (1.0f / 16777217.0f)));
      value = radius * cospif(2.0f * float(b >> 8) * (1.0f / 16777216.0f));
    }
    data[(i / cols) * stride + i % cols * step] = __float2bfloat16(value);
  }
}

/// Anything in the buffer that is not an element of the matrix must still be poison.
__global__ void CountTrespass(const uint16_t* data, int64_t count, int64_t first, int64_t rows, int64_t cols, int64_t stride,
                              int64_t step, Stats* stats) {
  unsigned long long found = 0;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += int64_t(gridDim.x) * blockDim.x) {
    const int64_t at = i - first;
    const bool inside = rows > 0 && at >= 0 && at / stride < rows && at % stride % step == 0 && at % stride / step < cols;
    found += !inside && data[i] != kPoison;
  }
  if (found) atomicAdd(&stats->trespass, found);
}

__device__ double BlockSum(double value, double* scratch) {
  const int t = int(threadIdx.y) * 16 + int(threadIdx.x);
  scratch[t] = value;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (t < step) scratch[t] += scratch[t + step];
    __syncthreads();
  }
  const double sum = scratch[0];
  __syncthreads();
  return sum;
}

/// A matrix without gaps, for cuBLAS, which knows no column stride.
__global__ void Compact(const bf16* from, int64_t rows, int64_t cols, int64_t stride, int64_t step, bf16* to) {
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < rows * cols; i += int64_t(gridDim.x) * blockDim.x)
    to[i] = from[(i / cols) * stride + i % cols * step];
}

/// The float64 product of one 16x16 tile of C, compared on the spot. Operands are addressed by their two strides.
__global__ void CompareProduct(const bf16* a, int64_t a_row, int64_t a_col, const bf16* b, int64_t b_row, int64_t b_col,
                               const bf16* ours, int64_t ours_stride, int64_t ours_step, const bf16* theirs, int64_t m, int64_t n,
                               int64_t k, bool exact, Stats* stats) {
  __shared__ double as[16][17], bs[16][17], scratch[256];
  const int x = threadIdx.x, y = threadIdx.y;
  const int64_t row = int64_t(blockIdx.x) * 16 + y, col = int64_t(blockIdx.y) * 16 + x;
  double sum = 0;
  for (int64_t k0 = 0; k0 < k; k0 += 16) {
    as[y][x] = row < m && k0 + x < k ? double(__bfloat162float(a[row * a_row + (k0 + x) * a_col])) : 0.0;
    bs[y][x] = col < n && k0 + y < k ? double(__bfloat162float(b[(k0 + y) * b_row + col * b_col])) : 0.0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  double e_ours = 0, e_theirs = 0, e_round = 0;
  if (row < m && col < n) {
    const bf16 mine = ours[row * ours_stride + col * ours_step];
    const bf16 rounded = __double2bfloat16(sum);
    e_ours = fabs(double(__bfloat162float(mine)) - sum);
    e_theirs = fabs(double(__bfloat162float(theirs[row * n + col])) - sum);
    e_round = fabs(double(__bfloat162float(rounded)) - sum);
    if (__bfloat16_as_ushort(mine) == kPoison) atomicAdd(&stats->unwritten, 1ull);
    if (!isfinite(e_ours)) e_ours = 1e30;
    if (exact && __bfloat162float(mine) != __bfloat162float(rounded)) atomicAdd(&stats->inexact, 1ull);
    atomicMax(&stats->max_ours, (unsigned long long)__double_as_longlong(e_ours));
    atomicMax(&stats->max_theirs, (unsigned long long)__double_as_longlong(e_theirs));
    atomicMax(&stats->max_rounding, (unsigned long long)__double_as_longlong(e_round));
  } else {
    sum = 0;
  }
  const double s0 = BlockSum(sum * sum, scratch), s1 = BlockSum(e_ours * e_ours, scratch);
  const double s2 = BlockSum(e_theirs * e_theirs, scratch), s3 = BlockSum(e_round * e_round, scratch);
  if (x == 0 && y == 0) {
    atomicAdd(&stats->norm, s0);
    atomicAdd(&stats->ours, s1);
    atomicAdd(&stats->theirs, s2);
    atomicAdd(&stats->rounding, s3);
  }
}

double AsDouble(unsigned long long bits) {
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}

int GridOf(int64_t count) { return int(std::max<int64_t>(1, std::min<int64_t>((count + 255) / 256, 132 * 16))); }

/// One operand in its arena: where it starts and how its rows follow each other.
struct Placed {
  bf16* data;
  int64_t rows, cols, stride, step, first, count;

  tk_tensor Describe() const { return MakeTensor(data, {rows, cols}, {stride, step}); }
};

class Arena {
 public:
  Placed Place(int64_t rows, int64_t cols, const Placement& p) {
    const int64_t width = cols > 0 ? (cols - 1) * p.step + 1 : 0;
    const int64_t stride = std::max<int64_t>(1, width + p.pad);
    const int64_t first = kGuard + p.offset;
    const int64_t count = first + (rows > 0 ? (rows - 1) * stride + width : 0) + kGuard;
    if (size_t(count) * 2 > buffer_.bytes) {
      buffer_ = DeviceBuffer();
      buffer_ = DeviceBuffer(size_t(count) * 2);
    }
    PoisonAll<<<GridOf(count), 256>>>(reinterpret_cast<uint16_t*>(buffer_.data), count);
    return {buffer_.as_bf16() + first, rows, cols, stride, p.step, first, count};
  }
  const uint16_t* raw() const { return reinterpret_cast<const uint16_t*>(buffer_.data); }

 private:
  DeviceBuffer buffer_;
};

class Check {
 public:
  explicit Check(uint64_t seed) : seed_(seed), workspace_(kWorkspace + kGuard * 2), stats_(sizeof(Stats)) {
    BLAS_CHECK(cublasCreate(&blas_));
    CUDA_CHECK(cudaStreamCreate(&stream_));
    BLAS_CHECK(cublasSetStream(blas_, stream_));
  }

  bool verbose = false;
  int passed = 0, failed = 0;
  double worst_frobenius = 0, worst_max = 0;
  std::string worst_case;

  void Run(const EntrySpec& entry, const Case& c) {
    const Placed a = arena_[0].Place(entry.trans_a ? c.k : c.m, entry.trans_a ? c.m : c.k, c.a);
    const Placed b = arena_[1].Place(entry.trans_b ? c.n : c.k, entry.trans_b ? c.k : c.n, c.b);
    const Placed d = arena_[2].Place(c.m, c.n, c.c);
    const Placed reference = arena_[3].Place(c.m, c.n, {});
    Draw(a, c.fill);
    Draw(b, c.fill);
    CUDA_CHECK(cudaDeviceSynchronize());
    const tk_tensor ta = a.Describe(), tb = b.Describe(), td = d.Describe();
    const size_t workspace = entry.workspace ? entry.workspace(&ta, &tb, &td) : kWorkspace;
    if (workspace > kWorkspace) return Fail(entry, c, "asks for " + std::to_string(workspace) + " bytes of workspace");
    const size_t guarded = std::min<size_t>(size_t(kGuard) * 2, kWorkspace + kGuard * 2 - workspace);
    PoisonAll<<<GridOf(int64_t(guarded / 2)), 256, 0, stream_>>>(reinterpret_cast<uint16_t*>(workspace_.data + workspace),
                                                                 int64_t(guarded / 2));
    const tk_status status = entry.function(&ta, &tb, &td, workspace_.data, workspace, stream_);
    const cudaError_t error = cudaStreamSynchronize(stream_);
    if (error != cudaSuccess) {
      std::printf("%s %s: %s; the context is lost\n", entry.label.c_str(), Text(c).c_str(), cudaGetErrorString(error));
      std::exit(1);
    }
    if (status.code != 0) return Fail(entry, c, std::string("refused: ") + status.message);
    Blas(entry, c, Dense(a, 0), Dense(b, 1), reference);
    CUDA_CHECK(cudaMemsetAsync(stats_.data, 0, sizeof(Stats), stream_));
    Stats* stats = reinterpret_cast<Stats*>(stats_.data);
    CountTrespass<<<GridOf(d.count), 256, 0, stream_>>>(arena_[2].raw(), d.count, d.first, d.rows, d.cols, d.stride, d.step, stats);
    CountTrespass<<<GridOf(int64_t(guarded / 2)), 256, 0, stream_>>>(reinterpret_cast<const uint16_t*>(workspace_.data + workspace),
                                                                     int64_t(guarded / 2), 0, 0, 1, 1, 1, stats);
    if (c.m > 0 && c.n > 0) {
      CompareProduct<<<dim3(unsigned((c.m + 15) / 16), unsigned((c.n + 15) / 16)), dim3(16, 16), 0, stream_>>>(
          a.data, entry.trans_a ? a.step : a.stride, entry.trans_a ? a.stride : a.step, b.data, entry.trans_b ? b.step : b.stride,
          entry.trans_b ? b.stride : b.step, d.data, d.stride, d.step, reference.data, c.m, c.n, c.k, c.fill == Fill::kInteger,
          stats);
    }
    CUDA_CHECK(cudaGetLastError());
    Stats s;
    CUDA_CHECK(cudaMemcpyAsync(&s, stats_.data, sizeof s, cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    Judge(entry, c, s);
  }

 private:
  void Judge(const EntrySpec& entry, const Case& c, const Stats& s) {
    const double ours = std::sqrt(s.ours), theirs = std::sqrt(std::max(s.theirs, s.rounding));
    const double max_ours = AsDouble(s.max_ours), max_theirs = std::max(AsDouble(s.max_theirs), AsDouble(s.max_rounding));
    const double norm = std::sqrt(std::max(s.norm, 1e-300));
    char text[200];
    std::snprintf(text, sizeof text, "rel %.3e vs %.3e, max %.3e vs %.3e", ours / norm, theirs / norm, max_ours, max_theirs);
    if (s.trespass) return Fail(entry, c, std::to_string(s.trespass) + " elements outside C written");
    if (s.unwritten) return Fail(entry, c, std::to_string(s.unwritten) + " elements of C not written");
    if (s.inexact) return Fail(entry, c, std::to_string(s.inexact) + " integer results not exact; " + text);
    if (ours > 1.05 * theirs || max_ours > 2 * max_theirs) return Fail(entry, c, text);
    ++passed;
    if (theirs > 0 && ours / theirs > worst_frobenius) {
      worst_frobenius = ours / theirs;
      worst_case = Text(c);
    }
    if (max_theirs > 0) worst_max = std::max(worst_max, max_ours / max_theirs);
    if (verbose) std::printf("  right %s: %s\n", Text(c).c_str(), text);
  }

  void Fail(const EntrySpec& entry, const Case& c, const std::string& why) {
    if (++failed <= 12) std::printf("FAIL %s %s: %s\n", entry.label.c_str(), Text(c).c_str(), why.c_str());
    std::fflush(stdout);
  }

  Placed Dense(const Placed& p, int which) {
    if (p.step == 1 || p.rows * p.cols == 0) return p;
    if (dense_[which].bytes < size_t(p.rows * p.cols) * 2) dense_[which] = DeviceBuffer(size_t(p.rows * p.cols) * 2);
    Compact<<<GridOf(p.rows * p.cols), 256, 0, stream_>>>(p.data, p.rows, p.cols, p.stride, p.step, dense_[which].as_bf16());
    return {dense_[which].as_bf16(), p.rows, p.cols, p.cols, 1, 0, p.rows * p.cols};
  }

  void Draw(const Placed& p, Fill fill) {
    ++draws_;
    if (p.rows * p.cols > 0)
      FillMatrix<<<GridOf(p.rows * p.cols), 256>>>(p.data, p.rows, p.cols, p.stride, p.step, seed_ * 1000003 + draws_, fill);
  }

  void Blas(const EntrySpec& entry, const Case& c, const Placed& a, const Placed& b, const Placed& d) {
    if (c.m == 0 || c.n == 0) return;
    if (c.k == 0) {
      CUDA_CHECK(cudaMemsetAsync(d.data, 0, size_t(c.m * c.n) * 2, stream_));
      return;
    }
    const float one = 1, zero = 0;
    const auto op = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    BLAS_CHECK(cublasGemmEx_64(blas_, op(entry.trans_b), op(entry.trans_a), c.n, c.m, c.k, &one, b.data, CUDA_R_16BF, b.stride,
                               a.data, CUDA_R_16BF, a.stride, &zero, d.data, CUDA_R_16BF, d.stride, CUBLAS_COMPUTE_32F,
                               CUBLAS_GEMM_DEFAULT));
  }

  static std::string Text(const Case& c) {
    char text[160];
    std::snprintf(text, sizeof text, "%lldx%lldx%lld pad %lld/%lld/%lld offset %lld/%lld/%lld step %lld/%lld/%lld %s",
                  (long long)c.m, (long long)c.n, (long long)c.k, (long long)c.a.pad, (long long)c.b.pad, (long long)c.c.pad,
                  (long long)c.a.offset, (long long)c.b.offset, (long long)c.c.offset, (long long)c.a.step, (long long)c.b.step,
                  (long long)c.c.step, c.fill == Fill::kInteger ? "integers" : "normal");
    return text;
  }

  uint64_t seed_, draws_ = 0;
  DeviceBuffer workspace_, stats_, dense_[2];
  Arena arena_[4];
  cublasHandle_t blas_;
  cudaStream_t stream_;
};

__global__ void Nothing(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                        const __grid_constant__ CUtensorMap c, int m, int n, int k) {}

/// Host microseconds per call, the median over batches small enough never to fill the launch queue.
template <class Call>
double HostMicroseconds(const Call& call, cudaStream_t stream) {
  std::vector<double> batches;
  for (int batch = 0; batch < 60; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) call();
    const auto stop = std::chrono::steady_clock::now();
    CUDA_CHECK(cudaStreamSynchronize(stream));
    batches.push_back(std::chrono::duration<double, std::micro>(stop - start).count() / 100);
  }
  return Median(batches);
}

/// Calls that must be refused, launching nothing, with a message that names the parameter.
int Refusals(const EntrySpec& entry) {
  DeviceBuffer a(64 * 64 * 2), b(64 * 64 * 2), c(64 * 64 * 2);
  const tk_tensor ta = Matrix(a.data, 64, 64, 64), tb = Matrix(b.data, 64, 64, 64), tc = Matrix(c.data, 64, 64, 64);
  int wrong = 0;
  const auto expect = [&](const char* what, int code, const char* name, const tk_tensor* x, const tk_tensor* y,
                          const tk_tensor* z) {
    const tk_status status = entry.function(x, y, z, nullptr, 0, nullptr);
    if (status.code == code && std::strstr(status.message, name)) return;
    ++wrong;
    std::printf("FAIL %s, %s: status %d `%s`, expected %d and `%s`\n", entry.label.c_str(), what, int(status.code), status.message,
                code, name);
  };
  const auto with = [](tk_tensor t, auto change) {
    change(t);
    return t;
  };
  const tk_tensor f16 = with(tb, [](tk_tensor& t) { t.dtype = TK_F16; }), rank3 = with(ta, [](tk_tensor& t) { t.rank = 3; });
  const tk_tensor null = with(ta, [](tk_tensor& t) { t.data = nullptr; }),
                  odd = with(tb, [](tk_tensor& t) { t.data = static_cast<char*>(t.data) + 1; });
  const tk_tensor narrow = with(tb, [](tk_tensor& t) { t.extent[0] = t.extent[1] = 63; }),
                  huge = with(ta, [](tk_tensor& t) { t.extent[0] = int64_t(1) << 31; });
  const tk_tensor folded = with(tc, [](tk_tensor& t) { t.stride[0] = 0; }),
                  negative = with(tc, [](tk_tensor& t) { t.extent[0] = -1; });
  const tk_tensor strided = with(tb, [](tk_tensor& t) { t.extent[1] = 64, t.stride[0] = 63; });
  expect("A missing", TK_ARGUMENT, "`A`", nullptr, &tb, &tc);
  expect("A without memory", TK_ARGUMENT, "`A`", &null, &tb, &tc);
  expect("B of f16", TK_ARGUMENT, "`B`", &ta, &f16, &tc);
  expect("A of rank 3", TK_ARGUMENT, "`A`", &rank3, &tb, &tc);
  expect("B at an odd address", TK_ARGUMENT, "`B`", &ta, &odd, &tc);
  expect("B too small", TK_SHAPE, "`B`", &ta, &narrow, &tc);
  expect("A too large", TK_SHAPE, "`A`", &huge, &tb, &tc);
  expect("C of negative extent", TK_SHAPE, "`C`", &ta, &tb, &negative);
  expect("C with rows in one place", TK_OVERLAP, "`C`", &ta, &tb, &folded);
  expect("C on top of A", TK_OVERLAP, "`C`", &ta, &tb, &ta);
  // Where the copy engine can't read B it is repacked; other targets read it as it lies, and ask for no workspace.
  const bool repacks = entry.workspace && entry.workspace(&ta, &strided, &tc) > 0;
  expect("no workspace for such a B", repacks ? TK_WORKSPACE : TK_OK, repacks ? "workspace" : "", &ta, &strided, &tc);
  CUDA_CHECK(cudaDeviceSynchronize());
  return wrong;
}

/// Launches that overlap: each product reads what the one before has written, and writes what that one has read. Without a
/// synchronisation between them the results must be those with one, bit for bit.
int Chained(const EntrySpec& entry) {
  constexpr int kProducts = 12;  // of n terms each, which a bf16 still holds
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  DeviceBuffer workspace(64 << 20);
  int wrong = 0;
  for (const int64_t n : {64, 100, 256, 777, 1024, 1536, 2048}) {
    const size_t bytes = size_t(n * n) * 2;
    DeviceBuffer start(bytes), factor(bytes), even(bytes), odd(bytes);
    Randomise(start.as_bf16(), n * n, 1);
    Randomise(factor.as_bf16(), n * n, 2);
    CUDA_CHECK(cudaDeviceSynchronize());
    const tk_tensor a = Matrix(even.data, n, n, n), b = Matrix(factor.data, n, n, n), c = Matrix(odd.data, n, n, n);
    const auto chain = [&](bool waits) {
      CUDA_CHECK(cudaMemcpyAsync(even.data, start.data, bytes, cudaMemcpyDeviceToDevice, stream));
      for (int i = 0; i < kProducts; ++i) {
        const tk_status status = entry.function(i % 2 ? &c : &a, &b, i % 2 ? &a : &c, workspace.data, workspace.bytes, stream);
        if (status.code != TK_OK) std::printf("FAIL %s: %s\n", entry.label.c_str(), status.message);
        if (waits) CUDA_CHECK(cudaStreamSynchronize(stream));
      }
      std::vector<uint16_t> result(size_t(2 * n * n));
      CUDA_CHECK(cudaMemcpyAsync(result.data(), even.data, bytes, cudaMemcpyDeviceToHost, stream));
      CUDA_CHECK(cudaMemcpyAsync(result.data() + n * n, odd.data, bytes, cudaMemcpyDeviceToHost, stream));
      CUDA_CHECK(cudaStreamSynchronize(stream));
      return result;
    };
    const auto expected = chain(true);
    int differs = 0;
    for (int repeat = 0; repeat < 20; ++repeat) differs += chain(false) != expected;
    if (differs) std::printf("FAIL %s, chained products of %d: %d of 20 differ\n", entry.label.c_str(), int(n), differs);
    wrong += differs > 0;
  }
  CUDA_CHECK(cudaStreamDestroy(stream));
  return wrong;
}

void Overhead(const EntrySpec& entry) {
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  DeviceBuffer a(256 * 256 * 2), b(256 * 256 * 2), c(256 * 256 * 2), workspace(64 << 20);
  const tk_tensor ta = Matrix(a.data, 256, 256, 256), tb = Matrix(b.data, 256, 256, 256), tc = Matrix(c.data, 256, 256, 256);
  CUtensorMap map{};
  int smem = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&smem, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  CUDA_CHECK(cudaFuncSetAttribute(Nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
  const auto bare = [&] {
    cudaLaunchConfig_t config{};
    config.gridDim = 2;
    config.blockDim = 384;
    config.dynamicSmemBytes = size_t(smem);
    config.stream = stream;
    CUDA_CHECK(cudaLaunchKernelEx(&config, Nothing, map, map, map, 256, 256, 256));
  };
  const double launch = HostMicroseconds(bare, stream);
  const double ours = HostMicroseconds([&] { entry.function(&ta, &tb, &tc, workspace.data, workspace.bytes, stream); }, stream);
  using Encode =
      CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                   const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  void* found = nullptr;
  cudaDriverEntryPointQueryResult query;
  CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &query));
  const cuuint64_t extent[2] = {256, 256}, stride[1] = {512};
  const cuuint32_t box[2] = {64, 128}, step[2] = {1, 1};
  const double encode = HostMicroseconds(
      [&] {
        reinterpret_cast<Encode>(found)(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, a.data, extent, stride, box, step,
                                        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
      },
      stream);
  std::printf("%s launcher: %.2f us a call, bare launch %.2f us, over it %.2f us (one map encoded: %.3f us)\n", entry.label.c_str(),
              ours, launch, ours - launch, encode);
  CUDA_CHECK(cudaStreamDestroy(stream));
}

}  // namespace

int main(int argc, char** argv) {
  int count = 240, every = 1;
  uint64_t seed = 1;
  bool big = false, overhead = false, verbose = false;
  std::vector<EntrySpec> entries;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--cases" && i + 1 < argc)
      count = std::atoi(argv[++i]);
    else if (arg == "--every" && i + 1 < argc)
      every = std::max(1, std::atoi(argv[++i]));
    else if (arg == "--seed" && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (arg == "--big")
      big = true;
    else if (arg == "--overhead")
      overhead = true;
    else if (arg == "--verbose")
      verbose = true;
    else if (arg[0] != '-')
      entries.push_back(LoadEntry(arg));
    else {
      std::fprintf(stderr, "gemm_check: what is `%s`?\n", arg.c_str());
      return 2;
    }
  }
  int failed = 0;
  for (const EntrySpec& entry : entries) {
    Check check(seed);
    check.verbose = verbose;
    auto cases = entry.blocks.m ? BlockCases(entry.blocks, seed) : Cases(count, seed);
    if (count < int(cases.size())) cases.resize(size_t(count));
    for (size_t i = 0; i < cases.size(); i += size_t(every)) check.Run(entry, cases[i]);
    if (big)
      for (const Case& c : BigCases(entry.trans_a, entry.trans_b)) check.Run(entry, c);
    std::printf("%s: %d of %d right; worst Frobenius %.3fx cuBLAS's (%s), worst largest error %.2fx its\n", entry.label.c_str(),
                check.passed, check.passed + check.failed, check.worst_frobenius, check.worst_case.c_str(), check.worst_max);
    std::fflush(stdout);
    failed += check.failed + (entry.blocks.m ? 0 : Refusals(entry) + Chained(entry));
    if (overhead) Overhead(entry);
  }
  return failed ? 1 : 0;
}
