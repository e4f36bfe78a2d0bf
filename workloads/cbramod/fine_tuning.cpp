#include "fine_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "fl/roles.h"
#include "fl/training.h"
#include "memduel/annotate.h"
#include "memduel/memory.h"
#include "memduel/memory_torch.h"
#include "util/text.h"

namespace memduel {

Scores Confusion::scores() const {
  std::vector<double> labelled(classes_);
  std::vector<double> answered(classes_);
  double right = 0;
  double all = 0;
  for (std::size_t label = 0; label < classes_; ++label)
    for (std::size_t answer = 0; answer < classes_; ++answer) {
      labelled[label] += count(label, answer);
      answered[answer] += count(label, answer);
      all += count(label, answer);
      if (label == answer) right += count(label, answer);
    }
  if (all == 0) return {};
  double by_chance = 0;
  Scores scores;
  for (std::size_t i = 0; i < classes_; ++i) {
    by_chance += labelled[i] / all * (answered[i] / all);
    const double either = labelled[i] + answered[i];
    if (labelled[i] > 0) scores.f1 += labelled[i] / all * (2 * count(i, i) / either);
  }
  scores.accuracy = right / all;
  scores.kappa = by_chance < 1 ? (scores.accuracy - by_chance) / (1 - by_chance) : 0;
  return scores;
}

namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

}  // namespace

MemoryWatch::MemoryWatch(const FineTuningSwitches& switches, ReadResident read)
    : threshold_(switches.memory_threshold_mb * kMebibyte),
      from_(switches.memory_baseline),
      read_(std::move(read)),
      baseline_(read_()) {}

void MemoryWatch::trial_begins() {
  if (from_ == MemoryBaseline::trial) baseline_ = read_();
}

std::optional<std::int64_t> MemoryWatch::growth() const {
  const std::optional<std::int64_t> now = read_();
  if (!now || !baseline_) return std::nullopt;
  return *now - *baseline_;
}

bool MemoryWatch::is_above() const {
  const std::optional<std::int64_t> grown = growth();
  return grown && *grown > threshold_;
}

std::optional<std::int64_t> resident_bytes() {
  return memory_info({.pss = false}).rss_bytes;
}

namespace {

// CBraMod's defaults.
constexpr double kWeightDecay = 5e-2;
constexpr double kLongestGradient = 1.0;

Model make_network(const WorkloadConfig& workload, const FineTuningSwitches& switches,
                   std::uint64_t seed) {
  CrissCrossShape shape = workload.model == "cbramod" ? CrissCrossShape{} : kSmallCrissCross;
  shape.dropout = workload.fine_tuning.dropout;
  torch::manual_seed(seed);
  const auto network = std::make_shared<CrissCrossTransformer>(shape);
  network->set_activations(switches.gradient_checkpointing);
  return move_to(wrap_network(network), at::Device(workload.device));
}

double rate_of(const WorkloadConfig& workload, int number) {
  const std::vector<double>& rates = workload.fine_tuning.learning_rates;
  return rates[static_cast<std::size_t>(number - 1) % rates.size()];
}

std::int64_t bytes_of_optimizer(const torch::optim::AdamW& optimizer) {
  std::int64_t sum = 0;
  for (const auto& [parameter, state] : optimizer.state()) {
    const auto& averages = static_cast<const torch::optim::AdamWParamState&>(*state);
    sum += static_cast<std::int64_t>(averages.exp_avg().nbytes() + averages.exp_avg_sq().nbytes());
  }
  return sum;
}

}  // namespace

FineTuning::FineTuning(const WorkloadConfig& workload, const FineTuningSwitches& switches,
                       const EpochFile& data, const MemoryWatch& watch, int number,
                       std::uint64_t seed)
    : workload_(workload),
      switches_(switches),
      watch_(watch),
      train_(data.train()),
      validation_(data.validation()),
      model_(make_network(workload, switches, seed)),
      parameters_(model_.network->parameters()),
      learning_rate_(rate_of(workload, number)),
      optimizer_(parameters_,
                 torch::optim::AdamWOptions(learning_rate_).weight_decay(kWeightDecay)),
      scaler_(switches.mixed_precision),
      order_(seed),
      samples_at_once_(static_cast<std::size_t>(workload.batch_size)) {}

void FineTuning::train(const std::function<void()>& clean_up) {
  const at::Device device = device_of(model_);
  const int epochs = workload_.fine_tuning.epochs;
  int stale = 0;
  for (int epoch = 1; epoch <= epochs && !result_.stopped; ++epoch) {
    const double cosine = std::cos(std::numbers::pi * (epoch - 1) / epochs);
    static_cast<torch::optim::AdamWOptions&>(optimizer_.param_groups()[0].options())
        .lr(learning_rate_ * (1 + cosine) / 2);
    begin_phase(device, "train");
    train_epoch();
    begin_phase(device, "validate");
    const Scores scores = evaluate();
    result_.epochs = epoch;
    if (epoch == 1 || scores.kappa > result_.scores.kappa) {
      result_.scores = scores;
      result_.best_epoch = epoch;
      keep_state();
      stale = 0;
    } else if (++stale == workload_.fine_tuning.patience) {
      break;
    }
    if (switches_.cleanup_every_epochs > 0 && epoch % switches_.cleanup_every_epochs == 0)
      clean_up();
  }
  copy_state(best_state_, model_.state);
}

