// What a recorded program left in its directory, made into files that people keep: one per process
// image.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profilers/profile/heap_counters.h"
#include "profilers/profile/symbolize.h"

namespace memduel {

struct RecordedImage {
  std::optional<std::filesystem::path> file;  ///< absent in count mode
  HeapCounters counters;
};

/// The file of an image, which is the `number`th that left a profile, from 1.
using ImageFile = std::function<std::filesystem::path(const HeapCounters&, std::size_t number)>;

struct RecordedImages {
  std::vector<RecordedImage> images;
  std::vector<std::string> unreadable;  ///< why there is nothing of the others
};

/// Finishes every profile in `directory`, in the order in which the images started, and writes it
/// to its file; an existing one is replaced. Throws Error(io) when one cannot be written.
RecordedImages finish_images(const std::filesystem::path& directory, const ImageFile& file_of,
                             const SymbolOptions& symbols);

/// FILE.mdp for the first image, FILE.2.mdp for the second.
std::filesystem::path numbered(const std::filesystem::path& first, std::size_t number);

}  // namespace memduel
