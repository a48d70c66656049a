// SPDX-License-Identifier: MIT
#include "compiler/driver/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/interp/interpret.h"
#include "compiler/interp/run.h"
#include "compiler/support/number.h"

namespace tkc {
namespace {

using interp::Tensor;
using typed::Expr;
using typed::ExprKind;
using typed::Op;

}  // namespace

bool IsApproximate(const Expr& expr) {
  if (!IsFloat(expr.type.dtype)) return false;
  if (expr.kind == ExprKind::kBinary) return expr.op == Op::kDiv;
  if (expr.kind != ExprKind::kCall && expr.kind != ExprKind::kUnary) return false;
  switch (expr.op) {
    case Op::kExp:
    case Op::kExp2:
    case Op::kLog:
    case Op::kLog2:
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kTanh:
    case Op::kErf:
    case Op::kSigmoid:
    case Op::kPow:
    case Op::kSin:
    case Op::kCos: return true;
    default: return false;
  }
}

namespace {

class Visitor {
 public:
  Arithmetic result;

  void Visit(const typed::ExprPtr& expr) {
    if (!expr) return;
    if (IsApproximate(*expr)) ++result.functions;
    const bool narrows_to_8 = expr->kind == ExprKind::kConvert && IsNarrowFloat(expr->type.dtype) &&
                              expr->args[0]->type.dtype == DType::kF32 && Bytes(expr->type.dtype) == 1;
    result.narrows_to_8 |= narrows_to_8;
    for (const typed::ExprPtr& arg : expr->args) Visit(arg);
    for (const typed::AxisRange& axis : expr->axes) {
      Visit(axis.start);
      Visit(axis.lo);
      Visit(axis.hi);
    }
  }

  void Visit(const typed::Block& block) {
    for (const typed::StmtPtr& stmt : block) {
      for (const typed::ExprPtr* expr : {&stmt->expr, &stmt->lo, &stmt->hi}) Visit(*expr);
      for (const typed::ExprPtr& value : stmt->values) Visit(value);
      result.flushes |= stmt->kind == typed::StmtKind::kStore && stmt->store_op == typed::StoreOp::kAdd;
      Visit(stmt->body);
      Visit(stmt->orelse);
    }
  }
};

/// How often what a kernel stores was rounded to fewer bits on the way there, at most; what loops that run on the GPU carry along
/// counts as one iteration leaves it.
class Roundings {
 public:
  explicit Roundings(const typed::Kernel& kernel) : vars_(kernel.vars.size()), read_(kernel.params.size()), stored_(read_) {
    for (const typed::Section& section : kernel.sections) {
      pipes_.assign(section.pipes.size(), 0);
      Visit(section.lets);
      // Who sends may stand behind who receives.
      for (size_t i = 0; i <= section.workers.size(); ++i) {
        for (const typed::Worker& worker : section.workers) Visit(worker.body);
      }
      read_ = stored_;  // what a section stores, later ones read
    }
  }

  int Most() const { return most_; }

 private:
  int Of(const Expr& expr) {
    int depth = expr.kind == ExprKind::kVar ? vars_[static_cast<size_t>(expr.id)] : 0;
    if (expr.kind == ExprKind::kRead || expr.kind == ExprKind::kGather) depth = read_[static_cast<size_t>(expr.id)];
    for (const typed::ExprPtr& arg : expr.args) depth = arg ? std::max(depth, Of(*arg)) : depth;
    const bool narrows =
        expr.kind == ExprKind::kConvert && IsNarrowFloat(expr.type.dtype) && expr.args[0]->type.dtype == DType::kF32;
    most_ = std::max(most_, depth + narrows);
    return depth + narrows;
  }

  /// As far as they are known; more would not be told from these.
  static int64_t Iterations(const typed::Stmt& stmt) {
    constexpr int64_t kMost = 64;
    const bool is_known = stmt.kind == typed::StmtKind::kFor && stmt.lo->kind == ExprKind::kInt && stmt.hi->kind == ExprKind::kInt;
    return is_known ? std::clamp((stmt.hi->int_value - stmt.lo->int_value) / stmt.step, int64_t{1}, kMost) : 1;
  }

