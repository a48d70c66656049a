// SPDX-License-Identifier: MIT
// What barriers count in bytes: copies of the engine, and stores into the blocks of a cluster.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/certify/machine.h"
#include "compiler/ir/op_traits.h"

namespace tkc::certify {

using ir::OpCode;

bool Machine::Load(Context& c) {
  const auto map =
      std::find_if(kernel_.maps.begin(), kernel_.maps.end(), [&](const ir::TensorMap& m) { return m.name == c.op.symbol; });
  const int64_t bytes = ir::EngineBytes(*map, kernel_.TypeOf(c.op.operands[0]));
  int64_t mask = int64_t{1} << c.agent.block;
  if (ir::IsMulticast(c.op.code) && !symbolic::IsInt(c.op.scalars.back(), &mask))
    return Fail(c, DiagnosticKind::kCertificateUnknown, "to which blocks this copy goes is not known here");
  if (mask <= 0 || mask >> program_.blocks != 0)
    return Fail(c, DiagnosticKind::kCertificateHazard,
                fmt::format("this copy goes to blocks {:#b}, and the cluster has {}", mask, program_.blocks));
  return Bring(c, mask, bytes, Shares(c), "starts a copy that completes");
}

/// Every thread stores what it holds into all blocks; a word that several hold is stored by one of them.
bool Machine::StoreCluster(Context& c) {
  const ir::Type& type = kernel_.TypeOf(c.op.operands[0]);
  const int64_t bytes = type.Bytes();
  return Bring(c, (int64_t{1} << program_.blocks) - 1, bytes, Shares(c), "stores what completes");
}

/// Who sees the copy's end knows that it was issued, and so what its warp had waited for; but not that ordinary accesses of the
/// warp itself are over: a copy, unlike an arrival, does not wait for them.
void Machine::HandOnIssue(Context& c, int element, const ShareList& shares) const {
  Knowledge& knowledge = c.state.knowledge;
  const int arriving = Arriving(element);
  for (const Share& share : shares) {
    std::vector<int> own;
    for (const std::vector<Record>& there : c.state.records.OfPlaces()) {
      for (const Record& record : there) {
        if (record.warp == share.warp && !record.is_async && !knowledge.Knows(arriving, record.event)) own.push_back(record.event);
      }
    }
    knowledge.Join(arriving, share.warp);
    for (const int event : own) {
      knowledge.Unlearn(arriving, event, false);
      knowledge.Unlearn(arriving, event, true);
    }
  }
}

/// Of what each other block finishes, this one's part: they lie side by side in its buffer, in the order of those they come from.
bool Machine::SendShares(Context& c) {
  const ir::Buffer& buffer = kernel_.buffers[static_cast<size_t>(c.step.buffer)];
  const int own = c.agent.block;
  const int64_t cols = buffer.cols / (program_.blocks - 1);
  for (int block = 0; block < program_.blocks; ++block) {
    if (block == own) continue;
    const int64_t begin = (own > block ? own - 1 : own) * cols;
    const Access part{-1, {0, buffer.rows, begin, begin + cols}};
    const int64_t bytes = buffer.rows * cols * tkc::Bytes(buffer.dtype);
    if (!BringTo(c, block, PlaceOf(c, block, c.step.buffer, 0), part, bytes, Shares(c), "sends what completes")) return false;
  }
  return true;
}

/// Bytes for the view's place in each of these blocks, and for its barrier there.
bool Machine::Bring(Context& c, int64_t blocks, int64_t bytes, const ShareList& shares, const char* what) {
  const int own = c.self.roots[static_cast<size_t>(c.step.accesses[0].root)];
  const Place& place = places_[static_cast<size_t>(own)];
  const auto base = [&](int block) {
    return place_base_[static_cast<size_t>(block) * kernel_.buffers.size() + static_cast<size_t>(place.buffer)];
  };
  for (int block = 0; block < program_.blocks; ++block) {
    if ((blocks >> block & 1) == 0) continue;
    if (!BringTo(c, block, base(block) + own - base(place.block), c.step.accesses[0], bytes, shares, what)) return false;
  }
  return true;
}

bool Machine::BringTo(Context& c, int block, int place, const Access& access, int64_t bytes, const ShareList& shares,
                      const char* what) {
  const int element = ElementOfStep(c, block);
  for (const Share& share : shares) {
    if (!MayArrive(c, element, share.warp, what)) return false;
  }
  std::vector<std::pair<int, int>> events;
  if (!AccessShared(c, place, {access, true, true, shares, &events})) return false;
  HandOnIssue(c, element, shares);
  for (const auto& [warp, event] : events) c.state.knowledge.Learn(Arriving(element), event);
  c.state.barriers[static_cast<size_t>(element)].issued += bytes;
  CompleteIfDone(c, element);
  return !finding;
}

}  // namespace tkc::certify
