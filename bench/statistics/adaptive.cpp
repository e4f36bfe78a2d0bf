#include <fmt/format.h>

#include "analysis/analyse.h"
#include "analysis/gate_evaluation.h"
#include "analysis/multiplicity.h"
#include "analysis/verdict.h"
#include "bench/statistics/duel.h"
#include "bench/statistics/sections.h"

namespace memduel::bench {
namespace {

constexpr int kGates = 2;
constexpr int kMostBlocks = 16;

struct Ended {
  int blocks = 0;
  bool improved = false;   ///< any gate row
  bool regressed = false;  ///< any gate row
  bool all_found = false;  ///< every gate row regressed
};

Session first_blocks(const Session& session, int blocks) {
  return {{session.a.begin(), session.a.begin() + blocks},
          {session.b.begin(), session.b.begin() + blocks}};
}

Results look_at(const std::vector<Session>& gates, const Look& look) {
  std::vector<MeasuredRow> rows;
  std::vector<double> p;
  for (const Session& session : gates) {
    rows.push_back(measure(first_blocks(session, look.blocks)));
    p.push_back(*rows.back().comparison.p_value);
  }
  const std::vector<double> adjusted = holm(p);
  Results results;
  Gate gate;
  gate.metric = "peak_rss_bytes";
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].comparison.gate = true;
    rows[i].comparison.p_adjusted = adjusted[i];
    decide(rows[i], look.alpha, kGates);
    results.gates.push_back(evaluate_gate(gate, rows[i], nullptr, look.alpha));
    results.comparisons.push_back(rows[i].comparison);
  }
  return results;
}

Ended run_adaptively(const std::vector<Session>& gates, const LookPlan& plan) {
  for (const Look& look : plan) {
    const Results results = look_at(gates, look);
    if (!settled(results) && look.blocks < plan.back().blocks) continue;
    Ended ended{look.blocks, false, false, true};
    for (const Comparison& row : results.comparisons) {
      ended.improved = ended.improved || row.verdict == Verdict::improved;
      ended.regressed = ended.regressed || row.verdict == Verdict::regressed;
      ended.all_found = ended.all_found && row.verdict == Verdict::regressed;
    }
    return ended;
  }
  return {};
}

struct Summary {
  double wrong = 0;
  double found = 0;
  double blocks = 0;
};

Summary simulate(Shape shape, double change, const LookPlan& plan, const BenchOptions& options,
                 Random& random) {
  int wrong = 0;
  int found = 0;
  long blocks = 0;
  for (int i = 0; i < options.repetitions; ++i) {
    std::vector<Session> gates;
    for (int g = 0; g < kGates; ++g)
      gates.push_back(make_session(shape, kMostBlocks, change, random));
    const Ended ended = run_adaptively(gates, plan);
    wrong += static_cast<int>(ended.improved || (change == 0 && ended.regressed));
    found += static_cast<int>(ended.all_found);
    blocks += ended.blocks;
  }
  const double n = options.repetitions;
  return {wrong / n, found / n, static_cast<double>(blocks) / n};
}

}  // namespace

void adaptive(Report& report, const BenchOptions& options) {
  report.heading("Adaptive looks at 8, 12 and 16 blocks, two gates");
  report.columns({"noise", "runs with a false verdict", "blocks, identical arms",
                  "+5 % found in both", "blocks, +5 %", "fewer trials than 16 blocks"});
  const LookPlan plan = check_looks(adaptive_looks(), kGates).looks;
  Random random(options.seed + 2);
  double all_wrong = 0;
  for (const Shape shape : kShapes) {
    const Summary null = simulate(shape, 0, plan, options, random);
    const Summary effect = simulate(shape, 0.05, plan, options, random);
    all_wrong += null.wrong / kShapes.size();
    const double saved = 1 - effect.blocks / kMostBlocks;
    // 5 % is clear where one standard deviation is 1 %.
    const bool clear = shape == Shape::normal || shape == Shape::skewed;
    report.row({shape_name(shape), percent(null.wrong), fmt::format("{:.1f}", null.blocks),
                percent(effect.found), fmt::format("{:.1f}", effect.blocks),
                report.judged(percent(saved), !clear || saved >= 0.20)});
  }
  report.row({"pooled", report.judged(percent(all_wrong), all_wrong <= 0.05), "", "", "", ""});
}

}  // namespace memduel::bench
