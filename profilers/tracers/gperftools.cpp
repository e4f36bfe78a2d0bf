// tcmalloc's heap profiler. libmemduel_dump.so starts it: with HEAPPROFILE forked children and
// executed programs would share files.
#include "profilers/tracers/backends.h"
#include "profilers/tracers/left_files.h"
#include "profilers/tracers/preloaded.h"

namespace memduel {
namespace {

constexpr const char* kTcmalloc = "libtcmalloc.so.4";

class GperftoolsHeap : public Tracer {
 public:
  [[nodiscard]] EnvironmentVariables variables(const std::filesystem::path& directory,
                                               const EnvironmentVariables& environment,
                                               const TracerOptions& /*options*/) const override {
    auto variables = preload_environment("gperftools", kTcmalloc, directory, environment);
    // No dumps but those at the ends of rounds and of the program.
    variables["HEAP_PROFILE_ALLOCATION_INTERVAL"] = "0";
    variables["HEAP_PROFILE_INUSE_INTERVAL"] = "0";
    return variables;
  }

  [[nodiscard]] KeptProfiles keep(const std::filesystem::path& directory,
                                  const ProfileNaming& file_of) const override {
    return keep_files(directory, file_of, move_file);
  }
};

}  // namespace

std::unique_ptr<Tracer> make_gperftools() {
  return std::make_unique<GperftoolsHeap>();
}

Availability gperftools_works() {
  return library_works(kTcmalloc);
}

}  // namespace memduel
