#include "profilers/profile/recorded_images.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "profilers/profile/finish_profile.h"

namespace memduel {
namespace {

std::string end_of(const HeapCounters& image) {
  return image.finished ? "the program's own" : "killed: what was not yet written is lost";
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
      finished = finish_profile(read_file(raw), raw.string(), symbols, {{"end", end_of(image)}});
    } catch (const Error& error) {
      recorded.unreadable.push_back(error.message());
      continue;
    }
    recorded.images.back().file = keep(image, ++number, finished.bytes);
  }
  return recorded;
}

}  // namespace memduel
