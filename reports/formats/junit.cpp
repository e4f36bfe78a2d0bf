#include "reports/formats/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "reports/tables/escape.h"
#include "reports/tables/words.h"

namespace memduel {
namespace {

/// A test fails, or cannot run, where its gate makes memduel's exit code so.
std::string_view element_of(const GateResult& gate) {
  const auto exit = static_cast<ExitCode>(gate.exit_code);
  if (exit == ExitCode::gate_failed || exit == ExitCode::undecided) return "failure";
  if (exit == ExitCode::cannot_measure) return "error";
  return gate.outcome == GateOutcome::passed ? "" : "skipped";
}

std::string message_of(const GateResult& gate) {
  const char* kind = gate.advisory ? "advisory: " : "";
  const char* outcome =
      gate.outcome == GateOutcome::undecided && !gate.not_measured ? "inconclusive: " : "";
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

}  // namespace memduel
