#include "analysis/json/results_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/json/ablation_json.h"
#include "analysis/json/agreement_json.h"
#include "analysis/json/differences_json.h"
#include "analysis/json/json_lists.h"
#include "analysis/json/json_reader.h"
#include "analysis/values/names.h"
#include "base/error.h"
#include "base/random_digits.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr const char* kResultsSchema = "memduel.results/1";

json note_to_json(const Note& note) {
  return {{"code", note.code}, {"message", note.message}, {"advice", note.advice}};
}

Note note_from_json(const JsonReader& in) {
  return {in.at("code").text(), in.at("message").text(), in.maybe_text("advice").value_or("")};
}

/// JSON has no NaN or infinity: what is not a number was not measured.
json metrics_to_json(const Metrics& metrics) {
  json out = json::object();
  for (const auto& [name, value] : metrics) {
    if (std::isfinite(value)) out[name] = value;
  }
  return out;
}

std::int64_t nanoseconds(const JsonReader& in, const char* member) {
  const auto reader = in.find(member);
  return reader ? reader->integer() : 0;
}

Metrics metrics_from_json(const JsonReader& in) {
  Metrics metrics;
  const auto member = in.find("metrics");
  if (!member) return metrics;
  for (const auto& [name, value] : member->members()) metrics.emplace(name, value.number());
  return metrics;
}

json arm_to_json(const ArmSummary& arm) {
  return {{"name", arm.name},
          {"optimizations", arm.optimizations},
          {"model_sha256", or_null(arm.model_sha256)},
          {"trials_ok", arm.trials_ok},
          {"trials_failed", arm.trials_failed},
          {"ablation", arm.ablation},
          {"allocator", or_null(arm.allocator)},
          {"allocator_libraries", arm.allocator_libraries}};
}

ArmSummary arm_from_json(const JsonReader& in) {
  ArmSummary arm;
  arm.name = in.at("name").text();
  if (const auto optimizations = in.find("optimizations")) arm.optimizations = optimizations->raw();
  arm.model_sha256 = in.maybe_text("model_sha256");
  arm.trials_ok = in.maybe_int("trials_ok").value_or(0);
  arm.trials_failed = in.maybe_int("trials_failed").value_or(0);
  arm.ablation = in.maybe_boolean("ablation").value_or(false);
  arm.allocator = in.maybe_text("allocator");
  for (const JsonReader& library : in.list("allocator_libraries"))
    arm.allocator_libraries.push_back(library.text());
  return arm;
}

json phase_to_json(const PhaseData& phase) {
  return {{"phase", phase.phase},
          {"begin_ns", phase.begin_ns},
          {"end_ns", phase.end_ns},
          {"metrics", metrics_to_json(phase.metrics)}};
}

PhaseData phase_from_json(const JsonReader& in) {
  PhaseData phase;
  phase.phase = in.at("phase").text();
  phase.begin_ns = nanoseconds(in, "begin_ns");
  phase.end_ns = nanoseconds(in, "end_ns");
  phase.metrics = metrics_from_json(in);
  return phase;
}

json round_to_json(const RoundData& round) {
  return {{"round", round.round},
          {"begin_ns", round.begin_ns},
          {"end_ns", round.end_ns},
          {"metrics", metrics_to_json(round.metrics)},
          {"phases", list_to_json(round.phases, phase_to_json)}};
}

RoundData round_from_json(const JsonReader& in) {
  RoundData round;
  round.round = static_cast<int>(in.at("round").integer());
  round.begin_ns = nanoseconds(in, "begin_ns");
  round.end_ns = nanoseconds(in, "end_ns");
  round.metrics = metrics_from_json(in);
  round.phases = list_from_json(in, "phases", phase_from_json);
  return round;
}

/// What stands for a role's rounds: all of them, or a mark.
using RoundsOf = std::function<json(const RoleData&)>;

json rounds_to_json(const RoleData& role) {
  return list_to_json(role.rounds.items(), round_to_json);
}

json role_to_json(const RoleData& role, const RoundsOf& rounds) {
  json out = {
      {"role", role.role}, {"metrics", metrics_to_json(role.metrics)}, {"rounds", rounds(role)}};
  if (role.exit_status) out["exit_status"] = *role.exit_status;
  if (role.exit_signal) out["exit_signal"] = *role.exit_signal;
  return out;
}

RoleData role_from_json(const JsonReader& in) {
  RoleData role;
  role.role = in.at("role").text();
  role.metrics = metrics_from_json(in);
  role.rounds = list_from_json(in, "rounds", round_from_json);
  role.exit_status = in.maybe_int("exit_status");
  role.exit_signal = in.maybe_int("exit_signal");
  return role;
}

