#include "workloads/models/csfl_cnn.h"

namespace memduel {
namespace {

namespace nn = torch::nn;

class CsflCnn final : public ImageClassifier {
 public:
  torch::Tensor forward(torch::Tensor images) override {
    torch::Tensor x = torch::relu(torch::max_pool2d(conv1_(images), 2));
    x = torch::relu(torch::max_pool2d(conv2_(x), 2));
    return fc2_(torch::relu(fc1_(x.flatten(1))));
  }

 private:
  nn::Conv2d conv1_ = register_module("conv1", nn::Conv2d(1, 10, 5));
  nn::Conv2d conv2_ = register_module("conv2", nn::Conv2d(10, 20, 5));
  nn::Linear fc1_ = register_module("fc1", nn::Linear(320, 50));
  nn::Linear fc2_ = register_module("fc2", nn::Linear(50, 10));
};

class CsflLightCnn final : public ImageClassifier {
 public:
  torch::Tensor forward(torch::Tensor images) override {
    torch::Tensor x = std::move(images);
    for (nn::Conv2d* layer : {&conv1_, &conv2_, &conv3_})
      x = torch::max_pool2d(torch::relu((*layer)(x)), 2);
    return fc2_(torch::relu(fc1_(x.flatten(1))));
  }

 private:
  static nn::Conv2d convolution(std::int64_t in, std::int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1));
  }

  nn::Conv2d conv1_ = register_module("conv1", convolution(3, 32));
  nn::Conv2d conv2_ = register_module("conv2", convolution(32, 64));
  nn::Conv2d conv3_ = register_module("conv3", convolution(64, 128));
  nn::Linear fc1_ = register_module("fc1", nn::Linear(2048, 256));
  nn::Linear fc2_ = register_module("fc2", nn::Linear(256, 10));
};

}  // namespace

std::shared_ptr<ImageClassifier> make_csfl_cnn() {
  return std::make_shared<CsflCnn>();
}

std::shared_ptr<ImageClassifier> make_csfl_light_cnn() {
  return std::make_shared<CsflLightCnn>();
}

}  // namespace memduel
