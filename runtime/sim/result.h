// SPDX-License-Identifier: MIT
// What a run has to say, as JSON: README.md has the format.
#pragma once

#include <string>

namespace tk::sim {

/// Of the whole run so far. `library` is the simulated program.
std::string result_json(const std::string& library, int code, const std::string& message, double seconds,
                        size_t most_findings);
std::string trace_json(const std::string& library);
/// Writes a file whole or not at all.
bool write_file(const std::string& path, const std::string& text);

}  // namespace tk::sim
