// SPDX-License-Identifier: MIT
#include "compiler/driver/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/driver/case_work.h"
#include "compiler/interp/evaluate.h"
#include "compiler/interp/interpret.h"
#include "compiler/interp/launch.h"
#include "compiler/support/random.h"

namespace tkc {
namespace {

using typed::ExprPtr;
using typed::Kernel;
using typed::ParamKind;

/// Work of one case, as the product of all extents in whole blocks: about what 384 x 256 x 256 is.
constexpr double kMostWork = 3 << 23;
/// Tiles of work of one case: a tile takes the simulator some hundredths of a second, however little there is in it.
constexpr double kMostTiles = 256;
/// CaseWork::products of one case: some seconds.
constexpr double kMostProducts = 1 << 28;
constexpr int64_t kLong = 8192;  // longer extents come where a condition asks for them, with less of the others
constexpr int64_t kSms[] = {132, 1, 2, 3, 4, 6, 8, 16, 33};
constexpr Placement kPlacements[] = {{0, 0, 1}, {8, 8, 1}, {1, 1, 1}, {0, 0, 1}, {3, 0, 1}, {0, 8, 1}, {0, 0, 2}, {16, 1, 1}};

template <typename List>
auto OneOf(const List& list, Random& random) {
  return std::data(list)[random.Below(static_cast<int64_t>(std::size(list)))];
}

void MentionedDims(const ExprPtr& expr, std::set<int>& dims) {
  if (!expr) return;
  if (expr->kind == typed::ExprKind::kDim) dims.insert(expr->id);
  for (const ExprPtr& arg : expr->args) MentionedDims(arg, dims);
}

/// What the kernels do with each dimension: blocks of which sizes, through pipes of how many slots; and the numbers that conditions
/// of schedule sets or of the launch compare it with.
struct DimUse {
  std::set<int64_t> grid_steps, loop_steps, slots, bounds;
};

class UseFinder {
 public:
  explicit UseFinder(size_t dims) : uses(dims) {}
  std::vector<DimUse> uses;

  void Visit(const Kernel& kernel) {
    Bounds(kernel.when);
    for (const typed::Section& section : kernel.sections) {
      for (const typed::GridAxis& axis : section.axes) Add(axis.hi, axis.step, &DimUse::grid_steps);
      for (const typed::Worker& worker : section.workers) Visit(worker.body);
      for (const typed::Pipe& pipe : section.pipes) {
        for (DimUse& use : uses) use.slots.insert(std::max<int64_t>(pipe.slots, 2));
      }
    }
  }
  /// What a launch must be, whichever set it takes.
  void VisitRequires(const Kernel& kernel) {
    for (const ExprPtr& required : kernel.requires_at_launch) Bounds(required);
  }

