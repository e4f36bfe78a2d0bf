// Whole runs, server and clients, under every preset: chunked or not, over either transport, with
// either framing, the final models are the same bits.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "workloads/federated/model_file.h"
#include "workloads/federated/roles.h"
#include "workloads/federated/test_run.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class WholeRun : public ::testing::Test {
 protected:
  WholeRun() : dir_(fs::path(::testing::TempDir()) / ("whole_run." + std::to_string(getpid()))) {}
  void TearDown() override { fs::remove_all(dir_); }

  State final_state(const TestRun& run) {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
    const WorkerConfig config = test_run_config(dir_, run);
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
  for (const char* preset :
       {"appfl-original", "appfl-as-coded", "appfl-optimized", "appfl-minimal"}) {
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
