#include <fmt/format.h>

#include "base/file.h"
#include "experiment/config/command_placeholders.h"
#include "experiment/config/config_command.h"
#include "experiment/config/config_text_marks.h"
#include "experiment/plan/google_benchmark_output.h"
#include "experiment/plan/plan_workloads.h"

namespace memduel {
namespace {

using nlohmann::json;

/// Lowers one arm's job for one trial.
class JobPlanner {
 public:
  JobPlanner(const Experiment& experiment, const Arm& arm, int block,
             const std::filesystem::path& trial_dir)
      : workload_(experiment.workload),
        arm_(arm),
        trial_dir_(trial_dir),
        placeholders_(trial_dir, experiment.seed, block) {}

  PlannedTrial plan() {
    PlannedTrial planned;
    planned.plan.deadline_seconds = workload_.at("deadline_seconds");
    planned.plan.stop_grace_seconds = workload_.at("stop_grace_seconds");
    planned.plan.pss_between_rounds = true;
    if (workload_.contains("stop_after_round")) {
      planned.plan.stop_after_round = workload_.at("stop_after_round").get<int>();
      planned.plan.rounds = planned.plan.stop_after_round;
    }
    for (const json& match : workload_.at("match")) {
      planned.plan.match.push_back({match.at("role"), match.at("pattern")});
    }
    planned.plan.processes = processes();
    planned.plan.text_marks = text_marks();
    planned.prepare = steps("prepare");
    planned.cleanup = steps("cleanup");
    for (const json& each : workload_.at("templates")) {
      const std::string from = fill(each.at("from"));
      planned.files[fill(each.at("to"))] =
          placeholders_.fill_template(read_file_of_at_most(from, kMostTemplateBytes), from);
    }
    for (const json& file : workload_.at("files")) {
      planned.leaves.push_back({file.at("name"), fill(file.at("path"))});
    }
    planned.plan.ports = placeholders_.ports();
    return planned;
  }

 private:
  std::string fill(const json& text) { return placeholders_.fill(text, "arm " + arm_.name); }

  std::vector<ProcessSpec> processes() {
    std::vector<ProcessSpec> result;
    std::map<std::string, std::vector<std::string>> roles;
    for (const json& source : arm_.processes) {
      const std::string name = source.at("role");
      roles[name] = roles_of_process(source);
      for (std::size_t i = 0; i < roles[name].size(); ++i) {
        placeholders_.set_index(static_cast<int>(i) + 1);
        ProcessSpec process = process_from_json(source, roles[name][i]);
        for (const std::string after : source.at("after")) {
          process.after.insert(process.after.end(), roles[after].begin(), roles[after].end());
        }
        result.push_back(std::move(process));
      }
    }
    placeholders_.set_index({});
    return result;
  }

  std::vector<TextMarkSpec> text_marks() {
    auto marks = planned_text_marks(workload_, [this](TextMarkSpec& mark, int index) {
      placeholders_.set_index(index);
      mark.file = fill(mark.file.string());
      mark.pattern = placeholders_.fill_pattern(mark.pattern);
    });
    placeholders_.set_index({});
    return marks;
  }

  ProcessSpec process_from_json(const json& source, const std::string& role) {
    ProcessSpec process;
    process.role = role;
    for (const json& argument : source.at("argv")) process.argv.push_back(fill(argument));
    process.cwd = fill(source.at("cwd"));
    process.env = environment_of(source.at("env"));
    process.env.emplace(kBenchmarkOutput, benchmark_output(trial_dir_, role));
    if (source.contains("ready")) process.ready = ready_from_json(source.at("ready"));
    process.end = source.at("end") == "stop" ? End::stop : End::wait;
    process.takes_rounds = source.value("rounds", "own") == "reference";
    process.exit_statuses = source.at("exit_statuses").get<std::vector<int>>();
    return process;
  }

  /// Python holds back what it prints to a file, and with it the marks in it.
  std::map<std::string, std::string> environment_of(const json& source) {
    std::map<std::string, std::string> environment;
    for (const auto& item : source.items()) environment[item.key()] = fill(item.value());
    environment.emplace("PYTHONUNBUFFERED", "1");
    return environment;
  }

  Ready ready_from_json(const json& source) {
    Ready ready;
    if (source.contains("port")) {
      const json& port = source.at("port");
      ready.port = port.is_string() ? placeholders_.port(port.get<std::string>()) : port.get<int>();
    }
    if (source.contains("log")) ready.log_pattern = placeholders_.fill_pattern(source.at("log"));
    if (source.contains("file")) ready.file = fill(source.at("file"));
    ready.delay_seconds = source.at("delay_seconds");
    ready.within_seconds = source.at("within_seconds");
    return ready;
  }

  /// The commands of prepare or cleanup. A '.' keeps their logs apart from those of roles.
  std::vector<ProcessSpec> steps(const std::string& name) {
    std::vector<ProcessSpec> result;
    for (const json& argv : workload_.at(name)) {
      ProcessSpec step;
      step.role = fmt::format("{}.{}", name, result.size() + 1);
      for (const json& argument : argv) step.argv.push_back(fill(argument));
      step.cwd = fill(workload_.at("cwd"));
      step.env = environment_of(arm_.env);
      result.push_back(std::move(step));
    }
    return result;
  }

  const json& workload_;
  const Arm& arm_;
  const std::filesystem::path& trial_dir_;
  TrialPlaceholders placeholders_;
};

}  // namespace

PlannedTrial plan_command(const Experiment& experiment, const Arm& arm, int block,
                          const std::filesystem::path& trial_dir) {
  return JobPlanner(experiment, arm, block, trial_dir).plan();
}

}  // namespace memduel
