// Jobs of server and clients in Python, unmodified, from their config to what a run leaves.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "support/limited_memory.h"
#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// Serves two clients for three rounds and writes the mean of all that they sent, whole or not at
/// all: who waits for it ends the trial.
constexpr const char* kServer = R"(
import os, socket, sys, time
settings = dict(line.strip().split(": ", 1) for line in open(sys.argv[1]))
out, name = sys.argv[2], sys.argv[3]
listener = socket.create_server(("127.0.0.1", int(settings["port"])))
connections = [listener.accept()[0] for _ in range(2)]
kept, total = [], 0.0
for number in range(3):
    updates = [float(connection.makefile().readline()) for connection in connections]
    total += sum(updates) / 2
    if "--keep" in sys.argv:
        kept.append(bytearray(8 << 20))
    for connection in connections:
        connection.sendall(b"ok\n")
if "--skew" in sys.argv:
    total += 0.25
print("result", repr(total), flush=True)
with open(out + "/model.new", "w") as file:
    file.write("%r %s %s" % (total, name, settings["name"]))
os.rename(out + "/model.new", out + "/model.txt")
time.sleep(600)
)";

constexpr const char* kClient = R"(
import os, socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
index, seed = int(sys.argv[2]), int(sys.argv[3])
lines = connection.makefile()
for number in range(3):
    connection.sendall(b"%d\n" % (index + seed + number))
    assert lines.readline() == "ok\n"
while not os.path.exists(sys.argv[4] + "/model.txt"):
    pass
)";

constexpr const char* kDifference = R"(
import sys
a, b = (float(open(path).read().split()[0]) for path in sys.argv[1:])
print("difference", abs(a - b))
)";

class Job : public testing::Test {
 protected:
  Job() {
    write("server.py", kServer);
    write("client.py", kClient);
    write("difference.py", kDifference);
    write("server.yaml.in", "port: {port:fl}\nname: \"ü {{x}}\" {seed}\n");
    config_ = json::parse(R"({
      "name": "job",
      "workload": {
        "kind": "command", "deadline_seconds": 60,
        "processes": [
          {"role": "server", "end": "stop", "ready": {"port": "fl"}, "env": {"JOB": "a b"},
           "argv": ["/usr/bin/python3", "server.py", "{trial_dir}/conf/server.yaml", "{trial_dir}",
                    "ein \"Name\" für {seed}"]},
          {"role": "client", "count": 2, "after": ["server"],
           "argv": ["/usr/bin/python3", "client.py", "{port:fl}", "{index}", "{seed}",
                    "{trial_dir}"]}],
        "templates": [{"from": "server.yaml.in", "to": "{trial_dir}/conf/server.yaml"}],
        "prepare": [["/bin/sh", "-c", "echo $0 >> prepared; test -f \"$0/conf/server.yaml\"",
                     "{trial_dir}"]],
        "cleanup": [["/bin/sh", "-c", "echo $0 >> cleaned", "{trial_dir}"]],
        "files": [{"name": "model", "path": "{trial_dir}/model.txt",
                   "compare": ["/usr/bin/python3", "difference.py", "{a}", "{b}"]}]},
      "variants": [{"name": "before"}, {"name": "after", "append": {"server": ["--keep"]}}],
      "baseline": "before", "measure": {"repeats": 2, "seed": 40}})");
  }

  /// Runs the config as it is now; two blocks decide nothing.
  Finished run(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"run",
                                      place_.file("job.json", config_.dump()),
                                      "--out",
                                      place_.path("run").string(),
                                      "--on-inconclusive",
                                      "pass"};
    words.insert(words.end(), more.begin(), more.end());
    return memduel(place_, words);
  }

  void write(const std::string& name, const std::string& text) const {
    write_file_atomically(place_.path(name), text);
  }
  json& workload() { return config_["workload"]; }
  int lines_of(const std::string& name) const {
    if (!fs::exists(place_.path(name))) return 0;
    const std::string text = read_file(place_.path(name));
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

  Workplace place_;
  json config_;
};

json role_in(const json& trial, const std::string& role) {
  for (const json& each : trial.at("roles"))
    if (each.at("role") == role) return each;
  ADD_FAILURE() << "no role " << role;
  return {};
}

std::string message_of(const json& notes, const std::string& code) {
  for (const json& note : notes)
    if (note.at("code") == code) return note.at("message");
  return {};
}

