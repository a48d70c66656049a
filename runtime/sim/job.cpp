// SPDX-License-Identifier: MIT
#include "runtime/sim/job.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace tk::sim {

namespace {

std::optional<std::string> text_or_null(const nlohmann::json& object, const char* key) {
    const auto it = object.find(key);
    if (it == object.end() || it->is_null()) return std::nullopt;
    return it->get<std::string>();
}

job_tensor read_tensor(const nlohmann::json& object) {
    job_tensor t;
    t.name = object.at("name");
    t.dtype = object.at("dtype");
    t.extent = object.at("extent").get<std::vector<int64_t>>();
    t.stride = object.at("stride").get<std::vector<int64_t>>();
    t.bytes = object.at("bytes");
    t.offset = object.value("offset", int64_t(0));
    t.align = object.value("align", int64_t(256));
    t.initial = text_or_null(object, "initial");
    t.final = text_or_null(object, "final");
    t.written = object.value("written", true);
    return t;
}

/// A number, or its text: decimal or 0x.
uint64_t read_bits(const nlohmann::json& value) {
    if (value.is_string()) return std::stoull(value.get<std::string>(), nullptr, 0);
    return value.is_number_unsigned() ? value.get<uint64_t>() : uint64_t(value.get<int64_t>());
}

}  // namespace

std::optional<job> read_job(const std::string& path, std::string& error) {
    std::ifstream file(path);
    if (!file) {
        error = "can't open " + path;
        return std::nullopt;
    }
    try {
        const nlohmann::json object = nlohmann::json::parse(file);
        job j;
        j.library = object.at("library");
        j.entry = object.at("entry");
        j.result = object.at("result");
        j.seed = object.value("seed", uint64_t(1));
        j.sms = object.value("sms", 4);
        j.shared_bytes = object.value("shared_bytes", 0);
        j.most_findings = object.value("max_findings", size_t(20));
        j.workspace = object.value("workspace", true);
        j.trace = text_or_null(object, "trace");
        for (const auto& t : object.at("tensors")) j.tensors.push_back(read_tensor(t));
        if (object.contains("scalars"))
            for (const auto& s : object["scalars"])
                j.scalars.push_back({s.at("name"), s.at("dtype"), read_bits(s.at("bits"))});
        if (object.contains("arguments")) j.arguments = object["arguments"].get<std::vector<std::string>>();
        return j;
    } catch (const std::exception& e) {
        error = path + ": " + e.what();
        return std::nullopt;
    }
}

}  // namespace tk::sim
