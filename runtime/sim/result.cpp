// SPDX-License-Identifier: MIT
#include "runtime/sim/result.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/sim/machine.h"
#include "runtime/sim/symbolise.h"

namespace tk::sim {

namespace {

using json = nlohmann::ordered_json;

json frames_json(const std::vector<code_frame>& frames) {
    json list = json::array();
    for (const code_frame& f : frames) list.push_back({{"file", f.file}, {"line", f.line}, {"function", f.function}});
    return list;
}

/// Unrolled loops and inlined calls give one source place several addresses: findings that read the same are one.
json findings_json(const symbols& names, size_t most) {
    struct told {
        json places;
        finding sum;
    };
    std::vector<told> all;
    for (const finding& f : the().found.all()) {
        json places = json::array();
        for (const finding_site& s : f.sites) places.push_back(frames_json(names.of(s.at)));
        const auto same = std::find_if(all.begin(), all.end(),
                                       [&](const told& t) { return t.sum.kind == f.kind && t.places == places; });
        if (same == all.end()) {
            all.push_back({std::move(places), f});
            continue;
        }
        same->sum.times += f.times;
        if (same->sum.block == f.block) same->sum.threads.insert(f.threads.begin(), f.threads.end());
    }
    json list = json::array();
    for (const auto& [places, f] : all) {
        if (list.size() == most) break;
        json sites = json::array();
        for (size_t i = 0; i < f.sites.size(); ++i) sites.push_back({{"role", f.sites[i].role}, {"frames", places[i]}});
        list.push_back({{"kind", f.kind},
                        {"text", f.text},
                        {"times", f.times},
                        {"sites", sites},
                        {"lanes", ranges(f.threads)},
                        {"block", f.block},
                        {"address", f.address}});
    }
    return list;
}

json counters_json(const symbols& names) {
    struct total {
        json frames;
        counted kind;
        counter sum;
    };
    std::vector<total> all;
    for (const auto& [key, c] : the().counters) {
        json frames = frames_json(names.of(key.first));
        auto it = std::find_if(all.begin(), all.end(),
                               [&](const total& t) { return t.kind == key.second && t.frames == frames; });
        if (it == all.end()) it = all.insert(it, {std::move(frames), key.second, {}});
        it->sum.accesses += c.accesses;
        it->sum.wavefronts += c.wavefronts;
        it->sum.ideal += c.ideal;
        it->sum.sectors += c.sectors;
    }
    // By place in the source, whatever order the seed ran them in.
    std::sort(all.begin(), all.end(), [](const total& a, const total& b) {
        return std::pair(a.frames.dump(), a.kind) < std::pair(b.frames.dump(), b.kind);
    });
    json list = json::array();
    for (const total& t : all)
        list.push_back({{"frames", t.frames},
                        {"kind", name_of(t.kind)},
                        {"accesses", t.sum.accesses},
                        {"wavefronts", t.sum.wavefronts},
                        {"ideal", t.sum.ideal},
                        {"sectors", t.sum.sectors}});
    return list;
}

}  // namespace

std::string result_json(const std::string& library, int code, const std::string& message, double seconds,
                        size_t most_findings) {
    const machine& sim = the();
    std::set<site> wanted;
    for (const finding& f : sim.found.all())
        for (const finding_site& s : f.sites) wanted.insert(s.at);
    for (const auto& [key, c] : sim.counters) wanted.insert(key.first);
    const symbols names(sim.sites, wanted, library);
    json result;
    result["status"] = {{"code", code}, {"message", message}};
    result["launches"] = sim.launches_done;
    result["blocks"] = sim.blocks_done;
    result["lanes"] = sim.lanes_done;
    result["cycles"] = sim.cycles;
    result["seconds"] = seconds;
    result["findings"] = findings_json(names, most_findings);
    result["counters"] = counters_json(names);
    return result.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string trace_json(const std::string& library) {
    const machine& sim = the();
    std::set<site> wanted;
    for (const span& s : sim.trace.spans) wanted.insert(s.at);
    const symbols names(sim.sites, wanted, library);
    // Places are listed once, spans name them by number.
    std::map<site, size_t> numbers;
    json places = json::array();
    for (site at : wanted) {
        numbers[at] = places.size();
        places.push_back(frames_json(names.of(at)));
    }
    constexpr const char* tracks[] = {"warp", "loads", "stores", "tensor core"};
    json spans = json::array();
    for (const span& s : sim.trace.spans) {
        json entry = {{"track", tracks[size_t(s.kind)]},
                      {"launch", s.launch},
                      {"block", s.block},
                      {"number", s.number},
                      {"what", s.what},
                      {"begin", s.begin},
                      {"end", s.end},
                      {"place", numbers[s.at]}};
        if (s.bytes) entry["bytes"] = s.bytes;
        spans.push_back(std::move(entry));
    }
    return json{{"cycles", sim.cycles}, {"places", places}, {"spans", spans}}.dump(0, ' ', false,
                                                                                   json::error_handler_t::replace) +
           "\n";
}

bool write_file(const std::string& path, const std::string& text) {
    const std::string partial = path + ".partial";
    FILE* file = std::fopen(partial.c_str(), "wb");
    if (!file) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && written && std::rename(partial.c_str(), path.c_str()) == 0;
}

}  // namespace tk::sim
