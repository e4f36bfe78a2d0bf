#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis_steps.h"
#include "model/metric_names.h"
#include "model/renamed_since_1.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

constexpr const char* kGrammar =
    "write [ROLE.]METRIC<=LIMIT[|LIMIT][:advisory], for example "
    "'peak_rss<=+2%|+16MiB' or 'server.peak_heap_bytes<=900MiB'";

[[noreturn]] void refuse(std::string_view gate, const std::string& what,
                         const std::string& advice = kGrammar) {
  throw Error(ExitCode::usage, what, fmt::format("gate '{}'", gate), advice);
}

struct UnitName {
  std::string_view name;
  double factor;
};

constexpr std::array<UnitName, 4> kTimeUnits = {
    {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}}};

std::string expected_units(const MetricInfo& info) {
  switch (info.unit) {
    case Unit::bytes:
      return "B, KiB, MiB, GiB or TiB (or kB, MB, GB, TB), or % after a sign";
    case Unit::bytes_per_round:
    case Unit::bytes_per_minute:
      return "B, KiB, MiB, GiB or TiB (per round or per minute, as in the metric's name)";
    case Unit::seconds:
      return "us, ms, s or min, or % after a sign";
    default:
      return "no unit, or % after a sign";
  }
}

/// Factor from the written unit to the metric's unit; nothing when the unit does not fit.
std::optional<double> unit_factor(const MetricInfo& info, std::string_view unit) {
  const auto without = [&](std::string_view per) {
    return unit.ends_with(per) ? unit.substr(0, unit.size() - per.size()) : unit;
  };
  switch (info.unit) {
    case Unit::bytes_per_round:
      return byte_unit(without("/round"));
    case Unit::bytes_per_minute:
      return byte_unit(without("/minute"));
    case Unit::bytes:
      return byte_unit(unit);
    case Unit::seconds: {
      const auto found = std::ranges::find(kTimeUnits, unit, &UnitName::name);
      return found == kTimeUnits.end() ? std::nullopt : std::optional(found->factor);
    }
    default:
      return unit.empty() ? std::optional(1.0) : std::nullopt;
  }
}

[[noreturn]] void refuse_ceiling(std::string_view gate, const std::string& metric) {
  refuse(gate, fmt::format("higher is better for {}, so an upper limit has no meaning", metric),
         "limit the loss relative to the baseline, for example +1%");
}

[[noreturn]] void refuse_undeclared(std::string_view gate, const std::string& metric) {
  refuse(
      gate,
      fmt::format(
          "whether higher or lower is better for {} is not declared, so a limit relative to "
          "the baseline has no meaning",
          metric),
      fmt::format(
          "declare it in the config (workload.metrics: {{\"{0}\": {{\"better\": \"lower\"}}}}), "
          "in the log pattern (?<lower_{0}>…) or in the program (gauge(\"{0}\", x, "
          "better=\"lower\")), with higher instead of lower if that is better; an absolute limit "
          "such as {0}<=1 needs no declaration",
          metric));
}

void check_direction(const Gate& gate, const JobFacts& job) {
  const Direction better = metric_info(job, gate.metric).better;
  if (better == Direction::undeclared && has_relative_bound(gate))
    refuse_undeclared(gate.text, gate.metric);
  if (better == Direction::higher && has_ceiling(gate)) refuse_ceiling(gate.text, gate.metric);
}

[[noreturn]] void refuse_metric(std::string_view gate, const std::string& metric,
                                const std::vector<std::string>& own) {
  if (current_name(NameOf::metric, metric) != metric)
    refuse(gate, fmt::format("unknown metric '{}'", metric),
           fmt::format("it was renamed: write {}", current_gate(gate)));
  const auto nearest = nearest_name(metric, own);
  refuse(gate, fmt::format("unknown metric '{}'", metric),
         advice_of_meant(
             nearest ? std::vector{*nearest} : meant_metrics(metric),
             "no trial recorded it; run memduel list metrics to see what memduel measures"));
}

