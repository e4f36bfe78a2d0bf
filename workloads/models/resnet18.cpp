#include "workloads/models/resnet18.h"

namespace memduel {
namespace {

namespace nn = torch::nn;

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                       std::int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

class BasicBlock final : public ImageClassifier {
 public:
  BasicBlock(std::int64_t in, std::int64_t out, std::int64_t stride)
      : conv1_(register_module("conv1", convolution(in, out, 3, stride))),
        bn1_(register_module("bn1", nn::BatchNorm2d(out))),
        conv2_(register_module("conv2", convolution(out, out, 3, 1))),
        bn2_(register_module("bn2", nn::BatchNorm2d(out))),
        shortcut_(register_module("shortcut", nn::Sequential())) {
    if (stride == 1 && in == out) return;
    shortcut_->push_back(convolution(in, out, 1, stride));
    shortcut_->push_back(nn::BatchNorm2d(out));
  }

  torch::Tensor forward(torch::Tensor x) override {
    const torch::Tensor inner = bn2_(conv2_(torch::relu(bn1_(conv1_(x)))));
    return torch::relu(inner + (shortcut_->is_empty() ? x : shortcut_->forward(x)));
  }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  nn::BatchNorm2d bn2_;
  nn::Sequential shortcut_;
};

class ResNet18 final : public ImageClassifier {
 public:
  ResNet18()
      : conv1_(register_module("conv1", convolution(3, 64, 3, 1))),
        bn1_(register_module("bn1", nn::BatchNorm2d(64))) {
    std::int64_t in = 64;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const std::int64_t out = std::int64_t{64} << i;
      stages_[i] = register_module("layer" + std::to_string(i + 1), nn::Sequential());
      stages_[i]->push_back(std::make_shared<BasicBlock>(in, out, i == 0 ? 1 : 2));
      stages_[i]->push_back(std::make_shared<BasicBlock>(out, out, 1));
      in = out;
    }
    linear_ = register_module("linear", nn::Linear(512, 10));
  }

  torch::Tensor forward(torch::Tensor images) override {
    torch::Tensor x = torch::relu(bn1_(conv1_(images)));
    for (nn::Sequential& stage : stages_) x = stage->forward(x);
    return linear_(torch::avg_pool2d(x, 4).flatten(1));
  }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  std::array<nn::Sequential, 4> stages_{nullptr, nullptr, nullptr, nullptr};
  nn::Linear linear_{nullptr};
};

}  // namespace

std::shared_ptr<ImageClassifier> make_resnet18() {
  return std::make_shared<ResNet18>();
}

}  // namespace memduel
