// SPDX-License-Identifier: MIT
// Loops of an agent: how often they run, and which loops of others run as often.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/certify/step_builder.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {

using ir::Op;
using ir::Scalar;
using symbolic::Kind;

namespace {

constexpr int64_t kWrittenOut = 16;  // constant trip counts up to this are not left to the oracle,
constexpr int64_t kMostTurns = 512;  // unless those of loops in each other make more turns than this

int64_t Residue(const Linear& extent, int64_t step) { return ((extent.constant % step) + step) % step; }

/// Loops whose ranges differ by whole steps ask about one integer.
std::string ExtentText(const Linear& extent, int64_t step) {
  return fmt::format("{}{:+}", extent.rest, extent.rest.empty() ? extent.constant : Residue(extent, step));
}

}  // namespace

void StepBuilder::EmitLoop(const Op& op) {
  Loop loop;
  loop.op = &op;
  loop.depth = Depth();
  loop.is_tiles = op.code == ir::OpCode::kForTiles;
  const std::string saved_path = around_.path;
  std::string rest;
  int64_t turns = around_.turns;
  const bool ok = loop.is_tiles ? Tiles(op, loop, rest) : Range(op, loop, rest, turns);
  if (!ok) return;
  const int index = static_cast<int>(agent_.loops.size());
  for (const std::string& ring : RingsOf(op)) {
    for (size_t i = 0; i < agent_.rings.size(); ++i) {
      if (agent_.rings[i].symbol == ring) loop.rings.push_back(static_cast<int>(i));
    }
  }
  for (size_t i = 0; i < agent_.rings.size(); ++i) {
    const auto place = slotless_.find(agent_.rings[i].name.substr(1));
    if (place == slotless_.end() || place->second.count(&op) == 0 || agent_.rings[i].name[0] != '@') continue;
    loop.counters.push_back(static_cast<int>(i));
  }
  loop.first_root = agent_.roots;
  agent_.loops.push_back(loop);
  program_.families[static_cast<size_t>(loop.family)].loopers |= uint64_t{1} << (&agent_ - program_.agents.data());
  Push(StepKind::kEnter, &op).loop = index;
  const int head = Here();
  Push(StepKind::kTest, &op).loop = index;
  scope_.BindLoop(op, loop.depth);
  around_.path += fmt::format("/{}", names_.Number(program_.families[static_cast<size_t>(loop.family)].text));
  around_.loops.push_back(index);
  around_.rests.push_back(rest);
  const int64_t saved_turns = std::exchange(around_.turns, turns);
  std::vector<Ended> behind;
  std::swap(behind, around_.behind);
  Emit(op.regions[0]);
  scope_.LeaveLoop(op);
  std::swap(behind, around_.behind);
  around_.turns = saved_turns;
  around_.rests.pop_back();
  around_.loops.pop_back();
  around_.path = saved_path;
  Step& next = Push(StepKind::kNext, &op);
  next.loop = index;
  next.target = head;
  agent_.steps[static_cast<size_t>(head)].target = Here();
  agent_.loops[static_cast<size_t>(index)].end_root = agent_.roots;
  around_.behind.push_back({rest, loop.family, !RingsOf(op).empty()});
}

bool StepBuilder::Range(const Op& op, Loop& loop, std::string& rest, int64_t& turns) {
  const Scalar extent = symbolic::Sub(scope_.Resolve(op.scalars[1]), scope_.Resolve(op.scalars[0]));
  std::optional<Linear> linear = Split(extent, Depth());
  if (!linear) return Unknown(op, "the range of this loop"), false;
  loop.step = op.Step();
  const bool is_constant =
      linear->rest.empty() && std::all_of(linear->of_loop.begin(), linear->of_loop.end(), [](int64_t c) { return c == 0; });
  std::optional<int64_t> above;
  const int64_t trips = (linear->constant + op.Step() - 1) / op.Step();
  if (is_constant && trips > 0 && trips <= kWrittenOut && turns * trips <= kMostTurns) {
    turns *= trips;
  } else if (is_constant && trips > 0) {
    // As long as any other loop that makes so many turns: nothing below depends on its exact length. What behind it depends on
    // its last turns, as many as may be under way, has been decided already.
    int64_t under_way = 1;
    for (const AgentRing& ring : agent_.rings) under_way = std::max(under_way, ring.slots);
    above = std::min(trips - 1, under_way) * op.Step() - linear->constant;
    linear->rest = "constant";
  }
  // What depends on loops around is another integer in each of their iterations.
  Fold(*linear, Depth());
  rest = linear->rest;
  if (Changes(op)) return Unknown(op, "how often this loop runs: its range changes in its body"), false;
  loop.family = FamilyOf(LoopFamily(op, ExtentText(*linear, op.Step())), rest.empty() ? 0 : op.Step());
  linear->of_loop.push_back(-op.Step());
  loop.goes_on = Condition{Condition::Kind::kPositive, true, *linear, loop.family, Depth(), {}};
  Family& family = program_.families[static_cast<size_t>(loop.family)];
  const bool is_first = family.loopers == 0;
  family.constant = is_first ? linear->constant : std::min(family.constant, linear->constant);
  if (above) family.above = std::max(*above, family.above.value_or(*above));
  return true;
}