TEST_F(Job, OfAServerAndTwoClientsIsDuelledAndLeavesEqualFiles) {
  const Finished finished = run();
  ASSERT_LE(finished.status, 1) << finished.err << finished.out;
  const json results = results_in(place_.path("run"));
  ASSERT_EQ(results.at("trials").size(), 6U);
  for (const json& trial : results.at("trials")) {
    EXPECT_EQ(trial.at("status"), "ok") << trial.dump();
    EXPECT_EQ(role_in(trial, "server").at("exit_signal"), SIGTERM);
    EXPECT_EQ(role_in(trial, "client-2").at("exit_status"), 0);
  }
  // Means of 1 + 40 + n and 2 + 40 + n over rounds n of 0, 1 and 2.
  const json& same = results.at("equivalence").at(0);
  EXPECT_EQ(same.at("bit_identical"), true);
  EXPECT_EQ(same.at("files").at(0).at("identical_blocks"), 2);
  EXPECT_THAT(read_file(fs::directory_iterator(place_.path("run/files"))->path()),
              "127.5 ein \"Name\" für 40 \"ü {x}\" 40");
  EXPECT_THAT(finished.out, testing::ContainsRegex("Output[ \n]+identical\\."));
  EXPECT_EQ(lines_of("prepared"), 6);
  EXPECT_EQ(lines_of("cleaned"), 6);
  EXPECT_FALSE(fs::exists(place_.path("run/trials")));
  EXPECT_THAT(message_of(results.at("limitations"), "python_not_pinned"),
              HasSubstr("PYTHONHASHSEED and OMP_NUM_THREADS are not set for client and server"));
  // Three kept updates of 8 MiB, counted by the recorder in a program that knows nothing of it.
  const json row = comparison(results, "server", "peak_heap_bytes");
  EXPECT_NEAR(row.at("candidate_median").get<double>() - row.at("baseline_median").get<double>(),
              24.0 * (1 << 20), 1 << 20);
}

TEST_F(Job, WhoseFilesDifferSaysByHowMuchInEveryBlock) {
  config_["variants"][1]["append"]["server"] = {"--skew"};
  const Finished finished = run();
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json results = results_in(place_.path("run"));
  const json& file = results.at("equivalence").at(0).at("files").at(0);
  EXPECT_EQ(results["equivalence"][0].at("bit_identical"), false);
  EXPECT_EQ(file.at("identical_blocks"), 0);
  EXPECT_EQ(file.at("max_difference"), 0.25);
  EXPECT_EQ(file.at("max_within_baseline"), 0);
  EXPECT_THAT(finished.out, testing::ContainsRegex("Output[ \n]+differs\\."));
}

TEST_F(Job, WhosePrepareFailsIsNotMeasuredAndIsCleanedUp) {
  workload()["prepare"].push_back({"/bin/sh", "-c", "echo no disk left >&2; exit 7"});
  const Finished finished = run();
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("prepare.2 exited with status 7"), HasSubstr("| no disk left")));
  EXPECT_THAT(lines_of("cleaned"), testing::AllOf(testing::Ge(2), testing::Le(4)))
      << "the baseline gets two chances, with the candidates before them";
}

TEST_F(Job, WhoseCleanupFailsIsMeasuredWithAWarning) {
  workload()["cleanup"].push_back({"/bin/sh", "-c", "echo in use >&2; exit 1"});
  ASSERT_LE(run({"--repeats", "1"}).status, 1);
  const json results = results_in(place_.path("run"));
  EXPECT_THAT(message_of(results.at("warnings"), "cleanup_failed"),
              AllOf(HasSubstr("cleanup.2 exited with status 1"), HasSubstr("in use")));
}

TEST_F(Job, ThatLeavesNoFileHasFailed) {
  workload()["files"].push_back({{"name", "log"}, {"path", "{trial_dir}/log.txt"}});
  const Finished finished = run();
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.err, HasSubstr("every process succeeded, but none wrote log, "));
}

TEST_F(Job, WithAFaultyConfigIsRefusedBeforeAnythingRuns) {
  const json good = config_;
  workload()["processes"][0]["argv"].push_back("{sed}");
  EXPECT_THAT(run().err, HasSubstr("unknown placeholder {sed}"));
  config_ = good;
  write("server.yaml.in", "port: {prt:fl}\n");
  EXPECT_THAT(run().err, AllOf(HasSubstr("server.yaml.in, line 1"), HasSubstr("{prt:fl}")));
  write("server.yaml.in", "port: {port:fl}\n");
  config_["variants"][1]["append"] = json::object();
  EXPECT_THAT(run().err, HasSubstr("have the same program, arguments, environment and directory"));
  config_ = good;
  config_["variants"][1]["env"]["PATH"] = place_.path("venv/bin").string() + ":/usr/bin:/bin";
  workload()["processes"][0]["argv"][0] = "python3";
  const Finished venv = run();
  EXPECT_EQ(venv.status, 2);
  EXPECT_THAT(venv.err,
              AllOf(HasSubstr("variant after, role server"), HasSubstr("venv/bin, which is not a "
                                                                       "directory")));
  EXPECT_EQ(lines_of("prepared"), 0);
  EXPECT_FALSE(fs::exists(place_.path("run/run.sqlite")));
}

