#include "model/job.h"

#include <algorithm>
#include <set>

#include "model/keys.h"
#include "model/metric_catalogue.h"
#include "model/run_data.h"
#include "util/error.h"
#include "util/json.h"

namespace memduel {

const Keys<JobReady>& keys_of(const JobReady*);
const Keys<JobProcess>& keys_of(const JobProcess*);
const Keys<JobFile>& keys_of(const JobFile*);
const Keys<FinalModel>& keys_of(const FinalModel*);
const Keys<OwnMetric>& keys_of(const OwnMetric*);
const Keys<RoleMatch>& keys_of(const RoleMatch*);
const Keys<TextMarkSpec>& keys_of(const TextMarkSpec*);

namespace {

using nlohmann::json;

const Schema kNotEmpty = {{"minLength", 1}};
const Schema kProgram = {{"minItems", 1}};
const Schema kPrograms = {{"items", {{"type", "array"}, {"minItems", 1}}}};
const Schema kRole = {{"pattern", "^[A-Za-z][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*$"}, {"maxLength", 60}};
constexpr const char* kRoleText =
    "Name of the role, in letters, digits and _, with single - between them; it starts with a "
    "letter.";

const Schema kAboveZero = {{"exclusiveMinimum", 0}};

/// A port that is a number, or the NAME of a {port:NAME}.
template <typename Listener>
void read_port(const json& value, Listener& listener) {
  if (value.is_string())
    listener.port_name = value.get<std::string>();
  else
    listener.port = value.get<int>();
}

template <typename Listener>
json write_port(const Listener& listener) {
  return listener.port_name ? json(*listener.port_name) : write_value(listener.port, Write::all);
}

}  // namespace

const Keys<JobReady>& keys_of(const JobReady*) {
  static const Keys<JobReady> keys =
      Keys<JobReady>("ready", {{"minProperties", 1},
                               {"description",
                                "When the process is ready. Default: as soon as it has started."}})
          .in_form(
              "port",
              R"({"type": ["integer", "string"], "minimum": 1, "maximum": 65535, "minLength": 1,
                  "description": "Port on which the process listens: a number, or the NAME of a {port:NAME}."})",
              read_port<JobReady>, write_port<JobReady>)
          .optional("log", &JobReady::log,
                    "Perl-compatible regular expression that matches a line of standard output or "
                    "standard error.",
                    kNotEmpty)
          .optional("file", &JobReady::file,
                    "File that exists. Relative paths start at the directory of the config.",
                    kNotEmpty)
          .with_default(
              "delay_seconds", &JobReady::delay_seconds,
              "Seconds to wait after the condition, or after the start if there is no condition.",
              {{"minimum", 0}})
          .with_default("within_seconds", &JobReady::within_seconds,
                        "Seconds after which a process that is not ready fails the trial.",
                        kAboveZero);
  return keys;
}

const Keys<JobProcess>& keys_of(const JobProcess*) {
  static const Keys<JobProcess> keys =
      Keys<JobProcess>("process")
          .required("role", &JobProcess::role, kRoleText, kRole)
          .required("argv", &JobProcess::argv,
                    "The program and its arguments. No shell interprets them.", kProgram)
          .optional("count", &JobProcess::count,
                    "Number of processes, named ROLE-1 to ROLE-count; {index} in argv, env and cwd "
                    "is the number of each. Default: one process with the name of the role.",
                    range(1, 256))
          .optional("cwd", &JobProcess::cwd,
                    "Working directory. Relative paths start at the directory of the config; "
                    "{trial_dir} is the directory of the trial. Default: workload.cwd.",
                    kNotEmpty)
          .with_default("env", &JobProcess::env,
                        "Environment variables that are added to the environment of memduel.")
          .with_default("after", &JobProcess::after,
                        "Roles that must be ready before this process starts.")
          .optional("ready", &JobProcess::ready, "")
          .with_default("end", &JobProcess::end,
                        "wait: the trial ends when all processes with wait have exited. stop: this "
                        "process then gets SIGTERM, and SIGKILL after workload.stop_grace_seconds; "
                        "both count as success.")
          .in_form(
              "node",
              R"({"type": ["integer", "array"], "minimum": 1, "maximum": 10000, "minItems": 1,
                  "items": {"type": "integer", "minimum": 1, "maximum": 10000},
                  "description": "Node of the Slurm allocation on which the process runs. Default: 1, the node of memduel. The processes of a count take the nodes of a list in turn. {node:ROLE} is the address of the node of a role."})",
              [](const json& value, JobProcess& process) {
                process.nodes = value.is_array() ? value.get<std::vector<int>>()
                                                 : std::vector{value.get<int>()};
              },
              [](const JobProcess& process) {
                return process.nodes.size() == 1 ? json(process.nodes.front())
                                                 : json(process.nodes);
              })
          .in_form(
              "rounds",
              R"({"enum": ["own", "reference"],
                  "description": "own: rounds that the process marks, or that its log lines mark. reference: rounds of workload.reference, for a process without markers. Default: own."})",
              [](const json& value, JobProcess& process) {
                process.takes_rounds = value == "reference";
              },
              [](const JobProcess& process) {
                return json(process.takes_rounds ? "reference" : "own");
              })
          .with_default("exit_statuses", &JobProcess::exit_statuses,
                        "Exit statuses that count as success.",
                        {{"minItems", 1}, {"items", range(0, 255)}});
  return keys;
}

