// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/emit_launcher.h"
#include "compiler/codegen/mangle.h"
#include "compiler/codegen/quote.h"
#include "compiler/codegen/quotients.h"

namespace tkc::codegen {
namespace {

using symbolic::Scalar;

/// A name of the kernel hides those of conditions.
bool HasName(const ir::Kernel& kernel, std::string_view name) {
  const auto is_it = [&](const auto& param) { return param.name == name; };
  return std::find(kernel.dims.begin(), kernel.dims.end(), name) != kernel.dims.end() ||
         std::ranges::any_of(kernel.scalars, is_it) || std::ranges::any_of(kernel.tensors, is_it);
}

class ChoiceEmitter {
 public:
  ChoiceEmitter(const ir::Module& module, const ir::Entry& entry, const CostFunctions& costs, ScalarPrinter host, CodeWriter& out)
      : module_(module), entry_(entry), costs_(costs), host_(std::move(host)), out_(out) {
    for (const std::vector<int>& alternative : entry.alternatives) {
      const ir::Kernel& kernel = First(alternative);
      const Scalar room = RoomOf(kernel);
      const auto resolved = [&](const Scalar& scalar) {
        return scalar && !HasName(kernel, "room") ? symbolic::Substitute(scalar, "room", room) : scalar;
      };
      std::optional<ir::Cost> cost = kernel.cost;
      if (cost) {
        for (auto& [param, value] : cost->args) value = resolved(value);
      }
      terms_.push_back(resolved(kernel.when));
      terms_.push_back(cost && !cost->IsOfFunction() ? resolved(cost->value) : nullptr);
      offers_.push_back(std::move(cost));
    }
  }

  void Run() {
    const bool always = AlwaysChooses(module_, entry_);
    const size_t count = entry_.alternatives.size();
    bool has_costs = false;
    for (size_t i = 0; i < count; ++i) has_costs = has_costs || HasCost(i);
    out_.Comment(fmt::format("The number of the first schedule whose condition holds{}{}.",
                             has_costs ? "; of those that have a cost, the cheapest" : "", always ? "" : ", or -1"));
    out_.Open("int choose() const");
    Device();
    Alignment();
    EmitQuotients(terms_, host_, out_);
    bool is_reached = true;
    for (size_t i = 0; i < count && is_reached;) is_reached = HasCost(i) ? Competitors(i) : Alternative(i++);
    if (is_reached) out_.Line("return -1;");
    out_.Close();
    out_.Blank();
  }

 private:
  const ir::Kernel& First(const std::vector<int>& alternative) const { return FirstKernel(module_, alternative); }

  /// How many multiprocessors clusters of the kernel find room on: a constant of its own, unless each block is alone.
  Scalar RoomOf(const ir::Kernel& kernel) {
    if (kernel.cluster == 1) return symbolic::Name("sms");
    const std::string own = kernel.cluster == 2 ? "room_of_pairs" : "room_of_" + kernel.schedule;
    std::string name = own;
    for (int i = 2; HasName(kernel, name); ++i) name = fmt::format("{}_{}", own, i);
    host_.AddPositive(name);
    host_.AddBits(name, kIntBits);
    return symbolic::Name(name);
  }

  /// That of clusters of more than two the device is asked.
  void Rooms() {
    std::set<std::string> done;
    for (const std::vector<int>& alternative : entry_.alternatives) {
      const ir::Kernel& kernel = First(alternative);
      const std::string name = RoomOf(kernel)->name;
      if (kernel.cluster == 1 || !IsMentioned(name) || !done.insert(name).second) continue;
      const std::string shared = HasSharedMemory(kernel) ? fmt::format("sizeof({})", SharedStruct(kernel)) : "0";
      out_.Line(fmt::format("const tk::index {} = {};", Mangle(name),
                            kernel.cluster == 2 ? "call.processors() / 2 * 2"
                                                : fmt::format("call.room<{}, {}>({}, {})", KernelFunction(kernel), kernel.cluster,
                                                              kernel.threads, shared)));
    }
  }

  bool IsMentioned(const std::string& name) const {
    const auto mentions = [&](const Scalar& scalar) { return symbolic::Mentions(scalar, name); };
    return std::any_of(terms_.begin(), terms_.end(), mentions) ||
           std::any_of(offers_.begin(), offers_.end(), [&](const std::optional<ir::Cost>& cost) {
             return cost &&
                    std::any_of(cost->args.begin(), cost->args.end(), [&](const auto& arg) { return mentions(arg.second); });
           });
  }