json trial_to_json(const TrialData& trial, const RoundsOf& rounds) {
  json out = {{"id", trial.id},
              {"block", trial.block},
              {"position", trial.position},
              {"arm", trial.arm},
              {"kind", to_name(trial.kind)},
              {"status", to_name(trial.status)},
              {"begin_ns", trial.begin_ns},
              {"end_ns", trial.end_ns},
              {"harness_cpu_seconds", trial.harness_cpu_seconds},
              {"roles", list_to_json(trial.roles, [&](const RoleData& role) {
                 return role_to_json(role, rounds);
               })}};
  if (!trial.failure.empty()) out["failure"] = trial.failure;
  if (trial.harness_fault) out["harness_fault"] = true;
  if (trial.model_sha256) out["model_sha256"] = *trial.model_sha256;
  if (!trial.tracer.empty()) out["tracer"] = trial.tracer;
  if (!trial.files.empty()) out["files"] = trial.files;
  if (!trial.allocators.empty()) out["allocators"] = trial.allocators;
  return out;
}

TrialData trial_from_json(const JsonReader& in) {
  TrialData trial;
  trial.id = in.at("id").integer();
  trial.block = static_cast<int>(in.at("block").integer());
  trial.position = in.maybe_int("position").value_or(0);
  trial.arm = in.at("arm").text();
  trial.kind = enum_at(in, "kind", kTrialKindNames);
  trial.status = enum_at(in, "status", kTrialStatusNames);
  trial.tracer = in.maybe_text("tracer").value_or("");
  trial.failure = in.maybe_text("failure").value_or("");
  trial.harness_fault = in.maybe_boolean("harness_fault").value_or(false);
  trial.begin_ns = nanoseconds(in, "begin_ns");
  trial.end_ns = nanoseconds(in, "end_ns");
  trial.harness_cpu_seconds = in.maybe_number("harness_cpu_seconds").value_or(0);
  trial.model_sha256 = in.maybe_text("model_sha256");
  if (const auto files = in.find("files")) {
    for (const auto& [name, sha256] : files->members()) trial.files[name] = sha256.text();
  }
  if (const auto allocators = in.find("allocators")) {
    for (const auto& [role, library] : allocators->members())
      trial.allocators[role] = library.text();
  }
  trial.roles = list_from_json(in, "roles", role_from_json);
  return trial;
}

json comparison_to_json(const Comparison& row) {
  return {{"baseline", row.baseline},
          {"candidate", row.candidate},
          {"role", row.role},
          {"metric", row.metric},
          {"gate", row.gate},
          {"baseline_median", or_null(row.baseline_median)},
          {"candidate_median", or_null(row.candidate_median)},
          {"baseline_max", or_null(row.baseline_max)},
          {"candidate_max", or_null(row.candidate_max)},
          {"ratio", or_null(row.ratio)},
          {"difference", or_null(row.difference)},
          {"ci_low", or_null(row.ci_low)},
          {"ci_high", or_null(row.ci_high)},
          {"confidence", row.confidence},
          {"p_value", or_null(row.p_value)},
          {"p_adjusted", or_null(row.p_adjusted)},
          {"p_mean", or_null(row.p_mean)},
          {"test", row.test},
          {"exact", row.exact},
          {"n_baseline", row.n_baseline},
          {"n_candidate", row.n_candidate},
          {"verdict", to_name(row.verdict)},
          {"tier", to_name(row.tier)},
          {"reason", row.reason},
          {"margin", row.margin},
          {"blocks_needed", or_null(row.blocks_needed)},
          {"smallest_detectable", or_null(row.smallest_detectable)}};
}

