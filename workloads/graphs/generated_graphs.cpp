#include "workloads/graphs/generated_graphs.h"

#include <array>

#include "workloads/graphs/generated_traffic.h"
#include "workloads/graphs/graph_file_writer.h"
#include "workloads/graphs/injection.h"
#include "workloads/graphs/window_graphs.h"

namespace memduel {
namespace {

constexpr std::size_t kStretchFrames = 100'001;
constexpr std::array<Attack, 3> kAttacks = {Attack::dos, Attack::fuzzy, Attack::spoofing};

}  // namespace

void write_generated_graphs(const std::filesystem::path& path, std::size_t count,
                            std::uint64_t seed) {
  const IdMap ids(generated_ids());
  GraphFileWriter writer(path, ids.size());
  std::size_t written = 0;
  std::int64_t start_us = 0;
  for (std::size_t stretch = 0; written < count; ++stretch) {
    std::vector<CanFrame> frames = generate_traffic(kStretchFrames, start_us, seed + stretch);
    start_us = frames.back().time_us;
    if (stretch % 2 == 1)
      frames = inject(frames, kAttacks[stretch / 2 % kAttacks.size()], seed + stretch);
    for_each_graph(frames, ids, {}, [&](const Graph& graph) {
      if (written == count) return;
      writer.add(graph.view());
      ++written;
    });
  }
  writer.finish();
}

}  // namespace memduel
