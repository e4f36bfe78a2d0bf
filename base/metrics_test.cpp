#include "base/metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <stdexcept>

namespace memduel {
namespace {

std::map<std::string, double> as_map(const Metrics& metrics) {
  std::map<std::string, double> map;
  for (const auto& [name, value] : metrics) map.emplace(name, value);
  return map;
}

TEST(Metrics, DoWhatAMapDoes) {
  std::mt19937 random(7);
  Metrics metrics;
  std::map<std::string, double> map;
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "metric_" + std::to_string(random() % 40);
    const double value = static_cast<double>(random() % 100);
    switch (random() % 4) {
      case 0:
        metrics[name] += value;
        map[name] += value;
        break;
      case 1:
        EXPECT_EQ(metrics.emplace(name, value).second, map.emplace(name, value).second);
        break;
      case 2:
        EXPECT_EQ(metrics.erase(name), map.erase(name));
        break;
      default:
        EXPECT_EQ(metrics.contains(name), map.contains(name));
        EXPECT_EQ(metrics.find(name) == metrics.end(), map.find(name) == map.end());
    }
    ASSERT_EQ(metrics.size(), map.size());
  }
  EXPECT_EQ(as_map(metrics), map);
}

TEST(Metrics, AreReadChangedAndComparedByName) {
  Metrics metrics = {{"b", 2}, {"a", 1}};
  EXPECT_EQ(metrics.at("a"), 1);
  EXPECT_THROW(static_cast<void>(metrics.at("c")), std::out_of_range);
  EXPECT_EQ(metrics.begin()->first, "a");
  for (const auto& [name, value] : metrics) value *= 10;
  EXPECT_EQ(metrics, (Metrics{{"a", 10}, {"b", 20}}));
  EXPECT_NE(metrics, (Metrics{{"a", 10}}));
  EXPECT_NE(metrics, (Metrics{{"a", 10}, {"c", 20}}));
  Metrics more = {{"b", 7}, {"z", 9}};
  more.insert(metrics.begin(), metrics.end());
  EXPECT_EQ(more, (Metrics{{"a", 10}, {"b", 7}, {"z", 9}}));
}

}  // namespace
}  // namespace memduel
