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
  SwitchFields fields(values);
  GraphSwitches chosen;
  chosen.graph_loading = choose(fields, "graph_loading", kGraphLoading);
  chosen.teacher = choose(fields, "teacher", kTeacher);
  chosen.difficulty_scoring = choose(fields, "difficulty_scoring", kDifficultyScoring);
  chosen.neighbourhood_target = choose(fields, "neighbourhood_target", kNeighbourhoodTarget);
  chosen.gradient_checkpointing = choose(fields, "gradient_checkpointing", kGradientCheckpointing);
  chosen.mixed_precision = choose(fields, "mixed_precision", kMixedPrecision);
  chosen.loader_workers = choose_whole_number(fields, "loader_workers", 0, kMostWorkers);
  chosen.clear_cache_every_n = choose_whole_number(fields, "clear_cache_every_n", 0, kMostRounds);
  chosen.batch_size = choose(fields, "batch_size", kBatchSize);
  fields.expect_no_more();
  return chosen;
}

}  // namespace memduel
