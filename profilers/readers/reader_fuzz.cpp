// One reader (MEMDUEL_READER) against arbitrary bytes, and what is made of what it read.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "profilers/profile/questions/export_profile.h"
#include "profilers/profile/questions/flame_data.h"
#include "profilers/profile/questions/summarize.h"
#include "profilers/readers/plain_source.h"
#include "profilers/readers/registry.h"

namespace {

const memduel::ProfileFormat& format_under_test() {
  for (const memduel::ProfileFormat& format : memduel::profile_formats()) {
    if (format.name == MEMDUEL_READER) return format;
  }
  __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    memduel::PlainSource source(bytes, "fuzz");
    format_under_test().recognises(source.head());
    const memduel::Profile profile = format_under_test().read(source, {std::nullopt, false});
    memduel::summarize(profile);
    memduel::export_json(profile);
    memduel::export_pprof(profile);
    memduel::FlameDataOptions options;
    options.names = {"fuzz"};
    memduel::flame_data(profile, nullptr, options);
  } catch (const memduel::Error&) {
    return 0;
  }
  return 0;
}
