// Any bytes as a run.sqlite: a run or an Error.
#include "run/store.h"
#include "util/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto database = memduel::sqlite::Database::from_bytes(bytes);
    memduel::read_run(database, memduel::WithSeries::yes);
  } catch (const memduel::Error&) {
  }
  return 0;
}
