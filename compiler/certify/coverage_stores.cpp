// SPDX-License-Identifier: MIT
// The rectangles that the agents of a block store, relative to its place in the grid and to the iteration of the loops around.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "compiler/certify/coverage.h"
#include "compiler/certify/coverage_clips.h"
#include "compiler/certify/coverage_rectangles.h"
#include "compiler/certify/coverage_sites.h"
#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_traits.h"
#include "compiler/support/internal_error.h"
#include "compiler/symbolic/evaluate.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;

/// By tensor, and by what the starts have in common.
using Sites = std::map<std::pair<std::string, std::string>, std::vector<Site>>;

class StoreWalk {
 public:
  /// `uses_engine`: on the launches where maps may be used, or on the others.
  StoreWalk(const Program& program, const Agent& agent, bool uses_engine, Sites& sites)
      : kernel_(*program.kernel), agent_(agent), uses_engine_(uses_engine), sites_(sites), scope_(program, agent) {
    scope_.KeepGridAxes(kernel_);
    for (const ir::GridAxis& axis : kernel_.axes) {
      const Range range{scope_.Resolve(axis.lo), scope_.Resolve(axis.hi), axis.step};
      ranges_.emplace(axis.name, range);
    }
  }

  std::optional<Finding> Run() {
    Walk(agent_.worker->body);
    return std::move(finding_);
  }

 private:
  void Walk(const Region& region) {
    behind_.emplace_back();
    for (size_t i = 0; i < region.size() && !finding_; ++i) {
      behind_.back() = std::span<const Op>(region).subspan(i + 1);
      Visit(region[i]);
    }
    behind_.pop_back();
  }

  void Fail(const Op& op, std::string headline) {
    if (!finding_) finding_ = Finding{DiagnosticKind::kCertificateCoverage, op.span, std::move(headline)};
  }

  void Visit(const Op& op) {
    switch (op.code) {
      case OpCode::kLet:
      case OpCode::kTest:
      case OpCode::kTilePosition: return scope_.BindOp(op);
      case OpCode::kForTiles: return Tiles(op);
      case OpCode::kFor: return Loop(op);
      case OpCode::kUnroll:
        for (int64_t i = 0; i < op.Trips(); ++i) {
          scope_.Bind(op.symbol, symbolic::Int(i));
          Walk(op.regions[0]);
        }
        return;
      case OpCode::kIf: return If(op);
      case OpCode::kIfElected: return Walk(op.regions[0]);
      case OpCode::kStore:
      case OpCode::kStoreParts:
      case OpCode::kCopyToGlobal:
      case OpCode::kRead:
      case OpCode::kGather:
      case OpCode::kReadParts:
      case OpCode::kCopyAsync:
      case OpCode::kCopyToShared: return Guarded(op);
      case OpCode::kView: return Bind(op);
      case OpCode::kPart:
        if (const auto view = ahead_.find(op.operands[0]); view != ahead_.end()) ahead_[op.results[0]] = int64_t{view->second};
        return;
      case OpCode::kStoreAsync:
      case OpCode::kLoadAsync:
      case OpCode::kLoadRows:
      case OpCode::kLoadMulticast:
      case OpCode::kLoadRowsMulticast: return Engine(op);
      case OpCode::kFetch:             // the copy that puts down what was fetched tells the same block
      case OpCode::kDrawTile: return;  // the counter
      default: Ensure(!ir::AccessesGlobal(op.code), "nothing says what is stored here, or clipped", op.span);
    }
  }

  void Tiles(const Op& op) {
    takes_turns_ = op.TakesTurns();
    if (takes_turns_) scope_.Bind(op.WhoseTurn(), WhoseTurnIs(0, op.Turns()));
    Walk(op.regions[0]);
  }

  /// One of the instances does what stands in the first branch.
  void Turn(const Op& op) {
    takes_turns_ = false;
    Walk(op.regions[0]);
    takes_turns_ = true;
    if (op.regions.size() > 1) Walk(op.regions[1]);
  }

