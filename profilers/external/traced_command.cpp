#include "external/traced_command.h"

#include <fmt/format.h>

#include <cstdlib>

#include "external/profile_names.h"
#include "external/python_programs.h"
#include "model/run_directory.h"
#include "profile/recording.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

/// Of our own environment, what tracers look at.
EnvironmentVariables inherited_variables() {
  EnvironmentVariables variables;
  for (const char* name : {"LD_PRELOAD", "MALLOC_CONF", "PYTHONPATH"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) variables[name] = value;
  }
  return variables;
}

}  // namespace

TracedResult trace_command(const TracerEntry& entry, const TracedCommand& command) {
  if (command.argv.empty()) throw Error(ExitCode::usage, kNoCommand);
  const Availability here = entry.works_here();
  if (!here.works)
    throw Error(ExitCode::cannot_measure, obstacle_here(entry, here), "--profiler " + entry.name,
                kAllTracers);
  if (command.output && is_written_through(*command.output))
    throw Error(ExitCode::usage, "expected the name of a file, found a device or a pipe",
                command.output->string(), "only the recorder's profiles go through one");
  if (entry.records_python)
    require_python_package(entry, {{{"--profiler " + entry.name, command.argv, ".", {}}}});
  TracedResult result;
  const std::filesystem::path program = find_program(command.argv[0]);
  const std::string obstacle = program.empty() ? "" : obstacle_to_recording(program);
  if (!obstacle.empty()) {
    result.status = run_command(command.argv, {});
    result.notes.push_back(fmt::format("{} was not recorded: {}", program.string(), obstacle));
    return result;
  }
  std::filesystem::path beside = command.output ? command.output->parent_path() : ".";
  if (beside.empty()) beside = ".";
  const ScratchDirectory workplace(beside, kRecordScratch);
  admit_other_users(workplace.path());
  result.status = run_command(
      command.argv, entry.variables(workplace.path(), inherited_variables(), command.options));
  const std::string name = std::filesystem::path(command.argv[0]).filename().string();
  std::optional<std::filesystem::path> first = command.output;
  KeptProfiles kept = entry.keep(workplace.path(), [&](const LeftProfile& left) {
    if (!first) first = fmt::format("{}.{}.{}", name, left.pid, entry.extension);
    return profile_beside(*first, entry.name, left.image, left.round);
  });
  for (KeptProfile& one : kept.files) result.files.push_back(std::move(one.file));
  for (std::string& why : kept.missing) result.notes.push_back(std::move(why));
  return result;
}

}  // namespace memduel
