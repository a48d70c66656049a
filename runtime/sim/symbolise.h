// SPDX-License-Identifier: MIT
// From return addresses to functions, files and lines: one run of addr2line, which comes with every host compiler.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/sim/site.h"

namespace tk::sim {

struct code_frame {
    std::string file, function;
    int line = 0;
    bool operator==(const code_frame&) const = default;
};

class symbols {
public:
    /// Looks up all frames of `wanted`. `library` is the simulated program; frames of other modules are left out, and
    /// so are the engine's and the wrappers' own.
    symbols(const site_table& sites, const std::set<site>& wanted, const std::string& library);
    /// Innermost first, inlined functions too.
    const std::vector<code_frame>& of(site at) const;

private:
    std::unordered_map<site, std::vector<code_frame>> frames_;
};

}  // namespace tk::sim
