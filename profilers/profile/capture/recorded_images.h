// What a recorded program left in its directory, made into files that people keep: one per process
// image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profilers/profile/capture/heap_counters.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

struct RecordedImage {
  std::optional<std::filesystem::path> file;  ///< absent in count mode
  HeapCounters counters;
  bool has_snapshot = false;                                 ///< of its resident memory
  std::optional<double> peak_resident_bytes = std::nullopt;  ///< if it was to take a snapshot
};

/// The images that left a profile, in the order in which they started, from 1.
struct ImagePlan {
  std::vector<std::int64_t> pids;
  std::size_t largest = 0;  ///< by HeapCounters::size_bytes

  [[nodiscard]] std::size_t count() const { return pids.size(); }
};

struct KeepImages {
  /// The file that an image will have, for the others to name.
  std::function<std::filesystem::path(const ImagePlan&, std::size_t number)> file_of;
  /// Takes a finished profile. Returns its file, absent where it is kept in none.
  std::function<std::optional<std::filesystem::path>(const ImagePlan&, std::size_t number,
                                                     std::string_view bytes)>
      keep;
};

struct RecordedImages {
  std::vector<RecordedImage> images;
  std::vector<std::string> unreadable;  ///< why there is nothing of the others
};

/// Finishes every profile in `directory`, in the order in which the images started, and has it
/// kept; where there are several, each names the largest. Throws as `keep` does.
RecordedImages finish_images(const std::filesystem::path& directory, const KeepImages& keep,
                             const SymbolOptions& symbols);

}  // namespace memduel
