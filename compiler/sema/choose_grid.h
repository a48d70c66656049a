// SPDX-License-Identifier: MIT
// How the tiles of a section are walked where its schedule does not say so.
//
// On a machine whose copy engine fills slots ahead, a block that multiplies what another worker loads holds most of a
// multiprocessor: no second one hides how it begins and ends. So blocks take tile after tile (`persistent`), and copies for the
// next one are under way while the present one is stored. Where of two axes each chooses what the other shares, as rows and columns
// do in a matrix product, the tiles are walked in bands (`order = grouped(8)`), so that what one block loads is in the cache for
// the next.
#pragma once

#include "compiler/sema/typed.h"
#include "compiler/target/target.h"

namespace tkc::sema {

/// Chooses `persistent`, and `order` with it, unless the section has them.
void ChooseGrid(typed::Section& section, const Target& target);

/// Whether a product is computed in it.
bool Multiplies(const typed::Section& section);

}  // namespace tkc::sema
