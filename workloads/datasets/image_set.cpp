#include "workloads/datasets/image_set.h"

namespace memduel {

ImageSet select(const ImageSet& images, std::span<const std::size_t> indices) {
  ImageSet chosen{images.channels, images.height, images.width, {}, {}};
  const std::size_t size = images.image_bytes();
  chosen.pixels.reserve(indices.size() * size);
  chosen.labels.reserve(indices.size());
  for (const std::size_t index : indices) {
    const auto first = images.pixels.begin() + static_cast<std::ptrdiff_t>(index * size);
    chosen.pixels.insert(chosen.pixels.end(), first, first + static_cast<std::ptrdiff_t>(size));
    chosen.labels.push_back(images.labels[index]);
  }
  return chosen;
}

}  // namespace memduel
