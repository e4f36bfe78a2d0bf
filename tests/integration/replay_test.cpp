// The main job, shortened: real federated rounds on real digits, from the config to the report.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <set>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr const char* kQuickstart = MEMDUEL_CONFIGS "/quickstart.json";

/// quickstart with short rounds.
Finished short_run(const Workplace& place, std::vector<std::string> more) {
  std::vector<std::string> words = {"run",       kQuickstart,
                                    "--out",     place.path("run"),
                                    "--repeats", "1",
                                    "--set",     "workload.local_steps=2",
                                    "--set",     "workload.rounds=2"};
  words.insert(words.end(), more.begin(), more.end());
  return memduel(place, words);
}

TEST(Quickstart, MeasuresEveryRoleRoundAndMetricAndLearns) {
  const Workplace place;
  const Finished run =
      memduel(place, {"run", kQuickstart, "--out", place.path("run"), "--repeats", "2"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto results = results_in(place.path("run"));
  int measured = 0;
  std::set<std::string> read_at_end;
  for (const auto& trial : results.at("trials")) {
    EXPECT_EQ(trial.at("status"), "ok");
    measured += static_cast<int>(trial.at("kind") == "measure");
    int roles = 0;
    for (const auto& role : trial.at("roles")) {
      if (role.at("role") == "all") continue;
      ++roles;
      EXPECT_EQ(role.at("rounds").size(), 5U);
      for (const char* metric :
           {"peak_rss_bytes", "idle_rss_bytes", "peak_rss_above_idle_bytes", "end_rss_bytes",
            "peak_rss_anon_bytes", "peak_rss_file_bytes", "heap_in_use_bytes", "heap_free_bytes",
            "peak_torch_cpu_bytes", "cpu_seconds", "minor_faults_count", "major_faults_count",
            "swapped_bytes"})
        EXPECT_TRUE(role.at("metrics").contains(metric)) << role.at("role") << metric;
      // A client may be gone before a busy machine lets memduel read it.
      if (role.at("metrics").contains("end_pss_bytes")) read_at_end.insert(role.at("role"));
      // Read once a second at most, and kept where that was near the peak.
      const double anonymous = role.at("metrics").at("peak_rss_anon_bytes");
      EXPECT_GE(role.at("metrics").value("peak_pss_bytes", anonymous), anonymous);
      for (const auto& round : role.at("rounds")) {
        EXPECT_GT(round.at("metrics").at("round_seconds"), 0);
        EXPECT_GE(round.at("metrics").at("peak_rss_bytes"),
                  round.at("metrics").at("end_rss_bytes"));
        EXPECT_FALSE(round.at("phases").empty());
        if (role.at("role") != "server") continue;
        EXPECT_GT(round.at("metrics").at("transfer_seconds"), 0);
        EXPECT_LT(round.at("metrics").at("transfer_seconds"),
                  round.at("metrics").at("round_seconds"));
      }
    }
    EXPECT_EQ(roles, 3);
  }
  EXPECT_EQ(measured, 4);
  EXPECT_THAT(read_at_end, testing::UnorderedElementsAre("server", "client-1", "client-2"));
  for (const char* role : {"server", "client_max", "all"})
    EXPECT_FALSE(comparison(results, role, "peak_rss_bytes").is_null()) << role;
  EXPECT_FALSE(comparison(results, "server", "transfer_seconds").is_null());
  const auto& equivalence = results.at("equivalence").at(0);
  EXPECT_EQ(equivalence.at("bit_identical"), true);
  for (const auto& accuracy : equivalence.at("metrics").at("validation_accuracy_ratio"))
    EXPECT_GT(accuracy.get<double>(), 0.85);
}

TEST(BadData, ATruncatedOrForeignFileIsNamed) {
  const Workplace place;
  const fs::path data = place.path("data");
  fs::create_directories(data);
  fs::copy(MEMDUEL_DATASETS, data, fs::copy_options::recursive);
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    if (entry.path().filename().string().find("images") == std::string::npos) continue;
    fs::resize_file(entry.path(), 1000);
    const Finished run = short_run(place, {"--data-dir", data});
    EXPECT_EQ(run.status, 4) << run.err;
    EXPECT_THAT(run.err, HasSubstr(entry.path().filename().string()));
    EXPECT_FALSE(fs::exists(place.path("run") / "results.json"));
  }
}

/// The data sets with `change` made to MNIST's file `name`, unpacked.
fs::path spoilt_mnist(const Workplace& place, const std::string& name,
                      const std::function<void(std::string&)>& change) {
  const fs::path data = place.path("data-" + name);
  fs::create_directories(data);
  fs::copy(MEMDUEL_DATASETS, data, fs::copy_options::recursive);
  const fs::path packed = data / "mnist" / (name + ".gz");
  EXPECT_EQ(std::system(("gunzip " + packed.string()).c_str()), 0);
  fs::path plain = packed;
  plain.replace_extension();
  std::string bytes = read_file(plain);
  change(bytes);
  write_file_atomically(plain, bytes);
  EXPECT_EQ(std::system(("gzip " + plain.string()).c_str()), 0);
  return data;
}

TEST(BadData, AForeignFileAndCountsThatDifferAreNamed) {
  const Workplace place;
  const fs::path foreign = spoilt_mnist(place, "t10k-images-idx3-ubyte",
                                        [](std::string& bytes) { bytes.replace(0, 4, "RIFF"); });
  const Finished wrong_magic = short_run(place, {"--data-dir", foreign});
  EXPECT_EQ(wrong_magic.status, 4) << wrong_magic.err;
  EXPECT_THAT(wrong_magic.err, AllOf(HasSubstr("t10k-images"), HasSubstr("magic")));
  // The eighth byte is the lowest of the count; the file itself is one label shorter.
  const Workplace other;
  const fs::path fewer = spoilt_mnist(other, "t10k-labels-idx1-ubyte", [](std::string& bytes) {
    bytes[7] = static_cast<char>(bytes[7] - 1);
    bytes.pop_back();
  });
  const Finished differ = short_run(other, {"--data-dir", fewer});
  EXPECT_EQ(differ.status, 4) << differ.err;
  EXPECT_THAT(differ.err, AllOf(HasSubstr("9999"), HasSubstr("10000")));
}

TEST(BadData, AMissingDataSetSaysHowToGetIt) {
  ::unsetenv("MEMDUEL_DATA_DIR");
  const Workplace place;
  const Finished run =
      memduel(place, {"run", kQuickstart, "--out", place.path("run"), "--data-dir",
                      place.path("nowhere"), "--set", "workload.dataset.name=\"cifar10\"", "--set",
                      "workload.model=\"cifar-cnn\""});
  if (run.status == 0) GTEST_FAIL() << "cifar10 was found although --data-dir holds none";
  EXPECT_EQ(run.status, 4);
  EXPECT_THAT(run.err, AllOf(HasSubstr("cifar10"), HasSubstr("fetch-datasets")));
}

TEST(Lists, NameTheModelsOfThisBuild) {
  const Workplace place;
  EXPECT_THAT(memduel(place, {"list", "models"}).out,
              AllOf(HasSubstr("mnist-cnn"), HasSubstr("resnet18"),
                    HasSubstr("gat-small        90018 parameters"), HasSubstr("vgae-large")));
}

TEST(BadConfig, ZeroClientsAreRefused) {
  const Workplace place;
  const Finished run = short_run(place, {"--set", "workload.clients=0"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("clients"));
}

TEST(BadPort, OneThatIsTakenIsNamed) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(socket, 1), 0);
  socklen_t length = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length);
  const std::string port = std::to_string(ntohs(address.sin_port));

  const Workplace place;
  const Finished run = short_run(place, {"--set", "workload.transport.port=" + port});
  ::close(socket);
  EXPECT_EQ(run.status, 3) << run.out;
  EXPECT_THAT(run.err, AllOf(HasSubstr("server"), HasSubstr(port)));
}

TEST(Replay, OnAGpuThatIsNotThereEndsBeforeItsFirstTrial) {
  const Workplace place;
  setenv("CUDA_VISIBLE_DEVICES", "", 1);  // hides one that is
  const Finished run =
      memduel(place, {"run", MEMDUEL_CONFIGS "/resnet-dummy-gpu.json", "--out", place.path("run")});
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(run.status, 3) << run.out;
  EXPECT_THAT(run.err, AllOf(HasSubstr("workload.device"), HasSubstr("device \"cuda\""),
                             HasSubstr("docs/gpu.md"), HasSubstr("workload.device=cpu")));
  EXPECT_FALSE(fs::exists(place.path("run")));
}

}  // namespace
}  // namespace memduel
