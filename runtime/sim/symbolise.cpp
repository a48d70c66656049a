// SPDX-License-Identifier: MIT
#include "runtime/sim/symbolise.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace tk::sim {

namespace {

std::string real_path(const char* path) {
    char resolved[PATH_MAX];
    return realpath(path, resolved) ? resolved : path;
}

/// The address in the file that `library` is, of the call before a return address; 0: elsewhere.
uint64_t file_address(void* return_address, const std::string& library) {
    Dl_info info{};
    void* call = static_cast<char*>(return_address) - 1;
    if (!dladdr(call, &info) || real_path(info.dli_fname) != library) return 0;
    return uint64_t(static_cast<char*>(call) - static_cast<char*>(info.dli_fbase));
}

/// "void tk::warpgroup::load<64, 128>(int)" -> "tk::warpgroup::load"
std::string short_name(const std::string& name) {
    std::string text;
    int depth = 0;
    for (size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if (c == '(' && name.compare(i, 21, "(anonymous namespace)") == 0) {
            i += 22;  // and the ::
            continue;
        }
        if (c == '<' && !text.ends_with("operator"))
            ++depth;
        else if (c == '>' && depth > 0)
            --depth;
        else if (depth > 0)
            continue;
        else if (c == '(') {
            const size_t lambda = name.find("::{lambda", i);
            if (lambda == std::string::npos) break;
            text += "::lambda";
            break;
        } else if (c == ' ')
            text.clear();  // what came before was the result's type
        else
            text += c;
    }
    return text;
}

bool is_engine(const std::string& file) {
    return file.find("/runtime/sim/") != std::string::npos || file.find("/tk/sim/") != std::string::npos ||
           file.find("/tk/host/") != std::string::npos || file[0] == '?';
}

/// As one word of a shell's command line.
std::string quoted_path(const std::string& path) {
    std::string text = "'";
    for (char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// addr2line -a -i -f -C: for each address a line "0x...", then pairs of function and file:line.
std::map<uint64_t, std::vector<code_frame>> look_up(const std::set<uint64_t>& addresses, const std::string& library) {
    std::map<uint64_t, std::vector<code_frame>> result;
    if (addresses.empty()) return result;
    const char* given = std::getenv("TMPDIR");
    std::string name = std::string(given && *given ? given : "/tmp") + "/tkc-sim-XXXXXX";
    const int file = mkstemp(name.data());
    if (file < 0) return result;
    FILE* list = fdopen(file, "w");
    for (uint64_t address : addresses) std::fprintf(list, "0x%llx\n", static_cast<unsigned long long>(address));
    std::fclose(list);
    const std::string command = "addr2line -a -i -f -C -e " + quoted_path(library) + " < " + quoted_path(name) + " 2>/dev/null";
    FILE* out = popen(command.c_str(), "r");
    if (!out) {
        unlink(name.c_str());
        return result;
    }
    char* line = nullptr;
    size_t capacity = 0;
    std::vector<code_frame>* frames = nullptr;
    std::string function;
    while (getline(&line, &capacity, out) > 0) {
        std::string text(line);
        while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
        if (text.starts_with("0x")) {
            frames = &result[std::strtoull(text.c_str(), nullptr, 16)];
            function.clear();
        } else if (function.empty()) {
            function = text;
        } else {
            if (const size_t note = text.find(" (discriminator"); note != std::string::npos) text.resize(note);
            const size_t colon = text.rfind(':');
            if (frames && colon != std::string::npos) {
                code_frame f{real_path(text.substr(0, colon).c_str()), short_name(function),
                             std::atoi(text.c_str() + colon + 1)};
                if (!is_engine(f.file)) frames->push_back(std::move(f));
            }
            function.clear();
        }
    }
    std::free(line);
    pclose(out);
    unlink(name.c_str());
    return result;
}

}  // namespace

symbols::symbols(const site_table& sites, const std::set<site>& wanted, const std::string& library) {
    const std::string path = real_path(library.c_str());
    std::unordered_map<void*, uint64_t> known;
    const auto address_of = [&](void* frame) {
        const auto [it, is_new] = known.try_emplace(frame, 0);
        if (is_new) it->second = file_address(frame, path);
        return it->second;
    };
    std::set<uint64_t> addresses;
    for (site at : wanted)
        for (void* frame : sites.frames(at))
            if (const uint64_t address = address_of(frame)) addresses.insert(address);
    const auto lines = look_up(addresses, path);
    for (site at : wanted) {
        std::vector<code_frame>& frames = frames_[at];
        for (void* frame : sites.frames(at)) {
            const auto it = lines.find(address_of(frame));
            if (it != lines.end()) frames.insert(frames.end(), it->second.begin(), it->second.end());
        }
    }
}

const std::vector<code_frame>& symbols::of(site at) const {
    static const std::vector<code_frame> none;
    const auto it = frames_.find(at);
    return it == frames_.end() ? none : it->second;
}

}  // namespace tk::sim
