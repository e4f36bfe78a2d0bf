// Any bytes as a config: an experiment or an Error, and a resolved config that loads as itself.
#include <cstdlib>

#include "base/error.h"
#include "experiment/config/config.h"
#include "experiment/config/test_support.h"

namespace {

/// A provider is a command that would be run; an escape could hide the word.
bool may_name_a_provider(std::string_view text) {
  return text.find("provider") != std::string_view::npos ||
         text.find("\\u") != std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const memduel::Catalog catalog = memduel::small_catalog();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (may_name_a_provider(text)) return 0;
  try {
    const auto once = memduel::parse_experiment(text, "fuzz.json", "/fuzz", {}, catalog);
    const auto again =
        memduel::parse_experiment(once.resolved.dump(), "fuzz.json", "/other", {}, catalog);
    if (again.config_sha256 != once.config_sha256) std::abort();
  } catch (const memduel::Error&) {
  }
  return 0;
}
