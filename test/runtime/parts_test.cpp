// SPDX-License-Identifier: MIT
// spec: ab-14
// Which part of a file for several targets runs on which device, with a made-up device in place of the driver's answers.
#include "check.h"
#include "tk/host.h"

#include <atomic>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using tk::host::part_for;

void Kernel() {}
void OtherKernel() {}

void CheckChoice() {
    for (const auto& parts : {std::initializer_list<int>{80, 90}, {90, 80}}) {  // whatever order they stand in
        CHECK(part_for(80, parts) == 80 && part_for(86, parts) == 80 && part_for(89, parts) == 80);
        CHECK(part_for(90, parts) == 90);
        CHECK(part_for(100, parts) == 80 && part_for(120, parts) == 80);  // sm_90a is for 9.0 alone; PTX of compute_80 is for all behind it
        CHECK(part_for(75, parts) == 0 && part_for(tk::host::no_code, parts) == 0);
    }
    CHECK(part_for(86, {80, 86, 89}) == 86 && part_for(87, {80, 86, 89}) == 86 && part_for(90, {80, 86, 89}) == 89);
    CHECK(part_for(120, {90, 120}) == 120 && part_for(121, {90, 120}) == 120);
    CHECK(part_for(100, {90, 120}) == 0 && part_for(80, {90, 120}) == 0);
}

int Choose(int capability, int code, tk_status& status) { return tk::host::choose_part("gemm", {80, 90}, 3, capability, code, status); }

void CheckMessages() {
    tk_status status = tk::host::ok();
    CHECK(Choose(90, 90, status) == 90 && status.code == TK_OK);
    CHECK(Choose(120, 80, status) == 80 && status.code == TK_OK);
    CHECK(Choose(90, 80, status) == 80 && status.code == TK_OK);  // built without code for sm_90a: the other part is right, too
    CHECK(Choose(75, tk::host::no_code, status) == 0 && status.code == TK_UNSUPPORTED_DEVICE);
    CHECK(status.message == std::string_view("gemm: compiled for sm_80, sm_90a; device 3 is sm_75"));
    CHECK(Choose(86, tk::host::no_code, status) == 0 && status.code == TK_UNSUPPORTED_DEVICE);
    CHECK(std::strstr(status.message, "gemm: was built without code for device 3, which is sm_86"));
}

/// Asked once for each device and each file, also by several threads; a failure is not kept.
void CheckCache() {
    std::atomic<int> asked = 0;
    const auto query = [&](int device, int& code) {
        ++asked;
        code = device == 0 ? 80 : 90;
        return tk::host::ok();
    };
    const auto failing = [&](int, int&) {
        ++asked;
        return tk::host::failure(TK_CUDA, "no driver");
    };
    int code = 0;
    CHECK(tk::host::cached_code<Kernel>(0, code, failing).code == TK_CUDA && asked == 1);
    for (int i = 0; i < 3; ++i) CHECK(tk::host::cached_code<Kernel>(0, code, query).code == TK_OK && code == 80 && asked == 2);
    CHECK(tk::host::cached_code<Kernel>(1, code, query).code == TK_OK && code == 90 && asked == 3);
    CHECK(tk::host::cached_code<OtherKernel>(0, code, query).code == TK_OK && code == 80 && asked == 4);

    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            for (int device = 2; device < tk::host::max_devices; ++device) {
                int mine = 0;
                const tk_status status = tk::host::cached_code<Kernel>((device + 16 * i) % tk::host::max_devices, mine, query);
                const int expected = (device + 16 * i) % tk::host::max_devices == 0 ? 80 : 90;
                if (status.code != TK_OK || mine != expected) ++wrong;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    const int before = asked;
    for (int device = 0; device < tk::host::max_devices; ++device) CHECK(tk::host::cached_code<Kernel>(device, code, query).code == TK_OK);
    CHECK(asked == before);
}

}  // namespace

int main() {
    CheckChoice();
    CheckMessages();
    CheckCache();
    return 0;
}
