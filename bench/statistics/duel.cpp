#include "bench/statistics/duel.h"

#include <boost/math/distributions/binomial.hpp>
#include <thread>

#include "analysis/verdicts/verdict.h"

namespace memduel::bench {

MeasuredRow measure(RowValues session, std::optional<double> noise_floor) {
  return measure_row(metric_info("peak_rss_bytes"), std::move(session), Design::restricted,
                     noise_floor);
}

MeasuredRow judge(RowValues session, std::optional<double> noise_floor) {
  MeasuredRow row = measure(std::move(session), noise_floor);
  row.comparison.p_adjusted = row.comparison.p_value;
  decide(row, 0.05, 1);
  return row;
}

bool flagged(const MeasuredRow& row) {
  return row.comparison.verdict == Verdict::improved ||
         row.comparison.verdict == Verdict::regressed;
}

bool Count::at_most(double limit) const {
  if (hits == 0) return true;
  return boost::math::binomial_distribution<>::find_lower_bound_on_p(of, hits, 0.001) <= limit;
}

std::vector<Count> repeated(int repetitions, std::uint64_t seed, std::size_t counters,
                            const std::function<void(Random&, std::vector<int>&)>& once) {
  constexpr int kParts = 64;
  std::vector<std::vector<int>> counts(kParts, std::vector<int>(counters, 0));
  const auto work = [&](int first, int step) {
    for (int part = first; part < kParts; part += step) {
      Random random(seed * 1000 + static_cast<std::uint64_t>(part));
      const int from = static_cast<int>(static_cast<long>(repetitions) * part / kParts);
      const int to = static_cast<int>(static_cast<long>(repetitions) * (part + 1) / kParts);
      for (int i = from; i < to; ++i) once(random, counts[static_cast<std::size_t>(part)]);
    }
  };
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  {
    std::vector<std::jthread> threads;
    for (int core = 0; core < cores; ++core) threads.emplace_back(work, core, cores);
  }
  std::vector<Count> sums(counters, Count{0, repetitions});
  for (const auto& part : counts)
    for (std::size_t i = 0; i < counters; ++i) sums[i].hits += part[i];
  return sums;
}

}  // namespace memduel::bench
