#include "experiment/config/embedded.h"

#include <stdexcept>
#include <string>

namespace memduel {

std::string_view embedded_file(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == name) return file.text;
  }
  throw std::logic_error("not built in: " + std::string(name));
}

}  // namespace memduel
