#include "workloads/graph_training/graph_source.h"

#include "workloads/graphs/can_log.h"
#include "workloads/graphs/generated_graphs.h"
#include "workloads/graphs/graph_file.h"
#include "workloads/graphs/recorded_graphs.h"
#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

constexpr Choice<Attack> kAttacks[] = {
    {"dos", Attack::dos}, {"fuzzy", Attack::fuzzy}, {"spoofing", Attack::spoofing}};

}  // namespace

void run_graphs(const WorkerConfig& config) {
  if (std::filesystem::exists(config.graph_file)) {
    static_cast<void>(open_graphs(config.graph_file, GraphLoading::mmap));
    return;
  }
  const GraphConfig& graph = config.workload.graph;
  const DatasetConfig& dataset = config.workload.dataset;
  if (dataset.name == "can-generated") {
    write_generated_graphs(config.graph_file, graph.graphs, dataset.seed);
    return;
  }
  std::vector<Attack> attacks;
  for (const std::string& name : graph.attacks)
    attacks.push_back(choose("attacks", kAttacks, name));
  write_recorded_graphs(config.graph_file, read_can_log(config.data_dir / graph.file), attacks,
                        dataset.seed);
}

}  // namespace memduel
