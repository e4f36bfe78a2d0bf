#include "base/scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/error.h"

namespace memduel {

ScratchDirectory::ScratchDirectory(const std::filesystem::path& parent, const std::string& name) {
  std::string pattern = (parent / (name + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw Error(ExitCode::io, "cannot make a directory: " + std::generic_category().message(errno),
                parent.string());
  path_ = std::filesystem::absolute(pattern);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace memduel
