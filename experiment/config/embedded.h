// Files of configs/ that are built into the program: the schema, the switches and the presets.
#pragma once

#include <span>
#include <string_view>

namespace memduel {

struct EmbeddedFile {
  std::string_view name;  ///< below configs/, for example "presets/appfl-original.json"
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_files();

/// The text of the file with that name. Throws std::logic_error: the build leaves none out.
std::string_view embedded_file(std::string_view name);

}  // namespace memduel
