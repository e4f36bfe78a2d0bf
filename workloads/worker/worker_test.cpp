// The real worker programs, started as the planner starts them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/catalog_files.h"
#include "util/file.h"

extern char** environ;

namespace memduel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A loaded machine needs most of a minute to load LibTorch three times.
constexpr std::chrono::seconds kPatience{240};

/// A worker process whose output goes to files.
class Worker {
 public:
  Worker(const std::vector<std::string>& arguments, const fs::path& log) : log_(log) {
    std::vector<char*> argv = {const_cast<char*>(MEMDUEL_WORKER)};
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, (log.string() + ".out").c_str(),
                                     kFlags, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (log.string() + ".err").c_str(),
                                     kFlags, 0600);
    if (posix_spawn(&pid_, MEMDUEL_WORKER, &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
  }

  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (pid_ > 0) {
      kill(SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  void kill(int signal) const { ::kill(pid_, signal); }

  /// Exit status, or 128 + signal; -1 when it does not end in time.
  int wait() {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < give_up) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return -1;
  }

  [[nodiscard]] std::string out() const { return read_file(log_.string() + ".out"); }
  [[nodiscard]] std::string err() const { return read_file(log_.string() + ".err"); }

 private:
  fs::path log_;
  pid_t pid_ = -1;
};

json small_workload() {
  return json::parse(R"({
    "kind": "federated", "model": "mnist-cnn", "device": "cpu", "threads": 1,
    "dataset": { "name": "mnist", "train_samples": 64, "test_samples": 32, "seed": 42 },
    "clients": 2, "rounds": 2, "local_steps": 2, "batch_size": 8, "send": "gradient",
    "optimizer": { "name": "adam", "learning_rate": 0.001 },
    "transport": { "kind": "unix", "max_message_bytes": 1048576 },
    "deadline_seconds": 200 })");
}

/// One trial's directory and processes.
class Trial {
 public:
  Trial(const std::string& name, json workload, json optimizations)
      : dir_(fs::path(::testing::TempDir()) /
             ("worker_test." + std::to_string(getpid()) + "." + name)),
        clients_(workload.at("clients")) {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
    const json config = {{"workload", std::move(workload)},
                         {"switches", std::move(optimizations)},
                         {"seed", 1},
                         {"meters", {"allocator", "torch"}},
                         {"trial_dir", dir_},
                         {"data_dir", MEMDUEL_DATASETS},
                         {"address_file", dir_ / "server.address"},
                         {"model_file", dir_ / "final_model.bin"}};
    write_file_atomically(dir_ / "worker.json", config.dump());
  }

  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    workers_.clear();
    fs::remove_all(dir_);
  }

  Worker& start(const std::string& role, int index = 0) {
    const std::string name = index == 0 ? role : role + "-" + std::to_string(index);
    const std::vector<std::string> arguments = {"--role",   role,
                                                "--index",  std::to_string(index),
                                                "--config", (dir_ / "worker.json").string()};
    return *(workers_[name] = std::make_unique<Worker>(arguments, dir_ / name));
  }

  void start_all() {
    start("server");
    for (int client = 1; client <= clients_; ++client) start("client", client);
  }

  void expect_success() {
    for (auto& [name, worker] : workers_)
      EXPECT_EQ(worker->wait(), 0) << name << ": " << worker->err();
  }

  [[nodiscard]] fs::path model() const { return dir_ / "final_model.bin"; }
  [[nodiscard]] fs::path dir() const { return dir_; }

 private:
  fs::path dir_;
  int clients_;
  std::map<std::string, std::unique_ptr<Worker>> workers_;
};

json compare(const Trial& a, const Trial& b) {
  Worker worker({"compare-models", a.model().string(), b.model().string()}, a.dir() / "compare");
  EXPECT_EQ(worker.wait(), 0) << worker.err();
  return json::parse(worker.out());
}

void expect_refusal(Worker& worker, const ::testing::Matcher<const std::string&>& message) {
  EXPECT_GT(worker.wait(), 0);
  EXPECT_THAT(worker.err(), message);
}

TEST(WorkerTrial, OriginalAndOptimizedEndInTheSameBits) {
  Trial original("original", small_workload(), preset_values("appfl-original"));
  original.start_all();
  original.expect_success();

  json over_grpc = small_workload();
#ifdef MEMDUEL_HAVE_GRPC
  over_grpc["transport"]["kind"] = "grpc";
#endif
  Trial optimized("optimized", over_grpc, preset_values("appfl-optimized"));
  optimized.start_all();
  optimized.expect_success();

  const json difference = compare(original, optimized);
  EXPECT_EQ(difference.at("bit_identical"), true);
  EXPECT_EQ(difference.at("max_abs_diff"), 0.0);
}

