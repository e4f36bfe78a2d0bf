#include "workloads/graphs/recorded_graphs.h"

#include "workloads/graphs/graph_file_writer.h"
#include "workloads/graphs/window_graphs.h"

namespace memduel {

void write_recorded_graphs(const std::filesystem::path& path, const std::vector<CanFrame>& frames,
                           const std::vector<Attack>& attacks, std::uint64_t seed) {
  std::vector<std::uint32_t> known;
  for (const CanFrame& frame : frames)
    if (!frame.attack) known.push_back(frame.id);
  const IdMap ids(std::move(known));
  GraphFileWriter writer(path, ids.size());
  const auto add = [&](const Graph& graph) { writer.add(graph.view()); };
  for_each_graph(frames, ids, {}, add);
  for (std::size_t i = 0; i < attacks.size(); ++i)
    for_each_graph(inject(frames, attacks[i], seed + i), ids, {}, add);
  writer.finish();
}

}  // namespace memduel
