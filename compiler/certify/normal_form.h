// SPDX-License-Identifier: MIT
// When two states of the machine are one state: slots counted from where the rings stand, iterations from the agent that is
// furthest behind, phases from the lap that the ring is in, and nothing kept that everybody knows. A replay that comes back to a
// state has nothing new to show.
#pragma once

#include <string>

#include "compiler/certify/machine.h"

namespace tkc::certify {

/// Forgets what can have no consequence any more: events that all agents still running know, integers of iterations that all have
/// left.
void Simplify(const Machine& machine, State& state);

/// Equal for two states exactly when they are equal up to the above. Simplify first.
std::string NormalForm(const Machine& machine, const State& state);

}  // namespace tkc::certify
