// The networks that classify images, and every model by its name.
//
// APPFL's CNN: two 5×5 convolutions (32 and 64 maps), each with ReLU and 2×2 pooling, then a hidden
// layer of 512. 582,026 parameters on 28×28 grey images, 878,538 on 32×32 in colour.
// CSFL-simulator's two small networks.
// ResNet18 for 32×32 images: a 3×3 stem without pooling, four stages of two basic blocks with 64 to
// 512 maps (He et al. 2016, as in the common CIFAR form). 11,173,962 parameters, 122 state entries.

#include "fl/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "util/error.h"
#include "util/text.h"

namespace memduel {

std::shared_ptr<ImageClassifier> make_cnn(std::int64_t channels, std::int64_t pixels_per_side);

/// CNN-MNIST, for images of 28 × 28 pixels in one channel: 21,840 parameters.
std::shared_ptr<ImageClassifier> make_csfl_cnn();

/// LightCNN, for images of 32 × 32 pixels in three channels: 620,362 parameters.
std::shared_ptr<ImageClassifier> make_csfl_light_cnn();

std::shared_ptr<ImageClassifier> make_resnet18();

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

namespace {

std::shared_ptr<ImageClassifier> make_criss_cross(const CrissCrossShape& shape) {
  return std::make_shared<CrissCrossTransformer>(shape);
}

struct KnownModel {
  std::string_view name;
  std::shared_ptr<ImageClassifier> (*make)();
};

constexpr KnownModel kModels[] = {
    {"mnist-cnn", [] { return make_cnn(1, 28); }},
    {"cifar-cnn", [] { return make_cnn(3, 32); }},
    {"resnet18", make_resnet18},
    {"csfl-cnn", make_csfl_cnn},
    {"csfl-light-cnn", make_csfl_light_cnn},
    {"cbramod", [] { return make_criss_cross(CrissCrossShape{}); }},
    {"cbramod-small", [] { return make_criss_cross(kSmallCrissCross); }},
};

void append_entries(const torch::nn::Module& module, const std::string& prefix, Model& model) {
  for (const auto& entry : module.named_parameters(/*recurse=*/false)) {
    model.state.push_back({prefix + entry.key(), entry.value()});
    model.parameters.insert(prefix + entry.key());
  }
  for (const auto& entry : module.named_buffers(/*recurse=*/false))
    model.state.push_back({prefix + entry.key(), entry.value()});
  for (const auto& child : module.named_children())
    append_entries(*child.value(), prefix + child.key() + ".", model);
}

}  // namespace

State state_of(const torch::nn::Module& network) {
  Model entries;
  append_entries(network, "", entries);
  return entries.state;
}

Model wrap_network(std::shared_ptr<ImageClassifier> network) {
  Model model{std::move(network), {}, {}};
  append_entries(*model.network, "", model);
  return model;
}

Model make_model(const std::string& name, std::uint64_t seed) {
  for (const KnownModel& known : kModels) {
    if (known.name != name) continue;
    torch::manual_seed(seed);
    return wrap_network(known.make());
  }
  throw Error(ExitCode::usage, fmt::format("unknown model \"{}\"", name), "workload.model",
              nearest_advice(name, model_names(),
                             fmt::format("expected one of: {}", fmt::join(model_names(), ", "))));
}

Model move_to(Model model, const at::Device& device) {
  if (device.is_cpu()) return model;
  if (model.network != nullptr) {
    model.network->to(device);
    return wrap_network(std::move(model.network));
  }
  for (NamedTensor& entry : model.state) entry.tensor = entry.tensor.to(device);
  return model;
}

at::Device device_of(const Model& model) {
  return model.state.front().tensor.device();
}

std::int64_t parameter_count(const Model& model) {
  std::int64_t count = 0;
  for (const NamedTensor& entry : model.state)
    if (model.parameters.contains(entry.name)) count += entry.tensor.numel();
  return count;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const KnownModel& known : kModels) names.emplace_back(known.name);
  return names;
}

}  // namespace memduel