 private:
  void Visit(const typed::Block& block) {
    for (const typed::StmtPtr& stmt : block) {
      if (stmt->kind == typed::StmtKind::kFor) Add(stmt->hi, stmt->step, &DimUse::loop_steps);
      Visit(stmt->body);
      Visit(stmt->orelse);
    }
  }
  void Bounds(const ExprPtr& condition) {
    if (!condition) return;
    for (const ExprPtr& arg : condition->args) Bounds(arg);
    if (condition->kind != typed::ExprKind::kBinary) return;
    const typed::Expr &a = *condition->args[0], &b = *condition->args[1];
    if (a.kind == typed::ExprKind::kDim && b.kind == typed::ExprKind::kInt)
      uses[static_cast<size_t>(a.id)].bounds.insert(b.int_value);
    if (b.kind == typed::ExprKind::kDim && a.kind == typed::ExprKind::kInt)
      uses[static_cast<size_t>(b.id)].bounds.insert(a.int_value);
  }
  void Add(const ExprPtr& bound, int64_t step, std::set<int64_t> DimUse::* member) {
    std::set<int> dims;
    MentionedDims(bound, dims);
    for (const int dim : dims) (uses[static_cast<size_t>(dim)].*member).insert(step);
  }
};

void InsertAround(int64_t bound, std::set<int64_t>& extents) { extents.insert({bound - 1, bound, bound + 1, bound + 9}); }

/// Extents worth trying: small ones, primes, and the edges of blocks and of what fits into the pipes.
std::vector<int64_t> Extents(const DimUse& use) {
  std::set<int64_t> extents = {0, 1, 2, 3, 5, 7, 8, 13, 16, 31, 67, 127};
  for (const std::set<int64_t>* steps : {&use.grid_steps, &use.loop_steps}) {
    for (const int64_t step : *steps) {
      for (const int64_t e : {step - 1, step, step + 1, step + 8, 2 * step, 2 * step - 1, 2 * step + 1, 3 * step + 5, 3 * step}) {
        extents.insert(e);
      }
    }
  }
  for (const int64_t step : use.loop_steps) {
    for (const int64_t slots : use.slots) {
      for (const int64_t e : {slots * step - 1, slots * step, slots * step + 1, (slots + 1) * step, (2 * slots + 3) * step}) {
        extents.insert(e);
      }
    }
  }
  constexpr int64_t kLongest = 2048, kShared = 6000;  // loops; those that many blocks may share
  std::erase_if(extents, [](int64_t e) { return e > kLongest; });
  for (const int64_t step : use.loop_steps) {
    for (const int64_t length : {kLongest, kShared}) extents.insert({length / step * step, length - 3});
  }
  for (const int64_t bound : use.bounds) {
    if (bound <= kLong) InsertAround(bound, extents);
  }
  return {extents.lower_bound(0), extents.end()};
}

/// Extents that a set's own condition asks for: around its bounds, and some multiples of what may be a divisor.
std::vector<int64_t> AskedExtents(const std::set<int64_t>& bounds) {
  std::set<int64_t> extents;
  for (const int64_t bound : bounds) {
    InsertAround(bound, extents);
    if (bound <= 1024) extents.insert({2 * bound, 3 * bound});
  }
  return {extents.lower_bound(0), extents.end()};
}

std::vector<std::string> ScalarValues(DType dtype) {
  if (dtype == DType::kBool) return {"true", "false"};
  if (IsFloat(dtype)) return {"0.5", "1", "-2", "0"};
  return Info(dtype).is_signed ? std::vector<std::string>{"1", "3", "0", "-1"} : std::vector<std::string>{"1", "3", "0"};
}

std::optional<double> Literal(const typed::Expr& expr) {
  if (expr.kind == typed::ExprKind::kInt) return static_cast<double>(expr.int_value);
  if (expr.kind == typed::ExprKind::kFloat) return expr.float_value;
  return expr.kind == typed::ExprKind::kConvert ? Literal(*expr.args[0]) : std::nullopt;
}

/// The numbers that a condition compares the launch scalar `id` with.
void BoundsOfScalar(const typed::Expr& condition, int id, std::set<double>& bounds) {
  for (const ExprPtr& arg : condition.args) BoundsOfScalar(*arg, id, bounds);
  if (condition.kind != typed::ExprKind::kBinary) return;
  for (const size_t side : {0, 1}) {
    const typed::Expr* scalar = condition.args[side].get();
    while (scalar->kind == typed::ExprKind::kConvert) scalar = scalar->args[0].get();
    const std::optional<double> bound = Literal(*condition.args[1 - side]);
    if (scalar->kind == typed::ExprKind::kParam && scalar->id == id && bound) bounds.insert(*bound);
  }
}

/// Values of the launch scalar `id` worth trying: a few, and those around what is required of it or chosen by.
std::vector<std::string> ScalarValues(const typed::Entry& entry, size_t id) {
  const DType dtype = entry.kernels.front().params[id].dtype;
  std::vector<std::string> values = ScalarValues(dtype);
  if (dtype == DType::kBool) return values;
  std::set<double> bounds;
  for (const Kernel& kernel : entry.kernels) {
    if (kernel.when) BoundsOfScalar(*kernel.when, static_cast<int>(id), bounds);
    for (const ExprPtr& required : kernel.requires_at_launch) BoundsOfScalar(*required, static_cast<int>(id), bounds);
  }
  for (const double bound : bounds) {
    for (const double value : {bound - 1, bound, bound + 1}) {
      const bool fits = IsFloat(dtype) || (std::abs(value) < 0x1p31 && (value >= 0 || Info(dtype).is_signed));
      const std::string text = IsFloat(dtype) ? fmt::format("{}", value)
                               : fits         ? fmt::format("{}", static_cast<int64_t>(value))
                                              : "";
      if (fits && std::find(values.begin(), values.end(), text) == values.end()) values.push_back(text);
    }
  }
  return values;
}

std::string DimsText(const Kernel& kernel, const CheckCase& c) {
  std::string text;
  for (size_t i = 0; i < c.dims.size(); ++i) text += fmt::format("{}{}={}", i ? "," : "", kernel.dims[i].name, c.dims[i]);
  return text;
}

interp::Value ScalarValue(const std::string& text, DType dtype) {
  if (dtype == DType::kBool) return interp::Value::Bool(text == "true");
  if (IsFloat(dtype)) return interp::Value::Real(dtype, std::stod(text));
  return interp::Value::Integer(dtype, std::stoll(text));
}

interp::Launch LaunchOf(const Kernel& kernel, const CheckCase& c) {
  interp::Launch launch;
  launch.kernel = &kernel;
  launch.dims = c.dims;
  launch.sms = c.sms;
  launch.scalars.resize(kernel.params.size());
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (kernel.params[i].kind == ParamKind::kScalar) launch.scalars[i] = ScalarValue(c.scalars[i], kernel.params[i].dtype);
  }
  return launch;
}

/// No tensor has an extent below zero: of those made of launch scalars, or less than a dimension, no `require` says so.
bool HasExtents(const interp::Launch& launch, interp::Faults& faults) {
  const std::vector<interp::Value> vars = interp::InitialVars(launch);
  interp::Evaluator evaluator(launch, vars, faults);
  const std::vector<typed::Param>& params = launch.kernel->params;
  return std::all_of(params.begin(), params.end(), [&](const typed::Param& param) {
    return std::all_of(param.extents.begin(), param.extents.end(),
                       [&](const ExprPtr& extent) { return evaluator.Integer(*extent) >= 0; });
  });
}

/// Gives each dimension that a `require` equates with something else that number, as nobody would draw it.
void Solve(const Kernel& kernel, CheckCase& c) {
  const auto solve = [&](const typed::Expr& condition, const auto& self) -> void {
    if (condition.kind != typed::ExprKind::kBinary) return;
    if (condition.op == typed::Op::kAnd) {
      for (const ExprPtr& part : condition.args) self(*part, self);
    }
    if (condition.op != typed::Op::kEq) return;
    const bool is_left = condition.args[0]->kind == typed::ExprKind::kDim;
    const typed::Expr &dim = *condition.args[is_left ? 0 : 1], &value = *condition.args[is_left ? 1 : 0];
    if (dim.kind != typed::ExprKind::kDim) return;
    Diagnostics ignored;
    interp::Faults faults(ignored);
    const interp::Launch launch = LaunchOf(kernel, c);
    const std::vector<interp::Value> vars = interp::InitialVars(launch);
    const int64_t number = interp::Evaluator(launch, vars, faults).Integer(value);
    if (!faults.failed() && number >= 0) c.dims[static_cast<size_t>(dim.id)] = number;
  };
  for (const ExprPtr& required : kernel.requires_at_launch) solve(*required, solve);
}

/// Whether the simulator gets through the set that the case has chosen.
bool IsSmall(const typed::Entry& entry, const CheckCase& c) {
  return std::all_of(entry.kernels.begin(), entry.kernels.end(), [&](const Kernel& kernel) {
    if (kernel.schedule != c.schedule) return true;
    const CaseWork work = WorkOf(LaunchOf(kernel, c));
    return work.tiles <= kMostTiles && work.products <= kMostProducts;
  });
}

/// Draws cases; `wanted` is the schedule set whose turn it is.
class Maker {
 public:
  Maker(const typed::Entry& entry, uint64_t seed) : entry_(entry), kernel_(entry.kernels.front()), random_(seed) {
    UseFinder finder(kernel_.dims.size());
    for (const Kernel& kernel : entry.kernels) {
      finder.Visit(kernel);
      finder.VisitRequires(kernel);
      UseFinder of_set(kernel.dims.size());
      of_set.Visit(kernel);
      steps_[kernel.schedule];  // also where there is no dimension
      for (const DimUse& use : of_set.uses) {
        asked_[kernel.schedule].push_back(AskedExtents(use.bounds));
        steps_[kernel.schedule].push_back(LargestStep(use));
      }
    }
    for (const DimUse& use : finder.uses) extents_.push_back(Extents(use));
    for (size_t i = 0; i < kernel_.params.size(); ++i)
      scalars_.push_back(kernel_.params[i].kind == ParamKind::kScalar ? ScalarValues(entry, i) : std::vector<std::string>());
    for (const DimUse& use : finder.uses) blocks_.push_back(std::max<int64_t>(LargestStep(use), 3));
  }

