// SPDX-License-Identifier: MIT
#include "compiler/ir/parse.h"

#include <fmt/format.h>

#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_words.h"
#include "compiler/ir/parse_op.h"

namespace tkc::ir {
namespace {

using symbolic::TextLexer;
using symbolic::Token;
using symbolic::TokenKind;

class KernelParser {
 public:
  KernelParser(TextLexer& lexer, Kernel& kernel) : lexer_(lexer), kernel_(kernel), text_(lexer, kernel) {}

  bool Parse() {
    if (!text_.Name(&kernel_.name) || !lexer_.Expect("{")) return false;
    while (!lexer_.Accept("}")) {
      if (!Item()) return false;
    }
    return true;
  }

 private:
  using Handler = bool (KernelParser::*)();
  struct Keyword {
    std::string_view word;
    Handler handler;
  };
  static const Keyword kKeywords[];

  bool Item();

  bool EntryName() { return text_.Name(&kernel_.entry); }
  bool ScheduleName() { return text_.Name(&kernel_.schedule); }
  bool TargetName() { return text_.Name(&kernel_.target); }
  bool Parameter() {
    typed::StaticValue& parameter = kernel_.bindings.emplace_back();
    if (!text_.Name(&parameter.name) || !lexer_.Expect("=")) return false;
    const bool is_true = lexer_.Accept("true");
    parameter.is_bool = is_true || lexer_.Accept("false");
    parameter.number = is_true ? 1 : 0;
    return parameter.is_bool || text_.Integer(&parameter.number);
  }
  bool Dim() { return text_.Name(&kernel_.dims.emplace_back()); }
  bool Tensor() { return TensorOf(false); }
  bool Work() { return TensorOf(true); }
  bool ScalarOf() {
    ScalarParam& scalar = kernel_.scalars.emplace_back();
    if (!text_.Name(&scalar.name) || !lexer_.Expect(":") || !ElementType(&scalar.dtype)) return false;
    text_.Declare(scalar.name, typed::ScalarDType(scalar.dtype));
    return true;
  }
  bool Require() { return text_.ScalarText(&kernel_.launch_requires.emplace_back()); }
  bool When() { return text_.ScalarText(&kernel_.when); }
  bool Cost() { return text_.ScalarText(&kernel_.cost.emplace().value); }
  bool CostBy() {
    ir::Cost& cost = kernel_.cost.emplace();
    if (!text_.Name(&cost.function) || !lexer_.Expect("(") || !NamedScalars(")", cost.args)) return false;
    if (lexer_.Accept("{") && !NamedScalars("}", cost.lets)) return false;
    return lexer_.Expect("=") && text_.ScalarText(&cost.value);
  }
  bool NamedScalars(std::string_view end, std::vector<std::pair<std::string, Scalar>>& named) {
    while (!lexer_.Accept(end)) {
      if (!named.empty() && !lexer_.Expect(",")) return false;
      auto& [name, value] = named.emplace_back();
      if (!text_.Name(&name) || !lexer_.Expect("=") || !text_.ScalarText(&value)) return false;
    }
    return true;
  }
  bool Lets() { return text_.Block(&kernel_.lets); }
  bool Persistent() { return kernel_.persistent = true; }
  bool Dynamic() {
    kernel_.dynamic = kernel_.persistent = true;
    const bool is_named = !lexer_.Peek().Is("}") && lexer_.Peek().kind != TokenKind::kEnd && IsFollowedBy("through");
    return !is_named || (text_.Name(&kernel_.drawn) && lexer_.Expect("through") && text_.Name(&kernel_.next_tile));
  }
  bool IsFollowedBy(std::string_view word) const {
    TextLexer ahead = lexer_;
    ahead.Next();
    return ahead.Peek().Is(word);
  }
  bool Uneven() { return kernel_.is_uneven = true; }
  bool Order() {
    int64_t order = 0;
    if (!text_.Words(kOrderWords, &order)) return false;
    kernel_.order = static_cast<typed::GridOrder>(order);
    return true;
  }
  bool Group() { return text_.Integer(&kernel_.group); }
  bool Cluster() { return text_.Integer(&kernel_.cluster); }
  bool ClusterOfColumns() { return kernel_.cluster_of_columns = true; }
  bool Split() { return text_.Integer(&kernel_.split); }
  bool Depth() { return text_.Integer(&kernel_.depth); }
  bool Level() { return kernel_.is_schedule = lexer_.Expect("schedule"); }
  bool Threads() { return Small(&kernel_.threads); }
  bool Resident() { return Small(&kernel_.resident); }
  bool LaunchRegisters() { return Small(&kernel_.launch_registers); }
  bool Tiles() { return text_.ScalarText(&kernel_.tiles); }
  bool SharedBytes() { return text_.Integer(&kernel_.shared_bytes); }
  bool Setup() { return text_.Block(&kernel_.setup); }
  bool Ending() { return text_.Block(&kernel_.ending); }
  bool Launch() {
    auto& [name, value] = kernel_.launch_lets.emplace_back();
    if (!text_.Name(&name) || !lexer_.Expect("=") || !text_.ScalarText(&value)) return false;
    text_.Declare(name, value->dtype);
    return true;
  }

