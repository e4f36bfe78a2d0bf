#include "reports/formats/github.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text.h"
#include "reports/tables/words.h"

namespace memduel {
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

}  // namespace memduel
