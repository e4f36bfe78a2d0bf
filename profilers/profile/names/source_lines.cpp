#include "source_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace memduel {
namespace {

/// Matching compares each line with each; a function with more is not written by people.
constexpr std::size_t kMostPairs = 1 << 16;

std::string file_name_of(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

/// Python packages have a file of this name each: "json/__init__.py".
std::string telling_name(const std::filesystem::path& file) {
  const std::filesystem::path name = file.filename();
  const std::filesystem::path package = file.parent_path().filename();
  const bool is_of_package = name == "__init__.py" || name == "__main__.py";
  return (is_of_package && package.has_filename() ? package / name : name).string();
}

bool is_same_line(const SourceLine& a, const SourceLine& b) {
  return a.line == b.line && file_name_of(a.file) == file_name_of(b.file);
}

using LineAmount = std::pair<SourceLine, double>;

/// Pairs the lines of two sides in their order so that their amounts differ least.
class LineMatching {
 public:
  LineMatching(const LineAmounts& less, const LineAmounts& more)
      : less_(less.begin(), less.end()),
        more_(more.begin(), more.end()),
        costs_((less_.size() + 1) * (more_.size() + 1)) {
    for (std::size_t i = 0; i <= less_.size(); ++i)
      for (std::size_t j = 0; j <= more_.size(); ++j) cost(i, j) = cheapest(i, j);
  }

  SourceLine with_largest_gain() const {
    SourceLine line;
    double most = 0;
    const auto consider = [&](const LineAmount& one, double gain) {
      if (!line.file.empty() && gain < most) return;
      line = one.first;
      most = gain;
    };
    std::size_t i = less_.size();
    for (std::size_t j = more_.size(); j > 0;) {
      if (i > 0 && cost(i, j) == cost_of_pair(i, j)) {
        consider(more_[j - 1], more_[j - 1].second - less_[i - 1].second);
        --i;
        --j;
      } else if (i > 0 && cost(i, j) == cost_without(less_[i - 1], i - 1, j)) {
        --i;
      } else {
        consider(more_[j - 1], more_[j - 1].second);
        --j;
      }
    }
    return line;
  }

 private:
  /// Bytes that are left over, then the pairs whose lines differ.
  using Cost = std::pair<double, int>;

  [[nodiscard]] Cost& cost(std::size_t i, std::size_t j) {
    return costs_[i * (more_.size() + 1) + j];
  }
  [[nodiscard]] const Cost& cost(std::size_t i, std::size_t j) const {
    return costs_[i * (more_.size() + 1) + j];
  }
  [[nodiscard]] Cost cost_without(const LineAmount& one, std::size_t i, std::size_t j) const {
    return {cost(i, j).first + std::abs(one.second), cost(i, j).second};
  }
  [[nodiscard]] Cost cost_of_pair(std::size_t i, std::size_t j) const {
    const LineAmount& a = less_[i - 1];
    const LineAmount& b = more_[j - 1];
    const Cost& before = cost(i - 1, j - 1);
    return {before.first + std::abs(a.second - b.second),
            before.second + (is_same_line(a.first, b.first) ? 0 : 1)};
  }
  [[nodiscard]] Cost cheapest(std::size_t i, std::size_t j) const {
    if (i == 0 && j == 0) return {0, 0};
    if (i == 0) return cost_without(more_[j - 1], i, j - 1);
    if (j == 0) return cost_without(less_[i - 1], i - 1, j);
    return std::min({cost_of_pair(i, j), cost_without(less_[i - 1], i - 1, j),
                     cost_without(more_[j - 1], i, j - 1)});
  }

  std::vector<LineAmount> less_;
  std::vector<LineAmount> more_;
  std::vector<Cost> costs_;
};

}  // namespace

SourceLine changed_line(const LineAmounts& less, const LineAmounts& more) {
  if (more.empty()) return {};
  if (more.size() == 1) return more.begin()->first;
  if (less.size() * more.size() <= kMostPairs) return LineMatching(less, more).with_largest_gain();
  return std::ranges::max_element(more, {}, [](const auto& one) { return one.second; })->first;
}

bool is_of_standard_library(const std::string& file) {
  constexpr std::string_view kVersions = "python3.";
  if (file.starts_with("<frozen ")) return true;
  const std::filesystem::path path(file);
  for (auto part = path.begin(); part != path.end(); ++part) {
    if (!part->string().starts_with(kVersions)) continue;
    const auto below = std::next(part);
    return below != path.end() && *below != "site-packages" && *below != "dist-packages";
  }
  return false;
}

std::string location_text(const SourceLine& place, const SourceRoots& roots) {
  if (place.file.empty()) return {};
  const std::filesystem::path file = std::filesystem::path(place.file).lexically_normal();
  std::string name =
      file.is_absolute() || file.native().starts_with("..") ? telling_name(file) : file.string();
  for (const std::filesystem::path& root : roots) {
    if (!file.is_absolute() || !root.is_absolute() || !root.has_relative_path()) continue;
    const std::string below = file.lexically_relative(root).string();
    if (below.empty() || below == "." || below.starts_with("..")) continue;
    name = below;
    break;
  }
  return place.line > 0 ? fmt::format("{}:{}", name, place.line) : name;
}

}  // namespace memduel