  bool Small(int* value) {
    int64_t wide = 0;
    if (!text_.Integer(&wide)) return false;
    *value = static_cast<int>(wide);
    return true;
  }

  bool ElementType(DType* dtype) {
    const std::optional<DType> found = DTypeFromName(lexer_.Peek().text);
    if (!found) {
      lexer_.Error("an element type");
      return false;
    }
    *dtype = *found;
    lexer_.Next();
    return true;
  }

  bool TensorOf(bool is_work) {
    TensorParam& tensor = kernel_.tensors.emplace_back();
    tensor.is_work = is_work;
    int64_t mode = 0;
    if (!text_.Name(&tensor.name) || !lexer_.Expect(":") || !text_.Words(kModeWords, &mode) || !ElementType(&tensor.dtype))
      return false;
    tensor.mode = static_cast<typed::TensorMode>(mode);
    text_.Declare(tensor.name, tensor.dtype);
    if (!lexer_.Expect("[")) return false;
    if (!lexer_.Accept("]") && (!text_.ScalarList(&tensor.extents) || !lexer_.Expect("]"))) return false;
    if (!lexer_.Accept("preset")) return true;
    Scalar preset;
    if (!text_.ScalarText(&preset)) return false;
    tensor.has_preset = true;
    tensor.preset = preset->float_value;
    tensor.integer_preset = preset->int_value;
    if (preset->kind == (IsFloat(tensor.dtype) ? symbolic::Kind::kFloat : symbolic::Kind::kInt)) return true;
    lexer_.Error("a number of the tensor's type");
    return false;
  }

  bool GridAxisOf() {
    GridAxis& axis = kernel_.axes.emplace_back();
    if (!text_.Name(&axis.name) || !lexer_.Expect("=") || !text_.ScalarText(&axis.lo)) return false;
    if (!lexer_.Expect("to") || !text_.ScalarText(&axis.hi)) return false;
    axis.is_block = lexer_.Accept("by");
    return (axis.is_block || lexer_.Expect("step")) && text_.Integer(&axis.step);
  }

  bool PipeField(Pipe& pipe) {
    ir::PipeField& field = pipe.fields.emplace_back();
    TextLexer ahead = lexer_;
    ahead.Next();
    if (ahead.Peek().Is(":") && (!text_.Name(&field.name) || !lexer_.Expect(":"))) return false;
    return text_.Shape(&field.dtype, &field.rows, &field.cols);
  }

  bool PipeOf() {
    Pipe& pipe = kernel_.pipes.emplace_back();
    pipe.span = lexer_.Peek().span;
    if (!text_.Name(&pipe.name) || !lexer_.Expect("(")) return false;
    while (!lexer_.Accept(")")) {
      if (!pipe.fields.empty() && !lexer_.Expect(",")) return false;
      if (!PipeField(pipe)) return false;
    }
    return Option("slots", &pipe.slots) && Option("least", &pipe.least_slots) && Option("rings", &pipe.rings) &&
           (!lexer_.Accept("per") || text_.Name(&pipe.per_worker)) && (!lexer_.Accept("ring_of") || text_.Name(&pipe.ring_of)) &&
           (!lexer_.Accept("of") || text_.Name(&pipe.part_of)) && (!lexer_.Accept("fields_of") || text_.Name(&pipe.fields_of)) &&
           Option("senders", &pipe.senders) && Option("receivers", &pipe.receivers);
  }

  bool Option(std::string_view word, int64_t* value) { return !lexer_.Accept(word) || text_.Integer(value); }
  bool Option(std::string_view word, int* value) { return !lexer_.Accept(word) || Small(value); }

  /// `x4`: one word for the lexer. Left alone if what stands here is not of that form.
  bool Times(int64_t* count) {
    const Token token = lexer_.Peek();
    if (token.kind != TokenKind::kName || token.starts_line || token.text.size() < 2 || token.text[0] != 'x') return true;
    if (token.text.size() > 10 || token.text.find_first_not_of("0123456789", 1) != std::string_view::npos) return true;
    *count = std::stoll(std::string(token.text.substr(1)));
    lexer_.Next();
    return true;
  }

