// SPDX-License-Identifier: MIT
// Measures generated GEMM entries against cublasLt in one process and prints one line per case.
//
// Both sides read the same random operand sets, rotated over at least three times the L2, as CUDA graphs of at least --ms
// milliseconds, in rounds of A B B A. The figure of a case is the median over the rounds of (cublasLt time / our time).
// cublasLt is given a 64 MB workspace and, of its first eight heuristics, the one with the best median over two passes a round, on the
// same data.
// Usage: gemm_bench [--ms 2] [--rounds 7] [--quick] [--survey [--layout NT]] [--mma-loop] [--shape MxNxK]... label:lib.so:symbol:NN ...
//   A case runs with the entry of its layout; further entries of the same layout are shown as further lines. --mma-loop takes
//   as the other side as many mma.sync as the case needs, on registers alone: what code for sm_80 could reach at most.
#include <cublasLt.h>

#include "gpu_common.h"

namespace {

using namespace gpu;

struct Case {
  int64_t m, n, k;
  bool trans_a, trans_b;
  double bar;  // the ratio asked for, 0 where none is
};

struct OperandSet {
  DeviceBuffer a, b, c, d;  // d: cublasLt's result
};

constexpr size_t kBlasWorkspace = 64ull << 20;
constexpr size_t kOwnWorkspace = 512ull << 20;

/// One cublasLt problem in the row-major view: C^T = B^T A^T in its column-major world.
class Blas {
 public:
  Blas(cublasLtHandle_t handle, const Case& c, void* workspace) : handle_(handle), workspace_(workspace) {
    BLAS_CHECK(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t first = c.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t second = c.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    BLAS_CHECK(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first));
    BLAS_CHECK(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second));
    Layout(&first_, c.trans_b ? c.k : c.n, c.trans_b ? c.n : c.k);
    Layout(&second_, c.trans_a ? c.m : c.k, c.trans_a ? c.k : c.m);
    Layout(&result_, c.n, c.m);
  }
  ~Blas() {
    cublasLtMatrixLayoutDestroy(first_);
    cublasLtMatrixLayoutDestroy(second_);
    cublasLtMatrixLayoutDestroy(result_);
    cublasLtMatmulDescDestroy(operation_);
  }

  std::vector<cublasLtMatmulHeuristicResult_t> Heuristics() {
    cublasLtMatmulPreference_t preference;
    BLAS_CHECK(cublasLtMatmulPreferenceCreate(&preference));
    BLAS_CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kBlasWorkspace,
                                                    sizeof kBlasWorkspace));
    std::vector<cublasLtMatmulHeuristicResult_t> found(8);
    int count = 0;
    BLAS_CHECK(cublasLtMatmulAlgoGetHeuristic(handle_, operation_, first_, second_, result_, result_, preference, 8, found.data(),
                                              &count));
    cublasLtMatmulPreferenceDestroy(preference);
    found.resize(size_t(count));
    return found;
  }

  void Run(const cublasLtMatmulAlgo_t& algorithm, const OperandSet& set, cudaStream_t stream) {
    const float one = 1.0f, zero = 0.0f;
    BLAS_CHECK(cublasLtMatmul(handle_, operation_, &one, set.b.data, first_, set.a.data, second_, &zero, set.d.data, result_,
                              set.d.data, result_, &algorithm, workspace_, kBlasWorkspace, stream));
  }

 private:
  static void Layout(cublasLtMatrixLayout_t* layout, int64_t rows, int64_t cols) {
    BLAS_CHECK(cublasLtMatrixLayoutCreate(layout, CUDA_R_16BF, uint64_t(rows), uint64_t(cols), rows));
  }
  cublasLtHandle_t handle_;
  void* workspace_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, result_ = nullptr;
};

