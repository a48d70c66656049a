// SPDX-License-Identifier: MIT
// What the engine says to the products of the tensor core.
#pragma once

namespace tk::sim {

/// Before and after each launch: registers and lanes of the one before do not exist any more.
void forget_products();

}  // namespace tk::sim
