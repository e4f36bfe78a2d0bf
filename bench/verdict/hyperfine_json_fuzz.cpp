// Any bytes: run_from_hyperfine either reads them or throws Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "util/error.h"
#include "util/json.h"
#include "verdict/hyperfine_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = memduel::parse_foreign_json(text);
  if (document.is_discarded()) return 0;
  try {
    static_cast<void>(memduel::run_from_hyperfine(document, "fuzz"));
  } catch (const memduel::Error&) {
    return 0;
  }
  return 0;
}
