#include "gate_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "cli/verbs.h"
#include "model/experiment_view.h"
#include "model/job_facts.h"
#include "model/metric_catalogue.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/analyse.h"
#include "verdict/gates.h"

namespace memduel::cli {
namespace {

constexpr std::array<ExitCodeMeaning, 7> kMeanings = {
    {{"0", "no gate failed"},
     {"1", "a gate failed"},
     {"2", "bad usage or config, or the output directory is in use"},
     {"3", "could not measure"},
     {"4", "a file or data set failed"},
     {"5", "a gate is inconclusive and counts (--on-inconclusive)"},
     {"130, 143", "ended by SIGINT or SIGTERM"}}};

constexpr const char* kGateHelp =
    "GATE: [ROLE.]METRIC<=LIMIT[|LIMIT][:advisory], for example 'peak_rss<=+2%', "
    "'server.peak_heap_bytes<=+1%|+4MiB', 'client.peak_rss<=900MiB' or 'peak_rss<=-20%', which "
    "asks for a saving of 20% or more; without ROLE it is on all processes; default stands for "
    "the default gates. Gates of --gate replace those of a config.\n";

constexpr const char* kInconclusiveHelp =
    "WHEN: an inconclusive gate exits with 5 if its estimate is beyond the limit (beyond), "
    "always (fail) or never (pass).\n";

constexpr int kSkip = 125;
constexpr int kAbort = 128;

}  // namespace

std::span<const ExitCodeMeaning> exit_code_meanings() {
  return kMeanings;
}

std::string exit_code_table() {
  std::string text = "Exit codes:\n";
  for (const ExitCodeMeaning& one : kMeanings)
    text += fmt::format("  {:<8}  {}\n", one.code, one.meaning);
  return text;
}

void add_gate_help(CLI::App& verb) {
  verb.footer(verb.get_footer() + "\n\n" + kGateHelp);
}

void add_exit_codes(CLI::App& verb, bool bisect) {
  std::string text = verb.get_footer() + "\n\n";
  if (verb.get_option_no_throw("--gate") != nullptr) text += kGateHelp;
  if (verb.get_option_no_throw("--on-inconclusive") != nullptr) text += kInconclusiveHelp;
  text += "\n";
  text += exit_code_table();
  if (bisect)
    text +=
        "With --bisect, 3, 4 and 5 become 125 and 2 becomes 128; without a gate, the default "
        "gates judge.\n";
  text.pop_back();
  verb.footer(text);
}

int bisect_code(int code) {
  switch (static_cast<ExitCode>(code)) {
    case ExitCode::usage:
      return kAbort;
    case ExitCode::cannot_measure:
    case ExitCode::io:
    case ExitCode::inconclusive:
      return kSkip;
    default:
      return code;
  }
}

namespace {

std::vector<std::string> roles_of(const Experiment& experiment) {
  std::vector<std::string> roles = experiment.facts.roles;
  for (const RoleGroup& group : experiment.facts.groups)
    roles.insert(roles.end(), {group.largest(), group.median()});
  roles.emplace_back(kTree);
  return roles;
}

/// Default gates compare with a baseline.
bool has_one_variant(const Document& config) {
  return config.variants.size() == 1;
}

}  // namespace

void add_gates(CLI::App& verb, GateOptions& gate) {
  verb.add_option("--gate", gate.named, "judge by GATE, see below (repeatable)")
      ->type_name("GATE")
      ->allow_extra_args(false)
      ->group(kVerdictOptions);
}

void add_strict(CLI::App& verb, GateOptions& gate) {
  verb.add_flag("--gate-strict", gate.strict, "fail only if the 95% CI is beyond the limit")
      ->group(kVerdictOptions);
}

void add_no_defaults(CLI::App& verb, GateOptions& gate) {
  verb.add_flag("--no-default-gates", gate.no_defaults, "do not judge by the default gates")
      ->group(kVerdictOptions);
}

void add_on_inconclusive(CLI::App& verb, GateOptions& gate, const char* otherwise) {
  verb.add_option_function<std::string>(
          "--on-inconclusive",
          [&gate](const std::string& word) {
            gate.on_inconclusive = word == "pass"   ? OnInconclusive::pass
                                   : word == "fail" ? OnInconclusive::fail
                                                    : OnInconclusive::beyond;
          },
          fmt::format("set when to exit 5, see below (default: {})", otherwise))
      ->check(CLI::IsMember({"beyond", "pass", "fail"}))
      ->type_name("WHEN")
      ->group(kVerdictOptions);
}

void add_gate_options(CLI::App& verb, GateOptions& gate) {
  add_gates(verb, gate);
  add_strict(verb, gate);
  add_on_inconclusive(verb, gate);
}

void add_bisect(CLI::App& verb, GateOptions& gate) {
  verb.add_flag("--bisect", gate.bisect, "exit with the codes that git bisect run expects")
      ->group(kVerdictOptions);
}

void name_implied_gates(GateOptions& gate, bool config_has_gates) {
  if (gate.bisect && gate.named.empty() && !config_has_gates) gate.named = {kDefaultGates};
}

bool has_deciding_gate(const Document& config) {
  if (config.gates.empty()) return config.default_gates_decide() && !has_one_variant(config);
  return std::ranges::any_of(config.gates, [](const std::string& gate) {
    return gate == kDefaultGates || !parse_gate(gate).advisory;
  });
}

void refuse_undecided_exit(const Document& config, const GateOptions& gate) {
  if (gate.no_defaults && std::ranges::find(gate.named, kDefaultGates) != gate.named.end())
    throw Error(ExitCode::usage, "the gates contain \"default\"", "--no-default-gates",
                "omit it, or name other gates with --gate");
  if (gate.no_defaults && has_one_variant(config))
    throw Error(ExitCode::usage, "a run of one variant has no default gates", "--no-default-gates",
                "omit it");
  if ((!gate.on_inconclusive && !gate.bisect) || has_deciding_gate(config)) return;
  throw Error(ExitCode::usage, "no gate decides the exit code",
              gate.bisect ? "--bisect" : "--on-inconclusive", "name a gate with --gate");
}

void tell_replaced_gates(const std::vector<std::string>& replaced, const std::string& label) {
  if (replaced.empty()) return;
  say(escape_terminal(fmt::format("memduel: {}--gate replaces the gates of the config: {}", label,
                                  fmt::join(replaced, ", "))) +
      "\n");
}

bool judges_gates(const Experiment& experiment) {
  return !judged_variants(view_config(experiment.config)).empty();
}

// A metric that no known one resembles may come from a mark, and is checked afterwards.
void refuse_bad_gates(const Experiment& experiment) {
  const bool is_alone = experiment.variants.size() == 1;
  const bool judges = judges_gates(experiment);
  for (std::size_t i = 0; i < experiment.config.gates.size(); ++i) {
    try {
      if (experiment.config.gates[i] == kDefaultGates) {
        refuse_default_gates_alone(is_alone);
        continue;
      }
      AnalysisSettings settings;
      settings.gates = {parse_gate(experiment.config.gates[i])};
      settings.warmup_rounds = experiment.config.measure.warmup_rounds;
      check_gates_before_run(settings.gates, roles_of(experiment), experiment.facts,
                             experiment.config.workload.kind() != kCommandKind);
      refuse_unjudgeable(settings.gates, is_alone, true);
      if (judges) refuse_growth_in_few_rounds(experiment.config, settings);
    } catch (const Error& error) {
      if (experiment.gate_places.empty()) throw;
      throw Error(error.code(), error.what(),
                  fmt::format("{}, {}", experiment.gate_places[i], error.where()), error.advice());
    }
  }
}

}  // namespace memduel::cli
