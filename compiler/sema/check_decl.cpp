// SPDX-License-Identifier: MIT
// The head of a kernel: compile-time parameters, tensors, dimensions, requirements, `work` tensors.
#include <fmt/format.h>

#include <utility>

#include "compiler/sema/elaborator.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Type;

namespace {

void CheckRank(const ast::Name& tensor, const ast::TypeExpr& type, Diagnostics& diagnostics) {
  constexpr size_t kMostExtents = 8;  // TK_MAX_RANK of the interface
  if (type.dims.empty()) {
    diagnostics.Error(DiagnosticKind::kTypeMismatch, type.span, fmt::format("tensor `{}` has no extent", tensor.text));
  } else if (type.dims.size() > kMostExtents) {
    diagnostics
        .Error(DiagnosticKind::kTypeMismatch, type.span,
               fmt::format("tensor `{}` has {} extents; a tensor has at most {}", tensor.text, type.dims.size(), kMostExtents))
        .Help("let axes that lie one behind the other be one axis");
  }
}

void CheckLaunchScalar(const ast::Param& param, std::optional<DType> dtype, Diagnostics& diagnostics) {
  if (dtype && Bytes(*dtype) < 4 && *dtype != DType::kBool) {
    diagnostics
        .Error(DiagnosticKind::kTypeMismatch, param.type->span,
               fmt::format("a launch scalar is no `{}`, but `f32`, `bool`, or an integer of 32 or 64 bits", Name(*dtype)))
        .Help(IsInteger(*dtype)
                  ? "pass it as `i32`"
                  : fmt::format("pass it as `f32`; where the kernel is to round it, `{}({})` does", Name(*dtype), param.name.text));
  }
  if (param.mode == ast::ParamMode::kIn && !param.preset) return;
  if (param.mode == ast::ParamMode::kIn) {
    diagnostics
        .Error(DiagnosticKind::kTypeMismatch, param.span, fmt::format("the launch scalar `{}` has no default", param.name.text))
        .Help("leave the value out: who launches the kernel passes one, and may have a default for it",
              Edit{{param.span.file, param.type->span.end, param.span.end}, ""});
    return;
  }
  diagnostics
      .Error(DiagnosticKind::kTypeMismatch, param.span,
             fmt::format("the number `{}` is neither written nor preset", param.name.text))
      .Help("a tensor of one element is `f32[1]`");
}

bool IsOfStaticParams(const ast::TypeExpr& type) {
  const std::optional<DType> dtype = DTypeFromName(type.name.text);
  return type.dims.empty() && dtype && !IsFloat(*dtype);
}

/// What the name stands for in the kernel: integers have no width there.
Value LaunchScalar(const ast::Param& param, int id, DType dtype) {
  ExprPtr scalar = MakeNode(ExprKind::kParam, typed::Op::kNone, Type::Scalar(typed::ScalarDType(dtype)), {}, param.name.span);
  scalar->id = id;
  scalar->level = Level::kGrid;
  return ExprValue(std::move(scalar), param.name.span);
}

/// What of it a launcher can't compute; null if it can.
const typed::Expr* NotOfLaunch(const typed::Expr& expr) {
  return typed::FindIn(expr, [](const typed::Expr& node) {
    const bool is_function = node.kind == ExprKind::kCall && node.op != typed::Op::kMin && node.op != typed::Op::kMax &&
                             node.op != typed::Op::kCdiv && node.op != typed::Op::kAbs;
    return is_function || node.type.is_tile || node.kind == ExprKind::kElement || node.kind == ExprKind::kReduce;
  });
}

}  // namespace

typed::Kernel Elaborator::Run() {
  const ast::KernelDecl& source = *variant_.kernel;
  kernel_.name = source.name.text;
  kernel_.span = source.head_span;
  if (variant_.schedule != nullptr) {
    kernel_.schedule = variant_.schedule->name.text;
    kernel_.schedule_span = variant_.schedule->span;
  }
  kernel_scope_.Open();
  BindStaticParams();
  DeclareParams();
  CheckRequires();
  no_receive_ = "outside a worker";
  CheckStmts(source.lets);
  no_receive_ = nullptr;
  ElaborateChoice();
  if (choice_ == Choice::kNever) return std::move(kernel_);
  for (const ast::GridSection& grid : source.grids) {
    ElaborateSection(grid);
    handed_on_.EndSection(kernel_, diagnostics_);
  }
  if (!diagnostics_.HasErrors()) handed_on_.WarnOfUnwritten(kernel_, diagnostics_);
  FitSchedules();
  kernel_scope_.Close();
  return std::move(kernel_);
}

