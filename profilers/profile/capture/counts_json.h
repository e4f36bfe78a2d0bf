// What `memduel record --count -o FILE` writes.
#pragma once

#include <string>
#include <vector>

#include "profilers/profile/capture/recorded_images.h"

namespace memduel {

/// JSON, schema "memduel.counts/1": `command`, `status`, and of each process image its program,
/// pid, whether it ended by itself, its counters, and within how many bytes peak and live bytes are
/// exact.
std::string counts_json(const std::vector<std::string>& command, int status,
                        const std::vector<RecordedImage>& images);

}  // namespace memduel
