#include "reports/formats/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reports/tables/escape.h"

namespace memduel {
namespace {

/// The element that says why a gate did not pass; empty: it did.
std::string_view element_of(const GateResult& gate) {
  if (gate.outcome == GateOutcome::passed) return "";
  // An advisory gate informs and never fails a build.
  if (gate.advisory) return "skipped";
  if (gate.outcome == GateOutcome::failed) return "failure";
  return gate.not_measured ? "error" : "skipped";
}

std::string test_case(const GateResult& gate) {
  const std::string name = escape_markup(gate.gate);
  const std::string reason = escape_markup(gate.reason);
  const std::string open = fmt::format(R"(  <testcase classname="memduel.{}" name="{}")",
                                       escape_markup(gate.candidate), name);
  const std::string_view element = element_of(gate);
  if (element.empty()) return open + "/>\n";
  return fmt::format(
      "{}>\n    <{} message=\"{}\"/>\n  </testcase>\n", open, element,
      gate.outcome == GateOutcome::failed && gate.advisory ? "advisory: " + reason : reason);
}

}  // namespace

std::string render_junit(const ReportModel& model) {
  const auto& gates = model.results.gates;
  const auto count = [&gates](std::string_view element) {
    return std::ranges::count_if(
        gates, [element](const GateResult& gate) { return element_of(gate) == element; });
  };
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
      escape_markup(model.title), gates.size(), count("failure"), count("error"), count("skipped"));
  for (const GateResult& gate : gates) out += test_case(gate);
  return out + "</testsuite>\n";
}

}  // namespace memduel
