#include "profilers/profile/recorded_images.h"

#include <fmt/format.h>

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

std::vector<RecordedImage> finish_images(const std::filesystem::path& directory,
                                         const ImageFile& file_of, const SymbolOptions& symbols) {
  std::vector<RecordedImage> images;
  std::size_t number = 0;
  for (const HeapCounters& image : read_heap_directory(directory)) {
    RecordedImage recorded{std::nullopt, image};
    const auto raw = directory / fmt::format("{}-{}.mdp", image.started_ns, image.pid);
    if (std::filesystem::exists(raw)) {
      recorded.file = file_of(image, ++number);
      const FinishedProfile finished =
          finish_profile(read_file(raw), raw.string(), symbols, {{"end", end_of(image)}});
      write_file_atomically(*recorded.file, finished.bytes);
    }
    images.push_back(std::move(recorded));
  }
  return images;
}

}  // namespace memduel
