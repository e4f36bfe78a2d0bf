#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/estimates.h"
#include "stats/hypothesis_tests.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

constexpr std::int64_t kLeast = std::int64_t{1} << 20;
constexpr int kMostDoublings = 4;
constexpr int kRunsToBeSure = 10;  // that it is slower
constexpr double kChance = 0.01;   // of each limit that is tried to look slower

std::int64_t whole_pages(double bytes) {
  return static_cast<std::int64_t>(std::ceil(bytes / kPageBytes)) * std::int64_t{kPageBytes};
}

std::string slower(double share) {
  return fmt::format("{:.0f}% slower", 100 * share);
}

std::string reason_of(const LimitedRun& failed) {
  return failed.why.empty() ? "failed" : failed.why;
}

class Search {
 public:
  Search(const std::vector<double>& unlimited, const NeedOptions& options, const RunUnderLimit& run)
      : unlimited_(unlimited), options_(options), run_(run) {}

  Need from(std::int64_t start) {
    find_what_holds(start);
    find_what_does_not();
    divide();
    confirm();
    return std::move(need_);
  }

 private:
  void find_what_holds(std::int64_t start) {
    std::int64_t limit = std::max(start, kLeast);
    most_ = limit << kMostDoublings;
    for (; !holds(limit); limit *= 2) refuse_beyond(2 * limit);
    need_.bytes = limit;
  }

  void refuse_beyond(std::int64_t limit) const {
    if (limit <= most_) return;
    throw Error(ExitCode::cannot_measure,
                fmt::format("no memory limit up to {} is enough: {}",
                            format_bytes(static_cast<double>(most_)), need_.why),
                "",
                "check whether it also fails without a limit, or whether its time varies by more "
                "than allowed");
  }

  void find_what_does_not() {
    while (need_.too_little == 0 && need_.bytes > kLeast) {
      const std::int64_t limit =
          std::max(kLeast, whole_pages(static_cast<double>(need_.bytes) / 2));
      if (holds(limit)) need_.bytes = limit;
    }
  }

  [[nodiscard]] bool is_precise() const {
    return static_cast<double>(need_.bytes) <=
           static_cast<double>(need_.too_little) * (1 + options_.precision);
  }

  void divide() {
    while (need_.too_little > 0 && !is_precise()) {
      const double middle = std::sqrt(static_cast<double>(need_.bytes)) *
                            std::sqrt(static_cast<double>(need_.too_little));
      const std::int64_t limit = whole_pages(middle);
      if (limit >= need_.bytes || limit <= need_.too_little) return;
      if (holds(limit)) need_.bytes = limit;
    }
  }

  /// Raises the limit until it holds for as many runs as are asked for.
  void confirm() {
    for (;;) {
      std::vector<double> seconds;
      std::string why;
      need_.failed = 0;
      for (need_.runs = 0; need_.runs < options_.confirmations; ++need_.runs) {
        const LimitedRun one = run_(need_.bytes);
        seconds.push_back(one.seconds);
        if (!one.failed) continue;
        need_.failed = 1;
        why = fmt::format("{} during confirmation", reason_of(one));
        break;
      }
      if (need_.failed == 0) {
        tell_slowdown(seconds);
        if (!is_too_slow(seconds)) break;
      }
      need_.too_little = need_.bytes;
      need_.why = need_.failed > 0 ? why : slower(need_.slowdown);
      need_.bytes = whole_pages(static_cast<double>(need_.bytes) * (1 + options_.precision));
      refuse_beyond(need_.bytes);
    }
    need_.failure_rate = clopper_pearson(need_.failed, need_.runs);
  }

  [[nodiscard]] double slowdown_of(const std::vector<double>& seconds) const {
    return hodges_lehmann_shift(unlimited_, seconds) / median(unlimited_);
  }

  [[nodiscard]] bool seems_slow(const std::vector<double>& seconds) const {
    return options_.may_slow_down && slowdown_of(seconds) > options_.most_slowdown;
  }

  [[nodiscard]] bool is_too_slow(const std::vector<double>& seconds) const {
    return seems_slow(seconds) && MannWhitney(unlimited_, seconds).interval(kChance).low > 0;
  }

  void tell_slowdown(const std::vector<double>& seconds) {
    const double base = median(unlimited_);
    need_.slowdown = slowdown_of(seconds);
    const Interval interval = MannWhitney(unlimited_, seconds).interval(kAlpha);
    need_.slowdown_interval = {interval.low / base, interval.high / base};
  }

  /// A limit that did not is kept with the reason.
  bool holds(std::int64_t limit) {
    std::vector<double> seconds;
    std::string why;
    const auto needs_more = [&] {
      const auto done = static_cast<int>(seconds.size());
      return done < options_.runs || (done < kRunsToBeSure && seems_slow(seconds));
    };
    while (why.empty() && needs_more()) {
      const LimitedRun one = run_(limit);
      if (one.failed) why = reason_of(one);
      seconds.push_back(one.seconds);
    }
    if (why.empty() && is_too_slow(seconds)) why = slower(slowdown_of(seconds));
    if (why.empty()) return true;
    need_.too_little = std::max(need_.too_little, limit);
    need_.why = why;
    return false;
  }

  const std::vector<double>& unlimited_;
  const NeedOptions& options_;
  const RunUnderLimit& run_;
  std::int64_t most_ = 0;  ///< nothing is tried beyond it
  Need need_;
};

}  // namespace

Need find_need(const std::vector<double>& unlimited, std::int64_t start, const NeedOptions& options,
               const RunUnderLimit& run) {
  return Search(unlimited, options, run).from(start);
}

}  // namespace memduel
