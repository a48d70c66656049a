// SPDX-License-Identifier: MIT
#include "compiler/ir/op_format.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>

#include "compiler/ir/op_words.h"

namespace tkc::ir {
namespace {

constexpr OpFormat kFormats[] = {
    {OpCode::kLet, "$s = $a $e", "|mutable|again"},
    {OpCode::kTest, "$s = $o"},
    {OpCode::kFor, "$s = $a to $a step $n"},
    {OpCode::kForTiles, "$s = $a to $a [step $a] [turn $l of $n]"},
    {OpCode::kTilePosition, "$s of $a in $a , $a group $n"},
    {OpCode::kIf, "$a"},
    {OpCode::kIfElected, "$e", "warpgroup|warp|block"},
    {OpCode::kUnroll, "$s times $n"},

    {OpCode::kRead, "$s $x [fill $a] [as $l]"},
    {OpCode::kGather, "$s $x [fill $a]"},
    {OpCode::kStore, "$s $x = $o [by $w] [as $l]"},
    {OpCode::kReadParts, "$s $x [fill $a] [as $l]"},
    {OpCode::kStoreParts, "$s $x = $O"},
    {OpCode::kReceive, "$s $e [ring $a]", "|early|kept|previous"},
    {OpCode::kSend, "$s $O [field $n] [at $a , $a] [ring $a]", "", -1},

    {OpCode::kVar, "$O $e", "|kept"},
    {OpCode::kAssign, "$o = $o"},
    {OpCode::kAssignPart, "$o at $a , $a = $o"},
    {OpCode::kFill, "$a"},
    {OpCode::kUnary, "$u $o"},
    {OpCode::kBinary, "$u $k"},
    {OpCode::kSelect, "$k"},
    {OpCode::kConvert, "$o $e", "|anew"},
    {OpCode::kReduce, "$u $l $o [scratch $s]"},
    {OpCode::kReduceOwn, "$u $l $o"},
    {OpCode::kReduceThreads, "$u $l $o [scratch $s]"},
    {OpCode::kCumsum, "$l $o [scratch $s]"},
    {OpCode::kTranspose, "$o"},
    {OpCode::kPart, "$o at $a , $a"},
    {OpCode::kMatmul, "$O"},
    {OpCode::kAccumulate, "$O $e", "|negated"},
    {OpCode::kPositions, "$l from $a"},
    {OpCode::kAligned, "$o"},
    {OpCode::kCat, "$O"},
    {OpCode::kReshape, "$o $e", "|staged"},

    {OpCode::kMmaFence, "$O"},
    {OpCode::kMma, "$O $e", "add|subtract|set"},
    {OpCode::kMmaCommit, ""},
    {OpCode::kMmaWait, "$n $O"},
    {OpCode::kLoadLeft, "$o"},
    {OpCode::kLoadRight, "$o"},
    {OpCode::kMultiply, "$O $e", "add|subtract|set"},

    {OpCode::kView, "$s $t [index $A]"},
    {OpCode::kLoadShared, "$o"},
    {OpCode::kStoreShared, "$o = $o"},
    {OpCode::kStoreCluster, "$o = $o on $s $t blocks $n"},
    {OpCode::kCopyToShared, "$o [from $O] = $s $x [fill $a] [as $l] by $e", "warpgroup|warp|block"},
    {OpCode::kCopyToGlobal, "$s $x = $o"},
    {OpCode::kCopyAsync, "$o [from $O] = $s $x $e", "|in_pieces|staged"},
    {OpCode::kPieces, "$s $x for $l"},
    {OpCode::kMovePieces, "$o by $a , $a"},
    {OpCode::kFetch, "$s $x [as $l]"},
    {OpCode::kCommitCopies, ""},
    {OpCode::kWaitCopies, "$n"},
    {OpCode::kSyncBlock, ""},
    {OpCode::kFenceAsync, ""},
    {OpCode::kSyncRole, "$e [instance $a]", "warpgroup|warp"},
    {OpCode::kRing, "$s slots $n [of $l]"},
    {OpCode::kAdvance, "$s [by $a]"},
    {OpCode::kWaitFull, "$s $t"},
    {OpCode::kWaitEmpty, "$s $t"},
    {OpCode::kExpect, "$s $t bytes $n"},
    {OpCode::kArrive, "$s $t by $e [in $a]", "warp|thread|cluster"},
    {OpCode::kDrawTile, "$s from $l past $a by $e [if $a]", "thread|warp|warpgroup"},
    {OpCode::kPutTile, "$o = $a"},
    {OpCode::kPutTileCluster, "$o = $a on $s $t blocks $n"},
    {OpCode::kTakeTile, "$s = $o by $e", "warp|thread"},
    {OpCode::kLoadAsync, "$o = $s at $A on $b $t"},
    {OpCode::kLoadRows, "$o = $s at $A on $b $t"},
    {OpCode::kLoadMulticast, "$o = $s at $A on $b $t"},
    {OpCode::kLoadRowsMulticast, "$o = $s at $A on $b $t"},
    {OpCode::kStoreAsync, "$s at $A = $o"},
    {OpCode::kCommitStores, ""},
    {OpCode::kWaitStores, "$l $n"},
    {OpCode::kNamedSync, "$a threads $n"},
    {OpCode::kNamedArrive, "$a threads $n"},
    {OpCode::kClusterSync, ""},
    {OpCode::kAlternate, "$e", "apart|products|loads|together"},
    {OpCode::kPriority, "$n"},
    {OpCode::kWaitPrevious, "[when $a]"},
    {OpCode::kClusterWait, ""},
    {OpCode::kPrefetchMap, "$s"},
    {OpCode::kInitBarrier, "$s"},
    {OpCode::kFenceBarrierInit, ""},
    {OpCode::kClusterArrive, ""},
    {OpCode::kComment, "$q"},
    {OpCode::kSplitSend, "$s $t = $o ways $n"},
    {OpCode::kSplitWait, "$s $t"},
    {OpCode::kSplitCollect, "$s = $o ways $n"},
};

}  // namespace

namespace {

constexpr bool kIsChoice[] = {
#define TKC_OP(code, text, traits, threads, slot, number) std::is_enum_v<number>,
#include "compiler/ir/op.def"
#undef TKC_OP
};

constexpr std::array<int64_t, kOpCodes> kChoices = [] {
  std::array<int64_t, kOpCodes> choices{};
  for (const OpFormat& format : kFormats) {
    int64_t& count = choices[static_cast<size_t>(format.code)];
    if (NumberIs<typed::Op>(format.code)) {
      count = std::ssize(kOpWords);
    } else if (NumberIs<typed::StoreOp>(format.code)) {
      count = std::ssize(kStoreWords);
    } else if (!format.words.empty()) {
      count = 1 + std::count(format.words.begin(), format.words.end(), '|');
    }
  }
  return choices;
}();

constexpr bool HaveWordsForChoices() {
  for (size_t code = 0; code < kOpCodes; ++code) {
    if (kIsChoice[code] != (kChoices[code] > 0)) return false;
  }
  return true;
}
static_assert(HaveWordsForChoices(),
              "the format of an operation has words if, and only if, op.def says that its number is a choice");

}  // namespace

int64_t Choices(OpCode code) { return kChoices[static_cast<size_t>(code)]; }

const OpFormat& FormatOf(OpCode code) {
  static constexpr OpFormat kBare = {OpCode::kClusterSync, ""};
  for (const OpFormat& format : kFormats) {
    if (format.code == code) return format;
  }
  return kBare;  // an operation newer than the table is written field by field
}

std::vector<Element> SplitPattern(std::string_view pattern) {
  std::vector<Element> elements;
  int options = 0;
  bool in_option = false;
  for (size_t begin = 0; begin < pattern.size();) {
    if (pattern[begin] == ' ') {
      ++begin;
      continue;
    }
    if (pattern[begin] == '[') {
      in_option = true;
      ++options;
      ++begin;
      continue;
    }
    size_t end = begin + 1;
    while (end < pattern.size() && pattern[end] != ' ' && pattern[end] != ']') ++end;
    const std::string_view piece = pattern.substr(begin, end - begin);
    Element element;
    element.option = in_option ? options : 0;
    if (piece[0] == '$') {
      element.field = piece[1];
    } else {
      element.literal = piece;
    }
    elements.push_back(element);
    if (end < pattern.size() && pattern[end] == ']') {
      in_option = false;
      ++end;
    }
    begin = end;
  }
  return elements;
}

std::vector<std::string_view> SplitWords(std::string_view words) {
  std::vector<std::string_view> list;
  for (size_t begin = 0; begin <= words.size();) {
    const size_t end = std::min(words.find('|', begin), words.size());
    list.push_back(words.substr(begin, end - begin));
    begin = end + 1;
  }
  return list;
}

}  // namespace tkc::ir