  std::vector<CheckCase> Run(int count) {
    // First of all one block of everything; then dimensions empty in turn, of few cases a third: nothing is compared there.
    const auto dims = static_cast<int64_t>(kernel_.dims.size());
    Corner(dims);
    const int64_t first = dims == 0 ? 0 : random_.Below(dims);
    for (int64_t i = 0; i < std::min<int64_t>(dims, count / 3); ++i) Corner((first + i) % dims);
    // Of some sets one case in thousands is: a size that two conditions leave, on a device of two multiprocessors. A set that can't
    // be reached twice in so many tries won't be in more.
    constexpr int kMany = 20000, kFew = 20;
    std::map<std::string, int> misses;
    for (int turn = 0; static_cast<int>(cases_.size()) < count && turn < 4 * count + 16; ++turn) {
      const std::string& wanted = entry_.kernels[static_cast<size_t>(turn) % entry_.kernels.size()].schedule;
      const int tries = misses[wanted] > 1 ? kFew : kMany;
      if (!Draw(wanted, tries)) ++misses[wanted];
    }
    return std::move(cases_);
  }

 private:
  static int64_t LargestStep(const DimUse& use) {
    int64_t block = 1;
    for (const std::set<int64_t>* steps : {&use.grid_steps, &use.loop_steps}) {
      if (!steps->empty()) block = std::max(block, *steps->rbegin());
    }
    return block;
  }

