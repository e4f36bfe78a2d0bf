// A run directory as values.
#pragma once

#include <filesystem>

#include "experiment/store/store.h"

namespace memduel {

/// read_run(), with what a run of an older memduel did not keep of its job.
RunData read_kept_run(const std::filesystem::path& directory, WithSeries series);

}  // namespace memduel
