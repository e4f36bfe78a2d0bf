// jemalloc's heap profiler, in a build that has it (Debian's has). Dumps are taken through mallctl
// by libmemduel_dump.so: the option prof_final can deadlock in a program whose atexit allocates.
#include <fmt/format.h>

#include <bit>

#include "base/error.h"
#include "base/file.h"
#include "profilers/tracers/backends.h"
#include "profilers/tracers/left_files.h"
#include "profilers/tracers/preloaded.h"

namespace memduel {
namespace {

constexpr const char* kJemalloc = "libjemalloc.so.2";

int log2_of(std::uint64_t interval_bytes) {
  if (std::has_single_bit(interval_bytes)) return std::countr_zero(interval_bytes);
  throw Error(
      ExitCode::usage,
      fmt::format("jemalloc cannot sample every {} bytes: it takes powers of two", interval_bytes),
      {}, fmt::format("give {}", std::bit_floor(interval_bytes)));
}

class Jemalloc : public Tracer {
 public:
  [[nodiscard]] EnvironmentVariables variables(const std::filesystem::path& directory,
                                               const EnvironmentVariables& environment,
                                               const TracerOptions& options) const override {
    auto variables = preload_environment("jemalloc", kJemalloc, directory, environment);
    const int sample = options.every_allocation ? 0 : log2_of(options.interval_bytes);
    // The last word on an option counts: the program's own stay in force.
    std::string settings = value_in(environment, "MALLOC_CONF");
    if (!settings.empty()) settings += ",";
    settings += fmt::format("prof:true,prof_active:true,prof_accum:true,lg_prof_sample:{}", sample);
    variables["MALLOC_CONF"] = settings;
    return variables;
  }

  [[nodiscard]] KeptProfiles keep(const std::filesystem::path& directory,
                                  const ProfileNaming& file_of) const override {
    return keep_files(directory, file_of, move_file);
  }
};

}  // namespace

std::unique_ptr<Tracer> make_jemalloc() {
  return std::make_unique<Jemalloc>();
}

// One without the profiler takes no stacks, and so has no use for an unwinder.
Availability jemalloc_works() {
  Availability here = library_works(kJemalloc);
  if (!here.works) return here;
  const std::string bytes = read_file(*find_shared_library(kJemalloc));
  const bool unwinds = bytes.find("_Unwind_Backtrace") != std::string::npos ||
                       bytes.find("unw_backtrace") != std::string::npos;
  if (!unwinds) return {false, std::string(kJemalloc) + " was built without its profiler"};
  return here;
}

}  // namespace memduel