  /// Of the set that the case has chosen.
  double Work(const CheckCase& c) const {
    const std::vector<int64_t>& steps = steps_.at(c.schedule);
    double work = 1;
    for (size_t i = 0; i < c.dims.size(); ++i) {
      const int64_t whole = (c.dims[i] + steps[i] - 1) / steps[i] * steps[i];
      work *= static_cast<double>(std::max<int64_t>(whole, 1));
    }
    return work;
  }

  /// `most`: where no extent is long.
  static double MostWork(const CheckCase& c, double most) {
    const bool is_long = std::any_of(c.dims.begin(), c.dims.end(), [](int64_t extent) { return extent > kLong; });
    return is_long ? most / 4 : most;
  }

  /// One block of everything, but nothing of dimension `empty`, if there is one of that number.
  void Corner(int64_t empty) {
    CheckCase c = Fresh();
    c.dims = blocks_;
    if (empty < std::ssize(c.dims)) c.dims[static_cast<size_t>(empty)] = 0;
    Solve(kernel_, c);
    for (size_t i = 0; Choose(entry_, c) && Work(c) > kMostWork && i < c.dims.size(); ++i)
      c.dims[i] = std::min<int64_t>(c.dims[i], 8);
    if (Choose(entry_, c)) Keep(c);
  }

