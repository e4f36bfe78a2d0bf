// Switch staging: where a folded global state waits until every client has delivered its last byte.
// Until then the old one must stay whole: a client may still be lost.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fl/models.h"

namespace memduel {

class Staging {
 public:
  Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  virtual ~Staging() = default;

  /// The next bytes of the new state, in the order of the tensors, without gaps. Throws Error(io).
  virtual void append(std::string_view bytes) = 0;

  /// Moves what was staged into `state` and begins again. Throws Error(io).
  virtual void commit(const State& state) = 0;

  /// Forgets what was staged.
  virtual void abandon() = 0;
};

/// @param value second_copy: memory as large as the state; unlinked_file: a file without a name
/// below `directory`: the copy lies in page cache that the kernel can take back, which a cgroup is
/// charged for.
std::unique_ptr<Staging> make_staging(const std::string& value, std::size_t state_bytes,
                                      const std::filesystem::path& directory);
std::vector<std::string> staging_values();

}  // namespace memduel
