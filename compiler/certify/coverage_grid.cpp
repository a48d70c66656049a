// SPDX-License-Identifier: MIT
// A tile's number is taken apart into digits: (number / D) % C. If the digits' D begin at 1, each is the one before times its C,
// and the last D * C is the number of tiles, the digits are a mixed radix and every combination of them comes exactly once. A digit
// without % C is one only where D * C is the number of tiles.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/certify/coverage.h"
#include "compiler/ir/op_traits.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Scalar;
using symbolic::Kind;

/// (number / divisor) % count; no count: not taken modulo anything, which makes it the highest one of the number.
struct Digit {
  Scalar divisor, count;
  bool is_highest = false;
};

class GridProof {
 public:
  GridProof(const Program& program, const Agent& agent) : kernel_(*program.kernel), agent_(agent), scope_(program, agent) {}

  /// The numbers of blocks along the axes, as functions of the tile's, once Read has found nothing.
  const std::vector<Scalar>& numbers() const { return numbers_; }
  /// Whether the other is about the same numbers of the same tile, all written alike.
  bool IsAs(const GridProof& other) const {
    return symbolic::IsSameTree(tile_, other.tile_) && symbolic::IsSameTree(Tiles(), other.Tiles()) &&
           std::ranges::equal(counts_, other.counts_, symbolic::IsSameTree) &&
           std::ranges::equal(numbers_, other.numbers_, symbolic::IsSameTree);
  }

  std::optional<Finding> Read() {
    const ir::Region* body = &agent_.worker->body;
    const auto loop = std::find_if(body->begin(), body->end(), [](const Op& op) { return op.code == OpCode::kForTiles; });
    const std::string unit = kernel_.cluster > 1 ? "cluster" : "block";
    tile_ = symbolic::Call(unit + "::index", DType::kI32, {});
    if (loop != body->end()) {
      if (auto found = CheckLoop(*loop)) return found;
      scope_.BindLoop(*loop, 0);
      tile_ = scope_.Resolve(symbolic::Name(loop->symbol));
      body = &loop->regions[0];
      span_ = loop->span;
    } else {
      span_ = kernel_.span;
    }
    for (const Op& op : *body) {
      if (op.code == OpCode::kLet && !op.Is(ir::kStays)) continue;
      if (ir::DefinesScalars(op.code)) scope_.BindOp(op);
    }
    return FindNumbers();
  }

  std::optional<Finding> CheckDigits() {
    std::vector<Digit> digits;
    for (size_t i = 0; i < numbers_.size(); ++i) {
      int64_t one = 0;
      const bool is_single = symbolic::IsInt(counts_[i], &one) && one == 1;
      if (is_single && symbolic::IsInt(numbers_[i])) continue;
      if (!HasOnePosition(numbers_[i]))
        return Fail(fmt::format("row and column of a tile of `{}` are not those of one number", agent_.name));
      std::optional<Digit> digit = DigitOf(FromBegin(numbers_[i], counts_[i]));
      if (!digit)
        return Fail(
            fmt::format("the certificate does not see which block of `{}` a tile of `{}` is", kernel_.axes[i].name, agent_.name));
      if (digit->count && !symbolic::Equal(digit->count, counts_[i]))
        return Fail(fmt::format("`{}` walks over other blocks of `{}` than there are", agent_.name, kernel_.axes[i].name));
      if (!digit->count) {
        digit->count = counts_[i];
        digit->is_highest = true;
      }
      digits.push_back(*digit);
    }
    return CheckRadix(std::move(digits));
  }

 private:
  Scalar Tiles() const { return scope_.Resolve(kernel_.tiles); }
  Finding Fail(std::string headline) const { return {DiagnosticKind::kCertificateCoverage, span_, std::move(headline)}; }

  std::optional<Finding> CheckLoop(const Op& loop) const {
    const auto found = std::find_if(agent_.loops.begin(), agent_.loops.end(), [&](const Loop& l) { return l.op == &loop; });
    if (found == agent_.loops.end()) return std::nullopt;
    // Instances in turn walk over every tile, too, and each does its own.
    if (found->first != 0 || found->stride != 1) return Fail(fmt::format("`{}` does not walk over every tile", agent_.name));
    if (!symbolic::Equal(scope_.Resolve(loop.scalars[1]), scope_.Resolve(kernel_.tiles)))
      return Fail(fmt::format("the tiles that `{}` walks over end elsewhere than the grid's", agent_.name));
    return std::nullopt;
  }

