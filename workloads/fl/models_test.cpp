#include "fl/models.h"

#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel {
namespace {

// 832 + 51,264 + 524,800 + 5,130
TEST(Models, MnistCnnHas582026Parameters) {
  const Model model = make_model("mnist-cnn", 42);
  EXPECT_EQ(parameter_count(model), 582026);
  EXPECT_EQ(model.state.size(), 8U);
  EXPECT_EQ(model.network->forward(torch::zeros({2, 1, 28, 28})).sizes(), at::IntArrayRef({2, 10}));
}

// 2,432 + 51,264 + 819,712 + 5,130
TEST(Models, CifarCnnHas878538Parameters) {
  const Model model = make_model("cifar-cnn", 42);
  EXPECT_EQ(parameter_count(model), 878538);
  EXPECT_EQ(model.network->forward(torch::zeros({1, 3, 32, 32})).sizes(), at::IntArrayRef({1, 10}));
}

// 260 + 5,020 + 16,050 + 510
TEST(Models, CsflCnnHas21840Parameters) {
  const Model model = make_model("csfl-cnn", 42);
  EXPECT_EQ(parameter_count(model), 21840);
  EXPECT_EQ(model.network->forward(torch::zeros({2, 1, 28, 28})).sizes(), at::IntArrayRef({2, 10}));
}

// 896 + 18,496 + 73,856 + 524,544 + 2,570
TEST(Models, CsflLightCnnHas620362Parameters) {
  const Model model = make_model("csfl-light-cnn", 42);
  EXPECT_EQ(parameter_count(model), 620362);
  EXPECT_EQ(model.network->forward(torch::zeros({1, 3, 32, 32})).sizes(), at::IntArrayRef({1, 10}));
}

// 62 parameters and 20 batch norms with three buffers each; 44,734,408 bytes as in PyTorch.
TEST(Models, Resnet18Has11173962ParametersIn122Entries) {
  const Model model = make_model("resnet18", 42);
  EXPECT_EQ(parameter_count(model), 11173962);
  EXPECT_EQ(model.state.size(), 122U);
  EXPECT_EQ(model.parameters.size(), 62U);
  EXPECT_EQ(state_bytes(model.state), 44734408U);
  EXPECT_EQ(model.state[0].name, "conv1.weight");
  EXPECT_EQ(model.state[1].name, "bn1.weight");
  EXPECT_EQ(model.state[5].name, "bn1.num_batches_tracked");
  EXPECT_EQ(model.state.back().name, "linear.bias");
}

TEST(Models, SeedDecidesTheWeights) {
  const auto first = [](std::uint64_t seed) {
    return make_model("mnist-cnn", seed).state[0].tensor.flatten()[0].item<float>();
  };
  EXPECT_EQ(first(1), first(1));
  EXPECT_NE(first(1), first(2));
}

TEST(Models, StateAliasesTheNetwork) {
  const Model model = make_model("mnist-cnn", 42);
  const torch::NoGradGuard no_grad;
  find_tensor(model.state, "fc2.bias").fill_(1000);
  const torch::Tensor scores = model.network->forward(torch::zeros({1, 1, 28, 28}));
  EXPECT_GT(scores.min().item<float>(), 900);
}

TEST(Models, UnknownNameIsRefused) {
  EXPECT_THROW(make_model("mnist-cn", 1), Error);
}

}  // namespace
}  // namespace memduel
