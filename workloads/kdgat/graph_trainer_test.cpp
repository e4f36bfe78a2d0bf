// Whole trainings in this process.
#include "kdgat/graph_trainer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "fl/models.h"
#include "graph_networks.h"
#include "support/worker_runs.h"
#include "synthetic_traffic.h"
#include "test_sample_graphs.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class GraphTrainerTest : public ::testing::Test {
 protected:
  [[nodiscard]] WorkerConfig config(const json& workload, const json& switches) const {
    json all = {{"kind", "graph"},
                {"model", "gat-small"},
                {"teacher", "gat-small"},
                {"autoencoder", "vgae-small"},
                {"threads", 1},
                {"dataset", {{"name", "can-generated"}, {"graphs", 1100}, {"seed", 42}}},
                {"autoencoder_epochs", 1},
                {"teacher_epochs", 1},
                {"student_epochs", 2},
                {"batch_size", 64},
                {"learning_rate", 0.003},
                {"deadline_seconds", 100}};
    all.merge_patch(workload);
    return played_config(all, "kdgat-original", switches, dir_, data_dir());
  }

  State trained(const json& switches, const json& workload = json::object()) {
    const WorkerConfig chosen = config(workload, switches);
    run_graphs(chosen);
    run_graph_trainer(chosen);
    return read_model_file(chosen.model_file);
  }

  [[nodiscard]] std::string refusal(const json& workload) const {
    try {
      const WorkerConfig chosen = config(workload, json::object());
      run_graphs(chosen);
      run_graph_trainer(chosen);
    } catch (const Error& error) {
      return error.message();
    }
    return "accepted";
  }

  /// As the data set of a workload: drive.csv in this test's directory.
  [[nodiscard]] json recording(const json& attacks) const {
    return {{"name", "can-log"},
            {"graphs", nullptr},
            {"file", (dir_ / "drive.csv").string()},
            {"attacks", attacks}};
  }

  static std::string data_dir() {
    const char* data = std::getenv("MEMDUEL_DATA_DIR");
    return data == nullptr ? "" : data;
  }

  const ScratchDirectory scratch_{::testing::TempDir(), "graph_trainer"};
  const fs::path dir_ = scratch_.path();
};

TEST_F(GraphTrainerTest, WhatOnlySavesMemoryEndsInTheSameBits) {
  const State original = trained(json::object());
  const State saving = trained({{"graph_loading", "mmap"},
                                {"teacher", "before_student"},
                                {"difficulty_scoring", "chunked"},
                                {"gradient_checkpointing", "per_block"},
                                {"loader_workers", 0}});
  EXPECT_TRUE(compare_states(original, saving).bit_identical);
  EXPECT_TRUE(compare_states(original, trained({{"teacher", "offloaded"}})).bit_identical);
  EXPECT_FALSE(compare_states(original, trained({{"mixed_precision", "bf16"}})).bit_identical);
}

// The same answers but for the last bits, and Adam's first steps divide by them.
TEST_F(GraphTrainerTest, RememberedAnswersEndCloseBy) {
  const auto difference =
      compare_states(trained(json::object()), trained({{"teacher", "cached_outputs"}}));
  EXPECT_LT(difference.max_abs_diff.value(), 0.001);
}

TEST_F(GraphTrainerTest, ItLearns) {
  const json longer = {{"student_epochs", 5}, {"teacher_epochs", 3}};
  Gat student(std::get<GatShape>(find_graph_model("gat-small").shape), 35);
  copy_state(trained(json::object(), longer), state_of(*student));
  student->eval();
  // Other traffic than that it was trained on.
  const SampleGraphs file(1200, 4711);
  const auto store = file.open();
  const GraphBatch batch = make_batch(*store, first_graphs(1200));
  const torch::NoGradGuard no_grad;
  const torch::Tensor said = student->forward(batch).argmax(1);
  const torch::Tensor right = (said == batch.labels).to(torch::kDouble);
  EXPECT_GT(right.masked_select(batch.labels == 1).mean().item<double>(), 0.9);
  EXPECT_GT(right.masked_select(batch.labels == 0).mean().item<double>(), 0.9);
}

TEST_F(GraphTrainerTest, BatchesAreAsLargeAsTheMemoryThatIsPlannedFor) {
  // The least there is, eight, and more than all graphs.
  const json tight = {{"device_memory_bytes", 1e6}, {"batch_size", 4096}};
  const State least = trained({{"batch_size", "static"}}, tight);
  EXPECT_TRUE(compare_states(least, trained(json::object(), {{"batch_size", 8}})).bit_identical);
  const State measured = trained({{"batch_size", "measured"}}, tight);
  EXPECT_TRUE(compare_states(least, measured).bit_identical);
  const json wide = {{"device_memory_bytes", 1e12}, {"batch_size", 64}};
  const State most = trained({{"batch_size", "static_as_implemented"}}, wide);
  EXPECT_TRUE(compare_states(most, trained(json::object())).bit_identical);
  EXPECT_TRUE(compare_states(most, trained({{"batch_size", "search"}}, wide)).bit_identical);
}