std::string Describe(const cublasLtMatmulAlgo_t& algorithm, int number, int count) {
  auto get = [&](cublasLtMatmulAlgoConfigAttributes_t attribute, size_t bytes) {
    uint32_t value = 0;
    size_t written = 0;
    cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, bytes, &written);
    return int(value);
  };
  char text[128];
  std::snprintf(text, sizeof text, "heur %d/%d id%d tile%d stages%d splitk%d cluster%d", number + 1, count,
                get(CUBLASLT_ALGO_CONFIG_ID, 4), get(CUBLASLT_ALGO_CONFIG_TILE_ID, 4), get(CUBLASLT_ALGO_CONFIG_STAGES_ID, 4),
                get(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4), get(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2));
  return text;
}

/// One relative difference over a whole pair of results: enough to see that both sides computed the same thing.
__global__ void Compare(const bf16* x, const bf16* y, int64_t count, double* sums) {
  double difference = 0, norm = 0;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += int64_t(gridDim.x) * blockDim.x) {
    const double a = __bfloat162float(x[i]), b = __bfloat162float(y[i]);
    difference += (a - b) * (a - b);
    norm += b * b;
  }
  atomicAdd(&sums[0], difference);
  atomicAdd(&sums[1], norm);
}

constexpr int kLoopThreads = 256, kLoopTiles = 16;

/// `steps` rounds of 16 independent m16n8k16 products in each warp, of operands that it reads once.
__global__ void __launch_bounds__(kLoopThreads, 2) MmaLoop(const uint32_t* operands, float* result, int steps) {
  const int t = int(blockIdx.x) * kLoopThreads + int(threadIdx.x);
  uint32_t a[2][4], b[8][2];
  float sum[kLoopTiles][4] = {};
  for (int i = 0; i < 8; ++i) a[i / 4][i % 4] = operands[t * 24 + i];
  for (int i = 0; i < 16; ++i) b[i / 2][i % 2] = operands[t * 24 + 8 + i];
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < kLoopTiles; ++i)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(sum[i][0]), "+f"(sum[i][1]), "+f"(sum[i][2]), "+f"(sum[i][3])
                   : "r"(a[i / 8][0]), "r"(a[i / 8][1]), "r"(a[i / 8][2]), "r"(a[i / 8][3]), "r"(b[i % 8][0]), "r"(b[i % 8][1]));
  }
  float total = 0;
  for (int i = 0; i < kLoopTiles; ++i) total += sum[i][0] + sum[i][1] + sum[i][2] + sum[i][3];
  result[t] = total;
}

struct Options {
  double ms = 2.0;
  int rounds = 7;
  bool quick = false, survey = false;
  char layout[3] = "NN";  // of the survey
  bool mma_loop = false;
  std::vector<Case> shapes;
  std::vector<EntrySpec> entries;
};

