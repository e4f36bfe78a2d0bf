#include <fmt/format.h>

#include "duel.h"
#include "sections.h"
#include "stats/hypothesis_tests.h"
#include "verdict/analyse.h"
#include "verdict/gates.h"

namespace memduel::bench {
namespace {

struct Ended {
  int blocks = 0;
  bool any_false = false;  ///< any gate row improved, or regressed without a change
  bool all_found = false;  ///< every gate row regressed
};

Results look_at(const std::vector<RowValues>& gates, const Look& look) {
  std::vector<MeasuredRow> rows;
  std::vector<SwappedTest> tests;
  for (const RowValues& session : gates) {
    rows.push_back(measure(first_blocks(session, look.blocks)));
    rows.back().question.gate = true;
    tests.push_back({rows.back().test->swaps()->ranks_at(0), *rows.back().p_value});
  }
  const std::vector<double> adjusted = westfall_young(rows.front().test->swaps()->values(), tests);
  Results results;
  Gate gate;
  gate.metric = "peak_rss_bytes";
  for (size_t i = 0; i < rows.size(); ++i) {
    const DecidedRow row =
        decide(std::move(rows[i]), {look.alpha, static_cast<int>(gates.size()), adjusted[i]});
    results.gates.push_back(evaluate_gate(gate, subject_of(row), {.alpha = look.alpha}));
    results.comparisons.push_back(row.comparison);
  }
  return results;
}

Ended run_adaptively(const std::vector<RowValues>& gates, const LookPlan& plan, bool changed) {
  for (const Look& look : plan) {
    const Results results = look_at(gates, look);
    if (!settled(results) && look.blocks < plan.back().blocks) continue;
    Ended ended{look.blocks, false, true};
    for (const Comparison& row : results.comparisons) {
      const bool regressed = row.verdict == Verdict::regressed;
      ended.any_false =
          ended.any_false || row.verdict == Verdict::improved || (regressed && !changed);
      ended.all_found = ended.all_found && regressed;
    }
    return ended;
  }
  return {};
}

}  // namespace

void adaptive(Report& report, const BenchOptions& options) {
  report.heading("Adaptive looks at 6, 10 and 16 blocks");
  report.columns({"noise", "gates", "runs with a false verdict", "blocks, identical arms",
                  "+5% found in all", "blocks, +5%", "fewer trials than 16 blocks"});
  std::uint64_t seed = options.seed + 900;
  for (const Shape& shape : shapes()) {
    for (const int gates : {1, 2, 3}) {
      const LookPlan plan = adaptive_looks(1);
      const auto counts =
          repeated(options.repetitions, ++seed, 4, [&](Random& random, std::vector<int>& count) {
            const auto run = [&](double change) {
              const std::uint64_t order = random.next();
              std::vector<RowValues> rows;
              for (int g = 0; g < gates; ++g)
                rows.push_back(make_session(shape.make, kMostBlocks, change, random, order));
              return run_adaptively(rows, plan, change != 0);
            };
            const Ended same = run(0);
            const Ended changed = run(0.05);
            count[0] += static_cast<int>(same.any_false);
            count[1] += same.blocks;
            count[2] += static_cast<int>(changed.all_found);
            count[3] += changed.blocks;
          });
      const double blocks = counts[3].share();
      const double saved = 1 - blocks / kMostBlocks;
      // 5% is clear where one standard deviation is 1%.
      const bool clear = shape.name.starts_with("normal") || shape.name.starts_with("skewed");
      report.row({shape.name, std::to_string(gates),
                  report.judged(percent(counts[0].share()), counts[0].at_most(0.05)),
                  fmt::format("{:.1f}", counts[1].share()), percent(counts[2].share()),
                  fmt::format("{:.1f}", blocks),
                  report.judged(percent(saved), !clear || saved >= 0.20)});
    }
  }
}

}  // namespace memduel::bench