  /// `whole` = `part` * what is returned, if that is a product of counts.
  std::optional<Scalar> Quotient(const Scalar& whole, const Scalar& part) const {
    const size_t subsets = size_t{1} << std::min<size_t>(counts_.size(), 8);
    for (size_t set = 0; set < subsets; ++set) {
      Scalar product = symbolic::Int(1);
      for (size_t i = 0; i < counts_.size() && i < 8; ++i) {
        if (set >> i & 1) product = symbolic::Mul(product, counts_[i]);
      }
      if (symbolic::Equal(whole, symbolic::Mul(part, product))) return product;
    }
    return std::nullopt;
  }

  std::optional<Digit> DigitOf(const Scalar& scalar) const {
    if (symbolic::HaveSameNormalForm(scalar, tile_)) return Digit{symbolic::Int(1), nullptr};
    if (IsPosition(scalar)) {
      // grouped_order is one to one on rows times columns (lang-spec, assumption): as if row and column were the digits of the
      // number.
      const Scalar &rows = scalar->args[1], &columns = scalar->args[2];
      std::optional<Digit> number = DigitOf(scalar->args[0]);
      if (!number || (number->count && !symbolic::Equal(number->count, symbolic::Mul(rows, columns)))) return std::nullopt;
      if (scalar->name == "tile_column") return Digit{number->divisor, columns};
      return Digit{symbolic::Mul(number->divisor, columns), rows};
    }
    if (scalar->kind != Kind::kDiv && scalar->kind != Kind::kMod) return std::nullopt;
    std::optional<Digit> inner = DigitOf(scalar->args[0]);
    if (!inner) return std::nullopt;
    const Scalar& by = scalar->args[1];
    if (scalar->kind == Kind::kDiv) {
      Digit digit{symbolic::Mul(inner->divisor, by), nullptr};
      if (!inner->count) return digit;
      const std::optional<Scalar> rest = Quotient(inner->count, by);
      if (!rest) return std::nullopt;
      digit.count = *rest;
      return digit;
    }
    if (inner->count && !Quotient(inner->count, by)) return std::nullopt;
    return Digit{inner->divisor, by};
  }

  std::optional<Finding> FindNumbers() {
    for (size_t i = 0; i < kernel_.axes.size(); ++i) {
      const ir::GridAxis& axis = kernel_.axes[i];
      Scalar count = kernel_.Steps(scope_.Resolve(axis.lo), scope_.Resolve(axis.hi), axis.step);
      const Scalar start = scope_.Resolve(symbolic::Name(axis.name));
      // start = lo + step * number
      const std::optional<Scalar> number = Unscale(symbolic::Sub(start, scope_.Resolve(axis.lo)), axis.step);
      if (!number) return Fail(fmt::format("`{}` does not start at multiples of {} in `{}`", axis.name, axis.step, agent_.name));
      Scalar digit = *number;
      if (kernel_.ClusterAxis() == i) {
        int64_t rank = 0;
        const bool has_rank = digit->kind == Kind::kAdd && symbolic::IsInt(digit->args[1], &rank);
        if (has_rank) digit = digit->args[0];
        std::optional<Scalar> cluster = Unscale(digit, kernel_.cluster);
        if (rank != agent_.block) cluster.reset();
        if (!cluster)
          return Fail(
              fmt::format("the blocks of a cluster do not lie next to each other along `{}` in `{}`", axis.name, agent_.name));
        digit = *cluster;
        count = symbolic::Cdiv(count, symbolic::Int(kernel_.cluster));
      }
      counts_.push_back(count);
      numbers_.push_back(digit);
    }
    return std::nullopt;
  }

  static bool IsPosition(const Scalar& scalar) {
    return scalar->kind == Kind::kCall && (scalar->name == "tile_row" || scalar->name == "tile_column");
  }

  /// Of all numbers, the rows and columns mentioned are those of one position in one list.
  bool HasOnePosition(const Scalar& scalar) {
    if (IsPosition(scalar)) {
      if (!position_) position_ = scalar;
      for (size_t k = 0; k < scalar->args.size(); ++k) {
        if (!symbolic::HaveSameNormalForm(scalar->args[k], position_->args[k])) return false;
      }
    }
    return std::all_of(scalar->args.begin(), scalar->args.end(), [&](const Scalar& arg) { return HasOnePosition(arg); });
  }

