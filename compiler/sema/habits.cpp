// SPDX-License-Identifier: MIT
#include "compiler/sema/habits.h"

#include <algorithm>
#include <span>

namespace tkc::sema {
namespace {

struct Habit {
  std::string_view other, ours;
};

std::string_view Find(std::span<const Habit> habits, std::string_view name) {
  const auto habit = std::find_if(habits.begin(), habits.end(), [&](const Habit& h) { return h.other == name; });
  return habit == habits.end() ? "" : habit->ours;
}

constexpr Habit kTypes[] = {
    {"bfloat16", "bf16"}, {"__nv_bfloat16", "bf16"}, {"half", "f16"},         {"float16", "f16"}, {"fp16", "f16"},
    {"__half", "f16"},    {"float", "f32"},          {"float32", "f32"},      {"fp32", "f32"},    {"fp8", "e4m3"},
    {"e4m3fn", "e4m3"},   {"float8_e4m3fn", "e4m3"}, {"float8_e5m2", "e5m2"}, {"int", "i32"},     {"int32", "i32"},
    {"int32_t", "i32"},   {"int64", "i64"},          {"int64_t", "i64"},      {"uint", "u32"},    {"uint32", "u32"},
    {"uint32_t", "u32"},  {"uint64", "u64"},         {"uint64_t", "u64"},     {"int8", "i8"},     {"int8_t", "i8"},
    {"uint8", "u8"},      {"uint8_t", "u8"}};

constexpr std::string_view kBlock =
    "which tile it is say the axes of the grid: `grid m in M by 64`, of which `m.start` is the first";
constexpr std::string_view kProduct = "a product of matrices is `a @ b`";
constexpr std::string_view kFilled = "a number fills a tile: `var x: f32[64, 64] = 0`";

constexpr std::string_view kMean = "divide `rowsum(x)` by the number of elements";
constexpr std::string_view kNoSort =
    "nothing sorts; the largest of each row, one by one, are `let (top, place) = rowargmax(x)` and `where` to leave them out";
constexpr std::string_view kBeside = "tiles side by side are `cat(a, b)`";
constexpr std::string_view kCombined = "tiles of work add to a tensor by `Y[m, n] += x`; it has a preset, `Y: out f32[M, N] = 0`";

constexpr Habit kFunctions[] = {
    {"dot", kProduct},
    {"matmul", kProduct},
    {"mma", kProduct},
    {"transpose", "a tile turned is `x.T`"},
    {"sum", "sums are `rowsum(x)` and `colsum(x)`"},
    {"mean", kMean},
    {"rowmean", kMean},
    {"colmean", "divide `colsum(x)` by the number of elements"},
    {"sort", kNoSort},
    {"argsort", kNoSort},
    {"topk", kNoSort},
    {"zeros", kFilled},
    {"full", kFilled},
    {"load", "elements are read by indexing: `X[m, n]`"},
    {"store", "elements are stored by `Y[m, n] <- x`"},
    {"relu", "write `max(x, 0)`"},
    {"silu", "write `x * sigmoid(x)`"},
    {"square", "write `x * x`"},
    {"maximum", "write `max(a, b)`"},
    {"minimum", "write `min(a, b)`"},
    {"arange", "a column of 0, 1, .. is `iota(n)`, that of a block's numbers `pos(m)`"},
    {"argmax", "the maximum of each row and the lowest place of it are `let (top, place) = rowargmax(x)`"},
    {"argmin", "the lowest place of each row's minimum is the second of `rowargmax(-x)`"},
    {"range", "a range is written where it is used, `for k in lo .. hi by 64`, and a block index is one: `for k in z by 64`"},
    {"tf32",
     "round by name to a type of 16 bits: `let hi = bf16(x)`; what that drops is `bf16(x - f32(hi))`, for products of its own"},
    {"norm", "write `sqrt(rowsum(x * x))`"},
    {"log1p", "write `log(1 + x)`"},
    {"clip", "write `clamp(x, lo, hi)`"},
    {"view", "write `reshape(x, rows, columns)`"},
    {"concat", kBeside},
    {"concatenate", kBeside},
    {"hstack", kBeside},
    {"tril", "write `where(pos(m) >= pos(n).T, x, 0)`"},
    {"triu", "write `where(pos(m) <= pos(n).T, x, 0)`"},
    {"atomicAdd", kCombined},
    {"atomic_add", kCombined},
    {"program_id", kBlock},
    {"num_programs", kBlock}};

constexpr std::string_view kThread =
    "a worker computes whole tiles and tkc deals them out to threads; `pos(m)` is where elements stand";
constexpr std::string_view kModule = "functions stand alone, as in `exp(x)`, and elements are read by indexing: `X[m, n]`";
constexpr std::string_view kNoNull = "every name has a value where it is declared: `var x: f32[64, 64] = 0`";
constexpr std::string_view kTruth = "the truth values are `true` and `false`";
constexpr std::string_view kInfinity = "infinity is `inf`";
constexpr std::string_view kPi = "the circle's number is `pi`";

constexpr Habit kNames[] = {
    {"threadIdx", kThread}, {"tid", kThread},     {"lane", kThread},       {"laneid", kThread},     {"lane_id", kThread},
    {"warp", kThread},      {"warp_id", kThread}, {"warpid", kThread},     {"blockIdx", kBlock},    {"blockDim", kBlock},
    {"gridDim", kBlock},    {"np", kModule},      {"numpy", kModule},      {"torch", kModule},      {"tl", kModule},
    {"triton", kModule},    {"math", kModule},    {"std", kModule},        {"None", kNoNull},       {"null", kNoNull},
    {"NULL", kNoNull},      {"nullptr", kNoNull}, {"INFINITY", kInfinity}, {"infinity", kInfinity}, {"PI", kPi},
    {"M_PI", kPi},          {"True", kTruth},     {"False", kTruth},       {"TRUE", kTruth},        {"FALSE", kTruth}};

constexpr std::string_view kSlots = "how many tiles are under way says `slots PIPE = n`";
constexpr std::string_view kWarps = "an instance of a worker has four warps; how many there are says `worker compute[W] as w`";

constexpr Habit kScheduleItems[] = {{"slots", "say of which pipe: `slots PIPE = n`"},
                                    {"dynamic", "`dynamic` stands alone"},
                                    {"spread", "say of which worker: `spread WORKER = n`"},
                                    {"alternate", "say which worker: `alternate WORKER`"},
                                    {"num_stages", kSlots},
                                    {"stages", kSlots},
                                    {"num_warps", kWarps},
                                    {"warps", kWarps},
                                    {"num_ctas", "blocks that share loads are a cluster: `cluster = n`"},
                                    {"swizzle", "tiles in bands are `order = grouped(n)`"},
                                    {"GROUP_M", "tiles in bands are `order = grouped(n)`"},
                                    {"GROUP_SIZE_M", "tiles in bands are `order = grouped(n)`"},
                                    {"split_k", "a sum that blocks share is `split = n`"},
                                    {"SPLIT_K", "a sum that blocks share is `split = n`"}};

constexpr std::string_view kExtent = "extents have the names that the parameters give them: `M` and `N` of `X: f32[M, N]`";
constexpr std::string_view kConvert = "a conversion is written in front: `f32(x)`";
constexpr std::string_view kReduce = "it is written in front: `rowsum(x)`, `rowmax(x)`, `colsum(x)`";

constexpr Habit kMembers[] = {{"shape", kExtent},
                              {"size", kExtent},
                              {"dtype", "types are known as they are declared, and a conversion is written `f32(x)`"},
                              {"to", kConvert},
                              {"astype", kConvert},
                              {"type", kConvert},
                              {"float", kConvert},
                              {"half", kConvert},
                              {"sum", kReduce},
                              {"max", kReduce},
                              {"min", kReduce},
                              {"mean", kReduce},
                              {"t", "a tile turned is `x.T`"},
                              {"transpose", "a tile turned is `x.T`"},
                              {"f", "a number has no suffix: `1.0`"}};

constexpr Habit kNotBuilt[] = {{"f64", "`f32` is the widest type; a sum of two parts, `hi + lo`, keeps what it rounds away"}};

}  // namespace

std::string_view NameInOtherLanguages(std::string_view type) { return Find(kTypes, type); }
std::string_view HelpForFunction(std::string_view name) { return Find(kFunctions, name); }
std::string_view HelpForName(std::string_view name) { return Find(kNames, name); }
std::string_view HelpForMember(std::string_view name) { return Find(kMembers, name); }
std::string_view HelpForScheduleItem(std::string_view name) { return Find(kScheduleItems, name); }
std::string_view HelpUntilBuilt(std::string_view name) { return Find(kNotBuilt, name); }
bool IsModule(std::string_view name) { return Find(kNames, name) == kModule; }

}  // namespace tkc::sema