const Keys<TextMarkSpec>& keys_of(const TextMarkSpec*) {
  using From = TextMarkSpec::From;
  static const Keys<TextMarkSpec> keys =
      Keys<TextMarkSpec>("text_mark")
          .required("role", &TextMarkSpec::role,
                    "Role of a process or of a match. For a process with a count, ROLE means each "
                    "of its processes and ROLE-1 the first. The log of a match is a file.")
          .in_form(
              "from",
              R"({"anyOf": [
                    {"type": "string", "enum": ["stdout", "stderr"]},
                    {"type": "object", "additionalProperties": false, "required": ["file"],
                     "properties": {"file": {"type": "string", "minLength": 1, "description": "Path of the log. Relative paths start at {trial_dir}, because each trial has its own log."}}}],
                  "default": "stdout",
                  "description": "Where the lines are: stdout, stderr, or { \"file\": PATH } for a log that the role writes itself."})",
              [](const json& value, TextMarkSpec& mark) {
                mark.from = value.is_object()   ? From::file
                            : value == "stderr" ? From::standard_error
                                                : From::standard_output;
                if (value.is_object()) mark.file = value.at("file").get<std::string>();
              },
              [](const TextMarkSpec& mark) -> json {
                if (mark.from == From::file) return {{"file", mark.file.string()}};
                return mark.from == From::standard_error ? "stderr" : "stdout";
              })
          .required(
              "pattern", &TextMarkSpec::pattern,
              "Perl-compatible regular expression that is searched in each line. Named groups: "
              "idle, round, phase and metric_NAME; higher_NAME and lower_NAME also declare which "
              "values are better. Without a named group, the first group is the round.",
              kNotEmpty);
  return keys;
}

const Keys<OwnMetric>& keys_of(const OwnMetric*) {
  static const Keys<OwnMetric> keys =
      Keys<OwnMetric>("own_metric")
          .required("better", &OwnMetric::better, "Which values of the metric are better.",
                    {{"enum", {"higher", "lower"}}});
  return keys;
}

const Keys<RoleMatch>& keys_of(const RoleMatch*) {
  static const Keys<RoleMatch> keys =
      Keys<RoleMatch>("match")
          .required("role", &RoleMatch::role, kRoleText, kRole)
          .required("pattern", &RoleMatch::pattern,
                    "Perl-compatible regular expression that matches the arguments of a descendant "
                    "process, joined by spaces. {port:NAME} in it is the port of the trial.",
                    kNotEmpty)
          .optional("ancestor", &RoleMatch::ancestor,
                    "Role of which the process must be a descendant: a process of the job, with a "
                    "count ROLE-1, or an earlier match.",
                    kNotEmpty)
          .optional("count", &RoleMatch::count,
                    "Number of such processes that live at once, named ROLE-1 to ROLE-count in "
                    "the order of their start. One that ends makes its name free. Default: all "
                    "are one role together.",
                    range(1, 256))
          .in_form(
              "port",
              R"({"type": ["integer", "string"], "minimum": 1, "maximum": 65535, "minLength": 1,
                  "description": "Port on which the process must listen: a number, or the NAME of a {port:NAME}."})",
              read_port<RoleMatch>, write_port<RoleMatch>);
  return keys;
}

const Keys<JobTemplate>& keys_of(const JobTemplate*) {
  static const Keys<JobTemplate> keys =
      Keys<JobTemplate>("template")
          .optional("from", &JobTemplate::from,
                    "File to copy. Relative paths start at the directory of the config.", kNotEmpty)
          .optional("json", &JobTemplate::json,
                    "JSON document to write instead of a copy. Placeholders in its strings are "
                    "replaced; a string that consists of {seed}, {block}, {deadline_seconds} or "
                    "{port:NAME} becomes a number.",
                    {{"type", {"object", "array", "string", "number", "boolean"}}})
          .required("to", &JobTemplate::to, "Path of the new file, below {trial_dir}.", kNotEmpty);
  return keys;
}

const Keys<JobFile>& keys_of(const JobFile*) {
  static const Keys<JobFile> keys =
      Keys<JobFile>("file")
          .required("name", &JobFile::name, "Name of the file, in letters, digits and . _ -",
                    {{"pattern", "^[A-Za-z0-9][A-Za-z0-9_.-]*$"}, {"maxLength", 60}})
          .required("path", &JobFile::path,
                    "Path where a trial writes the file. Relative paths start at the directory of "
                    "the config.",
                    kNotEmpty)
          .optional("compare", &JobFile::compare,
                    "Command that compares the file {a} of the baseline with {b}: the last word of "
                    "its output is a number, their distance. It runs only if their bytes differ.",
                    kProgram);
  return keys;
}