  /// `count` - 1 - x is one to one, as x is.
  static Scalar FromBegin(const Scalar& number, const Scalar& count) {
    if (number->kind != Kind::kSub) return number;
    return symbolic::Equal(number->args[0], symbolic::Sub(count, symbolic::Int(1))) ? number->args[1] : number;
  }

  std::optional<Finding> CheckRadix(std::vector<Digit> digits) const {
    const Scalar tiles = Tiles();
    Scalar next = symbolic::Int(1);
    while (!digits.empty()) {
      // Of two with one divisor the one of a single value comes first: it leaves the divisor of the next as it is.
      const auto is_next = [&](const Digit& d) { return symbolic::Equal(d.divisor, next); };
      const auto is_next_and_single = [&](const Digit& d) { return is_next(d) && symbolic::Equal(d.count, symbolic::Int(1)); };
      auto place = std::find_if(digits.begin(), digits.end(), is_next_and_single);
      if (place == digits.end()) place = std::find_if(digits.begin(), digits.end(), is_next);
      if (place == digits.end() || (place->is_highest && !symbolic::Equal(symbolic::Mul(next, place->count), tiles)))
        return Fail(fmt::format("two tiles of `{}` may be the same block of the grid, or one is left out", agent_.name));
      next = symbolic::Mul(next, place->count);
      digits.erase(place);
    }
    if (symbolic::Equal(next, tiles)) return std::nullopt;
    return Fail(fmt::format("the launch has another number of tiles than the grid of `{}`", agent_.name));
  }

  /// `scalar` / `by`, where that is exact whatever the names stand for.
  static std::optional<Scalar> Unscale(const Scalar& scalar, int64_t by) {
    int64_t value = 0;
    const bool is_sum = scalar->kind == Kind::kAdd || scalar->kind == Kind::kSub;
    if (is_sum && symbolic::IsInt(scalar->args[1], &value) && value == 0) return Unscale(scalar->args[0], by);
    if (by == 1) return scalar;
    if (symbolic::IsInt(scalar, &value)) return value % by == 0 ? std::optional<Scalar>(symbolic::Int(value / by)) : std::nullopt;
    const std::vector<Scalar> sides = scalar->kind == Kind::kMul ? scalar->args : std::vector<Scalar>{};
    for (size_t i = 0; i < sides.size(); ++i) {
      if (!symbolic::IsInt(sides[i], &value) || value % by != 0) continue;
      return value == by ? sides[1 - i] : symbolic::Mul(sides[1 - i], symbolic::Int(value / by));
    }
    if (scalar->kind == Kind::kAdd || scalar->kind == Kind::kSub) {
      const std::optional<Scalar> a = Unscale(scalar->args[0], by), b = Unscale(scalar->args[1], by);
      if (a && b && symbolic::IsInt(*b, &value) && value == 0) return *a;
      if (a && b) return symbolic::Make(scalar->kind, DType::kI64, {*a, *b});
    }
    return std::nullopt;
  }

  const ir::Kernel& kernel_;
  const Agent& agent_;
  Scope scope_;
  Scalar tile_;
  Span span_;
  std::vector<Scalar> counts_, numbers_;
  Scalar position_;  // of grouped_order, the first that was met
};

}  // namespace

std::optional<Finding> CheckGrid(const Program& program) {
  std::optional<GridProof> first;
  for (const Agent& agent : program.agents) {
    GridProof proof(program, agent);
    if (auto found = proof.Read()) return found;
    if (first && proof.IsAs(*first)) continue;
    if (auto found = proof.CheckDigits()) return found;
    if (!first) {
      first.emplace(std::move(proof));
      continue;
    }
    for (size_t i = 0; i < first->numbers().size(); ++i) {
      if (symbolic::HaveSameNormalForm(first->numbers()[i], proof.numbers()[i])) continue;
      return Finding{DiagnosticKind::kCertificateCoverage, program.kernel->span,
                     fmt::format("`{}` and `{}` take tiles of different `{}`", program.agents[0].name, agent.name,
                                 program.kernel->axes[i].name)};
    }
  }
  return std::nullopt;
}

}  // namespace tkc::certify
