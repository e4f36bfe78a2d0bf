// A job of a coordinator and eight workers: roles that no replay has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr double kMiB = 1 << 20;

/// Three rounds; in each every worker is told to go on, and answers. A round lasts longer than the
/// looks at the job are apart beside other work: the job's peak is a sampled sum.
constexpr const char* kCoordinator = R"(
import socket, sys, time
sys.path.insert(0, sys.argv[2])
import memduel_annotate as memduel
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
workers = [listener.accept()[0] for _ in range(8)]
for number in range(1, 4):
    memduel.round_begin(number)
    for worker in workers:
        worker.sendall(b"go\n")
    for worker in workers:
        assert worker.makefile().readline() == "done\n"
    time.sleep(0.05)
    memduel.round_end(number)
)";

/// Holds INDEX × SIZE MiB.
constexpr const char* kWorker = R"(
import socket, sys, time
port, index, size = (int(word) for word in sys.argv[1:])
held = bytearray(b"x") * (index * size << 20)
while True:
    try:
        connection = socket.create_connection(("127.0.0.1", port))
        break
    except ConnectionRefusedError:
        time.sleep(0.01)
for line in connection.makefile():
    connection.sendall(b"done\n")
)";

class Groups : public testing::Test {
 protected:
  Groups() {
    write_file_atomically(place_.path("coordinator.py"), kCoordinator);
    write_file_atomically(place_.path("worker.py"), kWorker);
    config_ = json::parse(R"({
      "name": "groups",
      "workload": {
        "kind": "command", "deadline_seconds": 60, "reference": "coordinator",
        "processes": [
          {"role": "worker", "count": 8, "rounds": "reference",
           "argv": ["/usr/bin/python3", "worker.py", "{port:jobs}", "{index}"]},
          {"role": "coordinator",
           "argv": ["/usr/bin/python3", "coordinator.py", "{port:jobs}"]}]},
      "variants": [{"name": "before", "append": {"worker": ["4"]}},
               {"name": "after", "append": {"worker": ["2"]}}],
      "baseline": "before", "measure": {"repeats": 6}})");
    config_["workload"]["processes"][1]["argv"].push_back(MEMDUEL_ANNOTATE);
  }

  Finished run(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"run", place_.file("groups.json", config_.dump()), "--out",
                                      place_.path("run").string()};
    words.insert(words.end(), more.begin(), more.end());
    return memduel(place_, words);
  }

  Workplace place_;
  json config_;
};

double saved(const json& results, const char* role) {
  const json row = comparison(results, role, "peak_heap_bytes");
  return (row.at("baseline_median").get<double>() - row.at("candidate_median").get<double>()) /
         kMiB;
}

TEST_F(Groups, AreJudgedByTheirLargestAndTheirMedian) {
  const Finished finished = run({"--verbose"});
  ASSERT_EQ(finished.status, 0) << finished.err << finished.out;
  const json results = results_in(place_.path("run"));
  // Worker i holds 4 i MiB before and 2 i MiB after: 32 and 16 at most, 18 and 9 in the middle
  // (between the fourth and the fifth), 144 and 72 in all.
  EXPECT_NEAR(saved(results, "worker_max"), 16, 0.5);
  EXPECT_NEAR(saved(results, "worker_median"), 9, 0.5);
  EXPECT_NEAR(saved(results, "all"), 72, 2);
  for (const json& row : results.at("comparisons"))
    EXPECT_THAT(row.at("role").get<std::string>(), Not(HasSubstr("worker-")))
        << "would bury others";
  EXPECT_EQ(results.at("job").at("reference"), "coordinator");
  EXPECT_EQ(results.at("job").at("groups"), json::parse(R"([{"name": "worker", "count": 8}])"));
  for (const json& trial : results.at("trials"))
    for (const json& role : trial.at("roles"))
      EXPECT_EQ(role.at("rounds").size(), 3U) << role.at("role") << " has the coordinator's rounds";
  EXPECT_THAT(finished.out, HasSubstr("all processes"));
  EXPECT_EQ(memduel(place_, {"check", place_.path("run").string(), "--gate",
                             "worker_max.peak_heap_bytes<=+1%", "--gate",
                             "worker-8.peak_heap_bytes<=20MiB"})
                .status,
            0);
  const Finished markdown =
      memduel(place_, {"report", place_.path("run").string(), "--format", "markdown"});
  EXPECT_THAT(markdown.out, HasSubstr("| largest worker peak"));
}

TEST_F(Groups, AGateOnThemIsToldInWords) {
  const Finished finished = run({"--gate", "worker_max.peak_heap_bytes<=+1%"});
  ASSERT_EQ(finished.status, 0) << finished.err << finished.out;
  EXPECT_THAT(finished.out, testing::ContainsRegex("less heap memory[ \n]+\\(largest worker\\)"));
}

}  // namespace
}  // namespace memduel
