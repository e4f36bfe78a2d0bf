// CBraMod's network: a transformer over EEG in which half of the width attends across channels and
// the other half across time. Source: J. Wang et al., "CBraMod: A Criss-Cross Brain Foundation
// Model for EEG Decoding", ICLR 2025, and its code, without the parts that only pretraining uses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workloads/models/model.h"

namespace memduel {

inline constexpr std::int64_t kEegPatch = 200;  ///< samples, a second
inline constexpr std::int64_t kEegClasses = 5;  ///< stages of sleep

struct CrissCrossShape {
  int layers = 12;
  int heads = 8;  ///< half of them for each direction
  std::int64_t width = 200;
  double dropout = 0.1;
};

/// For a CPU: 76,165 parameters.
inline constexpr CrissCrossShape kSmallCrissCross{4, 4, 40, 0.1};

/// What the backward pass needs of a layer: kept from the forward pass, or computed again.
enum class LayerActivations { kept, recomputed };

/// As PyTorch's MultiheadAttention, of a sequence to itself: [n, length, width] to the same.
class SelfAttention : public torch::nn::Module {
 public:
  SelfAttention(std::int64_t width, int heads, double dropout);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  std::int64_t heads_;
  double dropout_;
  torch::Tensor in_proj_weight_;  ///< query, key and value, [3 × width, width]
  torch::Tensor in_proj_bias_;
  torch::nn::Linear out_proj_{nullptr};
};

/// One encoder layer: [batch, channels, patches, width] to the same.
class CrissCrossLayer : public torch::nn::Module {
 public:
  explicit CrissCrossLayer(const CrissCrossShape& shape);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::Tensor attend(const torch::Tensor& x);

  std::shared_ptr<SelfAttention> spatial_;
  std::shared_ptr<SelfAttention> temporal_;
  torch::nn::Linear linear1_{nullptr};
  torch::nn::Linear linear2_{nullptr};
  torch::nn::LayerNorm norm1_{nullptr};
  torch::nn::LayerNorm norm2_{nullptr};
  torch::nn::Dropout dropout_{nullptr};
};

class CrissCrossTransformer final : public ImageClassifier {
 public:
  explicit CrissCrossTransformer(const CrissCrossShape& shape = {});

  /// @param epochs [batch, channels, patches, 200], about 1 in size. Returns [batch, 5].
  torch::Tensor forward(torch::Tensor epochs) override;

  void set_activations(LayerActivations activations) { activations_ = activations; }

 private:
  torch::Tensor embed(const torch::Tensor& epochs);

  LayerActivations activations_ = LayerActivations::kept;
  std::int64_t width_;
  std::vector<torch::nn::Conv2d> convolutions_;
  std::vector<torch::nn::GroupNorm> norms_;
  torch::nn::Sequential spectral_proj_{nullptr};
  torch::nn::Conv2d positional_encoding_{nullptr};
  std::vector<std::shared_ptr<CrissCrossLayer>> layers_;
  torch::nn::Linear classifier_{nullptr};
};

}  // namespace memduel
