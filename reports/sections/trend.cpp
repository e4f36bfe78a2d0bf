// How the first metric depends on a parameter that the names of several variants state.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/metric_catalogue.h"
#include "sections/result_rows.h"
#include "sections/sections.h"
#include "words.h"

namespace memduel {
namespace {

/// The number at the end of a name: 16 of "n-16".
std::optional<double> number_of(const std::string& name, std::string& stem) {
  const std::size_t at = name.find_last_not_of("0123456789.");
  if (at == std::string::npos || at + 1 == name.size()) return std::nullopt;
  double number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + at + 1, end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  stem = name.substr(0, at + 1);
  while (!stem.empty() && (stem.back() == '-' || stem.back() == '=' || stem.back() == '_'))
    stem.pop_back();
  return number;
}

using Points = std::vector<std::pair<double, double>>;  ///< parameter and median

/// What each step of the parameter by 1 adds; absent if that differs by more than a tenth between
/// the first two points, the next two, and so on.
std::optional<double> slope_of(const Points& points) {
  constexpr double kStraight = 0.1;
  const double slope =
      (points.back().second - points.front().second) / (points.back().first - points.front().first);
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double step =
        (points[i].second - points[i - 1].second) / (points[i].first - points[i - 1].first);
    if (!std::isfinite(step) || std::abs(step - slope) > kStraight * std::abs(slope))
      return std::nullopt;
  }
  return slope;
}

/// In increasing order of the parameter; empty if the names do not state one.
Points points_of(const ResultRows& shown, const ResultRow& row, std::string& parameter) {
  Points points;
  for (const ArmSummary* variant : shown.variants) {
    std::string stem;
    const auto number = number_of(variant->name, stem);
    if (!number || (!points.empty() && stem != parameter)) return {};
    parameter = stem;
    std::optional<double> median;
    for (const Comparison* one : row.comparisons) {
      if (one == nullptr) continue;
      if (one->baseline == variant->name) median = one->baseline_median;
      if (one->candidate == variant->name) median = one->candidate_median;
    }
    if (!median) return {};
    points.emplace_back(*number, *median);
  }
  std::ranges::sort(points);
  return points;
}

}  // namespace

Section trend_section(const ReportModel& model) {
  constexpr std::size_t kLeast = 3;
  Section section{"trend", "Trend", {}};
  const ResultRows shown = result_rows(model);
  if (shown.variants.size() < kLeast || shown.rows.empty()) return section;
  const ResultRow& row = shown.rows.front();
  std::string parameter;
  const Points points = points_of(shown, row, parameter);
  if (points.empty()) return section;
  const auto median = &Points::value_type::second;
  const bool is_rising = std::ranges::is_sorted(points, {}, median);
  if (!is_rising && !std::ranges::is_sorted(points, std::greater(), median)) return section;
  const auto& [least, at_least] = points.front();
  const auto& [most, at_most] = points.back();
  const std::optional<double> slope = slope_of(points);
  const std::string rate =
      slope && at_least != at_most
          ? fmt::format(", {} for each additional unit", value_text(row.metric, std::abs(*slope)))
          : "";
  return section.add(Paragraph{
      fmt::format("{} {} with {}: {} at {}, {} at {}{}.", metric_info(row.metric).display,
                  is_rising ? "rises" : "falls", parameter, value_text(row.metric, at_least), least,
                  value_text(row.metric, at_most), most, rate)});
}

}  // namespace memduel