void FineTuning::train_epoch() {
  model_.network->train();
  const std::vector<std::size_t> order =
      random_order(static_cast<std::size_t>(train_.count()), order_);
  const auto batch = static_cast<std::ptrdiff_t>(workload_.batch_size);
  for (auto first = order.begin(); first != order.end() && !result_.stopped;) {
    const auto last = first + std::min(batch, order.end() - first);
    step({first, last});
    first = last;
  }
}

void FineTuning::step(const std::vector<std::size_t>& indices) {
  optimizer_.zero_grad();
  for (std::size_t first = 0; first < indices.size(); first += samples_at_once_) {
    const std::size_t count = std::min(samples_at_once_, indices.size() - first);
    const auto begin = indices.begin() + static_cast<std::ptrdiff_t>(first);
    train_part({begin, begin + static_cast<std::ptrdiff_t>(count)},
               static_cast<double>(count) / static_cast<double>(indices.size()));
  }
  if (scaler_.unscale(parameters_)) {
    torch::nn::utils::clip_grad_norm_(parameters_, kLongestGradient);
    optimizer_.step();
  }
  if (above_threshold_) react_to_threshold();
}

void FineTuning::train_part(const std::vector<std::size_t>& indices, double share) {
  const at::Device device = device_of(model_);
  const Batch batch = train_.batch(indices).on(device);
  const double before = live_bytes(device);
  torch::Tensor loss;
  {
    const AutocastScope half(switches_.mixed_precision, device);
    const torch::Tensor scores = model_.network->forward(batch.images);
    loss = torch::nn::functional::cross_entropy(scores.to(torch::kFloat), batch.labels);
  }
  result_.parts.activations =
      std::max(result_.parts.activations, static_cast<std::int64_t>(live_bytes(device) - before));
  // Here memory is at its fullest.
  if (switches_.on_threshold == OnThreshold::early_stop ||
      switches_.on_threshold == OnThreshold::smaller_batches)
    above_threshold_ = above_threshold_ || watch_.is_above();
  scaler_.scaled(share < 1 ? loss * share : loss).backward();
}

void FineTuning::react_to_threshold() {
  above_threshold_ = false;
  if (switches_.on_threshold == OnThreshold::early_stop) {
    result_.stopped = true;
    fmt::print(stderr,
               "memduel-worker: memory is more than {} above the baseline; training stops\n",
               format_bytes(static_cast<double>(watch_.threshold())));
    return;
  }
  if (samples_at_once_ == 1) return;
  samples_at_once_ = (samples_at_once_ + 1) / 2;
  fmt::print(
      stderr,
      "memduel-worker: memory is more than {} above the baseline; batches of {} are now split "
      "into parts of {}\n",
      format_bytes(static_cast<double>(watch_.threshold())), workload_.batch_size,
      samples_at_once_);
  cleanup_memory({.device = &torch_cuda()});
}

void FineTuning::keep_state() {
  const torch::NoGradGuard no_grad;
  if (switches_.best_state == BestState::one_copy_on_cpu && !best_state_.empty()) {
    copy_state(model_.state, best_state_);
    return;
  }
  // By deep copy the last one lives until the new one is there.
  State copy;
  for (const NamedTensor& entry : model_.state)
    copy.push_back({entry.name, switches_.best_state == BestState::one_copy_on_cpu
                                    ? entry.tensor.detach().to(at::kCPU, entry.tensor.scalar_type(),
                                                               false, /*copy=*/true)
                                    : entry.tensor.detach().clone()});
  best_state_ = std::move(copy);
}

Scores FineTuning::evaluate() const {
  const torch::NoGradGuard no_grad;
  model_.network->eval();
  Confusion confusion(static_cast<std::size_t>(kEegClasses));
  const at::Device device = device_of(model_);
  for (std::int64_t first = 0; first < validation_.count(); first += workload_.batch_size) {
    const std::int64_t count =
        std::min<std::int64_t>(workload_.batch_size, validation_.count() - first);
    const Batch batch = validation_.slice(first, count).on(device);
    const AutocastScope half(switches_.mixed_precision, device);
    const torch::Tensor answers = model_.network->forward(batch.images).argmax(1).to(at::kCPU);
    const torch::Tensor labels = batch.labels.to(at::kCPU);
    for (std::int64_t i = 0; i < count; ++i)
      confusion.add(static_cast<std::size_t>(labels[i].item<std::int64_t>()),
                    static_cast<std::size_t>(answers[i].item<std::int64_t>()));
  }
  return confusion.scores();
}

FineTuningResult FineTuning::result() const {
  FineTuningResult result = result_;
  result.samples_at_once = samples_at_once_;
  result.parts.parameters = parameter_bytes(*model_.network);
  result.parts.gradients = gradient_bytes(*model_.network);
  result.parts.optimizer = bytes_of_optimizer(optimizer_);
  result.parts.data = train_.bytes() + validation_.bytes();
  return result;
}

}  // namespace memduel