  void Device() {
    if (IsMentioned("sms")) out_.Line("const tk::index sms = call.processors();");
    Rooms();
  }

  void Alignment() {
    const ir::Kernel& first = FirstKernel(module_, entry_);
    if (IsMentioned("aligned")) {
      std::vector<std::string> plain, structured, questions;
      for (const ir::TensorParam& tensor : first.tensors) {
        if (!tensor.is_work) (ir::StructureParts(tensor) > 1 ? structured : plain).push_back(Mangle(tensor.name));
      }
      if (!plain.empty()) questions.push_back(fmt::format("tk::host::rows_aligned({})", Join(plain)));
      if (!structured.empty()) questions.push_back(fmt::format("tk::host::structures_aligned({})", Join(structured)));
      out_.Line(fmt::format("const bool aligned = {};", Join(questions, " && ")));
    }
    if (IsMentioned("contiguous")) {
      std::vector<std::string> tensors;
      for (const ir::TensorParam& tensor : first.tensors) {
        if (!tensor.is_work) tensors.push_back(Mangle(tensor.name));
      }
      out_.Line(fmt::format("const bool contiguous = tk::host::contiguous({});", Join(tensors)));
    }
  }

  const Scalar& Condition(size_t i) const { return terms_[2 * i]; }
  bool HasCost(size_t i) const { return offers_[i].has_value(); }

  std::string NameOf(size_t i) const {
    const std::string& schedule = First(entry_.alternatives[i]).schedule;
    return schedule.empty() ? "the kernel's own" : EscapeComment(schedule);
  }

  /// `line`, with the schedule's name beside or above it.
  void Named(size_t i, const std::string& line) {
    constexpr size_t kIndent = 4;
    const std::string end = "  // " + NameOf(i);
    if (line.size() + end.size() + kIndent > CodeWriter::kColumns) {
      out_.Comment(NameOf(i));
      out_.Line(line);
    } else {
      out_.Line(line + end);
    }
  }

  /// Whether those behind it can be reached.
  bool Alternative(size_t i) {
    const std::string result = fmt::format("return {};", i);
    Named(i, Condition(i) ? fmt::format("if ({}) {}", host_.Text(Condition(i)), result) : result);
    return Condition(i) != nullptr;
  }

  std::string CostText(size_t i) const {
    return offers_[i]->IsOfFunction() ? costs_.Call(*offers_[i], host_) : host_.Text(terms_[2 * i + 1]);
  }

  /// The schedules with costs from `i` on, which is set to the one behind them. Whether that can be reached.
  bool Competitors(size_t& i) {
    const std::string name = fmt::format("offers{}", groups_ == 0 ? "" : fmt::format("_{}", groups_ + 1));
    ++groups_;
    bool always = false;
    out_.Line(fmt::format("tk::host::offers {};", name));
    for (; i < entry_.alternatives.size() && HasCost(i); ++i) {
      const std::string line = fmt::format("{}.add({}, {});", name, i, CostText(i));
      Named(i, Condition(i) ? fmt::format("if ({}) {}", host_.Text(Condition(i)), line) : line);
      always = always || !Condition(i);
    }
    out_.Line(always ? fmt::format("return {}.cheapest();", name) : fmt::format("if ({}.any()) return {}.cheapest();", name, name));
    return !always;
  }

  const ir::Module& module_;
  const ir::Entry& entry_;
  const CostFunctions& costs_;
  ScalarPrinter host_;
  CodeWriter& out_;
  std::vector<Scalar> terms_;  // of each alternative its condition and its cost; null where there is none, or a function gives it
  std::vector<std::optional<ir::Cost>> offers_;  // their costs, with what `room` is for each
  int groups_ = 0;                               // of schedules with costs
};

}  // namespace

bool AlwaysChooses(const ir::Module& module, const ir::Entry& entry) {
  return std::any_of(entry.alternatives.begin(), entry.alternatives.end(),
                     [&](const std::vector<int>& alternative) { return FirstKernel(module, alternative).when == nullptr; });
}

void EmitChoice(const ir::Module& module, const ir::Entry& entry, const CostFunctions& costs, ScalarPrinter host, CodeWriter& out) {
  ChoiceEmitter(module, entry, costs, std::move(host), out).Run();
}

}  // namespace tkc::codegen
