// Files of configs/ that are built into a program; cmake/EmbedFiles.cmake writes the functions that
// give them.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace memduel {

struct EmbeddedFile {
  std::string_view name;  ///< below configs/, for example "presets/appfl-original.json"
  std::string_view text;
};

/// The text of the file with that name. Throws std::logic_error: the build leaves none out.
inline std::string_view embedded_file(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files)
    if (file.name == name) return file.text;
  throw std::logic_error("not built in: " + std::string(name));
}

/// The experiment schema.
std::span<const EmbeddedFile> experiment_files();

/// The laboratory's schema, switches and presets.
std::span<const EmbeddedFile> laboratory_files();

}  // namespace memduel
