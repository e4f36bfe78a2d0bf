#include "experiment/plan/plan_command.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/installed.h"
#include "experiment/config/command_placeholders.h"
#include "experiment/config/job.h"
#include "experiment/plan/google_benchmark_output.h"

namespace memduel {
namespace {

/// Lowers one arm's job for one trial.
class JobPlanner {
 public:
  JobPlanner(const Job& job, const Arm& arm, const PlaceholderValues& values)
      : job_(job), arm_(arm), trial_dir_(values.trial_dir), placeholders_(values) {}

  PlannedTrial plan() {
    PlannedTrial planned;
    planned.plan.stop_grace_seconds = job_.stop_grace_seconds;
    planned.plan.pss_between_rounds = job_.pss_between_rounds;
    planned.plan.stop_after_round = job_.stop_after_round;
    planned.plan.rounds = job_.stop_after_round ? job_.stop_after_round : job_.rounds;
    planned.plan.match = job_.match;
    planned.plan.processes = processes();
    planned.plan.text_marks = text_marks();
    planned.prepare = steps("prepare", job_.prepare);
    planned.cleanup = steps("cleanup", job_.cleanup);
    for (const auto* templates : {&job_.templates, &arm_.templates})
      for (const JobTemplate& each : *templates) planned.files[fill(each.to)] = contents_of(each);
    planned.artifacts = job_.artifacts;
    for (Artifact& artifact : planned.artifacts) artifact.path = fill(artifact.path);
    if (planned.artifacts.empty() && planned.plan.processes.size() == 1 &&
        planned.plan.processes.front().end == End::wait)
      planned.artifacts.push_back({Artifact::Kind::printed, kStandardOutput, {}, {}});
    planned.plan.ports = placeholders_.ports();
    return planned;
  }

 private:
  std::string fill(const std::string& text) { return placeholders_.fill(text, "arm " + arm_.name); }

  std::vector<std::string> filled(const Argv& argv) {
    std::vector<std::string> words;
    for (const std::string& word : argv) words.push_back(fill(word));
    words.front() = own_program(words.front());
    return words;
  }

  std::string contents_of(const JobTemplate& source) {
    if (!source.from) return placeholders_.fill_json(source.json, source.to);
    const std::string from = fill(*source.from);
    return placeholders_.fill_template(read_file_of_at_most(from, kMostTemplateBytes), from);
  }

  std::vector<ProcessSpec> processes() {
    std::vector<ProcessSpec> result;
    std::map<std::string, std::vector<std::string>> roles;
    for (const JobProcess& source : arm_.processes) {
      roles[source.role] = source.roles();
      for (std::size_t i = 0; i < roles[source.role].size(); ++i) {
        placeholders_.set_index(static_cast<int>(i) + 1);
        ProcessSpec process = planned(source, roles[source.role][i]);
        process.node = source.node(i);
        for (const std::string& after : source.after)
          process.after.insert(process.after.end(), roles[after].begin(), roles[after].end());
        result.push_back(std::move(process));
      }
    }
    placeholders_.set_index({});
    return result;
  }

  std::vector<TextMarkSpec> text_marks() {
    auto marks = planned_text_marks(job_, [this](TextMarkSpec& mark, int index) {
      placeholders_.set_index(index);
      mark.file = fill(mark.file.string());
      mark.pattern = placeholders_.fill_pattern(mark.pattern);
    });
    placeholders_.set_index({});
    return marks;
  }

  ProcessSpec planned(const JobProcess& source, const std::string& role) {
    ProcessSpec process;
    process.role = role;
    process.argv = filled(source.argv);
    process.cwd = fill(source.cwd);
    process.env = environment_of(source.env);
    process.env.emplace(kBenchmarkOutput, benchmark_output(trial_dir_, role));
    if (source.ready) process.ready = planned(*source.ready);
    process.end = source.end;
    process.takes_rounds = source.takes_rounds;
    process.exit_statuses = source.exit_statuses;
    return process;
  }

  /// Python holds back what it prints to a file, and with it the marks in it.
  std::map<std::string, std::string> environment_of(
      const std::map<std::string, std::string>& source) {
    std::map<std::string, std::string> environment;
    for (const auto& [name, value] : source) environment[name] = fill(value);
    environment.emplace("PYTHONUNBUFFERED", "1");
    return environment;
  }

  Ready planned(const JobReady& source) {
    Ready ready;
    ready.port = source.port;
    if (source.port_name) ready.port = placeholders_.port(*source.port_name);
    if (source.log) ready.log_pattern = placeholders_.fill_pattern(*source.log);
    if (source.file) ready.file = fill(*source.file);
    ready.delay_seconds = source.delay_seconds;
    ready.within_seconds = source.within_seconds;
    return ready;
  }

  /// The commands of prepare or cleanup. A '.' keeps their logs apart from those of roles.
  std::vector<ProcessSpec> steps(const std::string& name, const std::vector<Argv>& commands) {
    std::vector<ProcessSpec> result;
    for (const Argv& argv : commands) {
      ProcessSpec step;
      step.role = fmt::format("{}.{}", name, result.size() + 1);
      step.argv = filled(argv);
      step.cwd = fill(job_.cwd);
      step.env = environment_of(arm_.env);
      result.push_back(std::move(step));
    }
    return result;
  }

  const Job& job_;
  const Arm& arm_;
  const std::filesystem::path trial_dir_;
  TrialPlaceholders placeholders_;
};

}  // namespace

PlannedTrial plan_command(const Job& job, const Arm& arm, const PlaceholderValues& values) {
  return JobPlanner(job, arm, values).plan();
}

}  // namespace memduel