  bool Purpose(std::string* purpose) {
    return lexer_.Peek().kind != TokenKind::kString || lexer_.Peek().starts_line || text_.Name(purpose);
  }

  bool SwizzleOf(Swizzle* swizzle) {
    const symbolic::Token token = lexer_.Next();
    const std::optional<Swizzle> known = layout::SwizzleOf(token.text);
    if (!known) {
      lexer_.ErrorAt(token.span, fmt::format("swizzle `{}`; there are 0, 32, 64, 128 and t128", token.text));
      return false;
    }
    *swizzle = *known;
    return true;
  }

  bool SharedOf() {
    Buffer& buffer = kernel_.buffers.emplace_back();
    if (!text_.Name(&buffer.name) || !lexer_.Expect(":") || !text_.Shape(&buffer.dtype, &buffer.rows, &buffer.cols)) return false;
    if (!Times(&buffer.count) || !Option("instances", &buffer.instances)) return false;
    if (lexer_.Accept("swizzle") && !SwizzleOf(&buffer.swizzle)) return false;
    if (!Option("offset", &buffer.offset)) return false;
    buffer.is_scratch = lexer_.Accept("scratch");
    buffer.is_fragments = lexer_.Accept("fragments");
    buffer.shares_room = lexer_.Accept("shares_room");
    if (lexer_.Accept("stages") && !text_.Name(&buffer.stages)) return false;
    return Purpose(&buffer.purpose);
  }

  bool BarrierOf() {
    Barrier& barrier = kernel_.barriers.emplace_back();
    return text_.Name(&barrier.name) && Times(&barrier.count) && Option("instances", &barrier.instances) &&
           Option("arrivals", &barrier.arrivals) && Purpose(&barrier.purpose);
  }

  bool MapOf() {
    TensorMap& map = kernel_.maps.emplace_back();
    if (!text_.Name(&map.name) || !lexer_.Expect(":") || !text_.Name(&map.tensor) || !lexer_.Expect("box")) return false;
    text_.Declare(UsableFlag(map.name), DType::kBool);
    if (!lexer_.Expect("[")) return false;
    while (!lexer_.Accept("]")) {
      if (!map.box.empty() && !lexer_.Expect(",")) return false;
      if (!text_.Integer(&map.box.emplace_back())) return false;
    }
    if (lexer_.Accept("swizzle") && !SwizzleOf(&map.swizzle)) return false;
    map.is_store = lexer_.Accept("store");
    return true;
  }

  bool LayoutOf(RegisterLayout& layout) {
    if (!lexer_.Accept("layout")) return true;
    return lexer_.Expect("[") && Small(&layout.lanes) && lexer_.Expect(",") && Small(&layout.vec) && lexer_.Expect(",") &&
           Small(&layout.halves) && lexer_.Expect(",") && Small(&layout.lane_rows) && lexer_.Expect(",") &&
           Small(&layout.warp_rows) && LayoutOptions(layout) && lexer_.Expect("]");
  }

  /// `, 2, columns_first`, each if it is not the default.
  bool LayoutOptions(RegisterLayout& layout) {
    while (lexer_.Accept(",")) {
      if (lexer_.Accept("columns_first"))
        layout.columns_first = true;
      else if (!Small(&layout.warp_cols))
        return false;
    }
    return true;
  }

  bool FoldedOf(std::vector<std::string>& names) {
    if (!lexer_.Accept("with")) return true;
    do {
      if (!text_.Name(&names.emplace_back())) return false;
    } while (lexer_.Accept(","));
    return true;
  }

  bool WorkerOf() {
    Worker& worker = kernel_.workers.emplace_back();
    worker.span = lexer_.Peek().span;
    if (!text_.Name(&worker.name) || !Times(&worker.instances)) return false;
    if (lexer_.Accept("instance") && (!text_.Integer(&worker.number) || !lexer_.Expect("of") || !text_.Name(&worker.instance_of)))
      return false;
    if (lexer_.Accept("as") && !text_.Name(&worker.instance_name)) return false;
    worker.in_turn = lexer_.Accept("in_turn");
    worker.alternates = lexer_.Accept("alternates");
    worker.turned = lexer_.Accept("turned");
    while (lexer_.Accept("widened")) {
      int64_t columns = 0;
      if (!text_.Integer(&columns) || !lexer_.Expect("to") || !text_.Integer(&worker.widened[columns])) return false;
    }
    if (lexer_.Accept("spread") && !text_.Integer(&worker.spread)) return false;
    if (lexer_.Accept("role")) {
      int64_t role = 0;
      if (!text_.Words(kRoleWords, &role)) return false;
      worker.kind = static_cast<RoleKind>(role);
    }
    return Option("first_warp", &worker.first_warp) && Option("registers", &worker.registers) && LayoutOf(worker.layout) &&
           FoldedOf(worker.folded) && (!lexer_.Accept("warps_meet") || text_.Name(&worker.warps_meet)) &&
           (!lexer_.Accept("all_meet") || text_.Name(&worker.all_meet)) && text_.Block(&worker.body);
  }

