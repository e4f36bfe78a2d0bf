// Gates on the command line: which there are, how they decide the exit code, and what exit codes
// mean: one table for every help and for docs/ci.md.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "verdict/analyse.h"

namespace memduel::cli {

struct ExitCodeMeaning {
  const char* code;
  const char* meaning;
};

std::span<const ExitCodeMeaning> exit_code_meanings();

/// Of a verb whose exit code gates decide: the table, behind its examples. @param bisect whether
/// the verb has --bisect.
void add_exit_codes(CLI::App& verb, bool bisect = false);

/// What a GATE is, for a verb that judges nothing.
void add_gate_help(CLI::App& verb);

/// The table alone.
std::string exit_code_table();

/// The code that `git bisect run` takes in place of one of memduel's: good, bad, skip (125), and
/// what ends the bisection (128 and more).
int bisect_code(int code);

/// Which gates there are, and how they decide the exit code.
struct GateOptions {
  std::vector<std::string> named;  ///< kDefaultGates among them where those are asked for
  bool strict = false;
  bool no_defaults = false;
  std::optional<OnInconclusive> on_inconclusive;  ///< absent: beyond
  bool bisect = false;  ///< exit codes are those that git bisect run takes

  [[nodiscard]] OnInconclusive inconclusive() const {
    return on_inconclusive.value_or(OnInconclusive::beyond);
  }
};

/// In all that follows `gate` must outlive the parse.

/// --gate alone, for verbs that judge nothing.
void add_gates(CLI::App& verb, GateOptions& gate);
/// --gate-strict
void add_strict(CLI::App& verb, GateOptions& gate);
/// --no-default-gates, for verbs whose exit code the default gates decide. After add_gates.
void add_no_defaults(CLI::App& verb, GateOptions& gate);
/// --on-inconclusive alone, for verbs that take the gates of a config. @param otherwise the default
/// that the help names.
void add_on_inconclusive(CLI::App& verb, GateOptions& gate, const char* otherwise = "beyond");
/// --gate, --gate-strict and --on-inconclusive.
void add_gate_options(CLI::App& verb, GateOptions& gate);
/// --bisect
void add_bisect(CLI::App& verb, GateOptions& gate);

/// --bisect names the default gates where neither an option nor the config names one.
void name_implied_gates(GateOptions& gate, bool config_has_gates);

/// Whether a gate of a resolved config decides the exit code.
bool has_deciding_gate(const Document& config);

/// Throws Error(usage) for --on-inconclusive and --bisect where no gate of the resolved config
/// decides the exit code, and for --no-default-gates beside --gate default or where one variant is
/// alone.
void refuse_undecided_exit(const Document& config, const GateOptions& gate);

/// Tells which gates of a config --gate replaced.
void tell_replaced_gates(const std::vector<std::string>& replaced, const std::string& label = "");

/// Whether gates judge a variant of it: not if a program runs beside itself alone, which gives
/// noise.
bool judges_gates(const Experiment& experiment);

/// Before an hour of trials, not after it: throws Error(usage) for a gate that names a role or a
/// metric that the experiment cannot have.
void refuse_bad_gates(const Experiment& experiment);

}  // namespace memduel::cli
