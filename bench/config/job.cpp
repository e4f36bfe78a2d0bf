#include "config/job.h"

#include <fmt/format.h>

#include <algorithm>

#include "command_workload.h"
#include "config/placeholders.h"
#include "model/metric_catalogue.h"
#include "model/run_data.h"

namespace memduel {
namespace {

using nlohmann::json;

template <typename T>
std::optional<T> maybe(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::nullopt : std::optional(found->get<T>());
}

JobReady ready_from_json(const json& source) {
  JobReady ready;
  if (const auto port = source.find("port"); port != source.end()) {
    if (port->is_string())
      ready.port_name = *port;
    else
      ready.port = *port;
  }
  ready.log = maybe<std::string>(source, "log");
  ready.file = maybe<std::string>(source, "file");
  ready.delay_seconds = source.at("delay_seconds");
  ready.within_seconds = source.at("within_seconds");
  return ready;
}

TextMarkSpec mark_from_json(const json& source) {
  using From = TextMarkSpec::From;
  TextMarkSpec mark;
  mark.role = source.at("role");
  mark.pattern = source.at("pattern");
  const json& from = source.at("from");
  if (from == "stderr") mark.from = From::standard_error;
  if (!from.is_object()) return mark;
  mark.from = From::file;
  mark.file = from.at("file").get<std::string>();
  return mark;
}

Artifact artifact_from_json(Artifact::Kind kind, const std::string& name, const json& source) {
  return {kind, name, source.at("path").get<std::string>(),
          source.value("compare", json::array()).get<Argv>()};
}

}  // namespace

std::vector<std::string> JobProcess::roles() const {
  if (!count) return {role};
  std::vector<std::string> names;
  for (int index = 1; index <= *count; ++index) names.push_back(fmt::format("{}-{}", role, index));
  return names;
}

std::vector<int> nodes_of_process(const json& process) {
  const auto node = process.find("node");
  if (node == process.end()) return {1};
  return node->is_array() ? node->get<std::vector<int>>() : std::vector{node->get<int>()};
}

bool are_elsewhere(const std::vector<int>& nodes) {
  return std::ranges::any_of(nodes, [](int node) { return node > 1; });
}

JobProcess job_process_from_json(const json& source) {
  JobProcess process;
  process.role = source.at("role");
  process.count = maybe<int>(source, "count");
  process.argv = source.at("argv").get<Argv>();
  process.cwd = source.at("cwd");
  source.at("env").get_to(process.env);
  source.at("after").get_to(process.after);
  if (const auto ready = source.find("ready"); ready != source.end())
    process.ready = ready_from_json(*ready);
  process.end = source.at("end") == "stop" ? End::stop : End::wait;
  process.takes_rounds = source.value("rounds", "own") == "reference";
  source.at("exit_statuses").get_to(process.exit_statuses);
  process.nodes = nodes_of_process(source);
  return process;
}

std::vector<JobTemplate> job_templates_from_json(const json& templates) {
  std::vector<JobTemplate> result;
  for (const json& each : templates)
    result.push_back({maybe<std::string>(each, "from"),
                      each.contains("json") ? each.at("json").dump() : std::string(),
                      each.at("to")});
  return result;
}

Job job_from_json(const json& workload) {
  Job job;
  for (const json& process : workload.at("processes"))
    job.processes.push_back(job_process_from_json(process));
  for (const json& match : workload.at("match"))
    job.match.push_back({match.at("role"), match.at("pattern")});
  for (const json& mark : workload.at("marks")) job.marks.push_back(mark_from_json(mark));
  job.cwd = workload.at("cwd");
  job.templates = job_templates_from_json(workload.at("templates"));
  if (const auto model = workload.find("final_model"); model != workload.end())
    job.artifacts.push_back(artifact_from_json(Artifact::Kind::final_model, kFinalModel, *model));
  for (const json& file : workload.at("files"))
    job.artifacts.push_back(artifact_from_json(Artifact::Kind::file, file.at("name"), file));
  workload.at("prepare").get_to(job.prepare);
  workload.at("cleanup").get_to(job.cleanup);
  job.rounds = maybe<int>(workload, "rounds");
  job.stop_after_round = maybe<int>(workload, "stop_after_round");
  job.pss_between_rounds = workload.at("pss_between_rounds");
  job.memduel_statuses = workload.at("memduel_statuses");
  job.stop_grace_seconds = workload.at("stop_grace_seconds");
  job.differs_by_block = mentions_block(workload);
  return job;
}

std::vector<TextMarkSpec> planned_text_marks(
    const Job& job, const std::function<void(TextMarkSpec& mark, int index)>& fill) {
  std::vector<TextMarkSpec> specs;
  const auto add = [&](TextMarkSpec mark, const std::string& role, int index) {
    mark.role = role;
    specs.push_back(std::move(mark));
    fill(specs.back(), index);
  };
  for (const TextMarkSpec& mark : job.marks) {
    const bool matched =
        std::ranges::any_of(job.match, [&](const RoleMatch& one) { return one.role == mark.role; });
    if (matched) add(mark, mark.role, 1);
    for (const JobProcess& process : job.processes) {
      int index = 0;
      for (const std::string& role : process.roles()) {
        ++index;
        if (mark.role == role || mark.role == process.role) add(mark, role, index);
      }
    }
  }
  return specs;
}

using nlohmann::json;

namespace {

bool is_spread(const json& workload) {
  return std::ranges::any_of(workload.at("processes"), [](const json& process) {
    return are_elsewhere(nodes_of_process(process));
  });
}

/// Where no machine has the whole job: each role that is alone, and the largest of each group.
std::vector<RoleMetric> gates_of_roles(const JobFacts& job) {
  std::vector<RoleMetric> gates;
  for (const std::string& role : job.roles)
    if (!is_member(job, role)) gates.push_back({role, kPeakRss});
  for (const RoleGroup& group : job.groups) gates.push_back({group.largest(), kPeakRss});
  return gates;
}

}  // namespace

JobFacts job_facts_of(const json& workload) {
  JobFacts job;
  for (const json& process : workload.at("processes")) {
    const auto roles = roles_of_process(process);
    job.roles.insert(job.roles.end(), roles.begin(), roles.end());
    if (roles.size() > 1)
      job.groups.push_back({process.at("role"), static_cast<int>(roles.size())});
    if (job.reference.empty() || process.at("role") == workload.value("reference", json()))
      job.reference = roles.front();
  }
  for (const json& match : workload.value("match", json::array()))
    job.roles.push_back(match.at("role"));
  job.better = declared_metrics(workload);
  if (is_spread(workload)) job.default_gates = gates_of_roles(job);
  return job;
}

}  // namespace memduel
