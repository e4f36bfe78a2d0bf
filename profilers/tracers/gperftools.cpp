// gperftools: tcmalloc's heap profiler, and the CPU profiler. Both are started by
// libmemduel_dump.so; HEAPPROFILE and CPUPROFILE would have forked children and executed programs
// share files.
#include "profilers/tracers/backends.h"
#include "profilers/tracers/left_files.h"
#include "profilers/tracers/preloaded.h"

namespace memduel {
namespace {

constexpr const char* kTcmalloc = "libtcmalloc.so.4";
constexpr const char* kCpuProfiler = "libprofiler.so.0";

class GperftoolsHeap : public Tracer {
 public:
  [[nodiscard]] TracedStart start(const std::filesystem::path& directory,
                                  const EnvironmentVariables& environment,
                                  const TracerOptions& /*options*/) const override {
    auto variables = preload_environment("gperftools", kTcmalloc, directory, environment);
    // No dumps but those at the ends of rounds and of the program.
    variables["HEAP_PROFILE_ALLOCATION_INTERVAL"] = "0";
    variables["HEAP_PROFILE_INUSE_INTERVAL"] = "0";
    return {{}, std::move(variables)};
  }

  [[nodiscard]] KeptProfiles keep(const std::filesystem::path& directory,
                                  const ProfileNaming& file_of) const override {
    return keep_files(directory, file_of, move_file);
  }
};

class GperftoolsCpu : public Tracer {
 public:
  [[nodiscard]] TracedStart start(const std::filesystem::path& directory,
                                  const EnvironmentVariables& environment,
                                  const TracerOptions& /*options*/) const override {
    return {{}, preload_environment("gperftools-cpu", kCpuProfiler, directory, environment)};
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

std::unique_ptr<Tracer> make_gperftools_cpu() {
  return std::make_unique<GperftoolsCpu>();
}

Availability gperftools_works() {
  return library_works(kTcmalloc);
}

Availability gperftools_cpu_works() {
  return library_works(kCpuProfiler);
}

}  // namespace memduel