Bound parse_bound(std::string_view gate, const MetricInfo& info, std::string_view text) {
  std::string_view rest = text;
  const bool saves = rest.starts_with('-');
  const bool relative = saves || rest.starts_with('+');
  if (relative) rest.remove_prefix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (problem != std::errc{} || !std::isfinite(value) || value < 0) {
    refuse(gate, fmt::format("'{}' is not a limit", text));
  }
  const std::string_view unit = rest.substr(static_cast<size_t>(end - rest.data()));
  if (saves && value == 0)
    refuse(gate, fmt::format("'{}' asks for an improvement of nothing", text),
           fmt::format("write +0{} to allow no worsening", unit));
  const double sign = saves ? -1 : 1;
  if (unit == "%") {
    if (is_growth_metric(info.name)) {
      refuse(gate,
             fmt::format(
                 "'{}': growth takes no limit in percent, because a healthy baseline grows by 0",
                 text),
             "write bytes, for example +64KiB or 64KiB");
    }
    if (!relative) {
      refuse(gate, fmt::format("'{}': a percentage of the baseline needs a sign", text),
             fmt::format("write +{0}, or -{0} to ask for an improvement", text));
    }
    if (saves && value >= 100 && info.better == Direction::lower)
      refuse(gate, fmt::format("'{}': no change saves that much", text), "ask for less than -100%");
    return {GateQuantity::ratio, sign * value / 100};
  }
  const std::optional<double> factor = unit_factor(info, unit);
  if (!factor) {
    // Its unit stands in the name of the metric that was meant.
    if (!is_known_metric(info.name) && !meant_metrics(info.name).empty())
      refuse_metric(gate, info.name, {});
    const std::string found = unit.empty() ? "has no unit" : fmt::format("has unit '{}'", unit);
    refuse(gate, fmt::format("limit '{}' {}", text, found),
           fmt::format("{} takes {}", info.name, expected_units(info)));
  }
  if (!relative && info.better == Direction::higher) refuse_ceiling(gate, info.name);
  return {relative ? GateQuantity::difference : GateQuantity::value, sign * value * *factor};
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void check_role(const Gate& gate, const std::vector<std::string>& roles) {
  if (gate.role == "*" || has(roles, gate.role)) return;
  if (const auto current = current_name(NameOf::role, gate.role); current != gate.role)
    refuse(gate.text, fmt::format("unknown role '{}'", gate.role),
           fmt::format("it was renamed: write {}", current_gate(gate.text)));
  constexpr std::size_t kTold = 8;
  const std::size_t told = std::min(roles.size(), kTold);
  refuse(gate.text, fmt::format("unknown role '{}'", gate.role),
         nearest_advice(
             gate.role, roles,
             fmt::format("the roles of this run are {}{}, or * for all",
                         fmt::join(roles.begin(), roles.begin() + static_cast<long>(told), ", "),
                         roles.size() > told ? " and so on" : "")));
}

}  // namespace

bool asks_about(const Gate& gate, const std::string& role, const std::string& metric) {
  return (gate.role == "*" || gate.role == role) && gate.metric == metric;
}

bool has_relative_bound(const Gate& gate) {
  return gate.bounds.empty() || !std::ranges::all_of(gate.bounds, &Bound::is_ceiling);
}

bool has_ceiling(const Gate& gate) {
  return std::ranges::any_of(gate.bounds, &Bound::is_ceiling);
}

bool asks_for_change(const Gate& gate, const std::string& role, const std::string& metric) {
  return asks_about(gate, role, metric) && has_relative_bound(gate);
}

bool is_gate_row(const std::vector<Gate>& gates, const std::string& role,
                 const std::string& metric) {
  return std::ranges::any_of(gates, [&](const Gate& gate) {
    return !gate.advisory && asks_for_change(gate, role, metric);
  });
}