Comparison comparison_from_json(const JsonReader& in) {
  Comparison row;
  row.baseline = in.at("baseline").text();
  row.candidate = in.at("candidate").text();
  row.role = in.at("role").text();
  row.metric = in.at("metric").text();
  row.gate = in.at("gate").boolean();
  row.baseline_median = in.maybe_number("baseline_median");
  row.candidate_median = in.maybe_number("candidate_median");
  row.baseline_max = in.maybe_number("baseline_max");
  row.candidate_max = in.maybe_number("candidate_max");
  row.ratio = in.maybe_number("ratio");
  row.difference = in.maybe_number("difference");
  row.ci_low = in.maybe_number("ci_low");
  row.ci_high = in.maybe_number("ci_high");
  row.confidence = in.maybe_number("confidence").value_or(0.95);
  row.p_value = in.maybe_number("p_value");
  row.p_adjusted = in.maybe_number("p_adjusted");
  row.p_mean = in.maybe_number("p_mean");
  row.test = in.maybe_text("test").value_or("");
  row.exact = in.maybe_boolean("exact").value_or(false);
  row.n_baseline = static_cast<int>(in.at("n_baseline").integer());
  row.n_candidate = static_cast<int>(in.at("n_candidate").integer());
  row.verdict = enum_at(in, "verdict", kVerdictNames);
  row.tier = enum_at(in, "tier", kTierNames);
  row.reason = in.at("reason").text();
  row.margin = in.at("margin").number();
  row.blocks_needed = in.maybe_int("blocks_needed");
  row.smallest_detectable = in.maybe_number("smallest_detectable");
  return row;
}

json projection_to_json(const Projection& projection) {
  return {{"limit_bytes", projection.limit_bytes},
          {"round", or_null(projection.round)},
          {"ci_low", or_null(projection.ci_low)},
          {"ci_high", or_null(projection.ci_high)},
          {"minute", or_null(projection.minute)}};
}

json growing_stack_to_json(const GrowingStack& row) {
  return {{"stack", row.stack},
          {"phase", row.phase.empty() ? json(nullptr) : json(row.phase)},
          {"bytes_per_round", row.bytes_per_round},
          {"last_bytes", row.last_bytes}};
}

GrowingStack growing_stack_from_json(const JsonReader& in) {
  GrowingStack row;
  for (const JsonReader& frame : in.at("stack").elements()) row.stack.push_back(frame.text());
  row.phase = in.maybe_text("phase").value_or("");
  row.bytes_per_round = in.at("bytes_per_round").number();
  row.last_bytes = in.at("last_bytes").number();
  return row;
}

json growth_to_json(const Growth& row) {
  return {{"arm", row.arm},
          {"role", row.role},
          {"metric", row.metric},
          {"slope", or_null(row.slope)},
          {"ci_low", or_null(row.ci_low)},
          {"ci_high", or_null(row.ci_high)},
          {"verdict", to_name(row.verdict)},
          {"reason", row.reason},
          {"projection", row.projection ? projection_to_json(*row.projection) : json(nullptr)},
          {"model_multiples_per_round", or_null(row.model_multiples_per_round)},
          {"level", or_null(row.level)},
          {"rounds_needed", or_null(row.rounds_needed)},
          {"stacks", list_to_json(row.stacks, growing_stack_to_json)}};
}

Growth growth_from_json(const JsonReader& in) {
  Growth row;
  row.arm = in.at("arm").text();
  row.role = in.at("role").text();
  row.metric = in.at("metric").text();
  row.slope = in.maybe_number("slope");
  row.ci_low = in.maybe_number("ci_low");
  row.ci_high = in.maybe_number("ci_high");
  row.verdict = enum_at(in, "verdict", kGrowthVerdictNames);
  row.reason = in.maybe_text("reason").value_or("");
  if (const auto projection = in.find("projection")) {
    row.projection =
        Projection{projection->at("limit_bytes").number(), projection->maybe_number("round"),
                   projection->maybe_number("ci_low"), projection->maybe_number("ci_high"),
                   projection->maybe_number("minute")};
  }
  row.model_multiples_per_round = in.maybe_number("model_multiples_per_round");
  row.level = in.maybe_number("level");
  row.rounds_needed = in.maybe_int("rounds_needed");
  row.stacks = list_from_json(in, "stacks", growing_stack_from_json);
  return row;
}

json perturbation_to_json(const Perturbation& cost) {
  return {{"arm", cost.arm},
          {"tracer", cost.tracer},
          {"wall_ratio", or_null(cost.wall_ratio)},
          {"peak_rss_ratio", or_null(cost.peak_rss_ratio)}};
}

Perturbation perturbation_from_json(const JsonReader& in) {
  return {in.at("arm").text(), in.at("tracer").text(), in.maybe_number("wall_ratio"),
          in.maybe_number("peak_rss_ratio")};
}

json gate_to_json(const GateResult& gate) {
  json out = {{"gate", gate.gate},
              {"candidate", gate.candidate},
              {"outcome", to_name(gate.outcome)},
              {"advisory", gate.advisory},
              {"reason", gate.reason}};
  if (gate.outcome == GateOutcome::failed) out["failure"] = gate.shown ? "shown" : "estimated";
  if (gate.candidate_failed) out["candidate_failed"] = true;
  if (gate.not_measured) out["not_measured"] = true;
  return out;
}