bool StepBuilder::Tiles(const Op& op, Loop& loop, std::string& rest) {
  if (op.TakesTurns()) program_.turns = std::lcm(program_.turns, op.Turns());
  const std::string unit = kernel_.cluster > 1 ? "cluster" : "block";
  const Scalar index = symbolic::Call(unit + "::index", DType::kI32, {});
  const Scalar count = symbolic::Call(unit + "::count", DType::kI32, {});
  const auto polynomial = [&](const Scalar& scalar) {
    return symbolic::ToPolynomial(scope_.Resolve(scalar)).value_or(symbolic::Polynomial{});
  };
  const std::string index_key = symbolic::ToPolynomial(index)->begin()->first;
  const std::string count_key = symbolic::ToPolynomial(count)->begin()->first;
  const auto take = [](symbolic::Polynomial& terms, const std::string& key) {
    const auto place = terms.find(key);
    if (place == terms.end()) return int64_t{0};
    const int64_t coefficient = place->second;
    terms.erase(place);
    return coefficient;
  };
  const bool draws = op.scalars.size() == 2;  // then how many tiles a block takes is as unknown
  symbolic::Polynomial first = polynomial(op.scalars[0]), stride = polynomial(draws ? count : op.scalars[2]);
  const int64_t from_index = take(first, index_key);
  loop.first = take(first, count_key);
  loop.stride = take(stride, count_key);
  if (from_index != 1 || !first.empty() || !stride.empty() || loop.stride < 1 || loop.first < 0) {
    return Unknown(op, "which tiles this loop takes"), false;
  }
  rest = "tiles of the block: " + symbolic::CanonicalText(scope_.Resolve(op.scalars[1]));
  loop.family = FamilyOf(around_.path + "|" + rest, 1);
  Linear linear;
  linear.rest = rest;
  linear.of_loop.assign(static_cast<size_t>(Depth()), 0);
  linear.of_loop.push_back(-1);
  loop.goes_on = Condition{Condition::Kind::kPositive, true, linear, loop.family, Depth(), {}};
  return true;
}

std::optional<StepBuilder::Ended> StepBuilder::LoopAhead(const Op& branch, const std::string& rest) {
  if (branch.code != ir::OpCode::kIf) return std::nullopt;
  const auto turns = [](const Op& op) { return op.code == ir::OpCode::kAdvance || Turns(op); };
  const auto loop = std::find_if(around_.rest_of_region.begin(), around_.rest_of_region.end(), turns);
  if (loop == around_.rest_of_region.end() || loop->code != ir::OpCode::kFor || Changes(*loop)) return std::nullopt;
  const std::set<std::string> here = RingsOf(branch), there = RingsOf(*loop);
  if (std::none_of(here.begin(), here.end(), [&](const std::string& ring) { return there.contains(ring); })) return std::nullopt;
  std::optional<Linear> linear = Split(symbolic::Sub(scope_.Resolve(loop->scalars[1]), scope_.Resolve(loop->scalars[0])), Depth());
  if (!linear || linear->rest.empty()) return std::nullopt;
  Fold(*linear, Depth());
  if (linear->rest != rest) return std::nullopt;
  const std::string extent = ExtentText(*linear, loop->Step());
  const std::string name = LoopFamily(*loop, extent);
  planned_[&*loop] = {extent, name};
  return Ended{linear->rest, FamilyOf(name, loop->Step()), true};
}

std::string StepBuilder::LoopFamily(const Op& op, const std::string& extent) {
  // Unless what it runs to has got another meaning since.
  if (const auto planned = planned_.extract(&op); planned && planned.mapped().extent == extent) return planned.mapped().name;
  const std::string range = fmt::format("{}|{}/{}", around_.path, extent, op.Step());
  std::set<std::string> rings;
  for (const std::string& ring : RingsOf(op)) {
    const auto own = std::find_if(agent_.rings.begin(), agent_.rings.end(), [&](const AgentRing& r) { return r.symbol == ring; });
    rings.insert(own == agent_.rings.end() ? ring : own->name);
  }
  if (rings.empty()) return fmt::format("{}|alone {}", range, turns_[range]++);
  std::vector<std::string> keys;
  for (const std::string& ring : rings) keys.push_back(fmt::format("{}|{} {}", range, ring, turns_[range + ring]++));
  return names_.Unite(keys);
}

size_t LoopNames::Find(size_t number) const {
  while (same_[number] != number) number = same_[number];
  return number;
}

size_t LoopNames::Number(const std::string& name) {
  const auto [place, is_new] = numbers_.try_emplace(name, same_.size());
  if (is_new) {
    texts_.push_back(&place->first);
    same_.push_back(place->second);
  }
  return place->second;
}

const std::string& LoopNames::Unite(const std::vector<std::string>& names) {
  const size_t known = same_.size();
  size_t oldest = Find(Number(names[0]));
  for (const std::string& name : names) oldest = std::min(oldest, Find(Number(name)));
  for (const std::string& name : names) {
    const size_t other = Find(Number(name));
    has_changed_ |= other != oldest && other < known;
    same_[other] = oldest;
  }
  return *texts_[oldest];
}

}  // namespace tkc::certify
