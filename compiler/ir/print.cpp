// SPDX-License-Identifier: MIT
#include "compiler/ir/print.h"

#include <fmt/format.h>

#include <iterator>

#include "compiler/ir/op_words.h"
#include "compiler/ir/print_op.h"
#include "compiler/symbolic/text_lexer.h"

namespace tkc::ir {
namespace {

using symbolic::Quote;

/// Lines of one kernel. Fields at their default are left out.
class KernelPrinter {
 public:
  explicit KernelPrinter(const Kernel& kernel) : kernel_(kernel) {}

  std::string Text() {
    out_ = fmt::format("kernel {} {{\n", NameText(kernel_.name));
    Header();
    Parameters();
    Grid();
    for (const Pipe& pipe : kernel_.pipes) PrintPipe(pipe);
    Schedule();
    PrintFrame("setup", kernel_.setup);
    for (const Worker& worker : kernel_.workers) PrintWorker(worker);
    PrintFrame("ending", kernel_.ending);
    return out_ + "}\n";
  }

 private:
  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += "  ";
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void Number(std::string_view word, int64_t value, int64_t usual) {
    if (value != usual) Line("{} {}", word, value);
  }

  void Header() {
    if (!kernel_.entry.empty()) Line("entry {}", NameText(kernel_.entry));
    if (!kernel_.schedule.empty()) Line("schedule {}", NameText(kernel_.schedule));
    if (!kernel_.target.empty()) Line("target {}", NameText(kernel_.target));
    for (const typed::StaticValue& each : kernel_.bindings) Line("parameter {} = {}", NameText(each.name), each.Text());
  }

  void Parameters() {
    for (const std::string& dim : kernel_.dims) Line("dim {}", NameText(dim));
    for (const TensorParam& tensor : kernel_.tensors) PrintTensor(tensor);
    for (const ScalarParam& scalar : kernel_.scalars) Line("scalar {} : {}", NameText(scalar.name), Name(scalar.dtype));
    for (const Scalar& condition : kernel_.launch_requires) Line("require {}", symbolic::ToString(condition));
    if (kernel_.when) Line("when {}", symbolic::ToString(kernel_.when));
    if (kernel_.cost) PrintCost(*kernel_.cost);
  }

  void PrintCost(const Cost& cost) {
    const std::string value = symbolic::ToString(cost.value);
    if (!cost.IsOfFunction()) return Line("cost {}", value);
    const auto list = [](const std::vector<std::pair<std::string, Scalar>>& named) {
      std::string text;
      for (const auto& [name, scalar] : named)
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", NameText(name), symbolic::ToString(scalar));
      return text;
    };
    const std::string lets = cost.lets.empty() ? "" : fmt::format(" {{{}}}", list(cost.lets));
    Line("cost_by {}({}){} = {}", NameText(cost.function), list(cost.args), lets, value);
  }

  void PrintTensor(const TensorParam& tensor) {
    std::string extents;
    for (const Scalar& extent : tensor.extents) extents += (extents.empty() ? "" : ", ") + symbolic::ToString(extent);
    const Scalar number =
        IsFloat(tensor.dtype) ? symbolic::Float(tensor.preset, DType::kF64) : symbolic::Int(tensor.integer_preset);
    const std::string preset = tensor.has_preset ? " preset " + symbolic::ToString(number) : "";
    Line("{} {} : {} {}[{}]{}", tensor.is_work ? "work" : "tensor", NameText(tensor.name),
         kModeWords[static_cast<int>(tensor.mode)], Name(tensor.dtype), extents, preset);
  }