  void Loop(const Op& op) {
    const std::string name = fmt::format("loop {} {}", op.symbol, loops_.size());
    ranges_[name] = {scope_.Resolve(op.scalars[0]), scope_.Resolve(op.scalars[1]), op.Step()};
    scope_.Bind(op.symbol, symbolic::Name(name));
    loops_.push_back(name);
    Walk(op.regions[0]);
    loops_.pop_back();
  }

  /// By how many turns of its ring a view lies ahead.
  void Bind(const Op& op) {
    const ir::SlotPlace place = ir::PlaceOfSlot(op.Slot());
    if (place.where == ir::SlotPlace::Where::kPresent) return;
    int64_t& turns = ahead_[op.results[0]];
    turns = place.ahead_name.empty() ? place.ahead : Constant(scope_.Resolve(symbolic::Name(place.ahead_name))).value_or(0);
    if (place.where == ir::SlotPlace::Where::kAhead) return;
    for (const AgentRing& ring : agent_.rings) {
      if (ring.symbol == place.ring) turns = ring.slots - 1;
    }
  }

  void If(const Op& op) {
    const Scalar condition = scope_.Resolve(op.scalars[0]);
    if (TurnOf(condition)) return Turn(op);
    const std::optional<int64_t> value = symbolic::Evaluate(condition, [](std::string_view) { return std::nullopt; });
    if (value) {
      if (*value != 0)
        Walk(op.regions[0]);
      else if (op.regions.size() > 1)
        Walk(op.regions[1]);
      return;
    }
    const std::optional<std::string> map =
        condition->kind == symbolic::Kind::kName ? ir::MapOfUsableFlag(condition->name) : std::nullopt;
    if (map) {
      if (uses_engine_) {
        usable_.push_back(*map);
        Walk(op.regions[0]);
        usable_.pop_back();
      } else if (op.regions.size() > 1) {
        Walk(op.regions[1]);
      }
      return;
    }
    const std::string around = conditions_, text = symbolic::CanonicalText(condition);
    for (size_t i = 0; i < op.regions.size(); ++i) {
      conditions_ += (i == 0 ? " if " : " if not ") + text + ";";
      const size_t holding = holding_.size();
      if (i == 0) symbolic::AddConjuncts(condition, holding_);
      Walk(op.regions[i]);
      holding_.resize(holding);
      conditions_ = around;
    }
  }

  void Guarded(const Op& op) {
    const ir::TensorParam* tensor = ir::FindNamed(kernel_.tensors, op.symbol);
    if (!tensor) return;
    std::vector<Scalar> starts, ends;
    std::vector<int64_t> extents;
    for (size_t i = 0; i < op.axes.size(); ++i) {
      const ir::AxisRange& axis = op.axes[i];
      ends.push_back(axis.hi ? scope_.Resolve(axis.hi) : axis.hi);
      starts.push_back(scope_.Resolve(axis.start));
      extents.push_back(axis.extent);
      if (axis.hi)
        extents.back() =
            std::clamp(symbolic::ConstantDifference(ends.back(), starts.back()).value_or(axis.extent), int64_t{0}, axis.extent);
      if (axis.dropped || axis.is_slice) continue;
      std::vector<Scalar> seen = {scope_.Resolve(tensor->extents[i])};
      if (axis.hi) seen.push_back(ends.back());
      CheckClip(op, starts.back(), extents.back(), seen,
                op.code == OpCode::kCopyAsync || op.code == OpCode::kCopyToShared ? Ahead(op.operands[0]) : 0);
    }
    const bool adds = op.code == OpCode::kStore && !op.Is(typed::StoreOp::kSet);
    if (op.code == OpCode::kStore || op.code == OpCode::kStoreParts || op.code == OpCode::kCopyToGlobal)
      AddSite(op, op.symbol, starts, std::move(ends), extents, adds);
  }