GateResult gate_from_json(const JsonReader& in) {
  GateResult gate;
  gate.gate = in.at("gate").text();
  gate.candidate = in.at("candidate").text();
  gate.outcome = enum_at(in, "outcome", kGateOutcomeNames);
  gate.advisory = in.maybe_boolean("advisory").value_or(false);
  gate.shown = in.maybe_text("failure") == "shown";
  gate.candidate_failed = in.maybe_boolean("candidate_failed").value_or(false);
  gate.not_measured = in.maybe_boolean("not_measured").value_or(false);
  gate.reason = in.at("reason").text();
  return gate;
}

json file_to_json(const FileEquivalence& file) {
  return {{"file", file.file},
          {"blocks", file.blocks},
          {"identical_blocks", file.identical_blocks},
          {"max_difference", or_null(file.max_difference)},
          {"max_within_baseline", or_null(file.max_within_baseline)}};
}

FileEquivalence file_from_json(const JsonReader& in) {
  FileEquivalence file;
  file.file = in.at("file").text();
  file.blocks = static_cast<int>(in.at("blocks").integer());
  file.identical_blocks = static_cast<int>(in.at("identical_blocks").integer());
  file.max_difference = in.maybe_number("max_difference");
  file.max_within_baseline = in.maybe_number("max_within_baseline");
  return file;
}

json equivalence_to_json(const Equivalence& pair) {
  json metrics = json::object();
  for (const auto& [name, values] : pair.metrics) metrics[name] = {values.first, values.second};
  return {{"baseline", pair.baseline},
          {"candidate", pair.candidate},
          {"bit_identical", or_null(pair.bit_identical)},
          {"max_abs_diff", or_null(pair.max_abs_diff)},
          {"metrics", metrics},
          {"files", list_to_json(pair.files, file_to_json)}};
}

Equivalence equivalence_from_json(const JsonReader& in) {
  Equivalence pair;
  pair.baseline = in.at("baseline").text();
  pair.candidate = in.at("candidate").text();
  pair.bit_identical = in.maybe_boolean("bit_identical");
  pair.max_abs_diff = in.maybe_number("max_abs_diff");
  if (const auto metrics = in.find("metrics")) {
    for (const auto& [name, value] : metrics->members()) {
      const std::vector<JsonReader> both = value.elements();
      if (both.size() != 2) value.refuse("two numbers");
      pair.metrics[name] = {both[0].number(), both[1].number()};
    }
  }
  pair.files = list_from_json(in, "files", file_from_json);
  return pair;
}

/// Of a file that does not say it.
JobFacts job_of_older_results(const std::vector<TrialData>& trials) {
  JobFacts job;
  for (const TrialData& trial : trials)
    for (const RoleData& role : trial.roles)
      if (std::ranges::find(job.roles, role.role) == job.roles.end() && role.role != "tree")
        job.roles.push_back(role.role);
  job.groups = groups_by_name(job.roles);
  if (!job.roles.empty()) job.reference = job.roles.front();
  return job;
}

json results_with(const Results& results, const RoundsOf& rounds) {
  return {{"schema", kResultsSchema},
          {"experiment",
           {{"name", results.name},
            {"baseline", results.baseline},
            {"config_sha256", results.config_sha256}}},
          {"job", to_json(results.job)},
          {"environment", results.environment},
          {"limitations", list_to_json(results.limitations, note_to_json)},
          {"warnings", list_to_json(results.warnings, note_to_json)},
          {"arms", list_to_json(results.arms, arm_to_json)},
          {"trials",
           list_to_json(results.trials,
                        [&](const TrialData& trial) { return trial_to_json(trial, rounds); })},
          {"comparisons", list_to_json(results.comparisons, comparison_to_json)},
          {"growth", list_to_json(results.growth, growth_to_json)},
          {"gates", list_to_json(results.gates, gate_to_json)},
          {"equivalence", list_to_json(results.equivalence, equivalence_to_json)},
          {"lower_bounds", list_to_json(results.lower_bounds, lower_bound_to_json)},
          {"perturbation", list_to_json(results.perturbation, perturbation_to_json)},
          {"ablation", list_to_json(results.ablation, ablation_row_to_json)},
          {"ablation_totals", list_to_json(results.ablation_totals, ablation_total_to_json)},
          {"differences", list_to_json(results.differences, difference_to_json)},
          {"difference_totals", list_to_json(results.difference_totals, difference_total_to_json)},
          {"agreement", list_to_json(results.agreement, agreement_to_json)}};
}

