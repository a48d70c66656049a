// SPDX-License-Identifier: MIT
// What is said when the pipes of a section do not fit: who waits for whom, and both bodies.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/nest.h"
#include "compiler/support/internal_error.h"

namespace tkc::sema {

using TrafficKind = TrafficItem::Kind;

std::string CellText(const typed::Pipe& pipe, const Rectangle& cell) {
  const typed::PipeField& field = pipe.fields[cell.field];
  std::string text;
  if (cell.rows < field.rows) text += fmt::format("rows {} .. {}", cell.row, cell.row + cell.rows);
  if (cell.cols < field.cols) text += fmt::format("{}columns {} .. {}", text.empty() ? "" : ", ", cell.col, cell.col + cell.cols);
  if (pipe.fields.size() > 1) {
    const std::string name = field.name.empty() ? fmt::format("field {}", cell.field) : fmt::format("field `{}`", field.name);
    text += text.empty() ? name : " of " + name;
  }
  return text.empty() ? "the slot" : text;
}

const char* CellVerb(const typed::Pipe& pipe, const Rectangle& cell) {
  const typed::PipeField& field = pipe.fields[cell.field];
  return cell.rows == field.rows && cell.cols == field.cols ? "is" : "are";
}

std::string Nest::HeadText(const Cursor& cursor) const {
  if (cursor.AtEnd()) return fmt::format("`{}` is done", skeletons_[cursor.skeleton].name);
  const TrafficItem& item = cursor.Head();
  const std::string& name = skeletons_[cursor.skeleton].name;
  switch (item.kind) {
    case TrafficKind::kReceive: return fmt::format("`{}` waits for a slot of `{}`", name, section_.pipes[item.stmt->pipe].name);
    case TrafficKind::kSend: return fmt::format("`{}` sends to `{}`", name, section_.pipes[item.stmt->pipe].name);
    case TrafficKind::kLoop: return fmt::format("`{}` enters this loop", name);
    default: return fmt::format("`{}` enters this branch", name);
  }
}

std::vector<int> Nest::Shared(int a, int b) const {
  std::vector<int> shared;
  const auto touches = [&](int s, size_t ring) {
    const Ring& r = rings_[ring];
    return std::count(r.producers.begin(), r.producers.end(), s) + std::count(r.consumers.begin(), r.consumers.end(), s) > 0;
  };
  for (size_t r = 0; r < rings_.size(); ++r) {
    if (touches(a, r) && touches(b, r)) shared.push_back(static_cast<int>(r));
  }
  return shared;
}

void Nest::ReportPair(int a, Span a_span, std::string a_label, int b, Span b_span, std::string b_label) {
  const std::vector<int> shared = Shared(a, b);
  std::string pipes;
  for (const int ring : shared) {
    const std::string name = fmt::format("`{}`", section_.pipes[rings_[ring].pipe].name);
    if (pipes.find(name) == std::string::npos) pipes += (pipes.empty() ? "" : ", ") + name;
  }
  DiagnosticBuilder report = said_.Error(DiagnosticKind::kTrafficMismatch, a_span,
                                         fmt::format("`{}` and `{}` do not use {} in step", skeletons_[a].name, skeletons_[b].name,
                                                     pipes.empty() ? "their pipes" : pipes));
  report.Label(a_span, std::move(a_label));
  if (!(a_span == b_span)) report.Label(b_span, std::move(b_label));
  for (const int s : {a, b}) {
    report.Note(fmt::format("`{}`: {}", skeletons_[s].name, SkeletonText(kernel_, section_, skeletons_[s].items, shared)));
  }
  report.Help("let both have the same loops and branches, in which each send comes before its receive");
}

bool Nest::AreAtEqual(const Cursor& a, const Cursor& b) {
  if (a.AtEnd() || b.AtEnd() || a.Head().kind != b.Head().kind) return false;
  return (a.Head().kind == TrafficKind::kLoop || a.Head().kind == TrafficKind::kIf) && Key(a) == Key(b);
}

/// Who keeps it from going on: who should have sent, else who shares a pipe with the loop and is at no equal one.
const Cursor* Nest::FindOther(const std::vector<Cursor>& cursors, const Cursor& stuck) {
  const TrafficItem& item = stuck.Head();
  const auto is_in = [](const std::vector<int>& ends, const Cursor& cursor) {
    return std::find(ends.begin(), ends.end(), cursor.skeleton) != ends.end();
  };
  for (const int ring : item.rings) {
    const Ring& r = rings_[ring];
    for (const Cursor& cursor : cursors) {
      if (&cursor == &stuck || AreAtEqual(stuck, cursor)) continue;
      if (item.kind == TrafficKind::kReceive ? is_in(r.producers, cursor)
                                             : is_in(r.consumers, cursor) || is_in(r.producers, cursor))
        return &cursor;
    }
  }
  return nullptr;
}

void Nest::ReportStuck(const std::vector<Cursor>& cursors) {
  const Cursor* first = nullptr;
  for (const Cursor& cursor : cursors) {
    if (cursor.AtEnd()) continue;
    const bool waits = cursor.Head().kind == TrafficKind::kReceive;
    if (first == nullptr || (waits && first->Head().kind != TrafficKind::kReceive)) first = &cursor;
  }
  Ensure(first != nullptr, "no worker is stuck");
  const Cursor* other = FindOther(cursors, *first);
  // Where all who share its pipes stand at an equal branch, one of them shares others with somebody who does not.
  for (const Cursor& cursor : cursors) {
    if (other != nullptr || !AreAtEqual(*first, cursor)) continue;
    other = FindOther(cursors, cursor);
    if (other != nullptr) first = &cursor;
  }
  const TrafficItem& item = first->Head();
  int b = first->skeleton;
  if (other != nullptr) {
    b = other->skeleton;
  } else {
    const std::vector<int>& ends = rings_[item.rings[0]].producers;
    b = ends[0] != first->skeleton ? ends[0] : rings_[item.rings[0]].consumers[0];
  }
  const Span a_span = item.stmt->span;
  if (b == first->skeleton) {
    const typed::Pipe& pipe = section_.pipes[item.stmt->pipe];
    said_
        .Error(DiagnosticKind::kTrafficMismatch, a_span,
               fmt::format("`{}` waits for a slot of `{}` that only `{}` sends", skeletons_[b].name, pipe.name, skeletons_[b].name))
        .Label(a_span, "nothing has been sent before this")
        .Note(pipe.span, fmt::format("`{}` is declared here", pipe.name))
        .Help("send before it receives; what a worker has computed itself it also has at hand, by `let`");
    return;
  }
  if (other != nullptr && !other->AtEnd())
    return ReportPair(first->skeleton, a_span, HeadText(*first), b, other->Head().stmt->span, HeadText(*other));
  if (other != nullptr && !other->items->empty()) {
    const Span last = other->items->back().stmt->span;
    return ReportPair(first->skeleton, a_span, HeadText(*first), b, last,
                      fmt::format("`{}` has no more for it after this", skeletons_[b].name));
  }
  ReportPair(first->skeleton, a_span, HeadText(*first), b, section_.workers[skeletons_[b].worker].span,
             fmt::format("`{}` does not come to it here", skeletons_[b].name));
}

void Nest::ReportUnbalanced(const Counters& before, Span span, const char* where) {
  for (size_t r = 0; r < rings_.size(); ++r) {
    const typed::Pipe& pipe = section_.pipes[rings_[r].pipe];
    const auto most_cell = std::max_element(counters_.sent[r].begin(), counters_.sent[r].end()) - counters_.sent[r].begin();
    const auto least_cell = std::min_element(counters_.sent[r].begin(), counters_.sent[r].end()) - counters_.sent[r].begin();
    const int64_t most = counters_.sent[r][most_cell] - before.sent[r][most_cell];
    const int64_t least = counters_.sent[r][least_cell] - before.sent[r][least_cell];
    if (most != least) {
      const Rectangle& cell = rings_[r].cells[most_cell];
      const TrafficItem* send = nullptr;
      for (const int s : rings_[r].producers) {
        if (send == nullptr) send = FindSend(skeletons_[s].items, static_cast<int>(r), &cell);
      }
      said_
          .Error(DiagnosticKind::kPartsOverlap, send->stmt->span,
                 fmt::format("{} of `{}` are sent {} times {}, {} {}", CellText(pipe, cell), pipe.name, most, where,
                             CellText(pipe, rings_[r].cells[least_cell]), least))
          .Label(send->stmt->span, "sent here")
          .Note(pipe.span, fmt::format("`{}` is declared here", pipe.name))
          .Help("a slot is full when each part of it was sent once");
      return;
    }
    for (size_t c = 0; c < counters_.received[r].size(); ++c) {
      const int64_t received = counters_.received[r][c] - before.received[r][c];
      if (received == most) continue;
      const int a = rings_[r].producers[0];
      const int b = rings_[r].consumers[c];
      const TrafficItem* send = FindSend(skeletons_[a].items, static_cast<int>(r), nullptr);
      const TrafficItem* receive = FindReceive(skeletons_[b].items, static_cast<int>(r));
      const auto times = [](int64_t n) { return n == 1 ? std::string("once") : fmt::format("{} times", n); };
      (void)span;
      return ReportPair(a, send->stmt->span, fmt::format("`{}` sends {} {}", skeletons_[a].name, times(most), where), b,
                        receive->stmt->span, fmt::format("`{}` receives {}", skeletons_[b].name, times(received)));
    }
  }
  // The branches leave different numbers behind, each of them even in itself.
  said_.Error(DiagnosticKind::kTrafficMismatch, span, "the branches leave different numbers of slots behind")
      .Help("send and receive as often in both");
}

}  // namespace tkc::sema
