#include "sampling_interval.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/metric_catalogue.h"
#include "model/run_data.h"

namespace memduel {
namespace {

constexpr const char* kSampledRss = "rss_bytes";

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::optional<double> stored_interval_ms(const std::vector<RoleData>& roles) {
  const auto tree = std::ranges::find(roles, kTree, &RoleData::role);
  if (tree == roles.end()) return std::nullopt;
  const auto rss = std::ranges::find(tree->series, kSampledRss, &Series::metric);
  constexpr std::size_t kFewest = 3;
  if (rss == tree->series.end() || rss->t_ns.size() < kFewest) return std::nullopt;
  constexpr double kNsPerMs = 1e6;
  std::vector<double> apart;
  for (std::size_t i = 1; i < rss->t_ns.size(); ++i)
    apart.push_back(static_cast<double>(rss->t_ns[i] - rss->t_ns[i - 1]) / kNsPerMs);
  return middle_of(std::move(apart));
}

std::optional<Note> sampled_less_often(std::vector<double> stored_ms, double wanted_ms,
                                       const char* why) {
  constexpr double kClearly = 2;  // timers come late, and a busy machine stretches short trials
  if (stored_ms.empty()) return std::nullopt;
  const double stored = middle_of(std::move(stored_ms));
  if (stored <= kClearly * wanted_ms) return std::nullopt;
  return Note{kSampledLessOften,
              fmt::format("the stored RSS samples are {:.3g} ms apart (median), "
                          "not {:.3g} ms",
                          stored, wanted_ms),
              why};
}

}  // namespace memduel