  bool Draw(const std::string& wanted, int tries) {
    CheckCase other;
    bool has_other = false;
    for (int i = 0; i < tries; ++i) {
      CheckCase c = Fresh();
      const std::vector<std::vector<int64_t>>& asked = asked_[wanted];
      for (size_t dim = 0; dim < extents_.size(); ++dim)
        c.dims.push_back(OneOf(asked[dim].empty() || random_.Below(3) == 0 ? extents_[dim] : asked[dim], random_));
      Solve(kernel_, c);
      c.sms = OneOf(kSms, random_);
      c.placement = OneOf(kPlacements, random_);
      // What finds nothing small may be a set for which nothing small is.
      const double most = i < tries / 2 ? kMostWork : 4 * kMostWork;
      if (!Choose(entry_, c) || Work(c) > MostWork(c, most) || !IsSmall(entry_, c)) continue;
      if (c.schedule == wanted) {
        Keep(c);
        return true;
      }
      other = c;
      has_other = true;
    }
    if (has_other) Keep(other);
    return false;
  }

  CheckCase Fresh() {
    CheckCase c;
    for (const std::vector<std::string>& values : scalars_)
      c.scalars.push_back(values.empty() ? std::string() : OneOf(values, random_));
    return c;
  }

  void Keep(const CheckCase& c) {
    if (std::find(cases_.begin(), cases_.end(), c) == cases_.end()) cases_.push_back(c);
  }

  const typed::Entry& entry_;
  const Kernel& kernel_;
  Random random_;
  std::vector<std::vector<int64_t>> extents_;
  std::vector<std::vector<std::string>> scalars_;                   // of each parameter, none for tensors
  std::map<std::string, std::vector<std::vector<int64_t>>> asked_;  // by set, of each dimension what its condition asks for
  std::map<std::string, std::vector<int64_t>> steps_;               // by set, of each dimension the largest block
  std::vector<int64_t> blocks_;                                     // of each dimension an extent of one block
  std::vector<CheckCase> cases_;
};

}  // namespace

interp::RunOptions RunOptionsOf(const typed::Entry& entry, const CheckCase& c) {
  const Kernel& kernel = entry.kernels.front();
  interp::RunOptions options;
  options.kernel = entry.name;
  for (size_t i = 0; i < c.dims.size(); ++i) options.dims.emplace_back(kernel.dims[i].name, fmt::format("{}", c.dims[i]));
  for (size_t i = 0; i < c.scalars.size(); ++i) {
    if (!c.scalars[i].empty()) options.scalars.emplace_back(kernel.params[i].name, c.scalars[i]);
  }
  options.seed = c.seed;
  options.fill = c.fill;
  options.sms = c.sms;
  return options;
}

std::string CommandOptions(const typed::Entry& entry, const CheckCase& c) {
  const Kernel& kernel = entry.kernels.front();
  std::string text;
  if (!c.dims.empty()) text += " --dims " + DimsText(kernel, c);
  for (size_t i = 0; i < c.scalars.size(); ++i) {
    if (!c.scalars[i].empty()) text += fmt::format(" --scalar {}={}", kernel.params[i].name, c.scalars[i]);
  }
  text += fmt::format(" --seed {}", c.seed);
  text += c.fill == interp::FillKind::kSmall ? " --fill small" : c.fill == interp::FillKind::kIntegers ? " --fill integers" : "";
  if (c.sms != CheckCase{}.sms) text += fmt::format(" --sms {}", c.sms);
  if (!c.placement.is_dense()) text += " --place " + ToString(c.placement);
  return text;
}

bool Choose(const typed::Entry& entry, CheckCase& c) {
  Diagnostics ignored;
  interp::Faults faults(ignored);
  const auto launch_of = [&](const Kernel& kernel) {
    interp::Launch launch = LaunchOf(kernel, c);
    interp::CheckRequirements(launch, faults);
    if (!faults.failed()) interp::LearnPlacement(launch, c.placement, faults);
    return launch;
  };
  const Kernel* chosen = interp::Choose(entry, launch_of, faults);
  if (chosen == nullptr || !HasExtents(launch_of(*chosen), faults) || faults.failed()) return false;
  c.schedule = chosen->schedule;
  return true;
}

std::vector<CheckCase> MakeCases(const typed::Entry& entry, int count, uint64_t seed) { return Maker(entry, seed).Run(count); }

}  // namespace tkc
