// Gates: noise floors never make one easier to pass, and near its bound one fails in two ways.
#include <fmt/format.h>

#include "duel.h"
#include "sections.h"
#include "verdict/gates.h"

namespace memduel::bench {
namespace {

MakeNoise normal_noise(double share) {
  return [share](Random&) {
    return [share](const TrialPlace&, Random& random) {
      return kBaseBytes * (1 + share * random.normal());
    };
  };
}

GateResult at_gate(const DecidedRow& row, const char* gate) {
  Gate parsed;
  if (*gate != '\0') {
    parsed = parse_gate(gate);
  } else {
    parsed.role = "all";
    parsed.metric = "peak_rss_bytes";
    parsed.is_default = true;
  }
  return evaluate_gate(parsed, subject_of(row));
}

void floors(Report& report, const BenchOptions& options) {
  report.heading("A noisy machine: +5%, noise of 10%, calibrated noise floor of 10.5%");
  report.columns({"blocks", "default gate passes", "called unchanged", "called regressed"});
  std::uint64_t seed = options.seed + 500;
  for (const int blocks : {8, 16, 24}) {
    const auto counts =
        repeated(options.repetitions, ++seed, 3, [&](Random& random, std::vector<int>& count) {
          const DecidedRow row =
              judge(make_session(normal_noise(0.1), blocks, 0.05, random), 0.105);
          count[0] += static_cast<int>(at_gate(row, "").outcome == GateOutcome::passed);
          count[1] += static_cast<int>(row.comparison.verdict == Verdict::unchanged);
          count[2] += static_cast<int>(row.comparison.verdict == Verdict::regressed);
        });
    report.row({std::to_string(blocks),
                report.judged(percent(counts[0].share()), counts[0].at_most(0.05)),
                report.judged(percent(counts[1].share()), counts[1].at_most(0.05)),
                percent(counts[2].share())});
  }
}

void bounds(Report& report, const BenchOptions& options) {
  report.heading("A true worsening inside or beyond its bound, noise of 1%");
  report.columns({"truth", "gate", "blocks", "passed", "failed: shown beyond",
                  "failed: real and estimated beyond", "inconclusive"});
  struct Case {
    double truth;
    const char* gate;
    bool inside;
  };
  std::uint64_t seed = options.seed + 600;
  for (const Case& one :
       {Case{0.005, "", true}, Case{0.009, "", true}, Case{0.0099, "", true},
        Case{0.015, "all.peak_rss_bytes<=+2%", true}, Case{0.018, "all.peak_rss_bytes<=+2%", true},
        Case{0.019, "all.peak_rss_bytes<=+2%", true}, Case{0.03, "", false},
        Case{0.05, "", false}}) {
    for (const int blocks : {8, 16}) {
      const auto counts =
          repeated(options.repetitions, ++seed, 4, [&](Random& random, std::vector<int>& count) {
            const DecidedRow row =
                judge(make_session(normal_noise(0.01), blocks, one.truth, random));
            const GateResult gate = at_gate(row, one.gate);
            count[0] += static_cast<int>(gate.outcome == GateOutcome::passed);
            count[1] += static_cast<int>(gate.failure == GateFailure::shown);
            count[2] += static_cast<int>(gate.failure == GateFailure::estimated);
            count[3] += static_cast<int>(gate.outcome == GateOutcome::inconclusive);
          });
      const std::string passed = percent(counts[0].share());
      const std::string shown = percent(counts[1].share());
      report.row({fmt::format("{:+g}%", 100 * one.truth),
                  *one.gate == '\0' ? "default, +1%" : "+2%", std::to_string(blocks),
                  one.inside ? passed : report.judged(passed, counts[0].at_most(0.05)),
                  one.inside ? report.judged(shown, counts[1].at_most(0.05)) : shown,
                  percent(counts[2].share()), percent(counts[3].share())});
    }
  }
}

}  // namespace

void floors_and_bounds(Report& report, const BenchOptions& options) {
  floors(report, options);
  bounds(report, options);
}

}  // namespace memduel::bench