TEST_F(GraphTrainerTest, TooFewGraphsForAnAttackAreRefused) {
  EXPECT_THAT(refusal({{"dataset", {{"graphs", 1099}}}}),
              AllOf(HasSubstr("workload.dataset.graphs"), HasSubstr("1099"), HasSubstr("1100")));
}

TEST_F(GraphTrainerTest, ARecordingWithoutAnAttackIsRefused) {
  std::string log;
  for (const CanFrame& frame : generate_traffic(50'001, 0, 1))
    log += fmt::format("{}.{:06},{:04x},0,R\n", frame.time_us / 1'000'000,
                       frame.time_us % 1'000'000, frame.id);
  write_file_atomically(dir_ / "drive.csv", log);
  EXPECT_THAT(refusal({{"dataset", recording(json::array())}}), HasSubstr("found 400, 0 and "));
}

TEST_F(GraphTrainerTest, ARecordingOfLessThanTwoFramesIsRefused) {
  std::ofstream(dir_ / "drive.csv") << "";
  EXPECT_THAT(refusal({{"dataset", recording({"dos"})}}),
              HasSubstr("drive.csv: expected at least 2 frames, found 0"));
  std::ofstream(dir_ / "drive.csv") << "1478198376.389427,0316,1,05,R\n";
  EXPECT_THAT(refusal({{"dataset", recording({"dos"})}}),
              HasSubstr("drive.csv: expected at least 2 frames, found 1"));
  EXPECT_FALSE(fs::exists(dir_ / "graphs.bin"));
}

TEST_F(GraphTrainerTest, TheRunsFileOfGraphsIsMadeAgainWhereItIsBad) {
  const WorkerConfig chosen = config(json::object(), json::object());
  const fs::path graphs = dir_ / "graphs.bin";
  run_graphs(chosen);
  const std::string whole = read_file(graphs);
  const auto expect_whole_after = [&](const std::string& bytes, const std::string& why) {
    write_file_atomically(graphs, bytes);
    ::testing::internal::CaptureStderr();
    run_graphs(chosen);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                AllOf(HasSubstr("warning: " + graphs.string() + ": byte "), HasSubstr(why)));
    EXPECT_TRUE(read_file(graphs) == whole) << why;
  };
  expect_whole_after(std::string(1000, 'x'), "not a graph file");
  expect_whole_after("", "ends within its header");
  expect_whole_after(whole.substr(0, whole.size() / 2), "according to the header, found " +
                                                            std::to_string(whole.size() / 2) +
                                                            ": the file is recreated");
  std::string label = whole;
  GraphHeader header;
  std::memcpy(&header, whole.data(), sizeof(header));
  label[parts_of(header).labels + 8 * 1099] = 7;
  expect_whole_after(label, "expected label 0 or 1, found 7");
  fs::remove(graphs);
  run_graphs(chosen);
  EXPECT_TRUE(read_file(graphs) == whole);
}

TEST_F(GraphTrainerTest, ASoundFileOfGraphsStaysAndALinksTargetToo) {
  const WorkerConfig chosen = config(json::object(), json::object());
  const fs::path graphs = dir_ / "graphs.bin";
  run_graphs(chosen);
  const auto before = fs::last_write_time(graphs);
  run_graphs(chosen);
  EXPECT_EQ(fs::last_write_time(graphs), before);
  std::ofstream(dir_ / "mine") << "no graphs";
  fs::remove(graphs);
  fs::create_symlink(dir_ / "mine", graphs);
  run_graphs(chosen);
  EXPECT_EQ(read_file(dir_ / "mine"), "no graphs");
  EXPECT_GT(fs::file_size(graphs), 1000U);
}

// 746 graphs of the drive as it is, and more under each attack.
TEST_F(GraphTrainerTest, ARecordedDriveIsTrainedOnUnderInjectedAttacks) {
  const std::string log = "can/candump-2023-12-07_211801.log";
  if (!fs::exists(fs::path(data_dir()) / log))
    GTEST_SKIP() << "no recorded drive: MEMDUEL_DATA_DIR names no folder with can/";
  const State student = trained(json::object(), {{"dataset",
                                                  {{"name", "can-log"},
                                                   {"graphs", nullptr},
                                                   {"file", log},
                                                   {"attacks", {"dos", "fuzzy", "spoofing"}}}},
                                                 {"student_epochs", 1}});
  const auto store = open_graphs(dir_ / "graphs.bin", GraphLoading::mmap);
  EXPECT_GT(store->size(), 4 * 746U);
  std::size_t attacked = 0;
  for (std::size_t i = 0; i < store->size(); ++i)
    attacked += static_cast<std::size_t>(store->graph(i).label);
  EXPECT_GT(attacked, 746U);
  EXPECT_EQ(find_tensor(student, "embedding.weight").size(0),
            static_cast<std::int64_t>(store->identifiers()));
}

}  // namespace
}  // namespace memduel
