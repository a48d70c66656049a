// SPDX-License-Identifier: MIT
#include "compiler/passes/register_shares.h"

#include <algorithm>

#include "compiler/ir/queries.h"
#include "compiler/layout/bank_model.h"

namespace tkc::passes {

int64_t RegistersOfResident(const ir::Kernel& kernel, const Target& target) {
  const RegisterRule& rule = target.registers;
  return std::min<int64_t>(rule.most_per_thread, rule.file / (kernel.threads * kernel.resident)) / rule.unit * rule.unit;
}

namespace {

/// One block, which may deal out anew what it was launched with.
RegisterShares DealToRoles(const ir::Kernel& kernel, const Target& target) {
  const int64_t unit = target.registers.unit;
  RegisterShares shares;
  shares.at_entry = target.registers.AtEntry(kernel.threads);
  shares.computing = std::min<int64_t>(shares.at_entry, target.registers.most_per_thread);
  const int64_t warpgroups = kernel.threads / (ir::kWarpsOfInstance * layout::kLanes);
  int64_t computing = 0;
  bool copies = false;
  for (const ir::Worker& worker : kernel.workers) {
    const bool computes = worker.Computes();
    computing += computes ? worker.instances : 0;
    copies |= !computes;
  }
  if (target.registers.Moves() && copies && computing >= 2 && warpgroups > computing) {
    // What is left then comes out even: of the 504 that three warpgroups start with 40 + 2 * 232, of the 512 of four 32 + 3 * 160.
    shares.copying = computing <= 2 ? 40 : 32;
    const int64_t left = shares.at_entry * warpgroups - shares.copying * (warpgroups - computing);
    shares.computing = std::min<int64_t>(target.registers.most, left / computing / unit * unit);
  }
  shares.for_tiles = shares.computing - target.beside_tiles.for_addresses;
  return shares;
}

bool HasProducts(const ir::Kernel& kernel) {
  return std::any_of(kernel.workers.begin(), kernel.workers.end(),
                     [](const ir::Worker& worker) { return Multiplies(worker.body); });
}

/// Several blocks, each of which has its registers from the launch.
RegisterShares DealToBlocks(const ir::Kernel& kernel, const Target& target) {
  RegisterShares shares;
  shares.at_entry = shares.computing = RegistersOfResident(kernel, target);
  shares.for_tiles =
      shares.computing - (HasProducts(kernel) ? target.beside_tiles.for_addresses : target.beside_tiles.for_addresses_of_many);
  return shares;
}

}  // namespace

int64_t ForProducts(const RegisterShares& shares, const Target& target, const ir::Region& region) {
  constexpr int64_t kOperands = 2;
  int64_t received = 0;
  for (const ir::Op& op : region) received += op.code == ir::OpCode::kReceive ? static_cast<int64_t>(op.results.size()) : 0;
  return shares.for_tiles - target.beside_tiles.for_further_copies * std::max<int64_t>(0, received - kOperands);
}

RegisterShares ShareRegisters(const ir::Kernel& kernel, const Target& target) {
  return kernel.resident > 1 ? DealToBlocks(kernel, target) : DealToRoles(kernel, target);
}

}  // namespace tkc::passes
