#include "workloads/graph_training/graph_source.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/error.h"
#include "workloads/graphs/can_log.h"
#include "workloads/graphs/generated_graphs.h"
#include "workloads/graphs/graph_file.h"
#include "workloads/graphs/recorded_graphs.h"
#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

constexpr Choice<Attack> kAttacks[] = {
    {"dos", Attack::dos}, {"fuzzy", Attack::fuzzy}, {"spoofing", Attack::spoofing}};

/// Whether the file is there and every graph in it sound; a line on standard error says why it is
/// not.
bool is_sound(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return false;
  try {
    const auto store = open_graphs(path, GraphLoading::mmap);
    for (std::size_t i = 0; i < store->size(); ++i) static_cast<void>(store->graph(i));
    return true;
  } catch (const Error& error) {
    fmt::print(stderr, "memduel-worker: warning: {}: {}: the file is made again\n", error.where(),
               error.what());
    return false;
  }
}

std::vector<CanFrame> read_recording(const std::filesystem::path& path) {
  std::vector<CanFrame> frames = read_can_log(path);
  if (frames.size() < 2)
    throw Error(ExitCode::io, fmt::format("found {} frames, expected at least 2", frames.size()),
                path.string());
  return frames;
}

}  // namespace

void run_graphs(const WorkerConfig& config) {
  if (is_sound(config.graph_file)) return;
  const GraphConfig& graph = config.workload.graph;
  const DatasetConfig& dataset = config.workload.dataset;
  if (dataset.name == "can-generated") {
    write_generated_graphs(config.graph_file, graph.graphs, dataset.seed);
    return;
  }
  std::vector<Attack> attacks;
  for (const std::string& name : graph.attacks)
    attacks.push_back(choose("attacks", kAttacks, name));
  write_recorded_graphs(config.graph_file, read_recording(config.data_dir / graph.file), attacks,
                        dataset.seed);
}

}  // namespace memduel