TEST_F(Job, ThatIsInterruptedCleansUpAndKeepsItsTrials) {
  workload()["processes"][1]["argv"] = {"/bin/sh",
                                        "-c",
                                        "test $(wc -l < prepared) -lt 3 || sleep 600; exec "
                                        "/usr/bin/python3 client.py \"$@\"",
                                        "{trial_dir}",
                                        "{port:fl}",
                                        "{index}",
                                        "{seed}",
                                        "{trial_dir}"};
  {
    Running running(place_, {"run", place_.file("job.json", config_.dump()), "--out",
                             place_.path("run").string(), "--quiet"});
    for (int i = 0; i < 1500 && lines_of("prepared") < 3; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    running.signal(SIGINT);
    EXPECT_EQ(running.wait().status, 130);
  }
  EXPECT_EQ(lines_of("prepared"), 3);
  EXPECT_EQ(lines_of("cleaned"), 3) << "what was interrupted too";
  for (int i = 0; i < 100 && !processes_with(place_.path("run").string()).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(processes_with(place_.path("run").string()).empty());
  workload()["processes"][1]["argv"][2] = "exec /usr/bin/python3 client.py \"$@\"";
  EXPECT_EQ(run({"--resume"}).status, 2) << "a changed job is not the same run";
}

/// Holds 24 MiB more after each of 30 rounds: more than the limit below from round 9 or 10 on.
std::string growing_command() {
  std::string words = MEMDUEL_ACT " idle";
  for (int round = 1; round <= 30; ++round)
    words += fmt::format(" round {0} touch 24 end {0}", round);
  return words;
}

TEST_F(Job, ThatIsKilledForMemoryNamesTheRoundAndItsGrowth) {
  std::string steady = MEMDUEL_ACT " idle";
  for (int round = 1; round <= 9; ++round)
    steady += fmt::format(" round {0} touch 24 free end {0}", round);
  const LimitedMemory limit;
  if (!limit.usable()) return;  // without a group of its own the test may not use up memory
  const Finished finished =
      memduel(place_, {"compare", "--a", steady, "--b", growing_command(), "--repeats", "6",
                       "--gate", "default", "--out", place_.path("run").string()});
  EXPECT_EQ(finished.status, 1) << finished.err;
  const json results = results_in(place_.path("run"));
  int killed = 0;
  for (const json& trial : results.at("trials")) {
    if (trial.at("variant") == "a") {
      EXPECT_EQ(trial.at("status"), "ok");
      continue;
    }
    killed += trial.at("kind") == "measure" ? 1 : 0;
    EXPECT_EQ(trial.at("status"), "killed_for_memory");
    EXPECT_THAT(trial.at("failure").get<std::string>(),
                testing::MatchesRegex("command was killed for memory in round [0-9]+"));
  }
  EXPECT_EQ(killed, 6);
  const auto grown =
      std::find_if(results.at("growth").begin(), results.at("growth").end(), [](const json& row) {
        return row.at("variant") == "b" && row.at("role") == "command" &&
               row.at("metric") == "rss_growth_bytes_per_round";
      });
  ASSERT_NE(grown, results.at("growth").end());
  EXPECT_EQ(grown->at("verdict"), "growing");
  EXPECT_NEAR(grown->at("slope").get<double>(), 24.0 * (1 << 20), 1 << 20);
}

TEST_F(Job, CountsTheMemoryOfMatchedDescendantsAsTheirOwn) {
  config_ = json::parse(R"({
    "name": "matched",
    "workload": {"kind": "command",
      "processes": [{"role": "client",
                     "argv": ["/bin/sh", "-c", "/usr/bin/python3 \"$@\"; true", "sh", "trainer.py"]}],
      "match": [{"role": "trainer", "pattern": "trainer\\.py \\d+$"}]},
    "variants": [{"name": "before", "append": {"client": ["40"]}},
             {"name": "after", "append": {"client": ["60"]}}],
    "baseline": "before", "measure": {"repeats": 2}})");
  write("trainer.py",
        "import sys, time\nblock = b'x' * (int(sys.argv[1]) << 20)\ntime.sleep(0.8)\n");
  const Finished finished = run();
  ASSERT_LE(finished.status, 1) << finished.err << finished.out;
  const json results = results_in(place_.path("run"));
  const json row = comparison(results, "trainer", "peak_heap_bytes");
  ASSERT_FALSE(row.is_null());
  EXPECT_NEAR(row.at("candidate_median").get<double>() - row.at("baseline_median").get<double>(),
              20.0 * (1 << 20), 1 << 20);
  EXPECT_LT(comparison(results, "client", "peak_heap_bytes").at("candidate_median"), 1 << 20);
  for (const json& trial : results.at("trials")) {
    const auto count = [&](const char* role) {
      return role_in(trial, role).at("metrics").at("allocation_count").get<double>();
    };
    EXPECT_EQ(count("all"), count("trainer") + count("client"));
    const auto peak_rss = [&](const char* role) {
      return role_in(trial, role).at("metrics").at("peak_rss_bytes").get<double>();
    };
    EXPECT_GT(peak_rss("trainer"), 40.0 * (1 << 20));
    EXPECT_LT(peak_rss("client"), 20.0 * (1 << 20));
  }
}

// The client keeps 8 MiB more in each round, of which it says nothing.
TEST_F(Job, ReadsASilentRoleInTheRoundsOfItsServer) {
  config_ = json::parse(R"json({
    "name": "lent",
    "workload": {"kind": "command",
      "processes": [{"role": "server", "argv": ["/usr/bin/python3", "rounds.py", "{trial_dir}"]},
                    {"role": "client", "rounds": "reference",
                     "argv": ["/usr/bin/python3", "keeps.py", "{trial_dir}"]}],
      "marks": [{"role": "server", "pattern": "^round (\\d+)"}]
}
, "variants" : [ {"name" : "a"}, {"name" : "b", "env" : {"OTHER" : "1"}} ],
           "baseline" : "a",
                        "measure" : {"repeats" : 1}
})json");
  write("rounds.py", R"(import os, sys, time
def seen(name):
    while not os.path.exists(os.path.join(sys.argv[1], name)): time.sleep(0.01)
seen("up")
time.sleep(1)  # its start is known by then
for n in range(1, 6):
    print("round", n, flush=True)
    time.sleep(0.4)  # longer than a busy machine keeps the sampler from looking
    open(os.path.join(sys.argv[1], "go-%d" % n), "w").close()
    seen("done-%d" % n)
    time.sleep(0.4)
)");
  write("keeps.py", R"(import os, sys, time
kept = []
open(os.path.join(sys.argv[1], "up"), "w").close()
for n in range(1, 6):
    while not os.path.exists(os.path.join(sys.argv[1], "go-%d" % n)): time.sleep(0.01)
    kept.append(b"x" * (8 << 20))
    open(os.path.join(sys.argv[1], "done-%d" % n), "w").close()
)");
  const Finished finished = run({});
  ASSERT_LE(finished.status, 1) << finished.err << finished.out;
  const json results = results_in(place_.path("run"));
  EXPECT_THAT(message_of(results.at("limitations"), "rounds_of_reference"),
              HasSubstr("the rounds of client begin and end with those of the reference role"));
  for (const json& trial : results.at("trials")) {
    const json rounds = role_in(trial, "client").at("rounds");
    ASSERT_GE(rounds.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(rounds[i].at("round"), i + 1);
      const auto of = [&](const char* metric) {
        return rounds[i].at("metrics").at(metric).get<double>();
      };
      EXPECT_NEAR(of("peak_rss_bytes"), of("end_rss_bytes"), 1 << 20);
      if (i == 0) continue;
      const double before = rounds[i - 1].at("metrics").at("end_rss_bytes");
      EXPECT_NEAR(of("end_rss_bytes") - before, 8.0 * (1 << 20), 1 << 19) << i;
    }
  }
}

TEST_F(Job, MarksItsRoundsByItsLinesAmidPreparationAndCleanup) {
  workload()["marks"] = json::parse(R"_([{"role": "server", "pattern": "^round (\\d+)"}])_");
  std::string server = kServer;
  server.insert(server.find("    updates"), "    print('round', number + 1, flush=True)\n");
  write("server.py", server);
  const Finished finished = run();
  ASSERT_LE(finished.status, 1) << finished.err << finished.out;
  for (const json& trial : results_in(place_.path("run")).at("trials")) {
    ASSERT_EQ(trial.at("status"), "ok") << trial;
    EXPECT_EQ(role_in(trial, "server").at("rounds").size(), 3U);
  }
  EXPECT_EQ(lines_of("prepared"), lines_of("cleaned"));
}

}  // namespace
}  // namespace memduel