const Keys<FinalModel>& keys_of(const FinalModel*) {
  static const Keys<FinalModel> keys =
      Keys<FinalModel>(
          "final_model",
          {{"description",
            "Final model that each trial must write. It is kept and compared across variants."}})
          .required("path", &FinalModel::path, "Path where a trial writes the model.", kNotEmpty)
          .required("compare", &FinalModel::compare,
                    "Command that compares the model files {a} and {b}. It prints a JSON object "
                    "with max_abs_diff, the largest absolute difference of their numbers.",
                    kProgram);
  return keys;
}

const Keys<Job>& keys_of(const Job*) {
  static const Keys<Job> keys =
      Keys<Job>("command", {{"required", {"kind"}}})
          .judged("kind", R"({"const": "command"})")
          .required("processes", &Job::processes, "Processes that each trial starts.",
                    {{"minItems", 1}, {"maxItems", 256}})
          .with_default("marks", &Job::marks,
                        "Log patterns: lines that mark the rounds, phases and metrics of a role.",
                        {{"maxItems", 256}})
          .optional("metrics", &Job::metrics,
                    "Custom metrics, which the job logs or reports with gauge(), by name. A metric "
                    "without a direction can change, but neither improve nor regress.",
                    {{"maxProperties", 256}})
          .optional(
              "reference", &Job::reference,
              "Role whose rounds are the rounds of the job: of all processes together, and of each "
              "process with rounds: reference. Default: the first process; the first of its count.",
              kNotEmpty)
          .optional("cwd", &Job::cwd,
                    "Working directory of prepare, cleanup, compare and processes without their "
                    "own. Relative paths start at the directory of the config. Default: the "
                    "directory of the config.",
                    kNotEmpty)
          .with_default("match", &Job::match,
                        "Descendant processes with their own role. All others belong to the role "
                        "of their parent.")
          .with_default("templates", &Job::templates,
                        "Files that are written for each trial, with their placeholders replaced: "
                        "copies or JSON documents.")
          .with_default("prepare", &Job::prepare,
                        "Commands that run one after the other before each trial. They are not "
                        "measured. If one fails, the trial fails.",
                        kPrograms)
          .with_default("cleanup", &Job::cleanup,
                        "Commands that run after each trial, whether it succeeded or not.",
                        kPrograms)
          .with_default(
              "files", &Job::files,
              "Files that each trial must write. They are kept and compared across variants.")
          .optional("final_model", &Job::final_model, "")
          .optional("rounds", &Job::rounds,
                    "Number of rounds of the job, if it is known before the run.",
                    range(1, kMostRoundsOfJob))
          .optional("stop_after_round", &Job::stop_after_round,
                    "Round after which a trial ends successfully: when every role that marks "
                    "rounds has finished it, all processes are stopped. If the first trial marks "
                    "no round, the run stops with an error.",
                    range(1, 1'000'000))
          .with_default("stop_grace_seconds", &Job::stop_grace_seconds,
                        "Seconds between SIGTERM and SIGKILL when a process is stopped.",
                        {{"exclusiveMinimum", 0}, {"maximum", 3600}})
          .with_default(
              "pss_between_rounds", &Job::pss_between_rounds,
              "Whether PSS is also read about once a second in a job whose reference role marks "
              "rounds. false: only at the ends of rounds, because each reading takes milliseconds "
              "of a round. In all other jobs, PSS is read about once a second.")
          .with_default("memduel_statuses", &Job::memduel_statuses,
                        "Whether the processes use the exit codes of memduel, for example 4 for a "
                        "file that cannot be read.")
          .optional("seed", &Job::seed,
                    "Seed of models and data, and value of {seed}; the same in all variants and "
                    "trials. Default: measure.seed if it is set, else 1.",
                    range(0, kMostSeed))
          .with_default("deadline_seconds", &Job::deadline_seconds,
                        "Seconds after which a trial that still runs fails.", kAboveZero);
  return keys;
}

Job job_from_json(const json& workload, const std::string& origin) {
  Job job;
  read_below(origin + ", $.workload", [&] { read_from(workload, job); });
  return job;
}

std::vector<Artifact> Job::artifacts() const {
  std::vector<Artifact> all;
  if (final_model)
    all.push_back(
        {Artifact::Kind::final_model, kFinalModel, final_model->path, final_model->compare});
  for (const JobFile& file : files)
    all.push_back({Artifact::Kind::file, file.name, file.path, file.compare});
  return all;
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
    const auto add_each = [&](const std::string& name, const std::vector<std::string>& roles) {
      int index = 0;
      for (const std::string& role : roles) {
        ++index;
        if (mark.role == role || mark.role == name) add(mark, role, index);
      }
    };
    std::set<std::string> matched;  // a role may have several patterns
    for (const RoleMatch& match : job.match)
      if (matched.insert(match.role).second) add_each(match.role, match.roles());
    for (const JobProcess& process : job.processes) add_each(process.role, process.roles());
  }
  return specs;
}

}  // namespace memduel
