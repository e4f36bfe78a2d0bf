#include "graph_switches.h"

#include "data/loader_workers.h"
#include "fl/worker_config.h"

namespace memduel {
namespace {

constexpr Choice<GraphLoading> kGraphLoading[] = {{"read_all", GraphLoading::read_all},
                                                  {"mmap", GraphLoading::mmap}};
constexpr Choice<TeacherPlace> kTeacher[] = {{"resident", TeacherPlace::resident},
                                             {"offloaded", TeacherPlace::offloaded},
                                             {"before_student", TeacherPlace::before_student},
                                             {"cached_outputs", TeacherPlace::cached_outputs}};
constexpr Choice<DifficultyScoring> kDifficultyScoring[] = {
    {"one_by_one", DifficultyScoring::one_by_one},
    {"chunked", DifficultyScoring::chunked},
    {"batched", DifficultyScoring::batched}};
constexpr Choice<NeighbourhoodTarget> kNeighbourhoodTarget[] = {
    {"dense", NeighbourhoodTarget::dense}, {"sparse", NeighbourhoodTarget::sparse}};
constexpr Choice<Activations> kGradientCheckpointing[] = {{"off", Activations::kept},
                                                          {"per_block", Activations::recomputed}};
constexpr Choice<Precision> kMixedPrecision[] = {
    {"off", Precision::fp32}, {"bf16", Precision::bf16}, {"fp16", Precision::fp16}};
constexpr Choice<BatchSizing> kBatchSize[] = {
    {"fixed", BatchSizing::fixed},
    {"static_as_implemented", BatchSizing::estimated_once},
    {"static", BatchSizing::estimated},
    {"measured", BatchSizing::measured},
    {"search", BatchSizing::searched}};

}  // namespace

GraphSwitches make_graph_switches(const nlohmann::json& values) {
  JsonFields fields(values, "worker configuration", "switches");
  const auto chosen_of = [&](const char* name, const auto& choices) {
    return choose(name, choices, fields.get<std::string>(name));
  };
  const auto number = [&](const char* name, int most) {
    return choose_whole_number(name, fields.get<nlohmann::json>(name), 0, most);
  };
  GraphSwitches chosen;
  chosen.graph_loading = chosen_of("graph_loading", kGraphLoading);
  chosen.teacher = chosen_of("teacher", kTeacher);
  chosen.difficulty_scoring = chosen_of("difficulty_scoring", kDifficultyScoring);
  chosen.neighbourhood_target = chosen_of("neighbourhood_target", kNeighbourhoodTarget);
  chosen.gradient_checkpointing = chosen_of("gradient_checkpointing", kGradientCheckpointing);
  chosen.mixed_precision = chosen_of("mixed_precision", kMixedPrecision);
  chosen.loader_workers = number("loader_workers", kMostWorkers);
  chosen.clear_cache_every_n = number("clear_cache_every_n", kMostRounds);
  chosen.batch_size = chosen_of("batch_size", kBatchSize);
  fields.expect_no_more();
  return chosen;
}

}  // namespace memduel