TEST(WorkerTrial, KilledClientEndsTheTrialAndIsNamed) {
  json workload = small_workload();
  workload["local_steps"] = 1000000;
  Trial trial("killed", workload, preset_values("appfl-optimized"));
  Worker& server = trial.start("server");
  Worker& first = trial.start("client", 1);
  Worker& second = trial.start("client", 2);
  // The clients know the server once it wrote its address; training lasts until one is killed.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  while (!fs::exists(trial.dir() / "server.address"))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::seconds(20));
  second.kill(SIGKILL);
  expect_refusal(server, HasSubstr("client-2 was lost"));
  EXPECT_EQ(second.wait(), 128 + SIGKILL);
  first.kill(SIGKILL);
}

TEST(WorkerTrial, ClientWithoutAServerGivesUp) {
  Trial trial("alone", small_workload(), preset_values("appfl-optimized"));
  write_file_atomically(trial.dir() / "server.address", "unix-abstract:nobody-listens-here#token");
  expect_refusal(trial.start("client", 1), HasSubstr("no connection"));
}

TEST(WorkerTrial, MissingDataSetIsExit4) {
  json workload = small_workload();
  workload["dataset"]["name"] = "cifar10";
  workload["model"] = "cifar-cnn";
  Trial trial("nodata", workload, preset_values("appfl-optimized"));
  Worker& server = trial.start("server");
  EXPECT_EQ(server.wait(), 4);
  EXPECT_THAT(server.err(), AllOf(HasSubstr("data_batch_1.bin"), HasSubstr("fetch-datasets")));
}

TEST(WorkerTrial, UnknownModelNamesTheNearest) {
  json workload = small_workload();
  workload["model"] = "mnist-cn";
  Trial trial("nomodel", workload, preset_values("appfl-optimized"));
  Worker& server = trial.start("server");
  EXPECT_EQ(server.wait(), 2);
  EXPECT_THAT(server.err(), HasSubstr("did you mean \"mnist-cnn\""));
}

TEST(WorkerTrial, ClientNumberBeyondTheConfigIsRefused) {
  Trial trial("index", small_workload(), preset_values("appfl-optimized"));
  expect_refusal(trial.start("client", 3), HasSubstr("expected a client from 1 to 2, found 3"));
}

TEST(WorkerCommand, DescribePrintsVersions) {
  Trial trial("describe", small_workload(), preset_values("appfl-original"));
  Worker worker({"describe"}, trial.dir() / "describe");
  ASSERT_EQ(worker.wait(), 0);
  const json versions = json::parse(worker.out());
  EXPECT_FALSE(versions.at("torch").get<std::string>().empty());
  EXPECT_TRUE(versions.contains("grpc") && versions.contains("cuda"));
}

TEST(WorkerCommand, DescribeGivesTheSizesOfAWorkloadsModel) {
  Trial trial("sizes", small_workload(), preset_values("appfl-original"));
  const auto model_of = [&](const json& workload) {
    Worker worker({"describe", "--workload", workload.dump()}, trial.dir() / "sizes");
    EXPECT_EQ(worker.wait(), 0) << worker.err();
    return json::parse(worker.out()).at("model");
  };
  // As in the models' test: 582,026 parameters of 4 bytes, no buffers.
  EXPECT_EQ(model_of({{"kind", "federated"}, {"model", "mnist-cnn"}}),
            json({{"name", "mnist-cnn"}, {"parameters", 582026}, {"state_bytes", 2328104}}));
  // Half of the bytes: 50 of 100 rows, and 1 of 3 by rounding down.
  EXPECT_EQ(model_of({{"kind", "state-dict"},
                      {"model", "tensors"},
                      {"tensors", {{"a", {100, 10}}, {"b", {3}}}},
                      {"state_bytes", 2006}}),
            json({{"name", "tensors"}, {"parameters", 501}, {"state_bytes", 2004}}));
}

TEST(WorkerCommand, WithoutRoleOrConfigItSaysWhatIsMissing) {
  Trial trial("norole", small_workload(), preset_values("appfl-original"));
  Worker worker({"--role", "server"}, trial.dir() / "norole");
  EXPECT_EQ(worker.wait(), 2);
  EXPECT_THAT(worker.err(), HasSubstr("--config"));
}

}  // namespace
}  // namespace memduel
