#include "model/metric_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "model/metric_catalogue.h"
#include "util/text.h"

namespace memduel {
namespace {

/// Names of hyperfine 2.0.0 and of GNU time, and general words.
struct Word {
  std::string_view word;
  std::array<std::string_view, 2> meant;
};
constexpr std::array kWords = {
    Word{"memory_peak_resident", {"peak_rss", "peak_largest_process_rss"}},
    Word{"memory_peak_resident_all_processes", {"peak_rss", ""}},
    Word{"maxresident", {"peak_rss", "peak_largest_process_rss"}},
    Word{"max_rss", {"peak_rss", "peak_largest_process_rss"}},
    Word{"maxrss", {"peak_rss", "peak_largest_process_rss"}},
    Word{"memory", {"peak_rss", ""}},
    Word{"peak_memory", {"peak_rss", ""}},
    Word{"max_memory", {"peak_rss", ""}},
    Word{"mem", {"peak_rss", ""}},
    Word{"rss", {"peak_rss", ""}},
    Word{"pss", {"peak_pss", ""}},
    Word{"time_wall_clock", {"wall_time", ""}},
    Word{"wall_clock", {"wall_time", ""}},
    Word{"wall", {"wall_time", ""}},
    Word{"elapsed", {"wall_time", ""}},
    Word{"time", {"wall_time", ""}},
    Word{"time_cpu", {"cpu_time", ""}},
    Word{"time_user", {"cpu_time", ""}},
    Word{"time_system", {"cpu_time", ""}},
    Word{"cpu", {"cpu_time", ""}},
    Word{"allocations", {"allocation_count", ""}},
};

/// Whether one letter is missing, extra or wrong. More would take a program's own "eval_time" for
/// "real_time".
bool is_one_letter_off(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  const auto [in_a, in_b] = std::ranges::mismatch(a, b);
  const auto after = [](std::string_view text, auto at, std::ptrdiff_t letters) {
    return text.substr(static_cast<std::size_t>(at - text.begin() + letters));
  };
  if (in_b == b.end()) return true;
  return after(a, in_a, a.size() == b.size() ? 1 : 0) == after(b, in_b, 1);
}

/// Short names of several words: one of a single word may be near to anything.
std::vector<std::string> short_names_of_several_words() {
  std::vector<std::string> names;
  for (const MetricInfo& info : all_metrics())
    if (std::string name = short_name_of_metric(info.name);
        name != info.name && name.find('_') != std::string::npos)
      names.push_back(std::move(name));
  return names;
}

}  // namespace

RoleMetric role_metric_named(std::string_view written) {
  const std::size_t dot = written.rfind('.');
  if (dot == std::string_view::npos) return {kTree, metric_of_short_name(written)};
  return {std::string(written.substr(0, dot)), metric_of_short_name(written.substr(dot + 1))};
}

std::string short_name_of_metric(std::string_view metric) {
  std::string shortest(name_without_unit(metric));
  if (metric_of_short_name(shortest) == metric) return shortest;
  for (std::string& name : short_metric_names())
    if (metric_of_short_name(name) == metric) return std::move(name);
  return std::string(metric);
}

std::vector<std::string> meant_metrics(std::string_view name) {
  if (const auto* const word = std::ranges::find(kWords, name, &Word::word); word != kWords.end()) {
    std::vector<std::string> meant;
    for (const std::string_view one : word->meant)
      if (!one.empty()) meant.emplace_back(one);
    return meant;
  }
  const std::vector<std::string> short_names = short_names_of_several_words();
  const auto near = std::ranges::find_if(
      short_names, [&](const std::string& one) { return is_one_letter_off(name, one); });
  if (near != short_names.end()) return {*near};
  std::vector<std::string> known;
  for (const MetricInfo& info : all_metrics()) known.push_back(info.name);
  if (const auto nearest = nearest_name(name, known)) return {*nearest};
  const auto longer = std::ranges::find_if(known, [&](const std::string& metric) {
    return metric.starts_with(std::string(name) + "_");
  });
  return longer == known.end() ? std::vector<std::string>() : std::vector{*longer};
}

std::string advice_of_meant(const std::vector<std::string>& meant, const std::string& otherwise) {
  return meant.empty() ? otherwise
                       : fmt::format("did you mean \"{}\"?", fmt::join(meant, "\" or \""));
}

}  // namespace memduel