/// The expression that gives a compile-time parameter its value: -D, the instance, the schedule set, the default.
const ast::Expr* Elaborator::StaticParamSource(const ast::StaticParam& param) {
  for (const Define& define : context_.options->defines) {
    if (define.name == param.name.text) return define.value.get();
  }
  if (variant_.instance != nullptr) {
    for (const ast::Binding& binding : variant_.instance->bindings) {
      if (binding.name.text == param.name.text) return binding.value.get();
    }
  }
  if (variant_.schedule != nullptr) {
    if (const ast::ScheduleItem* item = ast::FindItem(*variant_.schedule, ast::ScheduleItem::Kind::kParam, param.name.text))
      return item->value.get();
  }
  return param.default_value.get();
}

/// Whether a parameter is a `bool`, by its type or a default that is written as a value; nothing if neither says so.
static std::optional<bool> WantsBool(const ast::StaticParam& param) {
  if (param.type != nullptr) return param.type->name.text == "bool";
  if (param.default_value == nullptr) return std::nullopt;
  if (param.default_value->kind == ast::ExprKind::kBool) return true;
  return param.default_value->kind == ast::ExprKind::kInt ? std::optional(false) : std::nullopt;
}

void Elaborator::BindStaticParams() {
  const ast::KernelDecl& source = *variant_.kernel;
  for (const ast::StaticParam& param : source.static_params) {
    const ast::Expr* written = StaticParamSource(param);
    Symbol symbol;
    if (param.type != nullptr && !IsOfStaticParams(*param.type)) {
      diagnostics_
          .Error(DiagnosticKind::kTypeMismatch, param.type->span,
                 fmt::format("the compile-time parameter `{}` is an integer or a `bool`", param.name.text))
          .Help("integers need no type here; a number with a fraction is a launch scalar, behind the tensors: `s: f32`");
    } else if (written == nullptr) {
      diagnostics_
          .Error(DiagnosticKind::kMissingParameter, param.name.span,
                 fmt::format("`{}` of kernel `{}` has no value", param.name.text, source.name.text))
          .Label(param.name.span, "has no default")
          .Help(fmt::format("write `instance {}<{} = ..>` in the file, a default here, or `-D {}=..` on the command line",
                            source.name.text, param.name.text, param.name.text));
    } else {
      Value value = Eval(*written);
      if (const auto number = ConstantOf(value, fmt::format("`{}`", param.name.text))) {
        const bool is_bool = value.expr->type.dtype == DType::kBool;
        const bool wants_bool = WantsBool(param).value_or(is_bool);
        if (wants_bool != is_bool) {
          diagnostics_
              .Error(DiagnosticKind::kTypeMismatch, written->span,
                     fmt::format("`{}` is {}{}", param.name.text, wants_bool ? "a `bool`" : "an integer",
                                 param.type == nullptr ? ", as its default is" : ""))
              .Note(param.span, "declared here");
        }
        symbol.value =
            ExprValue(wants_bool ? MakeBool(*number != 0, param.name.span) : MakeInt(*number, param.name.span), param.name.span);
        kernel_.bindings.push_back({param.name.text, *number, wants_bool});
      }
    }
    DeclareFixed(param.name, std::move(symbol), "compile-time parameter");
  }
}

void Elaborator::DeclareFixed(const ast::Name& name, Symbol symbol, std::string_view what) {
  symbol.can_be_hidden = false;
  symbol.what = what;
  symbol.span = name.span;
  if (const Symbol* old = scope_->Find(name.text)) {
    diagnostics_
        .Error(DiagnosticKind::kDuplicateName, name.span, fmt::format("{} `{}` has the name of something else", what, name.text))
        .Label(name.span, "declared again")
        .Note(old->span, fmt::format("`{}` is declared here", name.text));
    return;
  }
  scope_->Declare(name.text, std::move(symbol));
}

