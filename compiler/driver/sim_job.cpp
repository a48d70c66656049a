// SPDX-License-Identifier: MIT
#include "compiler/driver/sim_job.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tkc {
namespace {

using nlohmann::json;

json PathOrNull(const std::string& path) { return path.empty() ? json() : json(path); }

json TensorJson(const JobTensor& t) {
  return {{"name", t.name},
          {"dtype", AbiCode(t.dtype)},
          {"rank", t.extents.size()},
          {"extent", t.extents},
          {"stride", t.strides},
          {"bytes", t.bytes},
          {"offset", t.offset},
          {"align", 256},
          {"initial", PathOrNull(t.initial)},
          {"final", PathOrNull(t.final_image)},
          {"written", t.written}};
}

std::vector<Frame> Frames(const json& list) {
  std::vector<Frame> frames;
  for (const json& f : list) frames.push_back({f.value("file", ""), f.value("line", 0), f.value("function", "")});
  return frames;
}

/// Numbers and texts alike, as a text.
std::string TextOf(const json& object, const char* name) {
  if (!object.contains(name) || object[name].is_null()) return {};
  return object[name].is_string() ? object[name].get<std::string>() : object[name].dump();
}

Finding ReadFinding(const json& f) {
  Finding finding;
  finding.kind = f.value("kind", "");
  finding.text = f.value("text", "");
  finding.times = f.value("times", int64_t{1});
  finding.block = f.contains("block") && f["block"].is_number() ? f["block"].get<int64_t>() : -1;
  finding.lanes = TextOf(f, "lanes");
  finding.address = TextOf(f, "address");
  for (const json& s : f.value("sites", json::array())) {
    finding.sites.push_back({s.value("role", ""), Frames(s.value("frames", json::array()))});
  }
  return finding;
}

SimResult ReadResult(const json& r) {
  SimResult result;
  const json status = r.value("status", json::object());
  result.code = status.value("code", 0);
  result.message = status.value("message", "");
  result.blocks = r.value("blocks", int64_t{0});
  result.lanes = r.value("lanes", int64_t{0});
  result.cycles = static_cast<int64_t>(r.value("cycles", 0.0));
  result.seconds = r.value("seconds", 0.0);
  for (const json& f : r.value("findings", json::array())) result.findings.push_back(ReadFinding(f));
  for (const json& c : r.value("counters", json::array())) {
    const auto number = [&](const char* name) { return c.value(name, int64_t{0}); };
    result.counters.push_back({Frames(c.value("frames", json::array())), c.value("kind", ""), number("accesses"),
                               number("wavefronts"), number("ideal"), number("sectors")});
  }
  return result;
}

SimTrace ReadTrace(const json& t) {
  SimTrace trace;
  trace.cycles = static_cast<int64_t>(t.at("cycles").get<double>());
  for (const json& place : t.at("places")) trace.places.push_back(Frames(place));
  for (const json& s : t.at("spans")) {
    TraceSpan span{s.at("track"), s.value("launch", 0), s.at("block"), s.value("number", 0),        s.at("what"),
                   s.at("begin"), s.at("end"),          s.at("place"), s.value("bytes", int64_t{0})};
    if (span.place < trace.places.size()) trace.spans.push_back(std::move(span));
  }
  return trace;
}

/// `read` of the parsed text; nothing, and why, if it is not of that form.
template <typename T>
std::optional<T> ParseObject(const std::string& text, T (*read)(const json&), std::string& error) {
  try {
    const json parsed = json::parse(text);
    if (parsed.is_object()) return read(parsed);
    error = "it is no object";
  } catch (const json::exception& exception) {
    error = exception.what();
  }
  return std::nullopt;
}

}  // namespace

int AbiCode(DType dtype) {
  switch (dtype) {
    case DType::kBF16: return 0;
    case DType::kF16: return 1;
    case DType::kF32: return 2;
    case DType::kI32: return 3;
    case DType::kU32: return 4;
    case DType::kI64: return 5;
    case DType::kU64: return 6;
    case DType::kBool: return 7;
    case DType::kE4M3: return 8;
    case DType::kE5M2: return 9;
    case DType::kI8: return 10;
    case DType::kU8: return 11;
    case DType::kF64: return -1;
  }
  return -1;
}

std::string ToJson(const SimJob& job) {
  json tensors = json::array(), scalars = json::array(), order = json::array();
  for (const JobArgument& argument : job.arguments) {
    order.push_back(argument.tensor ? argument.tensor->name : argument.scalar->name);
    if (argument.tensor) {
      tensors.push_back(TensorJson(*argument.tensor));
    } else {
      const JobScalar& s = *argument.scalar;
      scalars.push_back({{"name", s.name}, {"dtype", AbiCode(s.dtype)}, {"bits", fmt::format("{:#x}", s.bits)}});
    }
  }
  const json text = {{"library", job.library},
                     {"entry", job.entry},
                     {"workspace_query", job.workspace_query},
                     {"seed", job.seed},
                     {"sms", job.sms},
                     {"shared_bytes", job.shared_bytes},
                     {"trace", PathOrNull(job.trace)},
                     {"max_findings", job.max_findings},
                     {"result", job.result},
                     {"arguments", order},
                     {"tensors", tensors},
                     {"scalars", scalars},
                     {"workspace", true}};
  return text.dump(1) + "\n";
}

std::optional<SimResult> ParseSimResult(const std::string& text, std::string& error) {
  return ParseObject(text, ReadResult, error);
}

std::optional<SimTrace> ParseSimTrace(const std::string& text, std::string& error) { return ParseObject(text, ReadTrace, error); }

}  // namespace tkc
