#include "workloads/optimizations/predictions.h"

#include "workloads/optimizations/choice.h"

namespace memduel {
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

}  // namespace memduel
