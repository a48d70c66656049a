// SPDX-License-Identifier: MIT
// Who sends into a pipe and who receives from it, and whether the parts sent make a whole slot. Where they do, nest_run.cpp looks
// for the master nest.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/sema/nest.h"

namespace tkc::sema {
namespace {

using TrafficKind = TrafficItem::Kind;

}  // namespace

void Nest::VisitEndpoints(const std::vector<TrafficItem>& items, int skeleton) {
  for (const TrafficItem& item : items) {
    if (item.kind == TrafficKind::kSend || item.kind == TrafficKind::kReceive) {
      std::vector<int>& ends = item.kind == TrafficKind::kSend ? rings_[item.ring].producers : rings_[item.ring].consumers;
      if (ends.empty() || ends.back() != skeleton) ends.push_back(skeleton);
    }
    VisitEndpoints(item.body, skeleton);
    VisitEndpoints(item.orelse, skeleton);
  }
}

void Nest::FindEndpoints() {
  for (size_t p = 0; p < section_.pipes.size(); ++p) {
    for (int64_t r = 0; r < section_.pipes[p].rings; ++r) rings_.push_back({static_cast<int>(p), {}, {}, {}});
  }
  for (size_t s = 0; s < skeletons_.size(); ++s) VisitEndpoints(skeletons_[s].items, static_cast<int>(s));
}

const TrafficItem* Nest::FindSend(const std::vector<TrafficItem>& items, int ring, const Rectangle* cell) const {
  for (const TrafficItem& item : items) {
    if (!Touches(item, ring)) continue;
    if (item.kind == TrafficKind::kSend) {
      for (const Rectangle& part : item.parts) {
        if (cell == nullptr || part.Contains(*cell)) return &item;
      }
      continue;
    }
    if (const TrafficItem* found = FindSend(item.body, ring, cell)) return found;
    if (const TrafficItem* found = FindSend(item.orelse, ring, cell)) return found;
  }
  return nullptr;
}

const TrafficItem* Nest::FindReceive(const std::vector<TrafficItem>& items, int ring) const {
  for (const TrafficItem& item : items) {
    if (!Touches(item, ring)) continue;
    if (item.kind == TrafficKind::kReceive) return &item;
    if (const TrafficItem* found = FindReceive(item.body, ring)) return found;
    if (const TrafficItem* found = FindReceive(item.orelse, ring)) return found;
  }
  return nullptr;
}

static void CollectParts(const std::vector<TrafficItem>& items, int ring, std::vector<Rectangle>& parts) {
  for (const TrafficItem& item : items) {
    if (item.kind == TrafficKind::kSend && item.ring == ring) parts.insert(parts.end(), item.parts.begin(), item.parts.end());
    CollectParts(item.body, ring, parts);
    CollectParts(item.orelse, ring, parts);
  }
}

/// Cuts the slot of a ring at all edges of the parts sent; every cell has one sender.
bool Nest::CutCells(int ring) {
  const typed::Pipe& pipe = section_.pipes[rings_[ring].pipe];
  std::vector<Rectangle> parts;
  for (const int s : rings_[ring].producers) CollectParts(skeletons_[s].items, ring, parts);
  for (size_t f = 0; f < pipe.fields.size(); ++f) {
    std::set<int64_t> rows = {0, pipe.fields[f].rows};
    std::set<int64_t> cols = {0, pipe.fields[f].cols};
    for (const Rectangle& part : parts) {
      if (part.field != static_cast<int>(f)) continue;
      rows.insert({part.row, part.row + part.rows});
      cols.insert({part.col, part.col + part.cols});
    }
    for (auto row = rows.begin(); std::next(row) != rows.end(); ++row) {
      for (auto col = cols.begin(); std::next(col) != cols.end(); ++col) {
        rings_[ring].cells.push_back({static_cast<int>(f), *row, *col, *std::next(row) - *row, *std::next(col) - *col});
      }
    }
  }
  for (const Rectangle& cell : rings_[ring].cells) {
    std::vector<std::pair<int, const TrafficItem*>> senders;
    for (const int s : rings_[ring].producers) {
      if (const TrafficItem* send = FindSend(skeletons_[s].items, ring, &cell)) senders.emplace_back(s, send);
    }
    if (senders.size() == 1) continue;
    if (senders.empty()) {
      const TrafficItem* some = FindSend(skeletons_[rings_[ring].producers[0]].items, ring, nullptr);
      said_
          .Error(DiagnosticKind::kPartsMissing, some->stmt->span,
                 fmt::format("{} of a slot of `{}` {} never sent", CellText(pipe, cell), pipe.name, CellVerb(pipe, cell)))
          .Label(some->stmt->span, "sends a part")
          .Note(pipe.span, fmt::format("a slot is [{}, {}]", pipe.fields[cell.field].rows, pipe.fields[cell.field].cols))
          .Help("a slot is full when each part of it was sent once");
    } else {
      const Span first = senders[0].second->stmt->span;
      const Span second = senders[1].second->stmt->span;
      const std::string what = CellText(pipe, cell) == "the slot" ? "each slot" : CellText(pipe, cell) + " of each slot";
      DiagnosticBuilder report =
          said_.Error(DiagnosticKind::kPartsOverlap, second,
                      fmt::format("{} of `{}` {} sent by `{}` and by `{}`", what, pipe.name, CellVerb(pipe, cell),
                                  skeletons_[senders[0].first].name, skeletons_[senders[1].first].name));
      report.Label(second, fmt::format("by `{}`", skeletons_[senders[1].first].name));
      if (!(first == second)) report.Label(first, fmt::format("by `{}`", skeletons_[senders[0].first].name));
      report.Note(pipe.span, fmt::format("`{}` is declared here", pipe.name))
          .Help("every part of a slot has one sender: send parts, `p.rows(w) <- x`, or use two pipes");
    }
    return false;
  }
  return true;
}

bool Nest::CheckEndpoints() {
  bool ok = true;
  std::set<int> seen;  // pipes reported
  for (size_t r = 0; r < rings_.size(); ++r) {
    const Ring& ring = rings_[r];
    const typed::Pipe& pipe = section_.pipes[ring.pipe];
    if (!ring.producers.empty() && !ring.consumers.empty()) {
      ok = CutCells(static_cast<int>(r)) && ok;
      continue;
    }
    const bool unused = ring.producers.empty() && ring.consumers.empty();
    if (!seen.insert(ring.pipe).second) continue;
    if (unused) {
      // The branches with the traffic may be what this schedule set leaves out.
      if (pipe.rings == 1 && !section_.leaves_out)
        said_.Warning(DiagnosticKind::kUnusedPipe, pipe.span, fmt::format("pipe `{}` is not used", pipe.name)).Help("leave it out");
      continue;
    }
    ok = false;
    const bool sends = !ring.producers.empty();
    const std::string name =
        pipe.rings == 1
            ? pipe.name
            : fmt::format("{}[{}]", pipe.name, static_cast<int>(r) - NumberRings(section_)[static_cast<size_t>(ring.pipe)]);
    const TrafficItem* item = sends ? FindSend(skeletons_[ring.producers[0]].items, static_cast<int>(r), nullptr)
                                    : FindReceive(skeletons_[ring.consumers[0]].items, static_cast<int>(r));
    said_
        .Error(sends ? ErrorKind(DiagnosticKind::kNoReceiver) : ErrorKind(DiagnosticKind::kNoSender), item->stmt->span,
               sends ? fmt::format("nobody receives from `{}`", name) : fmt::format("nobody sends to `{}`", name))
        .Label(item->stmt->span, sends ? "sent here" : "received here")
        .Note(pipe.span, fmt::format("`{}` is declared here", pipe.name))
        .Help(sends ? fmt::format("receive it: `let x = <-{}`", name) : fmt::format("send to it: `{} <- x`", name));
  }
  return ok;
}

void Nest::Check() {
  if (diagnostics_.HasErrors()) return;
  FindNest();
  diagnostics_.Append(std::move(said_));
}

void Nest::FindNest() {
  FindEndpoints();
  if (!CheckEndpoints()) return;
  for (const typed::Pipe& pipe : section_.pipes) limits_.push_back(pipe.slots > 0 ? pipe.slots : 1);
  std::vector<Cursor> cursors;
  for (size_t s = 0; s < skeletons_.size(); ++s) cursors.push_back({static_cast<int>(s), &skeletons_[s].items, 0});
  for (const Ring& ring : rings_) {
    counters_.sent.emplace_back(std::max<size_t>(1, ring.cells.size()), 0);
    counters_.received.emplace_back(ring.consumers.size(), 0);
  }
  slots_.resize(rings_.size());
  const Counters before = counters_;
  if (!Run(std::move(cursors))) return;
  if (counters_ != before) {
    // At the end everything that was sent has been received.
    bool balanced = true;
    for (size_t r = 0; r < rings_.size(); ++r) {
      for (const int64_t sent : counters_.sent[r]) {
        for (const int64_t received : counters_.received[r]) balanced = balanced && sent == received;
      }
    }
    if (!balanced) return ReportUnbalanced(before, kNoSpan, "in a tile");
  }
  for (size_t p = 0; p < section_.pipes.size(); ++p) {
    typed::Pipe& pipe = section_.pipes[p];
    pipe.least_slots = std::max(pipe.least_slots, pipe.slots > 0 ? int64_t{1} : limits_[p]);
    if (pipe.slots == 0 || limits_[p] <= pipe.slots) continue;
    said_
        .Error(DiagnosticKind::kTooFewSlots, pipe.span,
               fmt::format("`{}` has {} slot{}, but {} are sent before the first can be received", pipe.name, pipe.slots,
                           pipe.slots == 1 ? "" : "s", limits_[p]))
        .Help(fmt::format("give it {} slots: `{}[{}]`", limits_[p], pipe.name, limits_[p]));
  }
}

void CheckPipes(const typed::Kernel& kernel, typed::Section& section, Diagnostics& diagnostics, Steps& steps) {
  Nest(kernel, section, diagnostics, steps).Check();
}

}  // namespace tkc::sema
