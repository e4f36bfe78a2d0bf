#include "profilers/profile/recorded_images.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "profilers/profile/finish_profile.h"

namespace memduel {
namespace {

std::string end_of(const HeapCounters& image) {
  return image.finished ? "the program's own"
                        : "by a signal: stacks that were not yet written are lost";
}

/// The page outlives the program, whatever ended it.
std::optional<ProfileCounters> last_counters(const HeapCounters& image) {
  if (image.finished) return std::nullopt;
  return ProfileCounters{image.live_bytes,  image.peak_bytes,    image.allocated_bytes,
                         image.allocations, image.mapping_bytes, image.mapping_peak_bytes,
                         image.lost,        image.threads};
}

std::map<std::string, std::string> info_of(const HeapCounters& image) {
  std::map<std::string, std::string> info = {{"end", end_of(image)}};
  if (image.uncertainty_bytes() > 0)
    info["counters_within"] = format_bytes(static_cast<double>(image.uncertainty_bytes()));
  return info;
}

}  // namespace

std::filesystem::path numbered(const std::filesystem::path& first, std::size_t number) {
  if (number == 1) return first;
  std::filesystem::path later = first;
  later.replace_extension(fmt::format(".{}{}", number, first.extension().string()));
  return later;
}

RecordedImages finish_images(const std::filesystem::path& directory, const KeepImage& keep,
                             const SymbolOptions& symbols) {
  HeapImages left = read_heap_directory(directory);
  RecordedImages recorded;
  recorded.unreadable = std::move(left.unreadable);
  std::size_t number = 0;
  for (const HeapCounters& image : left.images) {
    recorded.images.push_back({std::nullopt, image});
    const auto raw = directory / fmt::format("{}-{}.mdp", image.started_ns, image.pid);
    if (!std::filesystem::exists(raw)) continue;
    FinishedProfile finished;
    try {
      finished = finish_profile(read_file(raw), raw.string(), symbols, info_of(image),
                                last_counters(image));
    } catch (const Error& error) {
      recorded.unreadable.push_back(error.message());
      continue;
    }
    recorded.images.back().file = keep(image, ++number, finished.bytes);
  }
  return recorded;
}

}  // namespace memduel
