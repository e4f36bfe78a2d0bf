#include "teacher.h"

#include <algorithm>

#include "fl/training.h"
#include "memduel/memory_torch.h"

namespace memduel {
namespace {

// KD-GAT's.
constexpr double kTemperature = 4;
constexpr double kTeachersShare = 0.7;

torch::Tensor rows_of(std::span<const std::size_t> graphs) {
  return torch::tensor(std::vector<std::int64_t>(graphs.begin(), graphs.end()));
}

}  // namespace

Teacher::Teacher(Gat network, TeacherPlace place, const at::Device& device)
    : network_(std::move(network)), place_(place), device_(device) {
  network_->eval();
  for (torch::Tensor& one : network_->parameters()) {
    one.set_requires_grad(false);
    one.mutable_grad() = torch::Tensor();
  }
  if (comes_and_goes()) network_->to(torch::kCPU);
}

torch::Tensor Teacher::ask(const GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  return network_->forward(batch);
}

void Teacher::remember(const GraphStore& store, std::span<const std::size_t> graphs,
                       std::size_t at_once) {
  if (place_ != TeacherPlace::cached_outputs) return;
  for (std::size_t first = 0; first < graphs.size(); first += at_once) {
    const auto some = graphs.subspan(first, std::min(at_once, graphs.size() - first));
    const torch::Tensor answers = ask(make_batch(store, some).on(device_)).to(torch::kCPU);
    if (!remembered_.defined())
      remembered_ = torch::zeros({static_cast<std::int64_t>(store.size()), answers.size(1)});
    remembered_.index_copy_(0, rows_of(some), answers);
  }
  network_ = nullptr;
}

torch::Tensor Teacher::answer(const GraphBatch& batch, std::span<const std::size_t> indices) {
  if (place_ == TeacherPlace::cached_outputs)
    return remembered_.index_select(0, rows_of(indices)).to(device_);
  if (!comes_and_goes()) return ask(batch);
  network_->to(device_);
  torch::Tensor scores = ask(batch);
  network_->to(torch::kCPU);
  if (place_ == TeacherPlace::offloaded) torch_cuda().empty_cache();
  return scores;
}

std::int64_t Teacher::bytes_on_device() const {
  return network_.is_empty() || (comes_and_goes() && !device_.is_cpu())
             ? 0
             : parameter_bytes(*network_);
}

torch::Tensor distillation_loss(const torch::Tensor& scores, const torch::Tensor& teachers_scores,
                                const torch::Tensor& labels) {
  using torch::nn::functional::KLDivFuncOptions;
  const torch::Tensor divergence = torch::nn::functional::kl_div(
      torch::log_softmax(scores.to(torch::kFloat) / kTemperature, 1),
      torch::softmax(teachers_scores.to(torch::kFloat) / kTemperature, 1),
      KLDivFuncOptions().reduction(torch::kBatchMean));
  return kTeachersShare * kTemperature * kTemperature * divergence +
         (1 - kTeachersShare) * classification_loss(scores, labels);
}

torch::Tensor distilled_loss(Gat& student, Teacher& teacher, const GraphBatch& batch,
                             std::span<const std::size_t> indices) {
  torch::Tensor taught;
  if (teacher.answers_first()) taught = teacher.answer(batch, indices);
  const torch::Tensor scores = student->forward(batch);
  if (!teacher.answers_first()) taught = teacher.answer(batch, indices);
  return distillation_loss(scores, taught, batch.labels);
}

}  // namespace memduel