/// Names in an extent that nobody has declared are dimensions.
void Elaborator::DeclareDims(const ast::Expr& extent) {
  switch (extent.kind) {
    case ast::ExprKind::kName: {
      const auto& name = ast::Cast<ast::NameExpr>(extent);
      if (scope_->Find(name.name) != nullptr) return;
      const int id = static_cast<int>(kernel_.dims.size());
      kernel_.dims.push_back({name.name, name.span});
      ExprPtr dim = MakeNode(ExprKind::kDim, typed::Op::kNone, Type::Scalar(DType::kI64), {}, name.span);
      dim->id = id;
      dim->level = Level::kGrid;
      Symbol symbol;
      symbol.value = ExprValue(std::move(dim), name.span);
      DeclareFixed({name.name, name.span}, std::move(symbol), "dimension");
      return;
    }
    case ast::ExprKind::kUnary: return DeclareDims(*ast::Cast<ast::UnaryExpr>(extent).operand);
    case ast::ExprKind::kBinary:
      DeclareDims(*ast::Cast<ast::BinaryExpr>(extent).left);
      return DeclareDims(*ast::Cast<ast::BinaryExpr>(extent).right);
    case ast::ExprKind::kCall:
      for (const ast::ExprPtr& argument : ast::Cast<ast::CallExpr>(extent).arguments) DeclareDims(*argument);
      return;
    default: return;
  }
}

void Elaborator::DeclareParams() {
  const std::vector<ast::Param>& params = variant_.kernel->params;
  // Scalars first: an extent may name one.
  for (const ast::Param& param : params) DeclareParam(param);
  for (const ast::Param& param : params) {
    for (const ast::ExprPtr& extent : param.type->dims) DeclareDims(*extent);
  }
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].IsTensor()) DeclareTensor(params[i], kernel_.params[i]);
  }
  for (const ast::WorkDecl& work : variant_.kernel->works) DeclareWork(work);
  CheckDims();
}

/// The name and its element type; what a tensor has beside, DeclareTensor adds.
void Elaborator::DeclareParam(const ast::Param& param) {
  typed::Param typed_param;
  typed_param.name = param.name.text;
  typed_param.span = param.span;
  const std::optional<DType> dtype = ElementType(*param.type);
  typed_param.dtype = dtype.value_or(DType::kF32);
  typed_param.kind = param.IsTensor() ? typed::ParamKind::kTensor : typed::ParamKind::kScalar;
  Symbol symbol;
  symbol.kind = param.IsTensor() ? SymbolKind::kTensor : SymbolKind::kValue;
  symbol.id = static_cast<int>(kernel_.params.size());
  if (!param.IsTensor()) {
    CheckLaunchScalar(param, dtype, diagnostics_);
    if (dtype) symbol.value = LaunchScalar(param, symbol.id, *dtype);
  }
  kernel_.params.push_back(std::move(typed_param));
  DeclareFixed(param.name, std::move(symbol), param.IsTensor() ? "tensor" : "parameter");
}

bool Elaborator::IsOfLaunch(const typed::Expr& expr, std::string_view what) {
  const typed::Expr* part = NotOfLaunch(expr);
  if (part == nullptr) return true;
  diagnostics_.Error(DiagnosticKind::kNotConstant, part->span, fmt::format("{} is computed before the kernel runs", what))
      .Label(part->span, part->kind == ExprKind::kCall ? "a function that only the GPU has" : "known to the GPU only")
      .Help("pass the number as a launch scalar: `n: i32`");
  return false;
}

ExprPtr Elaborator::Extent(const ast::Expr& extent) {
  ExprPtr value = IntegerScalar(Eval(extent), "the extent of a tensor");
  if (!value || !IsOfLaunch(*value, "the extent of a tensor")) return nullptr;
  if (const auto known = NumberOf(*value); known && (*known < 0 || *known > typed::kLargestExtent)) {
    diagnostics_.Error(DiagnosticKind::kBadIndex, extent.span,
                       fmt::format("an extent of {}; a tensor has 0 to {} elements along an axis", *known, typed::kLargestExtent));
    return nullptr;
  }
  return value;
}

/// Extents, mode and preset.
void Elaborator::DeclareTensor(const ast::Param& param, typed::Param& tensor) {
  for (const ast::ExprPtr& extent : param.type->dims) {
    ExprPtr value = Extent(*extent);
    tensor.extents.push_back(value ? std::move(value) : MakeInt(1, extent->span));
  }
  CheckRank(param.name, *param.type, diagnostics_);
  tensor.mode = param.mode == ast::ParamMode::kOut     ? typed::TensorMode::kOut
                : param.mode == ast::ParamMode::kInOut ? typed::TensorMode::kInOut
                                                       : typed::TensorMode::kIn;
  if (!param.preset || !SetPreset(*param.preset, tensor) || param.mode == ast::ParamMode::kOut) return;
  diagnostics_
      .Error(DiagnosticKind::kTypeMismatch, param.preset->span, fmt::format("`{}` is not `out` and has a preset", param.name.text))
      .Note(param.span, "declared here")
      .Help("leave the preset out: the tensor holds what the caller has there");
}