  void Grid() {
    for (const GridAxis& axis : kernel_.axes) {
      Line("grid {} = {} to {} {} {}", NameText(axis.name), symbolic::ToString(axis.lo), symbolic::ToString(axis.hi),
           axis.is_block ? "by" : "step", axis.step);
    }
    if (!kernel_.lets.empty()) {
      Line("lets {{");
      PrintRegion(kernel_, kernel_.lets, 4, out_);
      Line("}}");
    }
    if (kernel_.persistent) Line("persistent");
    if (kernel_.dynamic && kernel_.next_tile.empty()) Line("dynamic");
    if (kernel_.dynamic && !kernel_.next_tile.empty())
      Line("dynamic {} through {}", NameText(kernel_.drawn), NameText(kernel_.next_tile));
    if (kernel_.is_uneven) Line("uneven");
    if (kernel_.order != typed::GridOrder::kRows) Line("order {}", kOrderWords[static_cast<int>(kernel_.order)]);
    Number("group", kernel_.group, 8);
    Number("cluster", kernel_.cluster, 1);
    if (kernel_.cluster_of_columns) Line("cluster_of_columns");
    Number("split", kernel_.split, 1);
    Number("depth", kernel_.depth, 1);
  }

  void PrintPipe(const Pipe& pipe) {
    std::string fields;
    for (const PipeField& field : pipe.fields) {
      fields += fields.empty() ? "" : ", ";
      if (!field.name.empty()) fields += NameText(field.name) + ": ";
      fields += fmt::format("{}[{}, {}]", Name(field.dtype), field.rows, field.cols);
    }
    std::string line = fmt::format("pipe {} ({})", NameText(pipe.name), fields);
    if (pipe.slots != 0) line += fmt::format(" slots {}", pipe.slots);
    if (pipe.least_slots != 1) line += fmt::format(" least {}", pipe.least_slots);
    if (pipe.rings != 1) line += fmt::format(" rings {}", pipe.rings);
    if (!pipe.per_worker.empty()) line += " per " + NameText(pipe.per_worker);
    if (!pipe.ring_of.empty()) line += " ring_of " + NameText(pipe.ring_of);
    if (!pipe.part_of.empty()) line += " of " + NameText(pipe.part_of);
    if (!pipe.fields_of.empty()) line += " fields_of " + NameText(pipe.fields_of);
    if (pipe.senders != 0) line += fmt::format(" senders {}", pipe.senders);
    if (pipe.receivers != 0) line += fmt::format(" receivers {}", pipe.receivers);
    Line("{}", line);
  }

  void Schedule() {
    if (kernel_.is_schedule) Line("level schedule");
    Number("threads", kernel_.threads, 0);
    Number("resident", kernel_.resident, 0);
    Number("launch_registers", kernel_.launch_registers, 0);
    for (const auto& [name, value] : kernel_.launch_lets) Line("launch {} = {}", NameText(name), symbolic::ToString(value));
    if (kernel_.tiles) Line("tiles {}", symbolic::ToString(kernel_.tiles));
    for (const Buffer& buffer : kernel_.buffers) PrintBuffer(buffer);
    for (const Barrier& barrier : kernel_.barriers) {
      std::string line = "barrier " + NameText(barrier.name);
      if (barrier.count != 1) line += fmt::format(" x{}", barrier.count);
      if (barrier.instances != 1) line += fmt::format(" instances {}", barrier.instances);
      line += fmt::format(" arrivals {}", barrier.arrivals);
      Line("{}{}", line, Purpose(barrier.purpose));
    }
    for (const TensorMap& map : kernel_.maps) {
      Line("map {} : {} box [{}] swizzle {}{}", NameText(map.name), NameText(map.tensor), fmt::join(map.box, ", "),
           layout::Name(map.swizzle), map.is_store ? " store" : "");
    }
    Number("shared_bytes", kernel_.shared_bytes, 0);
  }

  static std::string Purpose(const std::string& purpose) { return purpose.empty() ? "" : " " + Quote(purpose); }