struct Result {
  double ratio = 0;
  bool met = true;
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), blas_workspace_(kBlasWorkspace), own_workspace_(kOwnWorkspace) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    BLAS_CHECK(cublasLtCreate(&handle_));
    CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes_, cudaDevAttrL2CacheSize, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms_, cudaDevAttrMultiProcessorCount, 0));
  }

  /// Prints the case's lines; returns the ratio of each entry of the case's layout, in entry order.
  std::vector<Result> Run(const Case& c) {
    const size_t a_bytes = size_t(c.m) * c.k * 2, b_bytes = size_t(c.k) * c.n * 2, c_bytes = size_t(c.m) * c.n * 2;
    const size_t set_bytes = a_bytes + b_bytes + c_bytes;
    const int sets = int(std::min<size_t>(64, std::max<size_t>(2, (3 * size_t(l2_bytes_) + set_bytes - 1) / set_bytes)));
    std::vector<OperandSet> set;
    for (int i = 0; i < sets; ++i) {
      set.push_back({DeviceBuffer(a_bytes), DeviceBuffer(b_bytes), DeviceBuffer(c_bytes), DeviceBuffer(c_bytes)});
      Randomise(set[i].a.as_bf16(), c.m * c.k, 2 * i + 1);
      Randomise(set[i].b.as_bf16(), c.k * c.n, 2 * i + 2);
      CUDA_CHECK(cudaMemset(set[i].c.data, 0xff, c_bytes));
    }
    CUDA_CHECK(cudaDeviceSynchronize());

    if (options_.mma_loop) return AgainstLoop(c, set);
    Blas blas(handle_, c, blas_workspace_.data);
    const auto found = blas.Heuristics();
    if (found.empty()) {
      std::printf("cublasLt has no algorithm for this case\n");
      return {};
    }
    auto blas_graph = [&](const cublasLtMatmulAlgo_t& algorithm, int repeats) {
      return std::make_unique<Graph>(stream_, [&, repeats](cudaStream_t s) {
        for (int i = 0; i < repeats; ++i) blas.Run(algorithm, set[size_t(i % sets)], s);
      });
    };
    // How often a product fits into the asked time, from the first heuristic after one warm-up.
    auto probe = blas_graph(found[0].algo, std::min(sets, 4));
    TimeGraphs(stream_, {probe.get()});
    const double once = TimeGraphs(stream_, {probe.get()})[0] / std::min(sets, 4);
    const int repeats = std::max(1, int(options_.ms / once + 0.999));
    // The best of the first eight by its median: passes in alternating order, so that a drifting clock favours none, and as many as
    // there are rounds, as they lie within two percent of each other and a chance best would be a slow peer.
    std::vector<std::unique_ptr<Graph>> candidates;
    std::vector<const Graph*> pass;
    for (const auto& h : found) candidates.push_back(blas_graph(h.algo, std::max(1, repeats / 2)));
    for (const auto& g : candidates) pass.push_back(g.get());
    TimeGraphs(stream_, pass);
    std::vector<std::vector<double>> times(candidates.size());
    for (int round = 0; round < options_.rounds; ++round)
      for (const bool backwards : {false, true}) {
        auto of_pass = TimeGraphs(stream_, pass);
        std::reverse(pass.begin(), pass.end());
        if (backwards) std::reverse(of_pass.begin(), of_pass.end());
        for (size_t i = 0; i < times.size(); ++i) times[i].push_back(of_pass[i]);
      }
    size_t best = 0;
    for (size_t i = 1; i < times.size(); ++i)
      if (Median(times[i]) < Median(times[best])) best = i;
    candidates.clear();
    auto theirs = blas_graph(found[best].algo, repeats);

    std::vector<Result> results;
    for (const EntrySpec& entry : options_.entries) {
      if (entry.trans_a != c.trans_a || entry.trans_b != c.trans_b) continue;
      results.push_back(Against(c, entry, set, repeats, *theirs, Describe(found[best].algo, int(best), int(found.size()))));
    }
    return results;
  }

 private:
  Result Against(const Case& c, const EntrySpec& entry, std::vector<OperandSet>& set, int repeats, const Graph& theirs,
                 const std::string& settings) {
    char shape[64];
    std::snprintf(shape, sizeof shape, "%lldx%lldx%lld", (long long)c.m, (long long)c.n, (long long)c.k);
    bool failed = false;
    auto call = [&](const OperandSet& s, cudaStream_t stream) {
      const tk_tensor a = c.trans_a ? Matrix(s.a.data, c.k, c.m, c.m) : Matrix(s.a.data, c.m, c.k, c.k);
      const tk_tensor b = c.trans_b ? Matrix(s.b.data, c.n, c.k, c.k) : Matrix(s.b.data, c.k, c.n, c.n);
      const tk_tensor d = Matrix(s.c.data, c.m, c.n, c.n);
      const tk_status status = entry.function(&a, &b, &d, own_workspace_.data, kOwnWorkspace, stream);
      if (status.code != 0 && !failed) {
        failed = true;
        std::printf("%-10s %s %-18s REFUSED: %s\n", entry.label.c_str(), Letters(c), shape, status.message);
      }
    };
    call(set[0], stream_);
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    if (failed) return {0, false};
    const Graph ours(stream_, [&](cudaStream_t s) {
      for (int i = 0; i < repeats; ++i) call(set[size_t(i) % set.size()], s);
    });
    TimeGraphs(stream_, {&ours, &theirs, &theirs, &ours});  // warm-up
    std::vector<double> ratio, own_ms, blas_ms;
    for (int r = 0; r < options_.rounds; ++r) {
      const auto t = TimeGraphs(stream_, {&ours, &theirs, &theirs, &ours});
      own_ms.push_back((t[0] + t[3]) / 2 / repeats);
      blas_ms.push_back((t[1] + t[2]) / 2 / repeats);
      ratio.push_back(blas_ms.back() / own_ms.back());
    }
    DeviceBuffer sums(16);
    double host[2] = {0, 0};
    CUDA_CHECK(cudaMemset(sums.data, 0, 16));
    Compare<<<264, 256, 0, stream_>>>(set[0].c.as_bf16(), set[0].d.as_bf16(), c.m * c.n, reinterpret_cast<double*>(sums.data));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    CUDA_CHECK(cudaMemcpy(host, sums.data, 16, cudaMemcpyDeviceToHost));
    const double difference = std::sqrt(host[0] / std::max(host[1], 1e-30));
    const double flops = 2.0 * double(c.m) * double(c.n) * double(c.k) * 1e-9;
    const double median = Median(ratio);
    const bool right = difference < 4e-3;
    const bool met = right && median >= c.bar;
    std::printf(
        "%-10s %s %-18s %8.1f us %6.0f TF | blas %8.1f us %6.0f TF | ratio %.3f (%.3f..%.3f) bar %.2f %s%s | %s x%d sets%zu\n",
        entry.label.c_str(), Letters(c), shape, Median(own_ms) * 1e3, flops / Median(own_ms), Median(blas_ms) * 1e3,
        flops / Median(blas_ms), median, *std::min_element(ratio.begin(), ratio.end()),
        *std::max_element(ratio.begin(), ratio.end()), c.bar, met ? "ok" : "MISS", right ? "" : " WRONG RESULT", settings.c_str(),
        repeats, set.size());
    std::fflush(stdout);
    return {median, met};
  }

  /// Our product beside a loop of as many tensor core instructions.
  std::vector<Result> AgainstLoop(const Case& c, std::vector<OperandSet>& set) {
    const double flops = 2.0 * double(c.m) * double(c.n) * double(c.k);
    const int blocks = 2 * sms_, repeats = int(std::ceil(options_.ms * 4e11 / flops));
    const double of_step = 2.0 * 16 * 8 * 16 * kLoopTiles * (kLoopThreads / 32) * blocks;
    const int steps = int(std::ceil(flops * repeats / of_step));
    const DeviceBuffer operands(size_t(blocks) * kLoopThreads * 24 * 4), sums(size_t(blocks) * kLoopThreads * 4);
    Randomise(operands.as_bf16(), int64_t(operands.bytes / 2), 77);
    CUDA_CHECK(cudaDeviceSynchronize());
    const Graph loop(stream_, [&](cudaStream_t s) {
      MmaLoop<<<blocks, kLoopThreads, 0, s>>>(reinterpret_cast<const uint32_t*>(operands.data), reinterpret_cast<float*>(sums.data), steps);
    });
    std::vector<Result> results;
    for (const EntrySpec& entry : options_.entries) {
      if (entry.trans_a != c.trans_a || entry.trans_b != c.trans_b) continue;
      const Graph ours(stream_, [&](cudaStream_t s) {
        for (int i = 0; i < repeats; ++i) {
          const OperandSet& o = set[size_t(i) % set.size()];
          const tk_tensor a = c.trans_a ? Matrix(o.a.data, c.k, c.m, c.m) : Matrix(o.a.data, c.m, c.k, c.k);
          const tk_tensor b = c.trans_b ? Matrix(o.b.data, c.n, c.k, c.k) : Matrix(o.b.data, c.k, c.n, c.n);
          const tk_tensor d = Matrix(o.c.data, c.m, c.n, c.n);
          const tk_status status = entry.function(&a, &b, &d, own_workspace_.data, kOwnWorkspace, s);
          if (status.code != 0) std::printf("%-10s REFUSED: %s\n", entry.label.c_str(), status.message);
        }
      });
      TimeGraphs(stream_, {&ours, &loop, &loop, &ours});
      std::vector<double> ratio, own, other;
      for (int r = 0; r < options_.rounds; ++r) {
        const auto t = TimeGraphs(stream_, {&ours, &loop, &loop, &ours});
        own.push_back((t[0] + t[3]) / 2);
        other.push_back((t[1] + t[2]) / 2);
        ratio.push_back(other.back() / own.back());
      }
      const double done = flops * repeats * 1e-9, median = Median(ratio);
      std::printf("%-10s %s %lldx%lldx%lld %6.0f TF | mma.sync on registers %6.0f TF | ratio %.3f (%.3f..%.3f) bar 0.75 %s\n",
                  entry.label.c_str(), Letters(c), (long long)c.m, (long long)c.n, (long long)c.k, done / Median(own),
                  done / Median(other), median, *std::min_element(ratio.begin(), ratio.end()),
                  *std::max_element(ratio.begin(), ratio.end()), median >= 0.75 ? "ok" : "MISS");
      std::fflush(stdout);
      results.push_back({median, median >= 0.75});
    }
    return results;
  }

  static const char* Letters(const Case& c) { return c.trans_a ? (c.trans_b ? "TT" : "TN") : (c.trans_b ? "NT" : "NN"); }

  const Options& options_;
  cudaStream_t stream_;
  cublasLtHandle_t handle_;
  int l2_bytes_ = 0, sms_ = 0;
  DeviceBuffer blas_workspace_, own_workspace_;
};