  void Engine(const Op& op) {
    const ir::TensorMap* map = ir::FindNamed(kernel_.maps, op.symbol);
    if (!map) return;
    const ir::TensorParam* tensor = ir::FindNamed(kernel_.tensors, map->tensor);
    const bool stores = op.code == OpCode::kStoreAsync;
    if (stores && std::find(usable_.begin(), usable_.end(), map->name) == usable_.end())
      return Fail(op, fmt::format("the copy engine stores `{}` also where the tensor does not allow it", map->tensor));
    const ir::Type& type = kernel_.TypeOf(op.operands[0]);
    std::vector<Scalar> starts;
    std::vector<int64_t> extents = map->box;
    // A tile is as many boxes as its columns need.
    extents.back() = std::max(extents.back(), type.cols);
    if (ir::LoadsRows(op.code)) extents[extents.size() - 2] = type.rows;
    for (size_t i = 0; i < map->box.size(); ++i) {
      starts.push_back(scope_.Resolve(op.scalars[i]));
      const bool is_slice = i < op.axes.size() && op.axes[i].is_slice;
      if (extents[i] > 1 && !is_slice) CheckClip(op, starts.back(), extents[i], {scope_.Resolve(tensor->extents[i])});
    }
    if (stores) AddSite(op, map->tensor, starts, std::vector<Scalar>(starts.size()), extents, false);
  }

  /// `ends`: each of them is an end.
  void CheckClip(const Op& op, const Scalar& start, int64_t extent, const std::vector<Scalar>& ends, int64_t ahead = 0) {
    const bool is_clipped = std::ranges::any_of(ends, [&](const Scalar& end) {
      return IsClipped(ranges_, holding_, launch_, {start, extent, end, ahead}) || IsOfLaterLoop(op, start, extent, end);
    });
    if (!is_clipped) Fail(op, fmt::format("`{}` is not clipped where its range ends", op.symbol));
  }

  /// Whether it copies in front of a loop, which need not be the next one, a block of that loop's, whose range may begin with
  /// another one and end behind that. That it is a block which the loop would copy itself, AheadProof says.
  bool IsOfLaterLoop(const Op& op, const Scalar& start, int64_t extent, const Scalar& end) {
    if (op.code != OpCode::kCopyAsync && op.code != OpCode::kCopyToShared) return false;
    Scope scope = scope_;
    for (auto ops = behind_.rbegin(); ops != behind_.rend(); ++ops) {
      for (const Op& later : *ops) {
        if (later.code == OpCode::kLet) scope.BindOp(later);
        if (later.code == OpCode::kFor && IsBlockOf(later, scope, start, extent, end)) return true;
      }
    }
    return false;
  }

  bool IsBlockOf(const Op& loop, const Scope& scope, const Scalar& start, int64_t extent, const Scalar& end) {
    const Scalar lo = scope.Resolve(loop.scalars[0]);
    const std::optional<int64_t> from = symbolic::ConstantDifference(start, lo);
    if (!from || *from < 0 || *from % loop.Step() + extent > loop.Step()) return false;
    const Scalar in_block = symbolic::Add(symbolic::Name(loop.symbol), symbolic::Int(*from % loop.Step()));
    return IsClipped({{loop.symbol, {lo, scope.Resolve(loop.scalars[1]), loop.Step()}}}, holding_, launch_,
                     {in_block, extent, end});
  }

  int64_t Ahead(ir::ValueId view) const {
    const auto place = ahead_.find(view);
    return place == ahead_.end() ? 0 : place->second;
  }

  void AddSite(const Op& op, const std::string& tensor, const std::vector<Scalar>& starts, std::vector<Scalar> ends,
               const std::vector<int64_t>& extents, bool adds) {
    if (takes_turns_) return Fail(op, fmt::format("`{}` is stored by each instance, not only by the one whose turn it is", tensor));
    if (adds) return;
    Site site{&op, agent_.name, {}, extents, {}, std::move(ends)};
    std::string base;
    for (const Scalar& start : starts) {
      int64_t constant = 0;
      if (const auto polynomial = symbolic::ToPolynomial(start)) {
        const auto place = polynomial->find("");
        if (place != polynomial->end()) constant = place->second;
      }
      site.first.push_back(constant);
      site.base.push_back(symbolic::Sub(start, symbolic::Int(constant)));
      base += symbolic::CanonicalText(site.base.back()) + ";";
    }
    // Where else such a store is executed is the source's: what the condition says is not seen.
    if (conditions_.empty()) CheckPlace(op, tensor, site);
    base += conditions_;
    sites_[{tensor, base}].push_back(std::move(site));
  }

