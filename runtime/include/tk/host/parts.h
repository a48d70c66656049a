// SPDX-License-Identifier: MIT
// A file for several targets has a part for each, and this chooses between them. A part is named by its target's number: 80 of sm_80,
// 90 of sm_90a, 942 of gfx942. Which part a launch takes is asked of the driver, not computed from the device: its loader picks among the
// codes that nvcc was told to make, and only the kernels of one part stand in each (TK_TARGET), so the answer must be the same one.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "tk/host/driver.h"

namespace tk::host::inline TK_MACHINE {

/// Whether code for this target runs on its own GPU and on no other: sm_90a, and AMD's. The PTX of others is compiled by the drivers of
/// later ones.
constexpr bool runs_only_there(int target) { return target == 90 || is_amd; }

/// `a` of sm_90a.
constexpr const char* target_suffix(int target) { return target == 90 ? "a" : ""; }

/// The part for code of architecture `code`, which is also the best one for a device of that number: the newest that runs there; 0: none.
/// `#if` lines at the head of a generated file say the same to the compiler.
constexpr int part_for(int code, std::initializer_list<int> parts) {
    int best = 0;
    for (int part : parts)
        if ((runs_only_there(part) ? part == code : part <= code) && part > best) best = part;
    return best;
}

/// `sm_80, sm_90a`
struct part_names {
    char text[256];
    explicit part_names(std::initializer_list<int> parts) : text{} {
        size_t used = 0;
        for (int part : parts) {
            const int n = std::snprintf(text + used, sizeof text - used, "%s%s%d%s", used ? ", " : "", device_prefix, part, target_suffix(part));
            if (n > 0) used = min(used + size_t(n), sizeof text - 1);
        }
    }
};

/// What `query(device, code)` says of this device, asked once for each `Kernel`. Threads that race ask twice and write the same.
template <auto Kernel, class Query>
tk_status cached_code(int device, int& code, const Query& query) {
    static int cache[max_devices];  // 0: not asked
    code = __atomic_load_n(&cache[device], __ATOMIC_RELAXED);
    if (code != 0) return ok();
    const tk_status status = query(device, code);
    if (status.code == TK_OK) __atomic_store_n(&cache[device], code, __ATOMIC_RELAXED);
    return status;
}

/// The part that runs on device `device`, which is `capability` and for which the driver has loaded `code`; or 0 and why.
inline int choose_part(const char* entry, std::initializer_list<int> parts, int device, int capability, int code, tk_status& status) {
    const int part = part_for(code, parts);
    if (part != 0) return part;
    if (part_for(capability, parts) == 0)
        status = failure(TK_UNSUPPORTED_DEVICE, "%s: compiled for %s; device %d is %s%d", entry, part_names(parts).text, device, device_prefix, capability);
    else
        status = failure(TK_UNSUPPORTED_DEVICE, "%s: was built without code for device %d, which is %s%d: the head of the generated file says which options its compiler needs",
                         entry, device, device_prefix, capability);
    return 0;
}

/// The part of the file that runs on the current device, or 0 and why in `status`. `Kernel` is any kernel of the file.
template <auto Kernel>
int choose(const char* entry, std::initializer_list<int> parts, tk_status& status) {
    int device = 0, code = 0;
    device_info info{};
    status = current_device(device);
    if (status.code == TK_OK) status = cached_device(device, info);
    if (status.code == TK_OK) status = cached_code<Kernel>(device, code, query_code<Kernel>);
    return status.code == TK_OK ? choose_part(entry, parts, device, info.capability, code, status) : 0;
}

}  // namespace tk::host
