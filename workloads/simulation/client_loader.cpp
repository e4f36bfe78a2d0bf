#include "workloads/simulation/client_loader.h"

#include <algorithm>
#include <cstring>

namespace memduel {
namespace {

/// Images, then labels.
std::string bytes_of(const Batch& batch) {
  std::string bytes(batch.images.nbytes() + batch.labels.nbytes(), '\0');
  std::memcpy(bytes.data(), batch.images.data_ptr(), batch.images.nbytes());
  std::memcpy(bytes.data() + batch.images.nbytes(), batch.labels.data_ptr(), batch.labels.nbytes());
  return bytes;
}

}  // namespace

ClientLoader::ClientLoader(const Samples& samples, const Indices& share, std::size_t batch_size,
                           const LoaderChoice& workers)
    : samples_(samples),
      share_(share),
      batch_size_(batch_size),
      choice_(workers),
      workers_(workers.are_processes ? 0 : workers.workers) {}

void ClientLoader::start_workers() {
  if (!choice_.are_processes || !processes_.empty()) return;
  for (int i = 0; i < choice_.workers; ++i)
    processes_.emplace_back([this](const Indices& indices) {
      torch::set_num_threads(1);  // the parent's other threads are not here
      return bytes_of(samples_.batch(indices));
    });
}

std::vector<Indices> ClientLoader::batches_of(std::uint64_t seed, std::size_t most) const {
  RandomEngine engine(seed);
  const std::vector<std::size_t> order = random_order(share_.size(), engine);
  std::vector<Indices> batches;
  for (std::size_t first = 0; first < order.size() && batches.size() < most;) {
    Indices& indices = batches.emplace_back();
    for (; indices.size() < batch_size_ && first < order.size(); ++first)
      indices.push_back(share_[order[first]]);
  }
  return batches;
}

Batch ClientLoader::read_batch(const std::string& bytes, std::size_t samples) const {
  std::vector<std::int64_t> shape = samples_.shape().vec();
  shape.insert(shape.begin(), static_cast<std::int64_t>(samples));
  const Batch batch{torch::empty(shape, torch::kFloat), torch::empty({shape[0]}, torch::kLong)};
  std::memcpy(batch.images.data_ptr(), bytes.data(), batch.images.nbytes());
  std::memcpy(batch.labels.data_ptr(), bytes.data() + batch.images.nbytes(), batch.labels.nbytes());
  return batch;
}

void ClientLoader::epoch(std::uint64_t seed, std::size_t most,
                         const std::function<void(const Batch&)>& step) {
  const std::vector<Indices> batches = batches_of(seed, most);
  if (processes_.empty()) {
    workers_.begin_epoch();
    for (const Indices& indices : batches) {
      const Batch batch = samples_.batch(indices);
      workers_.made(batch);
      step(batch);
    }
    return;
  }
  const auto worker = [&](std::size_t batch) -> const LoaderProcess& {
    return processes_[batch % processes_.size()];
  };
  std::size_t asked = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    for (; asked < std::min(batches.size(), i + kPrefetchFactor * processes_.size()); ++asked)
      worker(asked).ask(batches[asked]);
    step(read_batch(worker(i).answer(), batches[i].size()));
  }
}

void ClientLoader::drop_prefetched() {
  workers_.drop();
  processes_.clear();
}

}  // namespace memduel
