#include "reports/formats/csv.h"

#include <fmt/format.h>

#include <array>

#include "reports/tables/escape.h"

namespace memduel {
namespace {

void add_rows(std::string& out, const std::string& prefix, const Metrics& metrics,
              const std::string& tracer) {
  for (const auto& [metric, value] : metrics)
    out += fmt::format("{},{},{},{}\n", prefix, escape_csv(metric), value, tracer);
}

}  // namespace

std::string render_csv(const ReportModel& model) {
  std::string out = "trial,block,position,arm,kind,status,role,round,phase,metric,value,tracer\n";
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

}  // namespace memduel
