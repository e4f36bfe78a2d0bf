#include "progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/metric_catalogue.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

constexpr double kMinute = 60;
constexpr double kHour = 60 * kMinute;
/// A log does not need more, and a run that is shorter needs no line.
constexpr std::chrono::seconds kBetweenLines{5};

std::string left_text(double seconds) {
  if (seconds < 1) return "under 1 s left";
  if (seconds < kMinute) return fmt::format("{:.0f} s left", std::ceil(seconds));
  const auto minutes = static_cast<int>(std::ceil(seconds / kMinute));
  if (seconds < kHour) return fmt::format("{} min left", minutes);
  return fmt::format("{} h {:02} min left", minutes / 60, minutes % 60);
}

std::string left_of(const Progress& progress, const ProgressFacts& facts) {
  return progress.remaining_seconds ? left_text(*progress.remaining_seconds + facts.seconds_after)
                                    : "";
}

/// Of an effect on the row's scale: "−41%", "2.5×", "+12.0 KiB/round".
std::string change_text(const RowScale& scale, double effect) {
  const char* sign = effect < 0 ? "−" : effect > 0 ? "+" : "";
  if (scale.kind == Scale::difference) return sign + format_metric(scale.metric, std::abs(effect));
  const double ratio = std::exp(effect);
  if (ratio >= kTimes) return format_multiple(ratio) + "×";
  return sign + format_percent(std::abs(std::expm1(effect)));
}

struct EstimateText {
  std::string estimate;  ///< "b vs. a so far: peak RSS −41%"; empty: there is none yet
  std::string interval;  ///< "−44% to −38%"; empty where all blocks are the same
};

/// Of the first candidate; of the others the estimates alone.
EstimateText estimate_of(const Progress& progress, const ProgressFacts& facts) {
  EstimateText text;
  if (progress.changes.empty()) return text;
  const ChangeSoFar& first = progress.changes.front();
  const std::string_view display = metric_info(first.row.metric).display;
  const bool names_role = facts.names_role && first.row.role != "*";
  text.estimate = fmt::format("{} vs. {} so far: {}{} {}", first.candidate, first.baseline,
                              !names_role               ? ""
                              : first.row.role == kTree ? "all processes "
                                                        : first.row.role + " ",
                              display.empty() ? first.row.metric : display,
                              change_text(first.scale, first.effect));
  if (first.interval.low < first.interval.high)
    text.interval = format_interval(change_text(first.scale, first.interval.low),
                                    change_text(first.scale, first.interval.high));
  return text;
}

std::string others_of(const Progress& progress) {
  std::string text;
  for (std::size_t i = 1; i < progress.changes.size(); ++i) {
    const ChangeSoFar& other = progress.changes[i];
    text += fmt::format(", {} {}", other.candidate, change_text(other.scale, other.effect));
  }
  return text;
}

std::string count_of(const Progress& progress, const ProgressFacts& facts) {
  // A total is an estimate: failed gates ask for trials that were not planned.
  const int number = progress.done + 1;
  return fmt::format("{}trial {} of {}", facts.label, number, std::max(number, progress.total));
}

std::string phase_of(const Progress& progress) {
  if (progress.block == 0) return "warm-up";
  if (progress.block == kProfileBlock) return "profiled by " + progress.tracer;
  return "";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : "  ") + part;
  return text;
}

}  // namespace

std::string live_line(const Progress& progress, const ProgressFacts& facts, std::size_t width) {
  const std::string count = count_of(progress, facts);
  const std::string phase = phase_of(progress);
  const std::string variant = progress.arm + (phase.empty() ? "" : ", " + phase);
  const std::string left = left_of(progress, facts);
  const auto [estimate, interval] = estimate_of(progress, facts);
  std::vector<std::string> forms;
  if (!estimate.empty()) {
    const std::string others = others_of(progress);
    if (!interval.empty()) {
      const std::string with_level = fmt::format("{} (95% CI {})", estimate, interval);
      forms = {joined({count, variant, left, with_level + others}),
               joined({count, variant, left, with_level}), joined({count, left, with_level}),
               joined({count, left, fmt::format("{} ({})", estimate, interval)})};
    }
    forms.push_back(joined({count, variant, left, estimate + others}));
    forms.push_back(joined({count, left, estimate}));
  } else if (progress.disk_bytes) {
    forms.push_back(joined({count, variant, left,
                            fmt::format("up to {} of disk", format_bytes(*progress.disk_bytes))}));
  }
  forms.push_back(joined({count, variant, left}));
  const auto fits = std::ranges::find_if(
      forms, [&](const std::string& form) { return count_characters(form) <= width; });
  return fits == forms.end() ? forms.back() : *fits;
}

std::string block_line(const Progress& progress, const ProgressFacts& facts) {
  std::string text = count_of(progress, facts);
  const std::string phase = phase_of(progress);
  if (!phase.empty()) text += ", " + phase;
  if (const std::string left = left_of(progress, facts); !left.empty()) text += ", " + left;
  const auto [estimate, interval] = estimate_of(progress, facts);
  if (estimate.empty()) {
    if (progress.disk_bytes)
      text += fmt::format(", up to {} of disk", format_bytes(*progress.disk_bytes));
    return text;
  }
  text += "; " + estimate;
  if (!interval.empty()) text += fmt::format(" (95% CI {})", interval);
  return text + others_of(progress);
}

void RunProgress::show(const Progress& progress) {
  if (progress.arm.empty()) return line_.finish();
  if (line_.is_live()) return line_.show(live_line(progress, facts_, ProgressLine::width()));
  const Clock::time_point now = clock_();
  if (now - shown_at_ < kBetweenLines || !is_next_block(progress.block, shown_block_)) return;
  shown_at_ = now;
  shown_block_ = progress.block;
  line_.show(block_line(progress, facts_));
}

}  // namespace memduel::cli
