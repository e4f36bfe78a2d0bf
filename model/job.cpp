#include "model/job.h"

#include <algorithm>

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
constexpr const char* kRoleText = "Letters, digits, _ and single - between them, a letter first.";

const Schema kAboveZero = {{"exclusiveMinimum", 0}};

}  // namespace

const Keys<JobReady>& keys_of(const JobReady*) {
  static const Keys<JobReady> keys =
      Keys<JobReady>("ready",
                     {{"minProperties", 1},
                      {"description", "When the process counts as ready; absent: once started."}})
          .in_form(
              "port",
              R"({"type": ["integer", "string"], "minimum": 1, "maximum": 65535, "minLength": 1,
                  "description": "Seen listening; a number, or the NAME of a {port:NAME}."})",
              [](const json& value, JobReady& ready) {
                if (value.is_string())
                  ready.port_name = value.get<std::string>();
                else
                  ready.port = value.get<int>();
              },
              [](const JobReady& ready) {
                return ready.port_name ? json(*ready.port_name)
                                       : write_value(ready.port, Write::all);
              })
          .optional("log", &JobReady::log,
                    "Perl-compatible pattern on standard output and standard error.", kNotEmpty)
          .optional("file", &JobReady::file,
                    "Exists. A relative path starts at the directory of the config.", kNotEmpty)
          .with_default("delay_seconds", &JobReady::delay_seconds, "After the condition, or alone.",
                        {{"minimum", 0}})
          .with_default("within_seconds", &JobReady::within_seconds,
                        "How long to wait for it; then the trial has failed.", kAboveZero);
  return keys;
}

const Keys<JobProcess>& keys_of(const JobProcess*) {
  static const Keys<JobProcess> keys =
      Keys<JobProcess>("process")
          .required("role", &JobProcess::role, kRoleText, kRole)
          .required("argv", &JobProcess::argv,
                    "The program and its arguments; nothing goes through a shell.", kProgram)
          .optional("count", &JobProcess::count,
                    "Absent: one process named as the role. Given: ROLE-1 to ROLE-count, with "
                    "{index} in argv, env and cwd.",
                    range(1, 256))
          .optional("cwd", &JobProcess::cwd,
                    "Absent: the workload's cwd. A relative path starts at the directory of the "
                    "config; {trial_dir} is the trial's own directory.",
                    kNotEmpty)
          .with_default("env", &JobProcess::env, "Added to memduel's own environment.")
          .with_default("after", &JobProcess::after,
                        "Roles that must be ready before this process starts.")
          .optional("ready", &JobProcess::ready, "")
          .with_default("end", &JobProcess::end,
                        "wait: the trial is over when all such processes have exited. stop: then "
                        "SIGTERM, after a grace SIGKILL, and that is success.")
          .in_form(
              "node",
              R"({"type": ["integer", "array"], "minimum": 1, "maximum": 10000, "minItems": 1,
                  "items": {"type": "integer", "minimum": 1, "maximum": 10000},
                  "description": "Node of the Slurm allocation on which it runs; 1, as where it is absent: memduel's own. A list is taken in turn by the processes of a count. {node:ROLE} is the address of a role's node."})",
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
                  "description": "own, as where it is absent: those that the process marks, or that its lines do. reference: those of the workload's reference; for one that says nothing of rounds."})",
              [](const json& value, JobProcess& process) {
                process.takes_rounds = value == "reference";
              },
              [](const JobProcess& process) {
                return json(process.takes_rounds ? "reference" : "own");
              })
          .with_default("exit_statuses", &JobProcess::exit_statuses,
                        "Statuses that count as success.",
                        {{"minItems", 1}, {"items", range(0, 255)}});
  return keys;
}

const Keys<TextMarkSpec>& keys_of(const TextMarkSpec*) {
  using From = TextMarkSpec::From;
  static const Keys<TextMarkSpec> keys =
      Keys<TextMarkSpec>("text_mark")
          .required("role", &TextMarkSpec::role,
                    "Of a process; of one with a count: each of them, or ROLE-1 alone; or of a "
                    "match, whose log is a file.")
          .in_form(
              "from",
              R"({"anyOf": [
                    {"type": "string", "enum": ["stdout", "stderr"]},
                    {"type": "object", "additionalProperties": false, "required": ["file"],
                     "properties": {"file": {"type": "string", "minLength": 1, "description": "A relative path starts at {trial_dir}, because a log belongs to one trial."}}}],
                  "default": "stdout",
                  "description": "stdout, stderr or { \"file\": PATH }: a log that the role writes itself."})",
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
          .required("pattern", &TextMarkSpec::pattern,
                    "Perl-compatible, searched for in each line. Named groups idle, round, phase, "
                    "metric_NAME, or higher_NAME and lower_NAME where they also declare which "
                    "values are better; without a named group the first group is the round.",
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
                    "Perl-compatible pattern on a descendant's arguments, joined by spaces.",
                    kNotEmpty);
  return keys;
}

