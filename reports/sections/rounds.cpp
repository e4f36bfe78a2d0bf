// Memory over time: a chart in the page, one line of bars a variant elsewhere.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "model/metric_catalogue.h"
#include "reports/terminal.h"
#include "sections/cells.h"
#include "sections/peak_places.h"
#include "sections/sections.h"
#include "stats/estimates.h"
#include "util/text.h"
#include "verdict/questions.h"
#include "words.h"

namespace memduel {
namespace {

/// As they were measured: those with rounds, and those that `also` takes.
template <class Also>
std::vector<std::string> roles_of(const Results& results, Also also) {
  std::vector<std::string> roles;
  for (const TrialData& trial : results.trials)
    for (const RoleData& role : trial.roles)
      if ((!role.rounds.empty() || also(role.role)) &&
          std::ranges::find(roles, role.role) == roles.end())
        roles.push_back(role.role);
  return roles;
}

std::vector<std::string> roles_with_rounds(const Results& results) {
  return roles_of(results, [](const std::string&) { return false; });
}

struct Course {
  std::string variant;
  std::vector<double> peaks;
  bool operator==(const Course&) const = default;
};

std::vector<Course> courses_of(const Results& results, const std::string& role) {
  std::vector<Course> courses;
  for (const ArmSummary* arm : judged_arms(results))
    if (std::vector<double> peaks = round_peaks(results, arm->name, role); !peaks.empty())
      courses.push_back({arm->name, std::move(peaks)});
  return courses;
}

Table bars_by_round(const Results& results) {
  constexpr std::size_t kMostBars = 30;
  Table table;
  table.caption = "Peak RSS by round, median of the trials";
  table.columns = {{"role"}, {"variant"}, {"rounds"}, {"lowest", true}, {"highest", true}};
  std::vector<std::vector<Course>> shown;  // a job of one process has its curves
  for (const std::string& role : roles_with_rounds(results)) {
    const std::vector<Course> courses = courses_of(results, role);
    if (role == kTree && std::ranges::find(shown, courses) != shown.end()) continue;
    shown.push_back(courses);
    double low = 0;
    double high = 0;
    for (const Course& course : courses) {
      const auto [least, most] = std::ranges::minmax(course.peaks);
      low = &course == &courses.front() ? least : std::min(low, least);
      high = std::max(high, most);
    }
    for (const Course& course : courses) {
      if (course.peaks.size() < 2) continue;
      const auto [least, most] = std::ranges::minmax(course.peaks);
      Row row;
      row.cells = {Cell(role_words(results.job, role)), Cell(course.variant),
                   Cell(sparkline(thinned(course.peaks, kMostBars), low, high)),
                   bytes_cell(least, course.variant), bytes_cell(most, course.variant)};
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

/// Over the measured trials of all variants.
double median_peak(const Results& results, const std::string& role) {
  std::vector<double> peaks;
  for (const TrialData& trial : results.trials)
    if (const auto peak = trial.value(role, kPeakRss); peak && trial.counts())
      peaks.push_back(*peak);
  return peaks.empty() ? 0 : median(std::move(peaks));
}

/// The members of a group that the chart has: the largest, the one in the middle, then the others
/// by size.
std::vector<ChartRole> members_of(const Results& results, const RoleGroup& group,
                                  const std::vector<std::string>& roles) {
  std::vector<std::pair<double, std::string>> members;
  for (int i = 1; i <= group.count; ++i)
    if (std::string name = fmt::format("{}-{}", group.name, i);
        std::ranges::find(roles, name) != roles.end())
      members.emplace_back(median_peak(results, name), name);
  std::ranges::stable_sort(members, std::greater(), [](const auto& one) { return one.first; });
  std::vector<ChartRole> shown;
  for (const auto& [peak, name] : members) shown.push_back({name, name, ""});
  if (shown.size() < 2) return shown;
  shown.front().label += ", the largest " + group.name;
  if (shown.size() == 2) return shown;
  const auto middle = shown.begin() + static_cast<std::ptrdiff_t>(shown.size() / 2);
  middle->label += ", the median " + group.name;
  std::rotate(shown.begin() + 1, middle, middle + 1);
  return shown;
}

/// Members of groups are behind all other roles.
std::vector<ChartRole> chart_roles(const ReportModel& model) {
  const Results& results = model.results;
  const std::vector<std::string> roles = roles_of(results, [&](const std::string& role) {
    return std::ranges::find(model.timelines, role, &RoleTimeline::role) != model.timelines.end();
  });
  std::vector<ChartRole> shown;
  for (const std::string& role : roles)
    if (!is_member(results.job, role)) shown.push_back({role, role_words(results.job, role), ""});
  for (const RoleGroup& group : results.job.groups)
    std::ranges::move(members_of(results, group, roles), std::back_inserter(shown));
  for (ChartRole& one : shown) one.peaks = peak_places(results, one.role);
  return shown;
}

}  // namespace

Section rounds_section(const ReportModel& model) {
  Section section{"rounds", "Memory over time", {}};
  if (Table table = bars_by_round(model.results); !table.rows.empty())
    section.add(std::move(table), Medium::text);
  if (RoundsChart chart{chart_roles(model)}; !chart.roles.empty())
    section
        .add(Paragraph{Text(
                 "The curves are medians of sampled values at each moment, so they stay below the "
                 "peaks in the first table.",
                 Tone::muted)},
             Medium::page)
        .add(std::move(chart), Medium::page);
  return section;
}

}  // namespace memduel
