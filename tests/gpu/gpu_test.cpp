// LibTorch's account of a GPU against the driver's, and whole runs on the device.
#include <gtest/gtest.h>
#include <torch/torch.h>
#include <unistd.h>

#include "fl/models.h"
#include "fl/probes.h"
#include "fl/roles.h"
#include "meters/nvml.h"
#include "support/worker_runs.h"

namespace memduel {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20;

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_cuda(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  }
};

torch::Tensor on_gpu(std::int64_t bytes, const at::Device& device) {
  return torch::empty({bytes}, torch::TensorOptions().dtype(torch::kByte).device(device));
}

TEST_F(Gpu, DeviceMemoryUsedAboveIdleIsWhatLibTorchReserves) {
  const at::Device device = open_device("cuda");
  // The context, and the kernels that are loaded when they first run, are of the idle level.
  on_gpu(kMib, device).fill_(1).add_(1);
  await_device(device);
  empty_cuda_cache();
  const Nvml nvml;
  const std::int64_t idle_used = nvml.used_bytes().value();
  const std::int64_t idle_of_process = nvml.used_bytes_by_process()[getpid()];
  const std::int64_t idle_reserved = cuda_bytes()->reserved;

  std::vector<torch::Tensor> held;
  for (const std::int64_t mib : {1, 64, 300, 700}) {
    held.push_back(on_gpu(mib * kMib, device).fill_(1));
    await_device(device);
    const auto reserved = static_cast<double>(cuda_bytes()->reserved - idle_reserved);
    const double allowed = 0.02 * reserved + 2.0 * static_cast<double>(kMib);
    EXPECT_NEAR(static_cast<double>(nvml.used_bytes().value() - idle_used), reserved, allowed);
    const std::int64_t of_process = nvml.used_bytes_by_process()[getpid()];
    if (of_process != 0) {  // the driver tells processes of this PID namespace apart
      EXPECT_NEAR(static_cast<double>(of_process - idle_of_process), reserved, allowed);
    }
  }
}

TEST_F(Gpu, TheProbeCountsTensorsTheCacheBehindThemAndItsPeaks) {
  const at::Device device = open_device("cuda");
  on_gpu(kMib, device).fill_(1);
  empty_cuda_cache();
  reset_cuda_peaks();
  const CudaBytes before = cuda_bytes().value();
  {
    const torch::Tensor passing = on_gpu(64 * kMib, device);
  }
  const torch::Tensor staying = on_gpu(32 * kMib, device);
  const CudaBytes after = cuda_bytes().value();
  EXPECT_EQ(after.allocated - before.allocated, 32 * kMib);
  EXPECT_EQ(after.peak_allocated - before.allocated, 64 * kMib);
  EXPECT_EQ(after.reserved - before.reserved, 64 * kMib);
  EXPECT_EQ(after.inactive_split - before.inactive_split, 32 * kMib);
  reset_cuda_peaks();
  EXPECT_EQ(cuda_bytes()->peak_allocated, after.allocated);
}

TEST_F(Gpu, EveryPresetEndsInTheBitsOfTheCpu) {
  const std::filesystem::path dir =
      std::filesystem::path(::testing::TempDir()) / ("gpu_test." + std::to_string(getpid()));
  const auto final_state = [&](const char* preset, const char* device) {
    std::filesystem::remove_all(dir);
    std::filesystem::create_directories(dir);
    WorkerConfig config = test_run_config(dir, {preset, {}, {}});
    config.workload.device = device;
    run_roles(config);
    return read_model_file(config.model_file);
  };
  const State on_the_cpu = final_state("appfl-original", "cpu");
  for (const char* preset :
       {"appfl-original", "appfl-as-implemented", "appfl-optimized", "appfl-minimal"}) {
    SCOPED_TRACE(preset);
    EXPECT_TRUE(compare_states(on_the_cpu, final_state(preset, "cuda")).bit_identical);
  }
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace memduel
