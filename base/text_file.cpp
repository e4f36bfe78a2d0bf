#include "base/text_file.h"

#include "base/file.h"

namespace memduel {

std::string read_text_file(const std::filesystem::path& path) {
  return read_file_of_at_most(path, kMostOfAStream);
}

}  // namespace memduel