/// A launch must be able to tell what each dimension is.
void Elaborator::CheckDims() {
  std::vector<bool> bound(kernel_.dims.size(), false);
  for (const typed::Param& param : kernel_.params) {
    for (const ExprPtr& extent : param.extents) {
      if (extent->kind == ExprKind::kDim && param.kind == typed::ParamKind::kTensor) bound[extent->id] = true;
    }
  }
  for (size_t i = 0; i < bound.size(); ++i) {
    if (bound[i]) continue;
    const typed::Dim& dim = kernel_.dims[i];
    diagnostics_
        .Error(DiagnosticKind::kUnboundDimension, dim.span, fmt::format("dimension `{}` is nowhere an extent by itself", dim.name))
        .Label(dim.span, "a launch can't tell what it is")
        .Help(fmt::format("give some tensor the extent `{}` alone, or make `{}` a launch scalar: `{}: i32`", dim.name, dim.name,
                          dim.name));
  }
}

void Elaborator::CheckRequires() {
  for (const ast::ExprPtr& condition : variant_.kernel->requires_) {
    Value value = Eval(*condition);
    if (value.IsError()) continue;
    if (!value.IsScalar() || value.expr->type.dtype != DType::kBool) {
      diagnostics_.Error(DiagnosticKind::kTypeMismatch, condition->span, "a requirement is a `bool`")
          .Label(condition->span, fmt::format("is {}", Describe(value)));
      continue;
    }
    const std::optional<int64_t> known = NumberOf(*value.expr);
    if (!known && !IsOfLaunch(*value.expr, "a requirement")) continue;
    if (!known) {
      value.expr->span = condition->span;
      kernel_.requires_at_launch.push_back(std::move(value.expr));
    } else if (*known == 0) {
      std::string values;
      for (const typed::StaticValue& each : kernel_.bindings)
        values += fmt::format("{}`{}` is {}", values.empty() ? "" : ", ", each.name, each.Text());
      DiagnosticBuilder report =
          diagnostics_.Error(DiagnosticKind::kRequirementFails, condition->span,
                             fmt::format("kernel `{}` requires what does not hold", variant_.kernel->name.text));
      report.Label(condition->span, "is false");
      if (!values.empty()) report.Note(values);
    }
  }
  // `require native` holds: every element type that can be multiplied is native on every target that is implemented.
}

/// False if it is no number known at compile time; that has been reported.
bool Elaborator::SetPreset(const ast::Expr& preset, typed::Param& param) {
  ExprPtr number = Coerce(Eval(preset), Type::Scalar(param.dtype), true, fmt::format("the preset of `{}`", param.name), kNoSpan);
  if (!number) return false;
  // A literal that becomes an unsigned integer is still one.
  const bool is_converted = number->kind == ExprKind::kConvert && !IsFloat(param.dtype) && number->args[0]->kind == ExprKind::kInt;
  if (is_converted) number = std::move(number->args[0]);
  if (number->kind != ExprKind::kInt && number->kind != ExprKind::kFloat && number->kind != ExprKind::kBool) {
    diagnostics_.Error(DiagnosticKind::kNotConstant, preset.span, "a preset is a number known at compile time");
    return false;
  }
  param.has_preset = true;
  if (number->kind == ExprKind::kFloat)
    param.preset = number->float_value;
  else if (IsFloat(param.dtype))
    param.preset = static_cast<double>(number->int_value);
  else
    param.integer_preset = number->int_value;
  return true;
}

void Elaborator::DeclareWork(const ast::WorkDecl& work) {
  typed::Param param;
  param.name = work.name.text;
  param.kind = typed::ParamKind::kWork;
  param.span = work.span;
  param.mode = typed::TensorMode::kOut;
  param.dtype = ElementType(*work.type).value_or(DType::kF32);
  CheckRank(work.name, *work.type, diagnostics_);
  for (const ast::ExprPtr& extent : work.type->dims) {
    if (const auto* name = ast::DynCast<ast::NameExpr>(*extent); name != nullptr && name->name == "blocks") {
      GateFeature(extent->span, "the number of blocks as an extent");
      param.extents.push_back(MakeInt(1, extent->span));
      continue;
    }
    ExprPtr value = Extent(*extent);
    param.extents.push_back(value ? std::move(value) : MakeInt(1, extent->span));
  }
  if (work.preset) SetPreset(*work.preset, param);
  Symbol symbol;
  symbol.kind = SymbolKind::kTensor;
  symbol.id = static_cast<int>(kernel_.params.size());
  kernel_.params.push_back(std::move(param));
  DeclareFixed(work.name, std::move(symbol), "work tensor");
}

}  // namespace tkc::sema
