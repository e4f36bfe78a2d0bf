// From what the recorder left to the file that people keep: blocks packed, names added, an index.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "profilers/profile/model/profile.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

struct FinishedProfile {
  std::string bytes;
  Profile profile;  ///< as the bytes read back
};

/// Packs the blocks of `recorded` with zstd and adds the names that can be found on this machine,
/// so that the file can be read anywhere. `more_info` is added to Profile::info. `last` are the
/// counters of a program that a signal ended: the file's own stop at its last block. Finishing a
/// finished file renews its names.
FinishedProfile finish_profile(std::string_view recorded, const std::string& name,
                               const SymbolOptions& options,
                               const std::map<std::string, std::string>& more_info = {},
                               const std::optional<HeapTotals>& last = std::nullopt);

}  // namespace memduel
