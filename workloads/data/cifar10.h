// The binary layout of CIFAR-10: records of one label byte (0 to 9) and 3 × 32 × 32 pixel bytes,
// planes red, green, blue. Source: cs.toronto.edu/~kriz/cifar.html.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "data/load.h"

namespace memduel {

/// Reads whole records. `name` is for messages. Throws Error(io) naming file, offset, found and
/// expected.
ImageSet parse_cifar10(std::string_view bytes, const std::string& name);

ImageSet read_cifar10(const std::filesystem::path& path);

}  // namespace memduel
