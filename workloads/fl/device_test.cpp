// Whole runs with models, batches, optimizers and received states on a device (stand_in_device.h):
// the same bits as on the CPU, and the bytes on the device that each switch stands for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fl/models.h"
#include "fl/probes.h"
#include "fl/roles.h"
#include "fl/training.h"
#include "optimizations/sending.h"
#include "support/catalog_files.h"
#include "support/stand_in_device.h"
#include "support/worker_runs.h"
#include "trainer.h"
#include "util/error.h"

namespace memduel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kEveryPreset[] = {"appfl-original", "appfl-as-implemented", "appfl-optimized",
                                        "appfl-minimal"};

class OnADevice : public ::testing::Test {
 protected:
  OnADevice()
      : dir_(std::filesystem::path(::testing::TempDir()) /
             ("on_a_device." + std::to_string(getpid()))) {
    install_stand_in_device();
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  State final_state(const TestRun& run, const std::string& device) {
    return final_state(run, device, device);
  }

  State final_state(const TestRun& run, const std::string& server, const std::string& clients) {
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
    WorkerConfig config = test_run_config(dir_, run);
    config.data_dir = kDatasetsFolder;
    config.workload.server_device = server;
    config.workload.device = clients;
    run_roles(config);
    return read_model_file(config.model_file);
  }

  void expect_bits_of_the_cpu(const TestRun& run) {
    const StateDifference difference =
        compare_states(final_state(run, "cpu"), final_state(run, kStandInDevice));
    EXPECT_TRUE(difference.bit_identical) << difference.max_abs_diff.value_or(-1);
  }

  std::filesystem::path dir_;
};

TEST_F(OnADevice, EveryPresetEndsInTheBitsOfTheCpu) {
  for (const char* preset : kEveryPreset)
    for (const char* send : {"weights", "gradient"})
      for (const nlohmann::json& chunking : {nlohmann::json("off"), nlohmann::json(2048)}) {
        SCOPED_TRACE(std::string(preset) + " " + send + " " + chunking.dump());
        expect_bits_of_the_cpu({preset, {{"send", send}}, {{"model_chunking", chunking}}});
      }
}

// As APPFL's examples are run: a server on the CPU, its clients on a GPU. And the other way about.
TEST_F(OnADevice, RolesOnDifferentDevicesEndInTheBitsOfTheCpu) {
  for (const char* preset : kEveryPreset) {
    SCOPED_TRACE(preset);
    const State on_cpu = final_state({preset}, "cpu");
    reset_stand_in_peak();
    EXPECT_TRUE(compare_states(on_cpu, final_state({preset}, "cpu", kStandInDevice)).bit_identical);
    EXPECT_GT(stand_in_bytes().peak, 0) << "the clients were there";
    EXPECT_TRUE(compare_states(on_cpu, final_state({preset}, kStandInDevice, "cpu")).bit_identical);
  }
}

// 1/3 and 1/7 are no binary fractions, so that a product with them is no division.
TEST_F(OnADevice, ADivisionIsOneAndNoProductWithAReciprocal) {
  for (const double number : {3.0, 7.0}) {
    const at::Tensor values = torch::arange(1, 1000, at::kFloat);
    const at::Tensor there = values.to(at::Device(kStandInDevice));
    const at::Tensor divisor = divisor_for(there, number);
    EXPECT_EQ(divisor.device().type(), at::kXPU) << "a number in main memory is no divisor there";
    for (std::int64_t i = 0; i < values.numel(); ++i)
      ASSERT_EQ(there.div(divisor).cpu()[i].item<float>(),
                values[i].item<float>() / static_cast<float>(number));
  }
  EXPECT_EQ(divisor_for(torch::ones({2}, at::kLong), 3).scalar_type(), at::kLong);
}

TEST_F(OnADevice, BytesOfADeviceAreItsOwn) {
  const at::Device device(kStandInDevice);
  reset_peak_bytes(device);
  const double before = live_bytes(device);
  torch::ones({256, 256}).to(device);
  EXPECT_EQ(live_bytes(device), before);
  EXPECT_EQ(peak_bytes(device) - before, 4.0 * 256 * 256);
}

TEST_F(OnADevice, CompressedUploadsEndInTheBitsOfTheCpu) {
  for (const char* deserialize : {"source_device", "cpu_first", "in_place_views"}) {
    SCOPED_TRACE(deserialize);
    expect_bits_of_the_cpu({"appfl-optimized",
                            nlohmann::json::object(),
                            {{"compression", "blosc"}, {"deserialize", deserialize}}});
  }
}

TEST_F(OnADevice, TrainingAndValidationEndInTheBitsOfTheCpu) {
  const nlohmann::json training = {
      {"kind", "federated"},
      {"model", "mnist-cnn"},
      {"tensors", nullptr},
      {"dataset", {{"name", "mnist"}, {"train_samples", 16}, {"test_samples", 8}}},
      {"local_steps", 2},
      {"batch_size", 4},
      {"client_validation", true},
      {"optimizer", {{"name", "adam"}, {"learning_rate", 0.001}}}};
  for (const char* preset : {"appfl-original", "appfl-minimal"}) {
    SCOPED_TRACE(preset);
    expect_bits_of_the_cpu({preset, training, nlohmann::json::object()});
  }
}

TEST_F(OnADevice, ModelAndStateAreThereAndOneAnother) {
  const Model model = move_to(make_model("mnist-cnn", 1), at::Device(kStandInDevice));
  EXPECT_EQ(device_of(model).type(), at::kXPU);
  for (const auto& parameter : model.network->named_parameters()) {
    EXPECT_EQ(parameter.value().device().type(), at::kXPU) << parameter.key();
    EXPECT_TRUE(find_tensor(model.state, parameter.key()).is_alias_of(parameter.value()));
  }
}

// S is the state's bytes, L its largest tensor's.
TEST_F(OnADevice, CpuFirstLoadsAStateWithoutASecondOneOnTheDevice) {
  const at::Device device(kStandInDevice);
  constexpr std::int64_t kLargest = std::int64_t{4} * 512 * 1024;
  constexpr std::int64_t kState = kLargest + std::int64_t{4} * 100;
  const Model model =
      move_to({nullptr, {{"a", torch::ones({512, 1024})}, {"b", torch::ones({100})}}, {}}, device);
  const SharedBytes received = encode_state(model.state);
  const auto extra_peak = [&](const char* deserialize) {
    reset_stand_in_peak();
    const std::int64_t before = stand_in_bytes().live;
    copy_state(make_deserializer(deserialize, device)->load(received, "server"), model.state);
    EXPECT_EQ(stand_in_bytes().live, before);
    return stand_in_bytes().peak - before;
  };
  EXPECT_EQ(extra_peak("source_device"), kState);
  EXPECT_EQ(extra_peak("cpu_first"), 0);
  EXPECT_EQ(extra_peak("in_place_views"), 0);
}

TEST_F(OnADevice, WhatIsSentLeavesTheDevice) {
  const WorkerConfig config = test_run_config(dir_, {});
  for (const char* upload : {"deep_copy", "reference"}) {
    nlohmann::json switches = config.optimizations;
    switches["upload_state"] = upload;
    const Optimizations optimizations = make_optimizations(switches, 1 << 20);
    Model model =
        move_to({nullptr, {{"a", torch::ones({256, 256})}}, {"a"}}, at::Device(kStandInDevice));
    const std::int64_t before = stand_in_bytes().live;
    const auto trainer = make_shift_trainer(config.workload, optimizations, model, 1);
    trainer->train();
    EXPECT_TRUE(trainer->upload().front().tensor.is_cpu()) << upload;
    EXPECT_EQ(stand_in_bytes().live, before) << upload;
    EXPECT_EQ(trainer->upload().front().tensor.min().item<double>(), 1 + 1 / 1024.0) << upload;
  }
}

TEST_F(OnADevice, SnapshotsCloneOnTheDeviceAndReferencesDoNot) {
  const at::Device device(kStandInDevice);
  const Model model = move_to({nullptr, {{"a", torch::ones({256, 256})}}, {"a"}}, device);
  constexpr std::int64_t kState = std::int64_t{4} * 256 * 256;
  const auto extra_live = [&](const char* upload) {
    const std::int64_t before = stand_in_bytes().live;
    const State taken = make_upload_state(upload)->take(model.state);
    return stand_in_bytes().live - before;
  };
  EXPECT_EQ(extra_live("deep_copy"), kState);
  EXPECT_EQ(extra_live("clone_detach"), kState);
  EXPECT_EQ(extra_live("reference"), 0);

  const auto gradient_peak = [&](const char* value) {
    State previous = make_state_snapshot("clone_detach")->take(model.state);
    reset_stand_in_peak();
    const std::int64_t before = stand_in_bytes().live;
    const State gradient =
        make_pseudo_gradient(value)->compute(previous, model.state, model.parameters);
    return stand_in_bytes().peak - before;
  };
  EXPECT_EQ(gradient_peak("out_of_place_kept"), kState);
  EXPECT_EQ(gradient_peak("in_place"), 0);
}

TEST(OpenDevice, RefusesAGpuThatIsNotThere) {
  if (why_no_cuda().empty()) GTEST_SKIP() << "there is a GPU";
  try {
    open_device("cuda");
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_measure);
    EXPECT_THAT(error.message(),
                AllOf(HasSubstr("workload.device"), HasSubstr("cuda"), HasSubstr(why_no_cuda())));
  }
}

}  // namespace
}  // namespace memduel
