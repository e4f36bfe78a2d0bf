// What options and matrices change in a config before it is read.
#pragma once

#include <string>
#include <vector>

#include "config/config_json.h"
#include "config/overrides.h"

namespace memduel {

/// Puts what the options give in the place of what the file has. Returns the gates of the config
/// that the options' replace. Throws Error(usage) for a --set that is none.
std::vector<std::string> apply_overrides(ConfigTree& tree, const Overrides& overrides);

/// Replaces each variant that has a `matrix` by one for every combination: the variant without it,
/// with what each axis' value changes merged over it, named NAME-VALUE-VALUE. Others stay. Throws
/// Error(usage) naming the place of a matrix that is no list of axes, and for more variants than a
/// config may have.
void expand_matrices(ConfigTree& tree);

}  // namespace memduel
