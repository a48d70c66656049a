// SPDX-License-Identifier: MIT
// What is checked on the finished typed tree of one kernel, in this order; each reports and returns, and the next one runs
// only if there was no error, as it relies on what the one before has established.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/sema/typed.h"
#include "compiler/support/diagnostic.h"

namespace tkc::sema {

/// Where a statement begins: its file and the position in it.
using SourcePlace = std::pair<uint32_t, uint32_t>;
inline SourcePlace SourcePlaceOf(Span span) { return {span.file, span.begin}; }

/// What the master nest knows about time.
struct Steps {
  /// Loops of different workers that run in step have one name, used for their variables in formulas. Loops of equal range at
  /// one depth that follow each other share it too.
  std::map<typed::VarId, std::string> names;
  /// Pipes that hold slots over the head of a loop: what is received there was sent in an earlier iteration.
  std::set<typed::PipeId> lagging;
  /// Of each receive the sends that may have filled its slot, but where the pipe is lagging.
  std::map<const typed::Stmt*, std::set<const typed::Stmt*>> senders;
  /// Loops over known numbers at which somebody stood when nobody could go on: written out, they may be what others do.
  std::set<SourcePlace> stuck;
};

/// All of the below. Which loops over known numbers to write out where the traffic does not fit.
std::set<SourcePlace> Analyse(typed::Kernel& kernel, bool deterministic, Diagnostics& diagnostics);

/// Producers and consumers of each pipe; parts that cover a slot; the master nest.
void CheckPipes(const typed::Kernel& kernel, typed::Section& section, Diagnostics& diagnostics, Steps& steps);

/// Slots held at a receive against the slots there are; sets Pipe::least_slots.
void CheckHolds(const typed::Kernel& kernel, typed::Section& section, Diagnostics& diagnostics);

/// Each element of a tensor is stored at most once.
void CheckGridMap(const typed::Kernel& kernel, const typed::Section& section, bool deterministic, Diagnostics& diagnostics);

/// An `inout` tensor is read before it is stored, by the tile of work that stores it.
void CheckInOut(const typed::Kernel& kernel, const typed::Section& section, const Steps& steps, Diagnostics& diagnostics);

/// What elements that do not exist hold, wherever an axis is reduced.
void CheckFillTaint(const typed::Kernel& kernel, const typed::Section& section, const Steps& steps, Diagnostics& diagnostics);

/// Elements of an `out` tensor that nothing stores, whatever the arguments hold, on a launch that shows it; warnings only.
void WarnOfUnstored(const typed::Kernel& kernel, Diagnostics& diagnostics);

/// Tiles that would fit if one of them were turned, by the dimensions their axes run over; warnings only.
void WarnOfTurnedTiles(const typed::Kernel& kernel, const typed::Section& section, Diagnostics& diagnostics);

}  // namespace tkc::sema
