// Switch predictions: what a pass over samples keeps to compute its accuracy.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>

namespace memduel {

class Predictions {
 public:
  Predictions() = default;
  Predictions(const Predictions&) = delete;
  Predictions& operator=(const Predictions&) = delete;
  virtual ~Predictions() = default;

  /// @param scores [n, classes], @param labels [n]
  virtual void add(const torch::Tensor& scores, const torch::Tensor& labels) = 0;

  /// Share of samples whose highest score is their label; 0 without samples.
  [[nodiscard]] virtual double accuracy() const = 0;
};

using MakePredictions = std::unique_ptr<Predictions> (*)();

/// @param value kept: all scores and labels, in main memory, put together at the end; reduced: two
/// counters.
MakePredictions choose_predictions(const std::string& value);

}  // namespace memduel