  TextLexer& lexer_;
  Kernel& kernel_;
  TextParser text_;
};

const KernelParser::Keyword KernelParser::kKeywords[] = {
    {"entry", &KernelParser::EntryName},
    {"schedule", &KernelParser::ScheduleName},
    {"target", &KernelParser::TargetName},
    {"parameter", &KernelParser::Parameter},
    {"dim", &KernelParser::Dim},
    {"tensor", &KernelParser::Tensor},
    {"work", &KernelParser::Work},
    {"scalar", &KernelParser::ScalarOf},
    {"require", &KernelParser::Require},
    {"when", &KernelParser::When},
    {"cost", &KernelParser::Cost},
    {"cost_by", &KernelParser::CostBy},
    {"grid", &KernelParser::GridAxisOf},
    {"lets", &KernelParser::Lets},
    {"persistent", &KernelParser::Persistent},
    {"dynamic", &KernelParser::Dynamic},
    {"uneven", &KernelParser::Uneven},
    {"order", &KernelParser::Order},
    {"group", &KernelParser::Group},
    {"cluster", &KernelParser::Cluster},
    {"cluster_of_columns", &KernelParser::ClusterOfColumns},
    {"split", &KernelParser::Split},
    {"depth", &KernelParser::Depth},
    {"pipe", &KernelParser::PipeOf},
    {"level", &KernelParser::Level},
    {"threads", &KernelParser::Threads},
    {"resident", &KernelParser::Resident},
    {"launch_registers", &KernelParser::LaunchRegisters},
    {"launch", &KernelParser::Launch},
    {"tiles", &KernelParser::Tiles},
    {"shared", &KernelParser::SharedOf},
    {"barrier", &KernelParser::BarrierOf},
    {"map", &KernelParser::MapOf},
    {"shared_bytes", &KernelParser::SharedBytes},
    {"setup", &KernelParser::Setup},
    {"worker", &KernelParser::WorkerOf},
    {"ending", &KernelParser::Ending},
};

bool KernelParser::Item() {
  for (const Keyword& keyword : kKeywords) {
    if (lexer_.Accept(keyword.word)) return (this->*keyword.handler)();
  }
  lexer_.Error("a declaration of the kernel");
  return false;
}

/// `entry gemm = [0], [1, 2]`
bool ParseEntry(TextLexer& lexer, Entry& entry) {
  Kernel none;
  TextParser text(lexer, none);
  if (!text.Name(&entry.name) || !lexer.Expect("=")) return false;
  if (!lexer.Peek().Is("[")) return true;
  do {
    std::vector<int>& kernels = entry.alternatives.emplace_back();
    if (!lexer.Expect("[")) return false;
    while (!lexer.Accept("]")) {
      if (!kernels.empty() && !lexer.Expect(",")) return false;
      int64_t kernel = 0;
      if (!text.Integer(&kernel)) return false;
      kernels.push_back(static_cast<int>(kernel));
    }
  } while (lexer.Accept(","));
  return true;
}

}  // namespace

Result<Module> Parse(std::string_view text, uint32_t file, Diagnostics& diagnostics) {
  TextLexer lexer(text, file, diagnostics);
  Module module;
  while (lexer.Peek().kind != TokenKind::kEnd) {
    if (lexer.Accept("entry")) {
      if (!ParseEntry(lexer, module.entries.emplace_back())) return Failure{};
    } else if (lexer.Accept("kernel")) {
      if (!KernelParser(lexer, module.kernels.emplace_back()).Parse()) return Failure{};
    } else {
      lexer.Error("`kernel` or `entry`");
      return Failure{};
    }
  }
  const int count = static_cast<int>(module.kernels.size());
  for (const Entry& entry : module.entries) {
    for (const std::vector<int>& kernels : entry.alternatives) {
      for (const int kernel : kernels) {
        if (kernel >= 0 && kernel < count) continue;
        lexer.ErrorAt(kNoSpan, fmt::format("entry `{}` names kernel {}; the text has {}", entry.name, kernel, count));
        return Failure{};
      }
    }
  }
  return module;
}

}  // namespace tkc::ir
