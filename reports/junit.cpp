#include "reports/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/escape.h"

namespace memduel {
namespace {

std::string test_case(const GateResult& gate) {
  const std::string name = escape_markup(gate.gate);
  const std::string reason = escape_markup(gate.reason);
  const std::string open = fmt::format(R"(  <testcase classname="memduel.{}" name="{}")",
                                       escape_markup(gate.candidate), name);
  if (gate.outcome == GateOutcome::passed) return open + "/>\n";
  // An advisory gate informs and never fails a build.
  const bool fails = gate.outcome == GateOutcome::failed && !gate.advisory;
  return fmt::format(
      "{}>\n    <{} message=\"{}\"/>\n  </testcase>\n", open, fails ? "failure" : "skipped",
      gate.outcome == GateOutcome::failed && gate.advisory ? "advisory: " + reason : reason);
}

}  // namespace

std::string render_junit(const ReportModel& model) {
  const auto& gates = model.results.gates;
  const auto failures = std::count_if(gates.begin(), gates.end(), [](const GateResult& gate) {
    return gate.outcome == GateOutcome::failed && !gate.advisory;
  });
  const auto passed = std::count_if(gates.begin(), gates.end(), [](const GateResult& gate) {
    return gate.outcome == GateOutcome::passed;
  });
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n",
      escape_markup(model.title), gates.size(), failures,
      static_cast<long>(gates.size()) - failures - passed);
  for (const GateResult& gate : gates) out += test_case(gate);
  return out + "</testsuite>\n";
}

}  // namespace memduel
