#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/terminal.h"
#include "stats/growth.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr const char* kWarnColor = "\033[33m";
constexpr const char* kCriticalColor = "\033[31m";

std::string bytes_text(std::optional<std::int64_t> bytes) {
  return bytes ? format_bytes(static_cast<double>(*bytes)) : "-";
}

std::string signed_bytes(double bytes) {
  return (bytes < 0 ? "-" : "+") + format_bytes(std::abs(bytes));
}

std::string share_text(const WatchSnapshot::Limit& limit) {
  return fmt::format("{:.0f}%", 100 * limit.used_bytes / limit.bytes);
}

/// "1.00 MiB per round, 3.10 MiB per minute"; empty when there is no slope yet.
std::string slopes_text(const GrowthNow& now) {
  std::string text;
  if (now.bytes_per_round) text = signed_bytes(*now.bytes_per_round) + " per round";
  if (now.bytes_per_minute)
    text += (text.empty() ? "" : ", ") + signed_bytes(*now.bytes_per_minute) + " per minute";
  return text;
}

/// "2800 rounds, 15 h 10 min"; empty when nothing leads to the limit.
std::string left_text(const GrowthNow& now) {
  constexpr double kSecondsPerMinute = 60;
  std::string text;
  if (now.rounds_left) text = format_estimated_count(*now.rounds_left, "round");
  if (now.minutes_left)
    text += (text.empty() ? "" : ", ") + format_seconds(*now.minutes_left * kSecondsPerMinute);
  return text;
}

bool by_round_grows(const GrowthNow& now) {
  return now.bytes_per_round && *now.bytes_per_round > 0;
}

std::string rounds_text(const WatchSnapshot& snapshot) {
  if (snapshot.rounds_ended == 0 && !snapshot.running_round) return "no rounds";
  std::string ended = format_count(snapshot.rounds_ended, "round") + " ended";
  if (!snapshot.running_round) return ended;
  return fmt::format("round {}, {}", *snapshot.running_round, ended);
}

std::string course(const Series& rss, std::size_t width) {
  if (rss.values.empty()) return {};
  const std::vector<double> values(rss.values.begin(), rss.values.end());
  const std::vector<double> shown = thinned(values, width);
  const auto [low, high] = std::ranges::minmax_element(shown);
  return sparkline(shown, *low, *high);
}

std::string range_text(const Series& rss) {
  if (rss.values.empty()) return {};
  const auto [low, high] = std::ranges::minmax_element(rss.values);
  return format_interval(bytes_text(*low), bytes_text(*high));
}

const char* limit_color(const WatchSnapshot::Limit& limit) {
  const double share = limit.used_bytes / limit.bytes;
  if (share >= limit.critical_ratio) return kCriticalColor;
  return share >= limit.warn_ratio ? kWarnColor : "";
}

std::string limit_text(const WatchSnapshot& snapshot, const GrowthNow& now) {
  const auto& limit = *snapshot.limit;
  const std::string left = left_text(now);
  return fmt::format("limit {} ({}): {} used{}", format_bytes(limit.bytes), limit.of,
                     share_text(limit), left.empty() ? "" : ", met in " + left);
}

/// PSS of the start says nothing of a peak that came later.
bool pss_was_read_near_the_peak(const WatchSnapshot& snapshot) {
  constexpr double kNear = 0.95;
  return snapshot.peak_pss_bytes && snapshot.rss_at_peak_pss_bytes &&
         static_cast<double>(*snapshot.rss_at_peak_pss_bytes) >=
             kNear * static_cast<double>(snapshot.peak_rss_bytes.value_or(0));
}

}  // namespace

