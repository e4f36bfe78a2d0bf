// Whole runs, server and clients, under every preset: chunked or not, over either transport, with
// either framing, the final models are the same bits.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "fl/models.h"
#include "fl/roles.h"
#include "support/catalog_files.h"
#include "support/worker_runs.h"
#include "util/error.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

const char* const kPresets[] = {"appfl-original",      "appfl-as-implemented",
                                "appfl-1.12-original", "appfl-1.12-as-implemented",
                                "appfl-optimized",     "appfl-minimal"};

const nlohmann::json kNoChanges = nlohmann::json::object();

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

class WholeRun : public ::testing::Test {
 protected:
  WholeRun() : dir_(fs::path(::testing::TempDir()) / ("whole_run." + std::to_string(getpid()))) {}
  void TearDown() override { fs::remove_all(dir_); }

  State final_state(const TestRun& run) {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
    WorkerConfig config = test_run_config(dir_, run);
    config.data_dir = kDatasetsFolder;
    run_roles(config);
    return read_model_file(config.model_file);
  }

  fs::path dir_;
};

std::vector<std::string> transports() {
#ifdef MEMDUEL_HAVE_GRPC
  return {"unix", "grpc"};
#else
  return {"unix"};
#endif
}

TEST_F(WholeRun, EveryPresetTransportChunkingAndFramingEndsInTheSameBits) {
  const State original = final_state({});
  for (const char* preset : kPresets) {
    for (const std::string& transport : transports()) {
      for (const nlohmann::json& chunking : {nlohmann::json("off"), nlohmann::json(2048)}) {
        for (const char* framing : {"embedded_in_message", "metadata_then_raw"}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", preset, transport, chunking.dump(), framing));
          const State state = final_state({preset,
                                           {{"transport", {{"kind", transport}}}},
                                           {{"model_chunking", chunking}, {"framing", framing}}});
          EXPECT_TRUE(compare_states(original, state).bit_identical);
        }
      }
    }
  }
}

/// Tensors of more than 2 MiB among them, which are offloaded.
const nlohmann::json kLargeTensors = {
    {"tensors",
     {{"a", {600, 1024}}, {"b", {100}}, {"norm.batches", {{"shape", {3}}, {"dtype", "int64"}}}}},
    {"clients", 3},
    {"transport", {{"max_message_bytes", 10485760}}}};

// A policy decides when memory goes, not what is computed.
TEST_F(WholeRun, EveryPolicyOfNVFlareEndsInTheSameBits) {
  const State original = final_state({"nvflare-original", kLargeTensors, kNoChanges});
  const State appfl = final_state({"appfl-original", kLargeTensors, kNoChanges});
  EXPECT_LT(compare_states(appfl, original).max_abs_diff.value(), 1e-6);
  for (const char* preset :
       {"nvflare-original", "nvflare-as-implemented", "nvflare-optimized", "nvflare-2.9"}) {
    for (const nlohmann::json& changes :
         {kNoChanges, nlohmann::json{{"tensor_offload", "disk"}},
          nlohmann::json{{"cyclic_garbage", "until_collected"}, {"client_gc_rounds", 2}},
          nlohmann::json{{"aggregate", "in_time"}, {"model_chunking", 2048}}}) {
      for (const std::string& transport : transports()) {
        SCOPED_TRACE(fmt::format("{} {} {}", preset, changes.dump(), transport));
        nlohmann::json workload = kLargeTensors;
        workload["transport"]["kind"] = transport;
        EXPECT_TRUE(
            compare_states(original, final_state({preset, workload, changes})).bit_identical);
      }
    }
  }
}

// Nor does it matter when a strategy of Flower drops a round's replies.
TEST_F(WholeRun, BothStrategiesOfFlowerEndInTheBitsOfAppfl) {
  const State appfl = final_state({"appfl-original", kLargeTensors, kNoChanges});
  for (const char* preset : {"flower-1.42", "flower-1.42-clear-replies"}) {
    for (const char* send : {"weights", "gradient"}) {
      for (const nlohmann::json& changes : {kNoChanges, nlohmann::json{{"model_chunking", 2048}}}) {
        for (const std::string& transport : transports()) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", preset, send, changes.dump(), transport));
          nlohmann::json workload = kLargeTensors;
          workload["send"] = send;
          workload["transport"]["kind"] = transport;
          EXPECT_TRUE(
              compare_states(appfl, final_state({preset, workload, changes})).bit_identical);
        }
      }
    }
  }
}