  /// Another tile, or another iteration, stores elsewhere.
  void CheckPlace(const Op& op, const std::string& tensor, Site& site) {
    const auto mentions = [&](const std::string& name) {
      const Range& range = ranges_.at(name);
      site.around.push_back({name, range.lo, range.hi, range.step, IsToldByRun(site, name)});
      const auto does = [&](const Scalar& base) { return DependsOn(base, name); };
      return site.around.back().is_told || std::any_of(site.base.begin(), site.base.end(), does);
    };
    for (const ir::GridAxis& axis : kernel_.axes) {
      const Range& range = ranges_.at(axis.name);
      int64_t count = 0;
      const bool is_single =
          symbolic::IsInt(symbolic::Cdiv(symbolic::Sub(range.hi, range.lo), symbolic::Int(range.step)), &count) && count <= 1;
      if (!is_single && !mentions(axis.name))
        return Fail(op, fmt::format("`{}` is stored in every tile along `{}`", tensor, axis.name));
    }
    for (const std::string& loop : loops_) {
      if (!mentions(loop)) return Fail(op, fmt::format("`{}` is stored again in every iteration of a loop around", tensor));
    }
  }

  /// Whether a name is mentioned, or one of a loop that begins at a place that depends on it.
  bool DependsOn(const Scalar& scalar, const std::string& name) const {
    if (symbolic::Mentions(scalar, name)) return true;
    return std::any_of(loops_.begin(), loops_.end(), [&](const std::string& loop) {
      return loop != name && symbolic::Mentions(scalar, loop) && !symbolic::Equal(ranges_.at(loop).lo, scalar) &&
             DependsOn(ranges_.at(loop).lo, name);
    });
  }

  /// By the run that the loop takes, or that the store itself begins and ends in.
  bool IsToldByRun(const Site& site, const std::string& name) const {
    for (size_t i = 0; i < site.base.size(); ++i) {
      if (site.first[i] >= 0 && site.ends[i] && IsRun(site.base[i], site.ends[i], name)) return true;
    }
    for (const std::string& loop : loops_) {
      if (loop == name) continue;
      for (size_t i = 0; i < site.base.size(); ++i) {
        if (symbolic::Equal(site.base[i], symbolic::Name(loop)) && IsInRun(site, i, ranges_.at(loop), name)) return true;
      }
    }
    return false;
  }

  /// Whether what an axis stores at the index of a loop lies in a run for each value of `name`.
  bool IsInRun(const Site& site, size_t axis, const Range& range, const std::string& name) const {
    const bool is_single = site.first[axis] == 0 && site.extent[axis] == 1;
    const Scalar& end = is_single && !site.ends[axis] ? range.hi : site.ends[axis];
    return site.first[axis] >= 0 && end && IsRun(range.lo, end, name);
  }

  /// Whether `lo` .. `end` lies between an element of an index tensor and the next, `off[e]` and `off[e + 1]`, with an `e` for each
  /// value of `name`: such elements don't decrease.
  bool IsRun(const Scalar& lo, const Scalar& end, const std::string& name) const {
    const auto is_run = [&](const Scalar& part) { return IsRun(lo, part, name); };
    if (end->kind == symbolic::Kind::kMin) return std::any_of(end->args.begin(), end->args.end(), is_run);
    const bool is_widened = end->kind == symbolic::Kind::kConvert && end->dtype == DType::kI64 && !IsFloat(end->args[0]->dtype);
    const Scalar& element = is_widened ? end->args[0] : end;
    if (element->kind != symbolic::Kind::kElement || element->args.size() != 1) return false;
    const Scalar number = symbolic::Sub(element->args[0], symbolic::Int(1));
    const Scalar before = symbolic::WithArgs(element, {number});
    const auto numbers = symbolic::ToPolynomial(number);
    if (!numbers || numbers->count(name + "*") == 0) return false;
    const Scalar begin = is_widened ? symbolic::Convert(before, end->dtype) : before;
    std::vector<Scalar> places{begin};
    symbolic::AddMaxima(lo, begin, places);
    return std::any_of(places.begin(), places.end(), [&](const Scalar& place) { return IsBehind(lo, place); });
  }

