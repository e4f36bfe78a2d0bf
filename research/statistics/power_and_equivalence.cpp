#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "duel.h"
#include "sections.h"
#include "stats/estimates.h"
#include "verdict/comparison.h"

namespace memduel::bench {
namespace {

double power_target(const Shape& shape, int blocks) {
  return blocks == 12 && shape.name.starts_with("normal") ? 0.99 : 0;
}

void power(Report& report, const BenchOptions& options) {
  report.heading("A true change of 5%");
  report.columns({"noise", "blocks", "+5% called regressed", "-5% called improved",
                  "called the wrong direction"});
  std::uint64_t seed = options.seed + 300;
  for (const Shape& shape : shapes()) {
    for (const int blocks : {5, 6, 8, 12, 16}) {
      const auto counts =
          repeated(options.repetitions, ++seed, 3, [&](Random& random, std::vector<int>& count) {
            const DecidedRow up = judge(make_session(shape.make, blocks, 0.05, random));
            const DecidedRow down = judge(make_session(shape.make, blocks, 1 / 1.05 - 1, random));
            count[0] += static_cast<int>(up.comparison.verdict == Verdict::regressed);
            count[1] += static_cast<int>(down.comparison.verdict == Verdict::improved);
            count[2] += static_cast<int>(up.comparison.verdict == Verdict::improved);
          });
      const double target = power_target(shape, blocks);
      report.row({shape.name, std::to_string(blocks),
                  report.judged(percent(counts[0].share()), counts[0].share() >= target),
                  report.judged(percent(counts[1].share()), counts[1].share() >= target),
                  report.judged(percent(counts[2].share()), counts[2].at_most(0.05))});
    }
  }
}

void equivalence(Report& report, const BenchOptions& options) {
  report.heading("Truth just beyond the margin of 1%");
  report.columns({"noise", "blocks", "+1% called unchanged", "-1% called unchanged"});
  const double beyond = 0.010001;
  std::uint64_t seed = options.seed + 400;
  for (const Shape& shape : shapes()) {
    for (const int blocks : {5, 6, 8, 12, 16}) {
      const auto counts =
          repeated(options.repetitions, ++seed, 2, [&](Random& random, std::vector<int>& count) {
            const auto unchanged = [&](double change) {
              return judge(make_session(shape.make, blocks, change, random)).comparison.verdict ==
                     Verdict::unchanged;
            };
            count[0] += static_cast<int>(unchanged(beyond));
            count[1] += static_cast<int>(unchanged(1 / (1 + beyond) - 1));
          });
      report.row({shape.name, std::to_string(blocks),
                  report.judged(percent(counts[0].share()), counts[0].at_most(0.05)),
                  report.judged(percent(counts[1].share()), counts[1].at_most(0.05))});
    }
  }
}

}  // namespace

void power_and_equivalence(Report& report, const BenchOptions& options) {
  power(report, options);
  equivalence(report, options);
}

// The smallest detectable change that a row states, held to what it promises: 80 of 100.

namespace {

constexpr int kStatements =
    200;  ///< rows whose statement is read; their median is then put to the test

double typical_statement(const MakeNoise& noise, int blocks, unsigned long seed) {
  Random random(seed);
  std::vector<double> stated;
  for (int i = 0; i < kStatements; ++i) {
    MeasuredRow row = measure(make_session(noise, blocks, 0, random));
    const RowLevel level{0.05, 1, row.p_value};
    const auto found =
        decide(std::move(row), level, {}, PowerQuestion{1, random.next()}).comparison;
    if (found.minimum_detectable) stated.push_back(*found.minimum_detectable);
  }
  return median(std::move(stated));
}

}  // namespace

void minimum_detectable(Report& report, const BenchOptions& options) {
  report.heading("The smallest detectable change that is stated");
  report.columns({"noise", "blocks", "stated", "a change of that size is called"});
  std::uint64_t seed = options.seed + 700;
  for (const double share : {0.002, 0.003, 0.01, 0.05}) {
    const MakeNoise noise = [share](Random&) {
      return [share](const TrialPlace&, Random& random) {
        return kBaseBytes * (1 + share * random.normal());
      };
    };
    for (const int blocks : {6, 8, 16}) {
      const double stated = typical_statement(noise, blocks, ++seed);
      const auto counts =
          repeated(options.repetitions, ++seed, 1, [&](Random& random, std::vector<int>& count) {
            const DecidedRow row = judge(make_session(noise, blocks, stated, random));
            count[0] += static_cast<int>(row.comparison.verdict == Verdict::regressed);
          });
      const double found = counts[0].share();
      report.row({fmt::format("normal, {:g}%", 100 * share), std::to_string(blocks),
                  fmt::format("{:.2f}%", 100 * stated),
                  report.judged(percent(found), found >= 0.75 && found <= 0.85)});
    }
  }
}

}  // namespace memduel::bench