/// Layers of language models, by batches of one to thousands of rows, and squares: what users multiply, with no bar.
std::vector<Case> Survey(bool trans_a, bool trans_b) {
  constexpr int64_t kRows[] = {1, 16, 32, 64, 100, 128, 192, 256, 384, 512, 777, 1024, 1500, 2048, 3000, 4096, 6000};
  constexpr int64_t kLayers[][2] = {{4096, 4096}, {6144, 4096}, {28672, 4096}, {4096, 14336}, {1024, 4096}, {5120, 5120}, {13824, 5120}, {5120, 13824},
                                    {3584, 3584}, {18944, 3584}, {8192, 8192}, {10240, 8192}, {2048, 2048}, {3072, 768}, {768, 3072}, {151936, 1024}};
  constexpr int64_t kSquares[] = {1000, 1500, 2500, 3000, 3500, 5000, 6000, 7000};
  std::vector<Case> cases;
  for (const auto& [columns, terms] : kLayers) {
    for (const int64_t rows : kRows) cases.push_back({rows, columns, terms, trans_a, trans_b, 0});
  }
  for (const int64_t n : kSquares) cases.push_back({n, n, n, trans_a, trans_b, 0});
  return cases;
}

std::vector<Case> Table(const Options& options) {
  if (!options.shapes.empty()) return options.shapes;
  if (options.survey) return Survey(options.layout[0] == 'T', options.layout[1] == 'T');
  std::vector<Case> cases = {
      {2048, 2048, 2048, false, false, 0.97}, {4096, 4096, 4096, false, false, 0.97}, {8192, 8192, 8192, false, false, 0.97}};
  if (options.quick) return cases;
  cases.push_back({16384, 16384, 16384, false, false, 0.97});  // the first four make the geometric mean
  cases.push_back({1024, 1024, 1024, false, false, 0.95});
  cases.push_back({4096, 14336, 4096, false, false, 0.97});
  cases.push_back({8192, 1024, 28672, false, false, 0.97});
  cases.push_back({4095, 4104, 4096, false, false, 0.95});
  cases.push_back({4095, 4097, 4099, false, false, 1.0});
  cases.push_back({16, 4096, 4096, false, false, 0.9});
  cases.push_back({3072, 3072, 3072, false, false, 0.95});  // tiles of 256 columns would leave a quarter of the rounds empty
  cases.push_back({5120, 5120, 5120, false, false, 0.95});
  cases.push_back({5000, 5000, 5000, false, false, 0.9});  // rows begin inside of lines
  cases.push_back({1000, 1000, 1000, false, false, 0.9});
  cases.push_back({1, 4096, 4096, false, false, 0.95});  // few rows: the engine writes zero for those that do not exist
  cases.push_back({1, 14336, 4096, false, false, 0.9});
  cases.push_back({64, 4096, 14336, false, false, 0.9});
  cases.push_back({16, 1024, 8192, false, false, 0.9});
  cases.push_back({128, 4096, 4096, false, false, 0.95});
  cases.push_back({300, 4096, 4096, false, false, 0.8});
  for (int t = 1; t < 4; ++t) cases.push_back({4096, 4096, 4096, (t & 2) != 0, (t & 1) != 0, 0.95});
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    long long m, n, k;
    char layout[3] = "NN";
    if (arg == "--ms" && i + 1 < argc)
      options.ms = std::atof(argv[++i]);
    else if (arg == "--rounds" && i + 1 < argc)
      options.rounds = std::atoi(argv[++i]);
    else if (arg == "--quick")
      options.quick = true;
    else if (arg == "--survey")
      options.survey = true;
    else if (arg == "--layout" && i + 1 < argc && std::sscanf(argv[++i], "%2[NT]", options.layout) == 1 && options.layout[1])
      continue;
    else if (arg == "--mma-loop")
      options.mma_loop = true;
    else if (arg == "--shape" && i + 1 < argc && std::sscanf(argv[++i], "%lldx%lldx%lld:%2s", &m, &n, &k, layout) >= 3)
      options.shapes.push_back({m, n, k, layout[0] == 'T', layout[1] == 'T', 0});
    else if (arg[0] != '-')
      options.entries.push_back(LoadEntry(arg));
    else {
      std::fprintf(stderr, "gemm_bench: what is `%s`?\n", arg.c_str());
      return 2;
    }
  }
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, %d SMs, cublasLt %zu; order MxNxK, layouts as stored row-major; %d rounds of A B B A, graphs of >= %.1f ms\n",
              properties.name, properties.multiProcessorCount, cublasLtGetVersion(), options.rounds, options.ms);
  Bench bench(options);
  const auto cases = Table(options);
  std::vector<std::vector<double>> squares(options.entries.size());
  int missed = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto results = bench.Run(cases[i]);
    for (size_t e = 0; e < results.size(); ++e) {
      missed += !results[e].met;
      if (options.shapes.empty() && (options.survey || i < 4)) squares[e].push_back(results[e].ratio);
    }
  }
  for (const auto& s : squares) {
    if (s.size() < 2 || options.mma_loop) continue;
    double sum = 0;
    for (double r : s) sum += std::log(r);
    const double mean = std::exp(sum / double(s.size()));
    if (options.survey) {
      std::printf("geometric mean over %zu shapes: %.3f\n", s.size(), mean);
      continue;
    }
    std::printf("geometric mean over %s: %.3f (bar 1.02) %s\n", s.size() == 4 ? "2048 4096 8192 16384" : "2048 4096 8192", mean,
                mean >= 1.02 ? "ok" : "MISS");
  }
  std::printf("%d of the bars missed\n", missed);
  return 0;
}
