#include "workloads/budget/probe.h"

#include <fmt/format.h>

#include "base/error.h"
#include "training/memory_budget.h"
#include "workloads/budget/largest_batch.h"
#include "workloads/budget/probed_training.h"
#include "workloads/federated/role_setup.h"
#include "workloads/probes/cuda_bytes.h"
#include "workloads/probes/device_bytes.h"
#include "workloads/probes/torch_bytes.h"

namespace memduel {
namespace {

std::unique_ptr<ProbedTraining> make_training(const WorkerConfig& config,
                                              const at::Device& device) {
  const std::string& kind = config.workload.kind;
  if (kind == "federated" || kind == "simulation") return make_image_training(config, device);
  throw Error(ExitCode::usage, fmt::format("kind \"{}\" trains no model", kind), "workload.kind",
              "a budget is for workloads that train");
}

/// The device before the training, and what is not tensors on it.
void describe_device(const at::Device& device, const BudgetRequest& request, BudgetReport& report) {
  report.device = device.is_cuda() ? "cuda" : "cpu";
  report.target_utilization = request.target_utilization;
  report.device_bytes = static_cast<double>(available_bytes(device));
  if (const auto capacity = device.is_cuda() ? cuda_capacity() : std::nullopt) {
    const std::int64_t reserved = cuda_bytes().value_or(CudaBytes{}).reserved;
    report.device_bytes = static_cast<double>(capacity->total);
    report.context_bytes = static_cast<double>(capacity->total - capacity->free - reserved);
  }
  if (request.device_bytes) report.device_bytes = *request.device_bytes;
  report.usable_bytes = usable_bytes(report.device_bytes, report.target_utilization);
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
  const at::Device device = warm_up(config);
  BudgetReport report;
  describe_device(device, request, report);
  const std::unique_ptr<ProbedTraining> training = make_training(config, device);
  const TrainingStep step = [&](std::int64_t batch) { training->step(batch); };
  report.from_shapes = training->from_shapes();
  const double before = live_bytes(device);
  report.found = largest_batch(step, device, report.tensor_budget_bytes(), request.bounds,
                               BatchSearch::measured);
  report.measured.data_bytes = training->data_bytes();
  report.measured.parameter_bytes = training->model_bytes();
  report.measured.gradient_bytes = gradient_bytes(*training);
  report.measured.optimizer_bytes = live_bytes(device) - before - report.measured.gradient_bytes;
  report.measured.sample_bytes = report.found.sample_bytes;
  if (!request.verify) return report;
  // Beyond the budget, if it must, but not beyond the machine.
  const double most = live_bytes(device) + static_cast<double>(available_bytes(device));
  report.true_peak_bytes = step_peak(step, device, report.found.batch, most);
  if (!report.true_peak_bytes)
    throw Error(ExitCode::cannot_measure,
                fmt::format("a step with {} samples has not memory enough", report.found.batch),
                "budget", "a smaller --target-utilization or --least-batch");
  return report;
}

}  // namespace memduel
