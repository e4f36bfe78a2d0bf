// heaptrack: its library alone. The command heaptrack stays in the foreground itself, pipes the
// trace through two more processes and prints into the program's output; the library writes the
// same raw trace to a file.
#include <fmt/format.h>

#include "profilers/tracers/backends.h"
#include "profilers/tracers/left_files.h"
#include "profilers/tracers/preloaded.h"

namespace memduel {
namespace {

constexpr const char* kHeaptrackLibrary = "libheaptrack_preload.so";

class Heaptrack : public Tracer {
 public:
  [[nodiscard]] EnvironmentVariables variables(const std::filesystem::path& directory,
                                               const EnvironmentVariables& environment,
                                               const TracerOptions& /*options*/) const override {
    auto variables = preload_environment("heaptrack", kHeaptrackLibrary, directory, environment);
    variables["MEMDUEL_TRACER_PRELOAD"] = variables.at("LD_PRELOAD");
    // heaptrack replaces $$ by the process's id.
    variables["DUMP_HEAPTRACK_OUTPUT"] = (directory / "0-$$").string();
    return variables;
  }

  [[nodiscard]] KeptProfiles keep(const std::filesystem::path& directory,
                                  const ProfileNaming& file_of) const override {
    return keep_files(directory, file_of, pack_lines);
  }
};

}  // namespace

std::unique_ptr<Tracer> make_heaptrack() {
  return std::make_unique<Heaptrack>();
}

Availability heaptrack_works() {
  return library_works(kHeaptrackLibrary);
}

}  // namespace memduel
