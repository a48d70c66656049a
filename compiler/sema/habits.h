// SPDX-License-Identifier: MIT
// Names from other languages, of which there is nothing here: the way it is said instead.
#pragma once

#include <string_view>

namespace tkc::sema {

/// An element type as CUDA, NumPy or PyTorch call it, by its name here; "" for others.
std::string_view NameInOtherLanguages(std::string_view type);

/// The help for a name of that kind that does not exist; "" where there is none.
std::string_view HelpForFunction(std::string_view name);
std::string_view HelpForName(std::string_view name);
std::string_view HelpForMember(std::string_view name);
std::string_view HelpForScheduleItem(std::string_view name);

/// What to write in place of an element type that is specified, not yet implemented; "" where nothing is as short.
std::string_view HelpUntilBuilt(std::string_view name);

/// A name in front of functions in other languages: `tl`, `torch`.
bool IsModule(std::string_view name);

}  // namespace tkc::sema