std::vector<std::string> watch_screen(const WatchSnapshot& snapshot,
                                      const TerminalOptions& options) {
  const auto width = static_cast<std::size_t>(options.width);
  const auto fit = [width](const std::string& text) {
    return count_characters(text) > width ? padded(text, width, false) : text;
  };
  const GrowthNow now = growth_now(snapshot);
  const std::string tail = fmt::format(" · {} · {}", format_seconds(snapshot.elapsed_seconds),
                                       format_count(snapshot.processes, "process", "processes"));
  const std::string what = escape_terminal(snapshot.what);
  const std::size_t room = width - std::min(width - 1, count_characters(tail));
  std::vector<std::string> lines;
  lines.push_back(painted((count_characters(what) > room ? padded(what, room, false) : what) + tail,
                          "\033[1m", options));
  lines.push_back(fit(fmt::format("RSS {}, peak {}", bytes_text(snapshot.rss_bytes),
                                  bytes_text(snapshot.peak_rss_bytes))));
  // RSS is of now, PSS of its last reading: two lines.
  if (snapshot.pss_bytes)
    lines.push_back(fit(fmt::format("PSS {} ({} ago)", bytes_text(snapshot.pss_bytes),
                                    format_seconds(std::floor(snapshot.pss_age_seconds)))));
  constexpr std::size_t kRange = 24;
  if (!snapshot.rss.values.empty())
    lines.push_back(fit(course(snapshot.rss, width - std::min(width / 2, kRange)) + " " +
                        range_text(snapshot.rss)));
  const std::string slopes = slopes_text(now);
  lines.push_back(fit(rounds_text(snapshot) + (slopes.empty() ? "" : ": " + slopes)));
  if (snapshot.limit)
    lines.push_back(painted(fit(limit_text(snapshot, now)), limit_color(*snapshot.limit), options));
  return lines;
}

std::string watch_line(const WatchSnapshot& snapshot) {
  const GrowthNow now = growth_now(snapshot);
  std::string line = fmt::format("{}  rss {}", format_seconds(snapshot.elapsed_seconds),
                                 bytes_text(snapshot.rss_bytes));
  // RSS is of now; what was read long ago is not put beside it.
  constexpr double kRecent = 1;
  if (snapshot.pss_bytes && snapshot.pss_age_seconds < kRecent)
    line += "  pss " + bytes_text(snapshot.pss_bytes);
  if (snapshot.running_round) line += fmt::format("  round {}", *snapshot.running_round);
  if (now.bytes_per_round) {
    line += fmt::format("  {}/round", signed_bytes(*now.bytes_per_round));
  } else if (now.bytes_per_minute) {
    line += fmt::format("  {}/min", signed_bytes(*now.bytes_per_minute));
  }
  if (snapshot.limit) line += fmt::format("  limit {}", share_text(*snapshot.limit));
  return line;
}

std::string watch_summary(const WatchSnapshot& snapshot, int width) {
  const GrowthNow now = growth_now(snapshot);
  const auto needed = static_cast<std::size_t>(rounds_to_judge_growth(0));
  std::string text =
      fmt::format("watched {} for {}, {}: RSS at most {}", escape_terminal(snapshot.what),
                  format_seconds(snapshot.elapsed_seconds),
                  format_count(static_cast<std::size_t>(snapshot.samples), "sample"),
                  bytes_text(snapshot.peak_rss_bytes));
  text += fmt::format("; {}.", rounds_text(snapshot));
  if (pss_was_read_near_the_peak(snapshot))
    text += fmt::format(" PSS was at most {}.", bytes_text(snapshot.peak_pss_bytes));
  const std::string slopes = slopes_text(now);
  if (slopes.empty()) return wrapped(text, 2, width);
  text += fmt::format(" Growth after warm-up {}", slopes);
  const std::string left = left_text(now);
  if (!left.empty())
    text += fmt::format("; at that rate the {} of {} are met in {}",
                        format_bytes(snapshot.limit->bytes), snapshot.limit->of, left);
  else if (!now.keeps_rising && by_round_grows(now))
    text +=
        fmt::format("; whether it goes on is not seen{}",
                    snapshot.round_ends.size() < needed ? fmt::format(" before {} rounds", needed)
                                                        : std::string());
  return wrapped(text + ". One run has a slope but no verdict.", 2, width);
}

}  // namespace memduel
