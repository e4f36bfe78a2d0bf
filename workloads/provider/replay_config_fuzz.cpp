// Any bytes as a replay's config, expanded in this process: an experiment or an Error, and a
// resolved config that loads as itself.
#include <cstdlib>

#include "config/experiment.h"
#include "provider/expand.h"
#include "util/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto once = memduel::parse_experiment(text, "fuzz.json", "/fuzz", {}, memduel::ask_fl);
    const auto again = memduel::parse_experiment(written_document(once.config).dump(), "fuzz.json",
                                                 "/fuzz", {}, memduel::ask_fl);
    if (again.config_sha256 != once.config_sha256) std::abort();
  } catch (const memduel::Error&) {
  }
  return 0;
}
