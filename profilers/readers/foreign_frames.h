// Frames of tools that say of each a function, a file and perhaps a line.
#pragma once

#include <cstdint>
#include <string_view>

#include "profilers/profile/model/profile.h"
#include "profilers/readers/stack_builder.h"

namespace memduel {

/// Python's are FILE.py, <frozen runpy>, <string> and <stdin>.
ProfileLocation::Kind kind_of_file(std::string_view file);

/// The location of such a frame; memray writes <unknown> where it found no function or file.
std::uint32_t foreign_location(StackBuilder& builder, FrameName frame);

}  // namespace memduel
