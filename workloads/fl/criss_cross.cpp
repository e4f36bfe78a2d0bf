#include <fmt/format.h>

#include <cmath>

#include "fl/models.h"
#include "fl/training.h"

namespace memduel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class Gelu : public torch::autograd::Function<Gelu> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x) {
    context->save_for_backward({x});
    return at::gelu(x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {
        at::gelu_backward(gradients.front().contiguous(), context->get_saved_variables().front())};
  }
};

}  // namespace

torch::Tensor exact_gelu(const torch::Tensor& x) {
  return Gelu::apply(x.contiguous());
}

namespace {

namespace nn = torch::nn;

constexpr std::int64_t kFeedForward = 4;  // times the width
constexpr std::int64_t kSteps = 8;        // of the first convolution in a patch
constexpr std::int64_t kGroups = 5;

/// Along a patch, as high as one of them.
nn::Conv2d patch_convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                             std::int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, {1, kernel}).stride({1, stride}).padding({0, kernel / 2}));
}

}  // namespace

SelfAttention::SelfAttention(std::int64_t width, int heads, double dropout)
    : heads_(heads),
      dropout_(dropout),
      in_proj_weight_(register_parameter("in_proj_weight", torch::empty({3 * width, width}))),
      in_proj_bias_(register_parameter("in_proj_bias", torch::zeros({3 * width}))),
      out_proj_(register_module("out_proj", nn::Linear(width, width))) {
  const torch::NoGradGuard no_grad;
  nn::init::xavier_uniform_(in_proj_weight_);
  out_proj_->bias.zero_();
}

torch::Tensor SelfAttention::forward(const torch::Tensor& x) {
  const std::int64_t head_width = x.size(2) / heads_;
  const torch::Tensor projected = torch::nn::functional::linear(x, in_proj_weight_, in_proj_bias_)
                                      .view({x.size(0), x.size(1), 3, heads_, head_width})
                                      .permute({2, 0, 3, 1, 4});
  const torch::Tensor query = projected[0] / std::sqrt(static_cast<double>(head_width));
  torch::Tensor shares = torch::softmax(torch::matmul(query, projected[1].transpose(2, 3)), -1);
  shares = torch::dropout(shares, dropout_, is_training());
  return out_proj_(torch::matmul(shares, projected[2]).transpose(1, 2).flatten(2));
}

CrissCrossLayer::CrissCrossLayer(const CrissCrossShape& shape)
    : spatial_(register_module(
          "self_attn_s",
          std::make_shared<SelfAttention>(shape.width / 2, shape.heads / 2, shape.dropout))),
      temporal_(register_module(
          "self_attn_t",
          std::make_shared<SelfAttention>(shape.width / 2, shape.heads / 2, shape.dropout))),
      linear1_(register_module("linear1", nn::Linear(shape.width, kFeedForward * shape.width))),
      linear2_(register_module("linear2", nn::Linear(kFeedForward * shape.width, shape.width))),
      norm1_(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({shape.width})))),
      norm2_(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({shape.width})))),
      dropout_(register_module("dropout", nn::Dropout(shape.dropout))) {}

torch::Tensor CrissCrossLayer::attend(const torch::Tensor& x) {
  const std::int64_t batch = x.size(0);
  const std::int64_t channels = x.size(1);
  const std::int64_t patches = x.size(2);
  const std::int64_t half = x.size(3) / 2;
  const std::vector<torch::Tensor> halves = x.chunk(2, -1);
  const torch::Tensor across_channels =
      spatial_->forward(halves[0].transpose(1, 2).reshape({batch * patches, channels, half}))
          .view({batch, patches, channels, half})
          .transpose(1, 2);
  const torch::Tensor across_time =
      temporal_->forward(halves[1].reshape({batch * channels, patches, half}))
          .view({batch, channels, patches, half});
  return dropout_(torch::cat({across_channels, across_time}, -1));
}

torch::Tensor CrissCrossLayer::forward(const torch::Tensor& x) {
  const torch::Tensor attended = x + attend(norm1_(x));
  const torch::Tensor hidden = dropout_(exact_gelu(linear1_(norm2_(attended))));
  return attended + dropout_(linear2_(hidden));
}

CrissCrossTransformer::CrissCrossTransformer(const CrissCrossShape& shape)
    : width_(shape.width),
      spectral_proj_(register_module(
          "spectral_proj",
          nn::Sequential(nn::Linear(kEegPatch / 2 + 1, shape.width), nn::Dropout(shape.dropout)))),
      positional_encoding_(register_module(
          "positional_encoding", nn::Conv2d(nn::Conv2dOptions(shape.width, shape.width, {19, 7})
                                                .padding({9, 3})
                                                .groups(shape.width)))),
      classifier_(register_module("classifier", nn::Linear(shape.width, kEegClasses))) {
  const std::int64_t filters = shape.width / kSteps;
  for (int i = 0; i < 3; ++i) {
    convolutions_.push_back(register_module(
        fmt::format("convolution{}", i), i == 0
                                             ? patch_convolution(1, filters, 49, kEegPatch / kSteps)
                                             : patch_convolution(filters, filters, 3, 1)));
    norms_.push_back(
        register_module(fmt::format("group_norm{}", i), nn::GroupNorm(kGroups, filters)));
  }
  for (int i = 0; i < shape.layers; ++i)
    layers_.push_back(
        register_module(fmt::format("layer{}", i), std::make_shared<CrissCrossLayer>(shape)));
}

torch::Tensor CrissCrossTransformer::embed(const torch::Tensor& epochs) {
  const std::int64_t batch = epochs.size(0);
  const std::int64_t channels = epochs.size(1);
  const std::int64_t patches = epochs.size(2);
  torch::Tensor x = epochs.reshape({batch, 1, channels * patches, kEegPatch});
  // The norm has no kernel for what a convolution in half precision gives.
  for (std::size_t i = 0; i < convolutions_.size(); ++i)
    x = exact_gelu(norms_[i](convolutions_[i](x).to(torch::kFloat)));
  const torch::Tensor in_time = x.transpose(1, 2).reshape({batch, channels, patches, width_});
  const torch::Tensor spectrum = torch::abs(torch::fft::rfft(epochs, c10::nullopt, -1, "forward"));
  const torch::Tensor patch = in_time + spectral_proj_->forward(spectrum);
  return patch + positional_encoding_(patch.permute({0, 3, 1, 2})).permute({0, 2, 3, 1});
}

torch::Tensor CrissCrossTransformer::forward(torch::Tensor epochs) {
  torch::Tensor x = embed(epochs);
  for (const std::shared_ptr<CrissCrossLayer>& layer : layers_) {
    const Block block = [&layer](const torch::Tensor& in) { return layer->forward(in); };
    x = activations_ == LayerActivations::recomputed ? checkpointed(block, x, layer->parameters())
                                                     : block(x);
  }
  return classifier_(x.mean({1, 2}));
}

}  // namespace memduel
