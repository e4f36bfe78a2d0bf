// Training on images: samples and their batches, one step, and the accuracy of a model.

#include <algorithm>

#include "data/load.h"
#include "data/partition.h"
#include "fl/training.h"
#include "fl/worker_config.h"

namespace memduel {
namespace {

Samples to_samples(const ImageSet& set, double mean, double deviation) {
  const auto count = static_cast<std::int64_t>(set.count());
  const torch::Tensor images =
      torch::empty({count, static_cast<std::int64_t>(set.channels),
                    static_cast<std::int64_t>(set.height), static_cast<std::int64_t>(set.width)},
                   torch::kByte);
  std::ranges::copy(set.pixels, images.data_ptr<std::uint8_t>());
  const torch::Tensor labels = torch::empty({count}, torch::kLong);
  std::ranges::copy(set.labels, labels.data_ptr<std::int64_t>());
  return {images, labels, mean, deviation};
}

/// APPFL's dummy CIFAR: uniform noise in [0, 1) and random labels.
Samples noise_images(std::int64_t count, std::uint64_t seed) {
  torch::manual_seed(seed);
  const torch::Tensor images = torch::rand({count, 3, 32, 32});
  return {images, torch::randint(0, 10, {count}, torch::kLong), 0, 1};
}

PartitionKind partition_kind(const std::string& name) {
  if (name == "class_noniid") return PartitionKind::class_noniid;
  if (name == "dirichlet") return PartitionKind::dirichlet;
  return PartitionKind::iid;
}

RoleSamples load_dummy(const WorkloadConfig& workload, int client) {
  constexpr std::uint64_t kTestSeed = 1000;
  const DatasetConfig& dataset = workload.dataset;
  RoleSamples samples;
  if (client > 0)
    samples.train = noise_images(static_cast<std::int64_t>(dataset.train_samples.value_or(64)),
                                 dataset.seed + static_cast<std::uint64_t>(client) - 1);
  samples.validation =
      noise_images(static_cast<std::int64_t>(dataset.test_samples.value_or(32)), kTestSeed);
  return samples;
}

/// A data set's own brightness, by which its pixels are normalised.
Samples normalised(const ImageSet& set, const std::string& dataset) {
  return dataset == "mnist" ? to_samples(set, 0.1307, 0.3081) : to_samples(set, 0.4734, 0.2516);
}

TrainAndValidation load_dataset(const WorkerConfig& config) {
  const DatasetConfig& dataset = config.workload.dataset;
  return load_images(dataset.name, config.data_dir,
                     {dataset.train_samples, dataset.test_samples, dataset.seed});
}

std::vector<Indices> client_shares(const ImageSet& train, const WorkerConfig& config) {
  const DatasetConfig& dataset = config.workload.dataset;
  return partition(train.labels, {partition_kind(dataset.partition),
                                  static_cast<std::size_t>(config.workload.clients), config.seed,
                                  dataset.dirichlet_alpha});
}

RoleSamples load_real(const WorkerConfig& config, int client) {
  const std::string& name = config.workload.dataset.name;
  const TrainAndValidation images = load_dataset(config);
  RoleSamples samples;
  samples.validation = normalised(images.validation, name);
  if (client == 0) return samples;
  const auto shares = client_shares(images.train, config);
  samples.train =
      normalised(select(images.train, shares[static_cast<std::size_t>(client) - 1]), name);
  return samples;
}

SharedSamples share_dummy(const WorkloadConfig& workload) {
  WorkloadConfig all = workload;
  const std::size_t each = workload.dataset.train_samples.value_or(64);
  const auto clients = static_cast<std::size_t>(workload.clients);
  all.dataset.train_samples = each * clients;
  RoleSamples samples = load_dummy(all, 1);
  SharedSamples shared{std::move(samples.train), std::move(samples.validation), {}};
  for (std::size_t client = 0; client < clients; ++client) {
    Indices& share = shared.shares.emplace_back();
    for (std::size_t i = 0; i < each; ++i) share.push_back(client * each + i);
  }
  return shared;
}

}  // namespace

Samples::Samples(torch::Tensor images, torch::Tensor labels, double mean, double deviation)
    : images_(std::move(images)), labels_(std::move(labels)), mean_(mean), deviation_(deviation) {}

torch::Tensor Samples::normalise(const torch::Tensor& images) const {
  if (images.is_floating_point()) return images;
  return images.to(torch::kFloat).div_(255).sub_(mean_).div_(deviation_);
}

Batch Samples::batch(const std::vector<std::size_t>& indices) const {
  const torch::Tensor chosen =
      torch::empty({static_cast<std::int64_t>(indices.size())}, torch::kLong);
  std::ranges::copy(indices, chosen.data_ptr<std::int64_t>());
  return {normalise(images_.index_select(0, chosen)), labels_.index_select(0, chosen)};
}

Batch Samples::slice(std::int64_t first, std::int64_t count) const {
  return {normalise(images_.narrow(0, first, count)), labels_.narrow(0, first, count)};
}

BatchStream::BatchStream(const Samples& samples, std::int64_t batch_size, std::uint64_t seed)
    : samples_(samples), batch_size_(static_cast<std::size_t>(batch_size)), engine_(seed) {}

Batch BatchStream::next() {
  if (position_ == order_.size()) {
    order_ = random_order(static_cast<std::size_t>(samples_.count()), engine_);
    position_ = 0;
  }
  const std::size_t end = std::min(position_ + batch_size_, order_.size());
  const std::vector<std::size_t> indices(order_.begin() + static_cast<std::ptrdiff_t>(position_),
                                         order_.begin() + static_cast<std::ptrdiff_t>(end));
  position_ = end;
  return samples_.batch(indices);
}

SharedSamples load_shared_samples(const WorkerConfig& config) {
  const std::string& name = config.workload.dataset.name;
  if (name == "dummy-cifar10") return share_dummy(config.workload);
  const TrainAndValidation images = load_dataset(config);
  return {normalised(images.train, name), normalised(images.validation, name),
          client_shares(images.train, config)};
}

RoleSamples load_samples(const WorkerConfig& config, int client) {
  if (config.workload.dataset.name == "none") return {};
  if (config.workload.dataset.name == "dummy-cifar10") return load_dummy(config.workload, client);
  return load_real(config, client);
}

namespace {

std::int64_t count_hits(const torch::Tensor& scores, const torch::Tensor& labels) {
  return scores.argmax(1).eq(labels).sum().item<std::int64_t>();
}

class Kept final : public Predictions {
 public:
  void add(const torch::Tensor& scores, const torch::Tensor& labels) override {
    scores_.push_back(kept(scores.detach()));
    labels_.push_back(kept(labels));
  }

