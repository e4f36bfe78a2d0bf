// The IDX files of MNIST, plain or gzip-compressed.
//
// An image file is 00 00 08 03, then count, rows and columns as big-endian 32-bit numbers, then
// count × rows × columns bytes; a label file is 00 00 08 01, the count, then one byte per label.
// Source: yann.lecun.com/exdb/mnist.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "data/load.h"

namespace memduel {

/// Reads a pair of uncompressed IDX files. `images_name` and `labels_name` are only for messages.
/// Throws Error(io) naming file, offset, what was found and what was expected.
ImageSet parse_idx(std::string_view image_bytes, std::string_view label_bytes,
                   const std::string& images_name, const std::string& labels_name);

/// The same from files; gzip is recognised by its first two bytes.
ImageSet read_idx(const std::filesystem::path& images, const std::filesystem::path& labels);

}  // namespace memduel