const Keys<JobTemplate>& keys_of(const JobTemplate*) {
  static const Keys<JobTemplate> keys =
      Keys<JobTemplate>("template")
          .optional("from", &JobTemplate::from,
                    "The file that is copied. A relative path starts at the directory of the "
                    "config.",
                    kNotEmpty)
          .optional("json", &JobTemplate::json,
                    "Or a JSON document: placeholders in its strings are replaced, and a string "
                    "that is {seed}, {block}, {deadline_seconds} or a {port:NAME} alone becomes a "
                    "number.",
                    {{"type", {"object", "array", "string", "number", "boolean"}}})
          .required("to", &JobTemplate::to, "A path below {trial_dir}.", kNotEmpty);
  return keys;
}

const Keys<JobFile>& keys_of(const JobFile*) {
  static const Keys<JobFile> keys =
      Keys<JobFile>("file")
          .required("name", &JobFile::name, "Letters, digits and . _ -",
                    {{"pattern", "^[A-Za-z0-9][A-Za-z0-9_.-]*$"}, {"maxLength", 60}})
          .required("path", &JobFile::path,
                    "Where a trial leaves it. A relative path starts at the directory of the "
                    "config.",
                    kNotEmpty)
          .optional("compare", &JobFile::compare,
                    "Prints a number as its last word: how far {a}, the baseline's file, and {b} "
                    "are apart; asked only where their bytes differ.",
                    kProgram);
  return keys;
}

const Keys<FinalModel>& keys_of(const FinalModel*) {
  static const Keys<FinalModel> keys =
      Keys<FinalModel>(
          "final_model",
          {{"description",
            "The model that each trial must leave: kept, and compared across variants."}})
          .required("path", &FinalModel::path, "Where a trial leaves it.", kNotEmpty)
          .required("compare", &FinalModel::compare,
                    "With {a} and {b}: two models' files. Prints a JSON object with max_abs_diff, "
                    "the largest absolute difference of their numbers.",
                    kProgram);
  return keys;
}

const Keys<Job>& keys_of(const Job*) {
  static const Keys<Job> keys =
      Keys<Job>("command", {{"required", {"kind"}}})
          .judged("kind", R"({"const": "command"})")
          .required("processes", &Job::processes, "What a trial starts.",
                    {{"minItems", 1}, {"maxItems", 256}})
          .with_default("marks", &Job::marks,
                        "Lines of logs that mark rounds, phases and metrics of a role.",
                        {{"maxItems", 256}})
          .optional("metrics", &Job::metrics,
                    "Metrics of the job's own, which it logs or sends with gauge(), by name. "
                    "Without a direction a metric's rows are \"changed\", never improved or "
                    "regressed.",
                    {{"maxProperties", 256}})
          .optional("reference", &Job::reference,
                    "The role whose rounds are the job's: those of all processes together, and of "
                    "each with rounds: reference. Absent: the first process. With a count, its "
                    "first.",
                    kNotEmpty)
          .optional("cwd", &Job::cwd,
                    "Working directory of processes without one, of prepare, cleanup and compare; "
                    "absent: the directory of the config, at which a relative path starts.",
                    kNotEmpty)
          .with_default("match", &Job::match,
                        "Descendants that are a role of their own; all others belong to the role "
                        "of their parent.")
          .with_default("templates", &Job::templates,
                        "Files that are made for each trial with their placeholders replaced: "
                        "copies, or JSON documents.")
          .with_default("prepare", &Job::prepare,
                        "Commands that run one after the other before each trial, unmeasured; one "
                        "that fails fails the trial.",
                        kPrograms)
          .with_default("cleanup", &Job::cleanup,
                        "Commands that run after each trial, whatever became of it.", kPrograms)
          .with_default("files", &Job::files,
                        "What each trial must leave: kept, and compared across variants.")
          .optional("final_model", &Job::final_model, "")
          .optional("rounds", &Job::rounds,
                    "How many rounds the job has, where that is known before it runs.",
                    range(1, kMostRoundsOfJob))
          .optional("stop_after_round", &Job::stop_after_round,
                    "The trial ends when every role that marks rounds has ended this one: its "
                    "processes are stopped, and that is success. If no role marks a round in the "
                    "first trial, the run is refused after it.",
                    range(1, 1'000'000))
          .with_default("stop_grace_seconds", &Job::stop_grace_seconds,
                        "What a process has between SIGTERM and SIGKILL.",
                        {{"exclusiveMinimum", 0}, {"maximum", 3600}})
          .with_default("pss_between_rounds", &Job::pss_between_rounds,
                        "Of a job whose reference role marks rounds itself. true: proportional set "
                        "sizes (PSS) are read about once a second, and at the ends of rounds. "
                        "false: at the ends of rounds only, because a reading takes milliseconds "
                        "of a round. PSS of any other job is read about once a second.")
          .with_default("memduel_statuses", &Job::memduel_statuses,
                        "Whether the exit statuses of its processes mean what memduel's do: 4 is a "
                        "file that cannot be read.")
          .optional("seed", &Job::seed,
                    "Of models, of data and of {seed}; equal for all variants and trials. Default: "
                    "measure.seed where the config has one, else 1.",
                    range(0, kMostSeed))
          .with_default("deadline_seconds", &Job::deadline_seconds, "Of one trial.", kAboveZero);
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

}  // namespace memduel
