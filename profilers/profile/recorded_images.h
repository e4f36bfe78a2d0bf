// What a recorded program left in its directory, made into files that people keep: one per process
// image.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profilers/profile/heap_counters.h"
#include "profilers/profile/symbolize.h"

namespace memduel {

struct RecordedImage {
  std::optional<std::filesystem::path> file;  ///< absent in count mode
  HeapCounters counters;
};

/// Takes the finished profile of an image, the `number`th that left one, from 1. Returns its file,
/// absent where it is kept in none.
using KeepImage = std::function<std::optional<std::filesystem::path>(
    const HeapCounters&, std::size_t number, std::string_view bytes)>;

struct RecordedImages {
  std::vector<RecordedImage> images;
  std::vector<std::string> unreadable;  ///< why there is nothing of the others
};

/// Finishes every profile in `directory`, in the order in which the images started, and has it
/// kept. Throws as `keep` does.
RecordedImages finish_images(const std::filesystem::path& directory, const KeepImage& keep,
                             const SymbolOptions& symbols);

/// FILE.mdp for the first image, FILE.2.mdp for the second.
std::filesystem::path numbered(const std::filesystem::path& first, std::size_t number);

}  // namespace memduel