  void PrintBuffer(const Buffer& buffer) {
    std::string line = fmt::format("shared {} : {}[{}, {}]", NameText(buffer.name), Name(buffer.dtype), buffer.rows, buffer.cols);
    if (buffer.count != 1) line += fmt::format(" x{}", buffer.count);
    if (buffer.instances != 1) line += fmt::format(" instances {}", buffer.instances);
    if (buffer.swizzle != Swizzle::kNone) line += fmt::format(" swizzle {}", layout::Name(buffer.swizzle));
    line += fmt::format(" offset {}", buffer.offset);
    if (buffer.is_scratch) line += " scratch";
    if (buffer.is_fragments) line += " fragments";
    if (buffer.shares_room) line += " shares_room";
    if (!buffer.stages.empty()) line += " stages " + NameText(buffer.stages);
    Line("{}{}", line, Purpose(buffer.purpose));
  }

  void PrintWorker(const Worker& worker) {
    std::string line = "worker " + NameText(worker.name);
    if (worker.instances != 1) line += fmt::format(" x{}", worker.instances);
    if (!worker.instance_of.empty()) line += fmt::format(" instance {} of {}", worker.number, NameText(worker.instance_of));
    if (!worker.instance_name.empty()) line += " as " + NameText(worker.instance_name);
    if (worker.in_turn) line += " in_turn";
    if (worker.alternates) line += " alternates";
    if (worker.turned) line += " turned";
    for (const auto& [columns, held] : worker.widened) line += fmt::format(" widened {} to {}", columns, held);
    if (worker.spread != 1) line += fmt::format(" spread {}", worker.spread);
    if (worker.kind != RoleKind::kUnassigned) line += fmt::format(" role {}", kRoleWords[static_cast<int>(worker.kind)]);
    if (worker.first_warp != 0) line += fmt::format(" first_warp {}", worker.first_warp);
    if (worker.registers != 0) line += fmt::format(" registers {}", worker.registers);
    if (const RegisterLayout& layout = worker.layout; layout != layout::kMatrixFragment) {
      line += fmt::format(" layout [{}, {}, {}, {}, {}{}{}]", layout.lanes, layout.vec, layout.halves, layout.lane_rows,
                          layout.warp_rows, layout.warp_cols == 1 ? "" : fmt::format(", {}", layout.warp_cols),
                          layout.columns_first ? ", columns_first" : "");
    }
    for (size_t i = 0; i < worker.folded.size(); ++i) line += (i == 0 ? " with " : ", ") + NameText(worker.folded[i]);
    if (!worker.warps_meet.empty()) line += " warps_meet " + NameText(worker.warps_meet);
    if (!worker.all_meet.empty()) line += " all_meet " + NameText(worker.all_meet);
    Line("{} {{", line);
    PrintRegion(kernel_, worker.body, 4, out_);
    Line("}}");
  }

  void PrintFrame(std::string_view word, const Region& region) {
    if (region.empty()) return;
    Line("{} {{", word);
    PrintRegion(kernel_, region, 4, out_);
    Line("}}");
  }

  const Kernel& kernel_;
  std::string out_;
};

}  // namespace

std::string ToString(const Type& type) {
  constexpr std::string_view kSpaces[] = {"", "reg ", "smem ", "left ", "right ", "pieces "};
  return fmt::format("{}{}{}[{}, {}]", kSpaces[static_cast<size_t>(type.space)], type.transposed ? "transposed " : "",
                     Name(type.dtype), type.rows, type.cols);
}

std::string Print(const Kernel& kernel) { return KernelPrinter(kernel).Text(); }

std::string Print(const Module& module) {
  std::string out;
  for (const Entry& entry : module.entries) {
    std::string alternatives;
    for (const std::vector<int>& kernels : entry.alternatives) {
      alternatives += fmt::format("{}[{}]", alternatives.empty() ? "" : ", ", fmt::join(kernels, ", "));
    }
    out += fmt::format("entry {} = {}\n", NameText(entry.name), alternatives);
  }
  for (const Kernel& kernel : module.kernels) {
    if (!out.empty()) out += '\n';
    out += Print(kernel);
  }
  return out;
}

}  // namespace tkc::ir
