#include "workloads/models/cnn.h"

namespace memduel {
namespace {

namespace nn = torch::nn;

class Cnn final : public ImageClassifier {
 public:
  Cnn(std::int64_t channels, std::int64_t pixels_per_side)
      : conv1_(register_module("conv1", nn::Conv2d(channels, 32, 5))),
        conv2_(register_module("conv2", nn::Conv2d(32, 64, 5))) {
    const std::int64_t side = ((pixels_per_side - 4) / 2 - 4) / 2;
    fc1_ = register_module("fc1", nn::Linear(64 * side * side, 512));
    fc2_ = register_module("fc2", nn::Linear(512, 10));
  }

  torch::Tensor forward(torch::Tensor images) override {
    torch::Tensor x = torch::max_pool2d(torch::relu(conv1_(images)), 2);
    x = torch::max_pool2d(torch::relu(conv2_(x)), 2);
    return fc2_(torch::relu(fc1_(x.flatten(1))));
  }

 private:
  nn::Conv2d conv1_;
  nn::Conv2d conv2_;
  nn::Linear fc1_{nullptr};
  nn::Linear fc2_{nullptr};
};

}  // namespace

std::shared_ptr<ImageClassifier> make_cnn(std::int64_t channels, std::int64_t pixels_per_side) {
  return std::make_shared<Cnn>(channels, pixels_per_side);
}

}  // namespace memduel
