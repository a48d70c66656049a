// SPDX-License-Identifier: MIT
#include "runtime/sim/finding.h"

namespace tk::sim {

bool findings::add(finding f, int thread) {
    std::vector<site> places;
    for (const finding_site& s : f.sites) places.push_back(s.at);
    const auto [it, is_new] =
        numbers_.try_emplace({f.kind, std::move(places)}, all_.size() < most_ ? int(all_.size()) : -1);
    if (!is_new) {
        if (it->second < 0) return false;
        finding& known = all_[size_t(it->second)];
        ++known.times;
        if (known.block == f.block && thread >= 0) known.threads.insert(thread);
        return false;
    }
    if (it->second < 0) {
        ++dropped_;
        return true;
    }
    if (thread >= 0) f.threads.insert(thread);
    all_.push_back(std::move(f));
    return true;
}

std::string ranges(const std::set<int>& numbers) {
    std::string text;
    for (auto it = numbers.begin(); it != numbers.end();) {
        const int first = *it;
        int last = first;
        while (++it != numbers.end() && *it == last + 1) last = *it;
        if (!text.empty()) text += ", ";
        text += std::to_string(first);
        if (last > first) text += "-" + std::to_string(last);
    }
    return text;
}

}  // namespace tk::sim