  void Visit(const typed::Block& block) {
    for (const typed::StmtPtr& stmt : block) {
      --left_;
      const int depth = stmt->expr ? Of(*stmt->expr) : 0;
      const auto raise = [&](int& place, int to) { place = std::max(place, to); };
      switch (stmt->kind) {
        case typed::StmtKind::kLet:
        case typed::StmtKind::kAssign: vars_[static_cast<size_t>(stmt->var)] = depth; break;
        case typed::StmtKind::kAssignPart: raise(vars_[static_cast<size_t>(stmt->var)], depth); break;
        case typed::StmtKind::kStore: raise(stored_[static_cast<size_t>(stmt->tensor)], depth); break;
        case typed::StmtKind::kReceive:
          for (const typed::VarId var : stmt->received) vars_[static_cast<size_t>(var)] = pipes_[static_cast<size_t>(stmt->pipe)];
          break;
        case typed::StmtKind::kSend:
          for (const typed::ExprPtr& value : stmt->values) raise(pipes_[static_cast<size_t>(stmt->pipe)], Of(*value));
          break;
        default: break;
      }
      for (int64_t i = 0; i < Iterations(*stmt) && (i == 0 || left_ > 0); ++i) Visit(stmt->body);
      Visit(stmt->orelse);
    }
  }

