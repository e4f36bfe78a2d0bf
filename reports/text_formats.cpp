// The report for other programs: CSV, GitHub annotations, JUnit XML, Bencher, benchmark-action.

#include "reports/text_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "escape.h"
#include "model/metric_catalogue.h"
#include "util/error.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

void add_rows(std::string& out, const std::string& prefix, const Metrics& metrics,
              const std::string& tracer) {
  for (const auto& [metric, value] : metrics)
    out += fmt::format("{},{},{},{}\n", prefix, escape_csv(metric), value, tracer);
}

}  // namespace

std::string render_csv(const ReportModel& model) {
  std::string out =
      "trial,block,position,variant,kind,status,role,round,phase,metric,value,profiler\n";
  for (const TrialData& trial : model.results.trials) {
    const std::string tracer = escape_csv(trial.tracer);
    for (const RoleData& role : trial.roles) {
      const std::string prefix = fmt::format(
          "{},{},{},{},{},{},{}", trial.id, trial.block, trial.position, escape_csv(trial.arm),
          to_name(trial.kind), to_name(trial.status), escape_csv(role.role));
      add_rows(out, prefix + ",,", role.metrics, tracer);
      for (const RoundData& round : role.rounds) {
        add_rows(out, fmt::format("{},{},", prefix, round.round), round.metrics, tracer);
        for (const PhaseData& phase : round.phases)
          add_rows(out, fmt::format("{},{},{}", prefix, round.round, escape_csv(phase.phase)),
                   phase.metrics, tracer);
      }
    }
  }
  return out;
}

namespace {

/// An error makes the job's page red, as the exit code makes the job.
const char* command_for(const GateResult& gate) {
  if (gate.exit_code != 0) return "error";
  if (gate.advisory || gate.outcome == GateOutcome::passed) return "notice";
  return "warning";
}

/// Of a row without a gate.
const char* title_of(ShownFor why) {
  return why == ShownFor::largest_change ? "the largest change" : "another change";
}

/// The runner's own escapes: % and line ends everywhere, : and , in properties.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : valid_utf8(std::string(text))) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

}  // namespace

std::string render_github(const ReportModel& model) {
  std::string out;
  for (const GateResult& gate : model.results.gates)
    out += fmt::format(
        "::{} title={}::{}\n", command_for(gate), escaped("memduel: " + gate.phrase(), true),
        escaped(fmt::format("{} ({}): {}", gate.name(), gate.candidate, gate.reason), false));
  for (const Headline& headline : model.headlines)
    if (!headline.is_of_gate())
      out += fmt::format("::notice title={}::{}\n",
                         escaped(fmt::format("memduel: {}", title_of(headline.why)), true),
                         escaped(headline.sentence.text(), false));
  if (is_told_by_no_gate(model.results))
    out += fmt::format("::error title={}::{}\n", escaped("memduel: nothing was measured", true),
                       escaped(model.results.overall.nothing, false));
  return out;
}

namespace {

/// A test fails, or cannot run, where its gate makes memduel's exit code so.
std::string_view element_of(const GateResult& gate) {
  const auto exit = static_cast<ExitCode>(gate.exit_code);
  if (exit == ExitCode::gate_failed || exit == ExitCode::inconclusive) return "failure";
  if (exit == ExitCode::cannot_measure) return "error";
  return gate.outcome == GateOutcome::passed ? "" : "skipped";
}

std::string message_of(const GateResult& gate) {
  const char* kind = gate.advisory ? "advisory: " : "";
  const char* outcome =
      gate.outcome == GateOutcome::inconclusive && !gate.not_measured ? "inconclusive: " : "";
  return kind + (outcome + gate.reason);
}

std::string test_case(const GateResult& gate) {
  const std::string open = fmt::format(R"(  <testcase classname="memduel.{}" name="{}")",
                                       escape_markup(gate.candidate), escape_markup(gate.name()));
  const std::string_view element = element_of(gate);
  if (element.empty()) return open + "/>\n";
  return fmt::format("{}>\n    <{} message=\"{}\"/>\n  </testcase>\n", open, element,
                     escape_markup(message_of(gate)));
}

}  // namespace

std::string render_junit(const ReportModel& model) {
  const auto& gates = model.results.gates;
  const bool nothing = is_told_by_no_gate(model.results);
  const auto count = [&gates](std::string_view element) {
    return std::ranges::count_if(
        gates, [element](const GateResult& gate) { return element_of(gate) == element; });
  };
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
      escape_markup(model.title), gates.size() + (nothing ? 1 : 0), count("failure"),
      count("error") + (nothing ? 1 : 0), count("skipped"));
  for (const GateResult& gate : gates) out += test_case(gate);
  if (nothing)
    out += fmt::format(
        "  <testcase classname=\"memduel\" name=\"measurement\">\n    <error message=\"{}\"/>\n"
        "  </testcase>\n",
        escape_markup(model.results.overall.nothing));
  return out + "</testsuite>\n";
}

namespace {

using nlohmann::json;

using Tell = std::function<void(const std::string& role, const std::string& arm,
                                const std::string& metric, double value)>;

/// The medians of every row that a report shows first, each arm's once.
void each_median(const Results& results, const Tell& tell) {
  std::set<std::tuple<std::string, std::string, std::string>> told;
  const auto add = [&](const Comparison& c, const std::string& arm, std::optional<double> value) {
    if (value && told.emplace(c.role, arm, c.metric).second)
      tell(valid_utf8(c.role), valid_utf8(arm), valid_utf8(c.metric), *value);
  };
  for (const Comparison& c : results.comparisons) {
    if (!c.is_asked() && !metric_info(c.metric).is_key) continue;
    add(c, c.baseline, c.baseline_median);
    add(c, c.candidate, c.candidate_median);
  }
}

/// "bytes" of peak_rss_bytes; all metrics end with their unit.
std::string unit_of(const std::string& metric) {
  const std::size_t last = metric.rfind('_');
  return last == std::string::npos ? "" : metric.substr(last + 1);
}

}  // namespace

std::string render_bencher(const ReportModel& model) {
  json all = json::object();
  each_median(model.results, [&](const std::string& role, const std::string& arm,
                                 const std::string& metric, double value) {
    all[fmt::format("{} of {}", role, arm)][metric] = {{"value", value}};
  });
  return all.dump(2) + "\n";
}

std::string render_benchmark_action(const ReportModel& model) {
  json all = json::array();
  each_median(model.results, [&](const std::string& role, const std::string& arm,
                                 const std::string& metric, double value) {
    all.push_back({{"name", fmt::format("{} of {}: {}", role, arm, metric)},
                   {"unit", unit_of(metric)},
                   {"value", value}});
  });
  return all.dump(2) + "\n";
}

}  // namespace memduel
