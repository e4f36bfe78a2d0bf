// Memory over time: a chart in the page, one line of bars a variant elsewhere.

#include <algorithm>

#include "model/metric_catalogue.h"
#include "reports/terminal.h"
#include "sections/cells.h"
#include "sections/sections.h"
#include "util/text.h"
#include "verdict/questions.h"
#include "words.h"

namespace memduel {
namespace {

std::vector<std::string> roles_with_rounds(const Results& results) {
  std::vector<std::string> roles;
  for (const TrialData& trial : results.trials)
    for (const RoleData& role : trial.roles)
      if (!role.rounds.empty() && std::ranges::find(roles, role.role) == roles.end())
        roles.push_back(role.role);
  return roles;
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

}  // namespace

Section rounds_section(const ReportModel& model) {
  Section section{"rounds", "Memory over time", {}};
  if (Table table = bars_by_round(model.results); !table.rows.empty())
    section.add(std::move(table), Medium::text);
  const bool any_rounds = !roles_with_rounds(model.results).empty();
  if (any_rounds || !model.timelines.empty()) section.add(RoundsChart{}, Medium::page);
  return section;
}

}  // namespace memduel
