// What a workload's training takes on this machine. The training on images is made here; those on
// graphs and on EEG are made in their own modules.

#include "probe.h"

#include <fmt/format.h>

#include "budget/largest_batch.h"
#include "budget/memory_budget.h"
#include "fl/probes.h"
#include "fl/roles.h"
#include "fl/training.h"
#include "util/error.h"

namespace memduel {
namespace {

/// Every sample that a process of the workload trains on.
Samples training_samples(const WorkerConfig& config) {
  if (config.workload.kind == "simulation") return load_shared_samples(config).train;
  return load_samples(config, /*client=*/1).train;
}

class ImageTraining final : public ProbedTraining {
 public:
  ImageTraining(const WorkerConfig& config, const at::Device& device)
      : before_(live_bytes(device)),
        samples_(training_samples(config)),
        data_bytes_(live_bytes(device) - before_),
        model_(build_model(config, device)),
        model_bytes_(live_bytes(device) - before_ - data_bytes_),
        optimizer_(make_optimizer(config.workload, model_)),
        optimizer_states_(config.workload.optimizer.name == "adam" ? 2 : 0),
        cycle_(samples_.count()) {
    model_.network->train();
  }

  void step(std::int64_t batch) override {
    const Batch samples = samples_.batch(cycle_.next(batch)).on(device_of(model_));
    static_cast<void>(training_step(*model_.network, *optimizer_, samples));
  }

  [[nodiscard]] std::vector<torch::Tensor> parameters() const override {
    return model_.network->parameters();
  }

  [[nodiscard]] BudgetParts from_shapes() const override {
    BudgetParts parts =
        parts_of(static_cast<double>(parameter_count(model_)) * sizeof(float), optimizer_states_);
    parts.sample_bytes = sample_bytes(samples_);
    return parts;
  }

  [[nodiscard]] HeldBytes held() const override { return {data_bytes_, model_bytes_, 0}; }

 private:
  double before_;
  Samples samples_;
  double data_bytes_;
  Model model_;
  double model_bytes_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  double optimizer_states_;
  SampleCycle cycle_;
};

}  // namespace

std::unique_ptr<ProbedTraining> make_image_training(const WorkerConfig& config,
                                                    const at::Device& device) {
  return std::make_unique<ImageTraining>(config, device);
}

namespace {

std::unique_ptr<ProbedTraining> make_training(const WorkerConfig& config, const at::Device& device,
                                              const std::optional<std::string>& network) {
  const std::string& kind = config.workload.kind;
  if (kind == "graph") return make_graph_training(config, device, network.value_or("student"));
  if (network)
    throw Error(ExitCode::usage,
                fmt::format("found network \"{}\", but a workload of kind \"{}\" trains only one",
                            *network, kind),
                "budget", "omit --network");
  if (kind == "federated" || kind == "simulation") return make_image_training(config, device);
  if (kind == "eeg") return make_eeg_training(config, device);
  throw Error(ExitCode::usage, fmt::format("kind \"{}\" trains no model", kind), "workload.kind",
              "use a workload that trains a model");
}

/// The device before the training, and what is not tensors on it.
void describe_device(const at::Device& device, const std::optional<double>& planned_bytes,
                     BudgetReport& report) {
  report.device = device.is_cuda() ? "cuda" : "cpu";
  report.device_bytes = static_cast<double>(available_bytes(device));
  if (const auto capacity = device.is_cuda() ? cuda_capacity() : std::nullopt) {
    const std::int64_t reserved = cuda_bytes().value_or(CudaBytes{}).reserved;
    report.device_bytes = static_cast<double>(capacity->total);
    report.context_bytes = static_cast<double>(capacity->total - capacity->free - reserved);
  }
  if (planned_bytes) report.device_bytes = *planned_bytes;
}

double gradient_bytes(const ProbedTraining& training) {
  double bytes = 0;
  for (const torch::Tensor& parameter : training.parameters())
    if (parameter.grad().defined()) bytes += static_cast<double>(parameter.grad().nbytes());
  return bytes;
}

}  // namespace

BudgetReport probe_budget(const WorkerConfig& config, const BudgetRequest& request) {
  install_torch_probe();
  const at::Device device = warm_up(config, config.workload.device);
  BudgetReport report;
  describe_device(
      device,
      request.device_bytes ? request.device_bytes : config.workload.graph.device_memory_bytes,
      report);
  const std::unique_ptr<ProbedTraining> training = make_training(config, device, request.network);
  report.target_utilization = request.target_utilization.value_or(training->target_utilization());
  report.usable_bytes = usable_bytes(report.device_bytes, report.target_utilization);
  const TrainingStep step = [&](std::int64_t batch) { training->step(batch); };
  report.from_shapes = training->from_shapes();
  const double before = live_bytes(device);
  report.found = largest_batch(step, device, report.tensor_budget_bytes(), request.bounds,
                               BatchSearch::measured);
  const HeldBytes held = training->held();
  report.measured.data_bytes = held.data;
  report.measured.parameter_bytes = held.model;
  report.measured.other_weight_bytes = held.other_weights;
  report.measured.gradient_bytes = gradient_bytes(*training);
  report.measured.optimizer_bytes = live_bytes(device) - before - report.measured.gradient_bytes;
  report.measured.sample_bytes = report.found.sample_bytes;
  if (!request.verify) return report;
  // Beyond the budget, if it must, but not beyond the machine.
  const double most = live_bytes(device) + static_cast<double>(available_bytes(device));
  const TrainingStep held_out = [&](std::int64_t batch) { training->held_out_step(batch); };
  report.true_peak_bytes = step_peak(held_out, device, report.found.batch, most);
  if (!report.true_peak_bytes)
    throw Error(ExitCode::cannot_measure,
                fmt::format("a step with {} samples runs out of memory", report.found.batch),
                "budget", "use a smaller --target-utilization or --least-batch");
  return report;
}

}  // namespace memduel
