// massif, of valgrind: the only tracer that wraps the command.
#include "profilers/profile/capture/run_command.h"
#include "profilers/tracers/backends.h"
#include "profilers/tracers/left_files.h"
#include "profilers/tracers/preloaded.h"

namespace memduel {
namespace {

std::string escaped_for_valgrind(const std::string& path) {
  std::string escaped;
  for (const char letter : path)
    escaped += letter == '%' ? std::string("%%") : std::string(1, letter);
  return escaped;
}

class Massif : public Tracer {
 public:
  [[nodiscard]] TracedStart start(const std::filesystem::path& directory,
                                  const EnvironmentVariables& environment,
                                  const TracerOptions& /*options*/) const override {
    return {{find_program("valgrind").string(), "-q", "--tool=massif", "--trace-children=yes",
             "--massif-out-file=" + escaped_for_valgrind(directory.string()) + "/0-%p"},
            preload_environment("massif", "", directory, environment)};
  }

  [[nodiscard]] KeptProfiles keep(const std::filesystem::path& directory,
                                  const ProfileNaming& file_of) const override {
    return keep_files(directory, file_of, move_file);
  }
};

}  // namespace

std::unique_ptr<Tracer> make_massif() {
  return std::make_unique<Massif>();
}

Availability massif_works() {
  if (const Availability dump = dump_library_is_here(); !dump.works) return dump;
  if (find_program("valgrind").empty()) return {false, "valgrind was not found in PATH"};
  return {true, {}};
}

}  // namespace memduel