  bool IsBehind(const Scalar& lo, const Scalar& place) const {
    const auto distance = symbolic::ToPolynomial(symbolic::Sub(lo, place));
    const auto is_not_negative = [&](const auto& term) {
      return term.second > 0 && (term.first.empty() || IsDistance(term.first));
    };
    return distance && std::all_of(distance->begin(), distance->end(), is_not_negative);
  }

  /// The term of an index that begins at zero.
  bool IsDistance(const std::string& term) const {
    const auto range = ranges_.find(term.substr(0, term.size() - 1));
    int64_t lo = 0;
    return range != ranges_.end() && symbolic::IsInt(range->second.lo, &lo) && lo == 0;
  }

  const ir::Kernel& kernel_;
  const Agent& agent_;
  bool uses_engine_;
  Sites& sites_;
  Scope scope_;
  Ranges ranges_;
  std::vector<std::span<const Op>> behind_;  // what is visited, in its region and in each around it, the innermost last
  std::vector<std::string> loops_, usable_;
  Integers launch_ = Integers::OfLaunch(kernel_);
  std::vector<Scalar> holding_;  // conditions around, of the branches taken
  std::string conditions_;       // around that depend on the tile
  bool takes_turns_ = false;     // every instance of the worker executes what stands here, in every tile
  std::map<ir::ValueId, int64_t> ahead_;
  std::optional<Finding> finding_;
};

/// Blocks of a cluster that share a tile store parts of it; others have tiles of their own.
std::vector<std::vector<const Agent*>> Tiles(const Program& program) {
  std::vector<std::vector<const Agent*>> tiles(program.kernel->SharesTile() ? 1 : static_cast<size_t>(program.blocks));
  for (const Agent& agent : program.agents) tiles[tiles.size() == 1 ? 0 : static_cast<size_t>(agent.block)].push_back(&agent);
  return tiles;
}

bool TakesTurns(const Agent& agent) {
  return std::any_of(agent.loops.begin(), agent.loops.end(),
                     [](const Loop& loop) { return loop.is_tiles && loop.op->TakesTurns(); });
}

}  // namespace

std::optional<Finding> CheckStores(const Program& program) {
  for (const std::vector<const Agent*>& tile : Tiles(program)) {
    Sites by_engine, by_guard;
    for (const bool uses_engine : {true, false}) {
      Sites& sites = uses_engine ? by_engine : by_guard;
      for (const Agent* agent : tile) {
        // Instances in turn store different tiles: one of them tells all.
        if (TakesTurns(*agent) && agent->instance > 0) continue;
        if (auto found = StoreWalk(program, *agent, uses_engine, sites).Run()) return found;
      }
      for (const auto& [key, group] : sites) {
        if (auto found = CheckApart(key.first, group)) return found;
        if (auto found = CheckWhole(key.first, group)) return found;
        if (auto found = CheckTold(key.first, group, *program.kernel)) return found;
      }
    }
    for (const auto* pair : {&by_engine, &by_guard}) {
      const Sites& other = pair == &by_engine ? by_guard : by_engine;
      for (const auto& [key, group] : *pair) {
        const auto place = other.find(key);
        if (place != other.end() && HoldTheSame(place->second, group)) continue;
        return Finding{
            DiagnosticKind::kCertificateCoverage, group[0].op->span,
            fmt::format("`{}` is stored differently {} the copy engine", key.first, pair == &by_engine ? "without" : "with")};
      }
    }
  }
  return std::nullopt;
}

}  // namespace tkc::certify