// The clients average in turn: the same means in other processes.
TEST_F(WholeRun, ASwarmEndsInTheBitsThatAServerEndsIn) {
  nlohmann::json workload = kLargeTensors;
  workload["rounds"] = 5;
  const State star = final_state({"nvflare-as-implemented", workload, kNoChanges});
  workload["topology"] = "swarm";
  for (const char* preset : {"nvflare-original", "nvflare-optimized"}) {
    for (const std::string& transport : transports()) {
      SCOPED_TRACE(fmt::format("{} {}", preset, transport));
      workload["transport"]["kind"] = transport;
      EXPECT_TRUE(compare_states(star, final_state({preset, workload, kNoChanges})).bit_identical);
    }
  }
}

// previous - new is the negative of new - previous to the last bit, and so is all that follows.
TEST_F(WholeRun, DifferencesEndInTheBitsThatWeightsEndInUnderEveryPreset) {
  const State weights = final_state({});
  for (const char* preset : kPresets) {
    for (const nlohmann::json& chunking : {nlohmann::json("off"), nlohmann::json(2048)}) {
      SCOPED_TRACE(fmt::format("{} {}", preset, chunking.dump()));
      const State state =
          final_state({preset, {{"send", "gradient"}}, {{"model_chunking", chunking}}});
      EXPECT_TRUE(compare_states(weights, state).bit_identical);
    }
  }
}

// Real training on parts of unequal size, so that products with the weights round.
TEST_F(WholeRun, WeightsBySampleSizeEndInTheSameBitsUnderEveryPreset) {
  nlohmann::json workload = {{"kind", "federated"},
                             {"model", "mnist-cnn"},
                             {"tensors", nullptr},
                             {"dataset",
                              {{"name", "mnist"},
                               {"train_samples", 64},
                               {"test_samples", 8},
                               {"partition", "dirichlet"},
                               {"dirichlet_alpha", 0.5}}},
                             {"clients", 3},
                             {"local_steps", 1},
                             {"batch_size", 4},
                             {"optimizer", {{"name", "adam"}, {"learning_rate", 0.001}}},
                             {"server_validation", false},
                             {"weights", "sample_size"}};
  const State original = final_state({"appfl-original", workload, kNoChanges});
  for (const char* send : {"weights", "gradient"}) {
    workload["send"] = send;
    for (const char* preset : kPresets) {
      SCOPED_TRACE(fmt::format("{} {}", send, preset));
      const State state = final_state({preset, workload, kNoChanges});
      EXPECT_TRUE(compare_states(original, state).bit_identical);
    }
  }
}

// The server averages integers as values and would take a difference for one.
TEST_F(WholeRun, ADifferenceOfIntegersIsRefusedNamingClientRoundAndTensor) {
  for (const char* value : {"in_place", "out_of_place_kept"}) {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
    const WorkerConfig config =
        test_run_config(dir_, {"appfl-optimized",
                               {{"clients", 1},
                                {"send", "gradient"},
                                {"tensors", {{"ids", {{"shape", {4}}, {"dtype", "int64"}}}}}},
                               {{"pseudo_gradient", value}}});
    auto server = std::async(std::launch::async, [&] { run_server(config); });
    EXPECT_THAT(error_of([&] { run_client(config, 1); }),
                AllOf(HasSubstr("client-1"), HasSubstr("round 1"), HasSubstr("tensor ids"),
                      HasSubstr("integers")));
    // The server may still be sending the model when the client breaks off.
    EXPECT_THAT(error_of([&] { server.get(); }),
                AllOf(AnyOf(HasSubstr("round 1"), HasSubstr("initial model")),
                      HasSubstr("client-1 was lost")));
    EXPECT_FALSE(fs::exists(config.model_file));
  }
}

TEST_F(WholeRun, ChunksAndGoingOnWithoutAClientExcludeEachOther) {
  fs::create_directories(dir_);
  try {
    run_server(test_run_config(
        dir_, {"appfl-minimal", {{"on_lost_client", "continue"}}, {{"model_chunking", 2048}}}));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("workload.on_lost_client"));
  }
}

}  // namespace
}  // namespace memduel
