// SPDX-License-Identifier: MIT
// What a run writes: findings and counters with places in the source, the same for the same seed; the timeline.
#include <unistd.h>

#include <climits>
#include <nlohmann/json.hpp>

#include "test/sim/run_kernel.h"

namespace tk::sim_test {
namespace {

using nlohmann::json;

std::string this_program() {
    char path[PATH_MAX] = {};
    return readlink("/proc/self/exe", path, sizeof path - 1) > 0 ? path : "";
}

constexpr int kLoadLine = __LINE__ + 5;
TK_KERNEL(64)
reads_two(const float* in, float* out) {
    grid::wait_previous();
    const int t = thread::index();
    const float a = sm80::load_global(in + t);
    sm80::store_global(out + t, a);
    warp::sync();
}

json run_once(uint64_t seed, bool initialised) {
    fresh_machine(seed);
    sim::the().trace.on = true;
    const float* in = tensor_memory<float>("in", 64, initialised);
    run<reads_two>(1, 64, 0, in, tensor_memory<float>("out", 64, false));
    return json::parse(sim::result_json(this_program(), 0, "", 0.0, 20));
}

TEST(Result, names_the_place) {
    const json result = run_once(1, false);
    ASSERT_EQ(result["findings"].size(), 1u) << result.dump(1);
    const json& finding = result["findings"][0];
    EXPECT_EQ(finding["kind"], "read-of-poison");
    EXPECT_EQ(finding["times"], 64);
    EXPECT_EQ(finding["lanes"], "0-63");
    const json& frames = finding["sites"][0]["frames"];
    ASSERT_FALSE(frames.empty()) << result.dump(1);
    EXPECT_NE(frames[0]["file"].get<std::string>().find("result_test.cpp"), std::string::npos) << frames.dump(1);
    EXPECT_EQ(frames[0]["line"], kLoadLine);
}

TEST(Result, counts) {
    const json result = run_once(2, true);
    EXPECT_TRUE(result["findings"].empty()) << result.dump(1);
    ASSERT_EQ(result["counters"].size(), 2u) << result.dump(1);
    for (const json& c : result["counters"]) {
        EXPECT_EQ(c["accesses"], 2);
        EXPECT_EQ(c["sectors"], 8);
        EXPECT_EQ(c["ideal"], 8);
    }
}

TEST(Result, same_seed_same_bytes) {
    EXPECT_EQ(run_once(3, false).dump(), run_once(3, false).dump());
    EXPECT_EQ(run_once(3, true)["counters"], run_once(4, true)["counters"]);
}

TEST(Result, is_written_whole_or_not_at_all) { EXPECT_FALSE(sim::write_file("/nowhere/at/all.json", "{}")); }

}  // namespace
}  // namespace tk::sim_test
