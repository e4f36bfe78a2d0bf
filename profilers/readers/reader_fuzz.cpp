// Any bytes as another tool's profile: what a reader accepts can be summarized, exported and drawn.
// A fuzz target runs the reader that `fuzzed_reader` names; the replay of the corpus
// (MEMDUEL_EVERY_READER) runs each of them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profile/outputs.h"
#include "readers/plain_source.h"
#include "readers/read_profile.h"
#include "util/error.h"

#ifndef MEMDUEL_EVERY_READER
extern const char* const fuzzed_reader;
#endif

namespace {

bool is_under_test([[maybe_unused]] const memduel::ProfileFormat& format) {
#ifdef MEMDUEL_EVERY_READER
  return true;
#else
  return format.name == fuzzed_reader;
#endif
}

void read_and_use(const memduel::ProfileFormat& format, std::string_view bytes) {
  try {
    memduel::PlainSource source(bytes, "fuzz");
    format.recognises(source.head());
    const memduel::Profile profile = format.read(source, {std::nullopt, false});
    memduel::summarize(profile);
    memduel::export_pprof(profile);
    memduel::FlameDataOptions options;
    options.names = {"fuzz"};
    memduel::flame_data(profile, nullptr, options);
  } catch (const memduel::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  bool found = false;
  for (const memduel::ProfileFormat& format : memduel::profile_formats()) {
    if (!is_under_test(format)) continue;
    found = true;
    read_and_use(format, bytes);
  }
  if (!found) __builtin_trap();
  return 0;
}