  [[nodiscard]] double accuracy() const override {
    if (scores_.empty()) return 0;
    const torch::Tensor scores = torch::cat(scores_);
    const torch::Tensor labels = torch::cat(labels_);
    return static_cast<double>(count_hits(scores, labels)) / static_cast<double>(labels.size(0));
  }

 private:
  /// As APPFL's trainer, which keeps NumPy arrays: in main memory.
  static torch::Tensor kept(const torch::Tensor& tensor) {
    return tensor.to(torch::kCPU, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
  }

  std::vector<torch::Tensor> scores_;
  std::vector<torch::Tensor> labels_;
};

class Reduced final : public Predictions {
 public:
  void add(const torch::Tensor& scores, const torch::Tensor& labels) override {
    hits_ += count_hits(scores, labels);
    count_ += labels.size(0);
  }

  [[nodiscard]] double accuracy() const override {
    return count_ == 0 ? 0 : static_cast<double>(hits_) / static_cast<double>(count_);
  }

 private:
  std::int64_t hits_ = 0;
  std::int64_t count_ = 0;
};

constexpr Choice<MakePredictions> kPredictionsChoices[] = {
    {"kept", [] { return std::unique_ptr<Predictions>(std::make_unique<Kept>()); }},
    {"reduced", [] { return std::unique_ptr<Predictions>(std::make_unique<Reduced>()); }}};

}  // namespace

MakePredictions choose_predictions(const std::string& value) {
  return choose("predictions", kPredictionsChoices, value);
}

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const WorkloadConfig& workload,
                                                        const Model& model) {
  std::vector<torch::Tensor> parameters = model.network->parameters();
  if (workload.optimizer.name == "sgd")
    return std::make_unique<torch::optim::SGD>(
        std::move(parameters), torch::optim::SGDOptions(workload.optimizer.learning_rate));
  return std::make_unique<torch::optim::Adam>(
      std::move(parameters), torch::optim::AdamOptions(workload.optimizer.learning_rate));
}

StepResult training_step(ImageClassifier& network, torch::optim::Optimizer& optimizer,
                         const Batch& batch) {
  optimizer.zero_grad();
  StepResult result;
  result.scores = network.forward(batch.images);
  result.loss = torch::nn::functional::cross_entropy(result.scores, batch.labels);
  result.loss.backward();
  optimizer.step();
  return result;
}

double validate(const Model& model, const Samples& samples, int batch_size,
                MakePredictions make_predictions) {
  const torch::NoGradGuard no_grad;
  model.network->eval();
  const std::unique_ptr<Predictions> predictions = make_predictions();
  for (std::int64_t first = 0; first < samples.count(); first += batch_size) {
    const std::int64_t count = std::min<std::int64_t>(batch_size, samples.count() - first);
    const Batch batch = samples.slice(first, count).on(device_of(model));
    predictions->add(model.network->forward(batch.images), batch.labels);
  }
  return predictions->accuracy();
}

}  // namespace memduel
