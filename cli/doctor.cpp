// memduel doctor: what this machine lets memduel measure, what is missing and how to get it.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cli/print.h"
#include "cli/verbs.h"
#include "external/tracers.h"
#include "fl.h"
#include "meters/meter_registry.h"
#include "meters/nvml.h"
#include "profile/recording.h"
#include "run/plan.h"
#include "trial/processes.h"
#include "trial/supervisor.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

Capability gpu_capability() {
  try {
    return {"GPU", true, Nvml().describe(), ""};
  } catch (const Error& error) {
    return {"GPU", false, error.what(), error.advice()};
  }
}

Capability recorder_capability() {
  const Availability here = meter_named("heap").works_here();
  return {"recorder", here.works, here.works ? recorder_library().string() : here.why,
          "without it there are no heap metrics and no profiles"};
}

/// The tools whose profiles a run can take.
std::vector<Capability> tracer_capabilities() {
  std::vector<Capability> rows;
  for (const TracerEntry& tracer : tracers()) {
    const std::string command = command_to_install(tracer);
    if (command.empty()) continue;  // not of the machine
    const Availability here = tracer.works_here();
    rows.push_back({"profiler: " + tracer.name, here.works, here.works ? tracer.summary : here.why,
                    command + ", for its profiles"});
  }
  return rows;
}

/// Versions that numbers depend on.
std::vector<Capability> library_capabilities() {
  const nlohmann::json environment = describe_environment(nlohmann::json::object());
  return {{"C library", environment.contains("glibc"), environment.value("glibc", "not glibc"), ""},
          gpu_capability()};
}

/// What the replays need.
std::vector<Capability> fl_capabilities() {
  auto here = ask_fl_of_machine();
  if (here) return std::move(here->rows);
  return {{"memduel-fl", false, "not beside memduel nor in PATH",
           "the package memduel-fl has the FL workloads; commands and builds are compared "
           "without it"}};
}

Capability git_capability() {
  try {
    const HelperResult answer = capture({"git", "--version"});
    return {"git", answer.exit_status == 0, answer.out.substr(0, answer.out.find('\n')), ""};
  } catch (const Error& error) {
    return {"git", false, error.message(), "apt-get install git, to compare two revisions"};
  }
}

Capability leftovers_capability() {
  const Leftovers left = find_leftovers();
  if (const auto recordings = abandoned_scratch(".", kRecordScratch); !recordings.empty())
    return {"leftovers", false,
            format_count(recordings.size(), "recording") +
                " that was killed: " + recordings.front().string(),
            "delete it when its command has ended"};
  if (left.empty()) return {"leftovers", true, "none of a memduel that was killed", ""};
  return {"leftovers", false, describe_leftovers(left) + " of a memduel that was killed",
          "the next run ends them"};
}

/// What measuring needs.
std::vector<Capability> measuring_capabilities() {
  std::vector<Capability> rows = supervision_capabilities();
  for (Capability& row : meter_capabilities()) rows.push_back(std::move(row));
  rows.push_back(recorder_capability());
  rows.push_back(git_capability());
  rows.push_back(leftovers_capability());
  return rows;
}

int doctor(bool ci) {
  std::vector<Capability> rows = measuring_capabilities();
  if (ci) {
    print(runner_text(describe_runner(rows, describe_environment(nlohmann::json::object()))));
    return 0;
  }
  for (Capability& row : tracer_capabilities()) rows.push_back(std::move(row));
  for (Capability& row : library_capabilities()) rows.push_back(std::move(row));
  for (Capability& row : fl_capabilities()) rows.push_back(std::move(row));
  std::string text;
  for (const Capability& row : rows) {
    text += fmt::format("{:<4} {:<20} {}\n", row.ok ? "ok" : "--", row.name, row.detail);
    if (!row.ok && !row.advice.empty()) text += fmt::format("     {:<20} {}\n", "", row.advice);
  }
  print_fitted(text);
  return 0;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("doctor", "show what can be measured on this machine");
  verb->group(kSetupGroup);
  verb->footer("Examples:\n  memduel doctor\n  memduel doctor --ci");
  auto ci = std::make_shared<bool>(false);
  verb->add_flag("--ci", *ci, "show the metrics and gates that work on this CI runner");
  verb->callback([ci, &action] { action = [ci] { return doctor(*ci); }; });
}

}  // namespace memduel::cli