constexpr auto kReplace = json::error_handler_t::replace;

/// Blanks before the line's first character, where the text ends in the middle of a line.
std::size_t indentation_at_end(std::string_view text) {
  const std::size_t line = text.rfind('\n') + 1;
  return std::min(text.find_first_not_of(' ', line), text.size()) - line;
}

/// As nlohmann would write them `depth` blanks deep.
void write_rounds(const RoleData& role, int indent, std::size_t depth, const TextSink& sink) {
  const std::string line =
      indent < 0 ? "" : "\n" + std::string(depth + static_cast<std::size_t>(indent), ' ');
  sink("[");
  for (std::size_t i = 0; i < role.rounds.size(); ++i) {
    std::string text = i == 0 ? line : "," + line;
    for (const char byte : round_to_json(role.rounds[i]).dump(indent, ' ', false, kReplace)) {
      if (byte == '\n')
        text += line;
      else
        text += byte;
    }
    sink(text);
  }
  sink(indent < 0 ? "]" : "\n" + std::string(depth, ' ') + "]");
}

}  // namespace

json results_to_json(const Results& results) {
  return results_with(results, rounds_to_json);
}

ResultsWriter::ResultsWriter(const Results& results) : results_(results), mark_(random_digits()) {}

json ResultsWriter::results_without_rounds() const {
  return results_with(results_, [&](const RoleData& role) {
    return role.rounds.empty() ? json::array() : json(mark_);
  });
}

void ResultsWriter::write(const json& document, int indent, const TextSink& sink) const {
  const std::string text = document.dump(indent, ' ', false, kReplace);
  const std::string quoted = '"' + mark_ + '"';
  std::size_t at = 0;
  for (const TrialData& trial : results_.trials)
    for (const RoleData& role : trial.roles) {
      if (role.rounds.empty()) continue;
      const std::size_t mark = text.find(quoted, at);
      if (mark == std::string::npos) continue;
      sink(std::string_view(text).substr(at, mark - at));
      write_rounds(role, indent, indentation_at_end(std::string_view(text).substr(0, mark)), sink);
      at = mark + quoted.size();
    }
  sink(std::string_view(text).substr(at));
}

void write_results(const Results& results, int indent, const TextSink& sink) {
  const ResultsWriter writer(results);
  writer.write(writer.results_without_rounds(), indent, sink);
}

Results results_from_json(const json& value, const std::string& where) {
  const JsonReader in(value, where);
  if (const auto schema = in.maybe_text("schema"); schema != kResultsSchema) {
    throw Error(ExitCode::io,
                fmt::format("schema is {}, expected '{}'",
                            schema ? fmt::format("'{}'", *schema) : "missing", kResultsSchema),
                where + " at /schema",
                "analyse the run again with this memduel: memduel report DIR");
  }
  Results results;
  const JsonReader experiment = in.at("experiment");
  results.name = experiment.at("name").text();
  results.baseline = experiment.at("baseline").text();
  results.config_sha256 = experiment.at("config_sha256").text();
  results.environment = in.at("environment").raw();
  results.limitations = list_from_json(in, "limitations", note_from_json);
  results.warnings = list_from_json(in, "warnings", note_from_json);
  results.arms = list_from_json(in, "arms", arm_from_json);
  results.trials = list_from_json(in, "trials", trial_from_json);
  if (const auto job = in.find("job"))
    results.job = job_facts_from_json(job->raw(), where + " at /job");
  else
    results.job = job_of_older_results(results.trials);
  results.comparisons = list_from_json(in, "comparisons", comparison_from_json);
  results.growth = list_from_json(in, "growth", growth_from_json);
  results.gates = list_from_json(in, "gates", gate_from_json);
  results.equivalence = list_from_json(in, "equivalence", equivalence_from_json);
  results.lower_bounds = list_from_json(in, "lower_bounds", lower_bound_from_json);
  results.perturbation = list_from_json(in, "perturbation", perturbation_from_json);
  results.ablation = list_from_json(in, "ablation", ablation_row_from_json);
  results.ablation_totals = list_from_json(in, "ablation_totals", ablation_total_from_json);
  results.differences = list_from_json(in, "differences", difference_from_json);
  results.difference_totals = list_from_json(in, "difference_totals", difference_total_from_json);
  results.agreement = list_from_json(in, "agreement", agreement_from_json);
  return results;
}

}  // namespace memduel
