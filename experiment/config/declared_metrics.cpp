#include "experiment/config/declared_metrics.h"

#include <fmt/format.h>

#include <functional>

#include "base/error.h"
#include "experiment/config/json_text.h"
#include "experiment/marks/text_mark_pattern.h"

namespace memduel {
namespace {

using nlohmann::json;

/// Calls `visit` with each declaration and its place below the workload.
void each_declaration(const json& workload,
                      const std::function<void(const DeclaredDirection&, JsonPath)>& visit) {
  if (const auto metrics = workload.find("metrics"); metrics != workload.end()) {
    for (const auto& [name, metric] : metrics->items()) {
      const auto better = from_name<Direction>(metric.at("better").get<std::string>());
      visit({name, better.value_or(Direction::undeclared)}, {"metrics", name, "better"});
    }
  }
  std::size_t index = 0;
  for (const json& mark : workload.value("marks", json::array())) {
    const JsonPath place = {"marks", std::to_string(index++), "pattern"};
    const TextMarkPattern pattern(mark.at("pattern"));
    for (const DeclaredDirection& one : pattern.metrics()) visit(one, place);
  }
}

}  // namespace

std::map<std::string, Direction> declared_metrics(const json& workload) {
  std::map<std::string, Direction> declared;
  each_declaration(workload, [&](const DeclaredDirection& one, const JsonPath&) {
    Direction& better = declared[one.metric];
    if (one.better != Direction::undeclared) better = one.better;
  });
  return declared;
}

void check_declared_metrics(const json& workload, const std::string& origin) {
  struct Known {
    Direction better;
    std::string by;
  };
  std::map<std::string, Known> known;
  each_declaration(workload, [&](const DeclaredDirection& one, JsonPath path) {
    if (one.better == Direction::undeclared) return;
    path.insert(path.begin(), "workload");
    const Direction own = metric_info(one.metric).better;
    const Known first = own != Direction::undeclared ? Known{own, "memduel list metrics"}
                                                     : Known{one.better, format_json_path(path)};
    const Known& earlier = known.emplace(one.metric, first).first->second;
    if (earlier.better == one.better) return;
    throw Error(ExitCode::usage,
                fmt::format("found that {} is better for {}, but {} is better by {}",
                            to_name(one.better), one.metric, to_name(earlier.better), earlier.by),
                json_place(origin, path), "declare it once, or both alike");
  });
}

}  // namespace memduel
