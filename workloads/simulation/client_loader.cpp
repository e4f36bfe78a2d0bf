#include "workloads/simulation/client_loader.h"

#include <algorithm>

namespace memduel {

ClientLoader::ClientLoader(const Samples& samples, const Indices& share, std::size_t batch_size,
                           int workers)
    : samples_(samples), share_(share), batch_size_(batch_size), workers_(workers) {}

void ClientLoader::epoch(std::uint64_t seed, std::size_t most,
                         const std::function<void(const Batch&)>& step) {
  RandomEngine engine(seed);
  const std::vector<std::size_t> order = random_order(share_.size(), engine);
  workers_.begin_epoch();
  for (std::size_t first = 0, made = 0; first < order.size() && made < most; ++made) {
    std::vector<std::size_t> indices;
    for (; indices.size() < batch_size_ && first < order.size(); ++first)
      indices.push_back(share_[order[first]]);
    const Batch batch = samples_.batch(indices);
    workers_.made(batch);
    step(batch);
  }
}

}  // namespace memduel
