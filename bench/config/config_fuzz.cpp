// Any bytes as a config: an experiment or an Error, and a resolved config that loads as itself. No
// provider is started.
#include <cstdlib>

#include "config/experiment.h"
#include "support/small_experiment.h"
#include "util/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const memduel::AskProvider ask = memduel::small_provider();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto once = memduel::parse_experiment(text, "fuzz.json", "/fuzz", {}, ask);
    const auto again = memduel::parse_experiment(written_document(once.config).dump(), "fuzz.json",
                                                 "/fuzz", {}, ask);
    if (again.config_sha256 != once.config_sha256) std::abort();
  } catch (const memduel::Error&) {
  }
  return 0;
}