  std::vector<int> vars_, read_, stored_, pipes_;
  int most_ = 0;
  int64_t left_ = 100'000;  // statements: loops in loops are not walked to their end
};

double Unit(DType dtype) {
  switch (dtype) {
    case DType::kBF16: return 0x1p-7;
    case DType::kF16: return 0x1p-10;
    case DType::kE4M3: return 0x1p-3;
    case DType::kE5M2: return 0x1p-2;
    default: return 0x1p-23;
  }
}

/// The distance of subnormal numbers.
double SmallestStep(DType dtype) {
  switch (dtype) {
    case DType::kF16: return 0x1p-24;
    case DType::kE4M3: return 0x1p-9;
    case DType::kE5M2: return 0x1p-16;
    default: return 0;  // below what f32 tells apart
  }
}

/// Results that are by so much smaller than what they follow from are what roundings have left.
constexpr double kCancelled = 0x1p-20;

double LargestFinite(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  return largest;
}

/// How far element `i` of a tensor may be off what is wanted.
double Allowed(const Tolerance& tolerance, const std::string& tensor, DType dtype, size_t i, double want) {
  if (tolerance.exact || !std::isfinite(want)) return 0;
  const auto made = tolerance.integers.find(tensor);
  if (!IsFloat(dtype) && (made == tolerance.integers.end() || made->second != MadeOfFloats::kConverted)) return 0;
  const double of_float = std::max(Unit(dtype) * std::abs(want), SmallestStep(dtype)) +
                          tolerance.of_magnitude * tolerance.magnitudes.at(tensor)[i] + tolerance.flushed;
  return IsFloat(dtype) ? of_float : std::floor(of_float + 1);
}

/// Why integers that are right may differ: what `tensor` is made of; empty if that is no reason.
std::string NoteOfIntegers(const Tolerance& tolerance, const std::string& tensor) {
  const auto made = tolerance.integers.find(tensor);
  if (tolerance.exact || made == tolerance.integers.end()) return {};
  if (made->second == MadeOfFloats::kConverted)
    return fmt::format("`{}` is an integer made of a float that is not exact: a step at a tie is allowed, see se-11", tensor);
  return fmt::format(
      "`{}` is computed from integers or comparisons of floats that are not exact, see se-11: where such a float lies at a "
      "tie, a step shows here as any number and is no fault",
      tensor);
}

/// By how much elements differ; of integers of 64 bits the numbers as doubles would not tell.
std::vector<double> Distances(const Tensor& a, const Tensor& b) {
  std::vector<double> distances = a.ToReals();
  if (!IsFloat(a.dtype)) {
    const std::vector<int64_t> x = a.ToIntegers(), y = b.ToIntegers();
    for (size_t i = 0; i < x.size(); ++i)
      distances[i] = std::abs(static_cast<double>(IntegerValue(a.dtype, x[i]) - IntegerValue(b.dtype, y[i])));
    return distances;
  }
  const std::vector<double> others = b.ToReals();
  for (size_t i = 0; i < distances.size(); ++i) {
    const bool is_same = distances[i] == others[i] || (std::isnan(distances[i]) && std::isnan(others[i]));
    distances[i] = is_same ? 0 : std::abs(distances[i] - others[i]);
  }
  return distances;
}

/// `want` is what the reference computed, `measures` what it told. Runs it once more.
Tolerance ToleranceFor(const typed::Entry& entry, const Arithmetic& arithmetic, const interp::Arguments& before,
                       const interp::Arguments& want, const interp::Measures& measures) {
  constexpr double kFewTerms = 16;  // what is no chain of sums
  Tolerance tolerance;
  tolerance.integers = arithmetic.integers;
  const typed::Kernel& kernel = entry.kernels.front();
  const double terms = kFewTerms + measures.terms;
  tolerance.of_magnitude = terms * 0x1p-24;
  if (arithmetic.functions > 0) tolerance.of_magnitude = 4 * (tolerance.of_magnitude + arithmetic.functions * 0x1p-20);
  if (arithmetic.flushes) tolerance.flushed = terms * 0x1p-126;
  tolerance.of_magnitude += arithmetic.narrows * (arithmetic.narrows_to_8 ? 0x1p-3 : 0x1p-8);
  interp::Arguments absolute = before;
  for (auto& [name, tensor] : absolute.tensors) {
    if (!IsFloat(tensor.dtype)) continue;
    std::vector<double> values = tensor.ToReals();
    for (double& value : values) value = std::abs(value);
    tensor.FromReals(values);
  }
  Diagnostics ignored;
  const interp::Signs signs = arithmetic.functions > 0 ? interp::Signs::kKept : interp::Signs::kDropped;
  interp::Measures of_magnitudes;
  of_magnitudes.is_exact = measures.is_exact;
  const bool ran = static_cast<bool>(interp::Interpret(entry, absolute, ignored, signs, &of_magnitudes));
  double made_of = of_magnitudes.largest_work;  // the largest of what results follow from: what sections hand on, and what is read
  for (const typed::Param& param : kernel.params) {
    const bool is_read = param.kind == typed::ParamKind::kTensor && IsFloat(param.dtype) && param.mode != typed::TensorMode::kOut;
    if (is_read) made_of = std::max(made_of, LargestFinite(before.tensors.at(param.name).ToReals()));
  }
  tolerance.exact = ran && of_magnitudes.is_exact;
  for (const typed::Param& param : kernel.params) {
    if (!interp::IsOutput(param)) continue;
    std::vector<double> sums = want.tensors.at(param.name).ToReals();
    const std::vector<double> others = ran ? absolute.tensors.at(param.name).ToReals() : sums;
    // Where absolute values overflow, and with functions, they bound nothing: an element's terms may be as large as the largest
    // result. And where all results are below one rounding of what they follow from, it has cancelled.
    const double largest_result = LargestFinite(sums);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = std::max(std::abs(sums[i]), std::isfinite(others[i]) ? std::abs(others[i]) : largest_result);
    double largest = LargestFinite(sums);
    if (largest < made_of * kCancelled) largest = made_of;
    if (arithmetic.functions > 0) std::fill(sums.begin(), sums.end(), largest);
    tolerance.magnitudes[param.name] = std::move(sums);
  }
  return tolerance;
}

}  // namespace

Arithmetic ArithmeticOf(const typed::Kernel& kernel) {
  Visitor visitor;
  visitor.result.integers = IntegersMadeOfFloats(kernel);
  visitor.result.narrows = Roundings(kernel).Most();
  for (const typed::Section& section : kernel.sections) {
    visitor.Visit(section.lets);
    for (const typed::Worker& worker : section.workers) visitor.Visit(worker.body);
    for (const typed::Pipe& pipe : section.pipes) {
      for (const typed::PipeField& field : pipe.fields) {
        if (IsNarrowFloat(field.dtype)) visitor.result.narrows = std::max(visitor.result.narrows, 1);
      }
    }
  }
  visitor.result.flushes |= visitor.result.functions > 0;
  return visitor.result;
}

std::string ToString(const Difference& d, const std::string& other) {
  return fmt::format("{}[{}] is {}, {} gives {}{} ({} of {} elements differ{})", d.tensor, fmt::join(d.index, ", "), d.got, other,
                     d.want, d.allowed > 0 ? fmt::format(", {:.3g} apart are allowed", d.allowed) : "", d.count, d.of,
                     d.allowed > 0 ? " by more" : "");
}

Failure ReportDifference(const typed::Entry& entry, const Difference& difference, std::string_view who, Diagnostics& diagnostics) {
  const std::string text = ToString(difference, "the reference interpreter");
  DiagnosticBuilder report = diagnostics.Error(DiagnosticKind::kResultsDiffer, entry.kernels.front().span,
                                               who.empty() ? text : fmt::format("{}: {}", who, text));
  return difference.note.empty() ? report : report.Note(difference.note);
}

std::optional<Difference> Compare(const std::map<std::string, Tensor>& got, const interp::Arguments& want,
                                  const Tolerance& tolerance, const interp::Arguments* flushed) {
  for (const auto& [name, tensor] : got) {
    const std::vector<double> theirs = want.tensors.at(name).ToReals();
    const std::vector<double> distances = Distances(tensor, want.tensors.at(name));
    const std::vector<double> others = flushed ? flushed->tensors.at(name).ToReals() : theirs;
    const std::vector<double> from_others = flushed ? Distances(tensor, flushed->tensors.at(name)) : distances;
    Difference found{name, {}, {}, {}, 0, 0, tensor.size()};
    double worst = -1;
    int64_t place = 0;
    for (size_t i = 0; i < theirs.size(); ++i) {
      const double off = distances[i], allowed = Allowed(tolerance, name, tensor.dtype, i, theirs[i]);
      if (off <= allowed) continue;  // false for NaN
      if (flushed && from_others[i] <= Allowed(tolerance, name, tensor.dtype, i, others[i])) continue;
      ++found.count;
      const double excess = std::isnan(off) ? std::numeric_limits<double>::infinity() : off - allowed;
      if (excess <= worst) continue;
      worst = excess;
      place = static_cast<int64_t>(i);
      found.allowed = allowed;
    }
    if (found.count == 0) continue;
    found.index = tensor.IndexOf(place);
    found.got = tensor.ElementText(place);
    found.want = want.tensors.at(name).ElementText(place);
    found.note = NoteOfIntegers(tolerance, name);
    return found;
  }
  return std::nullopt;
}

std::pair<std::string, double> LargestError(const std::map<std::string, Tensor>& got, const interp::Arguments& want) {
  std::pair<std::string, double> largest{"", 0};
  for (const auto& [name, tensor] : got) {
    for (const double off : Distances(tensor, want.tensors.at(name))) {
      if (off > largest.second) largest = {name, off};
    }
  }
  return largest;
}

Result<Expected> Expect(const typed::Entry& entry, const Arithmetic& arithmetic, const interp::Arguments& before, bool integers,
                        Diagnostics& diagnostics) {
  interp::Arguments want = before;
  interp::Measures measures;
  measures.is_exact = integers && arithmetic.functions == 0;
  if (!interp::Interpret(entry, want, diagnostics, interp::Signs::kKept, &measures)) return Failure{};
  Tolerance tolerance = ToleranceFor(entry, arithmetic, before, want, measures);
  return Expected{&entry, arithmetic.flushes, before, std::move(want), std::move(tolerance)};
}

std::optional<Difference> Compare(const std::map<std::string, Tensor>& got, const Expected& expected) {
  std::optional<Difference> difference = Compare(got, expected.want, expected.tolerance);
  if (!difference || !expected.flushes) return difference;
  interp::Arguments flushed = expected.before;
  Diagnostics ignored;
  const bool ran = static_cast<bool>(
      interp::Interpret(*expected.entry, flushed, ignored, interp::Signs::kKept, nullptr, interp::Subnormals::kZero));
  return ran ? Compare(got, expected.want, expected.tolerance, &flushed) : difference;
}

}  // namespace tkc