Gate parse_gate(std::string_view text) {
  Gate gate;
  gate.text = text;
  const size_t comparison = text.find("<=");
  if (comparison == std::string_view::npos) refuse(text, "found no <=");
  // Only behind the bounds: the name of a Google Benchmark may hold a colon.
  std::string_view rest = text;
  const size_t colon = rest.find(':', comparison);
  if (colon != std::string_view::npos) {
    if (rest.substr(colon + 1) != "advisory") {
      refuse(text, fmt::format("'{}' is not an option of a gate", rest.substr(colon + 1)));
    }
    gate.advisory = true;
    rest = rest.substr(0, colon);
  }
  const RoleMetric named = role_metric_named(rest.substr(0, comparison));
  if (named.role.empty() || named.metric.empty())
    refuse(text, "expected METRIC or ROLE.METRIC before <=");
  gate.role = named.role;
  gate.metric = named.metric;
  const MetricInfo info = metric_info(gate.metric);
  std::string_view bounds = rest.substr(comparison + 2);
  if (bounds == kMarginBound) return gate;
  while (true) {
    const size_t bar = bounds.find('|');
    gate.bounds.push_back(parse_bound(text, info, bounds.substr(0, bar)));
    if (bar == std::string_view::npos) break;
    bounds = bounds.substr(bar + 1);
  }
  return gate;
}

void check_gate_names(const std::vector<Gate>& gates, const std::vector<std::string>& roles,
                      const std::vector<std::string>& metrics, const JobFacts& job) {
  for (const Gate& gate : gates) {
    if (gate.is_default) continue;
    check_role(gate, roles);
    const bool is_known = is_known_metric(gate.metric) || job.better.contains(gate.metric);
    if (!is_known && !has(metrics, gate.metric)) refuse_metric(gate.text, gate.metric, metrics);
    check_direction(gate, job);
  }
}

void check_gates_before_run(const std::vector<Gate>& gates, const std::vector<std::string>& roles,
                            const JobFacts& job, bool are_all_roles) {
  // A benchmark is a role that its program makes: that of a job of one process, or of a name with
  // arguments.
  const auto may_come = [&](const std::string& role) {
    const bool may_be_benchmark = job.roles.size() <= 1 || role.find('/') != std::string::npos;
    return !are_all_roles && may_be_benchmark && current_name(NameOf::role, role) == role &&
           !nearest_name(role, roles);
  };
  for (const Gate& gate : gates) {
    if (gate.is_default) continue;
    if (!may_come(gate.role)) check_role(gate, roles);
    if (job.better.contains(gate.metric)) {
      check_direction(gate, job);
    } else if (!is_known_metric(gate.metric) && !meant_metrics(gate.metric).empty()) {
      refuse_metric(gate.text, gate.metric, {});
    }
  }
}

void refuse_unjudgeable(const std::vector<Gate>& gates, bool is_alone, bool is_interleaved) {
  for (const Gate& gate : gates) {
    if (gate.is_default || !has_relative_bound(gate)) continue;
    const std::string where = fmt::format("gate '{}'", gate.text);
    if (is_alone)
      throw Error(ExitCode::usage,
                  "the run has one variant, but a limit with a sign needs a baseline", where,
                  "write an absolute limit, for example all.peak_rss_bytes<=900MiB");
    if (!is_interleaved && metric_info(gate.metric).unit == Unit::seconds)
      throw Error(
          ExitCode::usage,
          "times of two runs that were not interleaved cannot be compared: machine drift could "
          "cause the same difference",
          where, "compare the two programs with --a and --b, or write an absolute limit");
  }
}

void refuse_default_gates_alone(bool is_alone) {
  if (!is_alone) return;
  throw Error(ExitCode::usage, "the run has one variant, but the default gates need a baseline",
              fmt::format("gate '{}'", kDefaultGates),
              "write an absolute limit, for example all.peak_rss_bytes<=900MiB");
}

std::vector<Gate> checked_gates(std::vector<Gate> gates, const RunData& run,
                                const AnalysisSettings& settings, bool is_alone,
                                std::vector<std::string> roles,
                                const std::vector<std::string>& metrics) {
  refuse_default_gates_alone(is_alone && settings.named_default_gates);
  refuse_unjudgeable(gates, is_alone, settings.design != Design::unpaired);
  if (run.trials.empty()) return gates;
  for (const TrialData& trial : run.trials)
    for (const RoleData& role : trial.roles)
      if (!has(roles, role.role)) roles.push_back(role.role);
  for (Gate& gate : gates) {
    try {
      check_gate_names({gate}, roles, metrics, run.job);
    } catch (const Error& error) {
      if (!settings.gates_of_config) throw;
      gate.unjudged = error.what();
    }
  }
  return gates;
}

}  // namespace memduel
