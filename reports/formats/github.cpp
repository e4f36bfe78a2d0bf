#include "reports/formats/github.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text.h"
#include "reports/tables/words.h"

namespace memduel {
namespace {

const char* command_for(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::failed:
      return "error";
    case GateOutcome::undecided:
      return "warning";
    case GateOutcome::passed:
      break;
  }
  return "notice";
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
        "::{} title={}::{}\n", command_for(gate.outcome),
        escaped(fmt::format("memduel: gate {}", to_name(gate.outcome)), true),
        escaped(fmt::format("{} ({}): {}", gate.gate, gate.candidate, gate.reason), false));
  return out;
}

}  // namespace memduel
