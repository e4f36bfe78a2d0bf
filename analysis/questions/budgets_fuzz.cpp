// Any bytes: budgets_from_json either reads them or throws Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/questions/budgets.h"
#include "base/error.h"
#include "base/foreign_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document = memduel::parse_foreign_json({reinterpret_cast<const char*>(data), size});
  if (document.is_discarded()) return 0;
  try {
    static_cast<void>(memduel::budgets_from_json(document, "budgets.json"));
  } catch (const memduel::Error&) {
    return 0;
  }
  return 0;
}
