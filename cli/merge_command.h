// What to do with the shares of a run when all are measured.
#pragma once

#include <filesystem>
#include <string>

#include "experiment/run/share.h"

namespace memduel::cli {

/// The command that merges all shares, where the name of this one's directory tells those of the
/// others: share-2 of three has share-1 and share-3 beside it. Else which verb does it.
std::string advice_to_merge(const Share& share, const std::filesystem::path& directory);

}  // namespace memduel::cli
