// memduel watch on real programs: rounds, growth, ends, and what it leaves.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "support/memduel_program.h"
#include "util/file.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX asks for it

namespace memduel {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kMib = 1 << 20;

/// Holds a MiB more in every round, and prints where each begins.
constexpr const char* kLeak = R"(
import sys, time
rounds = int(sys.argv[1])
out = open(sys.argv[2], "a") if len(sys.argv) > 2 else sys.stdout
kept = []
for n in range(1, rounds + 1):
    print("INFO Round", n, "begins", file=out, flush=True)
    kept.append(bytearray(b"x") * (1 << 20))
    time.sleep(0.03)
)";

/// A program of the test's own, ended with it.
class Child {
 public:
  explicit Child(std::vector<std::string> argv) {
    std::vector<char*> arguments;
    for (std::string& word : argv) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (posix_spawnp(&pid_, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0)
      throw std::runtime_error("cannot start " + argv[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  void end() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] std::string pid() const { return std::to_string(pid_); }

 private:
  pid_t pid_ = 0;
};

/// Whether it came true within a minute.
bool eventually(const std::function<bool()>& done) {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + std::chrono::minutes(1);
  while (steady_clock::now() < deadline) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

/// Whether a watch of `directory` has begun: its store is there.
bool has_begun(const fs::path& directory) {
  return eventually([&] { return fs::exists(directory / "run.sqlite"); });
}

json role_in(const json& results, const std::string& role) {
  for (const json& one : results.at("trials").at(0).at("roles"))
    if (one.at("role") == role) return one;
  return nullptr;
}

json growth_of(const json& results, const std::string& role, const std::string& metric) {
  for (const json& one : results.at("growth"))
    if (one.at("role") == role && one.at("metric") == metric) return one;
  return nullptr;
}

std::vector<std::string> codes(const json& results, const char* kind) {
  std::vector<std::string> all;
  for (const json& note : results.at(kind)) all.push_back(note.at("code"));
  return all;
}

std::int64_t rss_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
  return 0;
}

void expect_a_leak_of_a_mib(const json& results, const char* role) {
  const json row = growth_of(results, role, "rss_growth_bytes_per_round");
  ASSERT_TRUE(row.is_object()) << results.at("growth").dump(1);
  EXPECT_NEAR(row.at("slope").get<double>(), kMib, 0.05 * kMib) << role;
}

TEST(Watch, SeesALeakOfAMibInEveryPrintedRound) {
  const Workplace place;
  const std::string script = place.file("leak.py", kLeak);
  const std::string a = place.path("a").string();
  const Finished run = memduel(place, {"watch", "--out", a, "--round-pattern", "Round (\\d+)", "--",
                                       "/usr/bin/python3", script, "60"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("INFO Round 1 begins\n"));
  EXPECT_THAT(run.out, HasSubstr("INFO Round 60 begins\n"));
  EXPECT_THAT(run.err, HasSubstr("Growth after warm-up"));
  const json results = results_in(a);
  expect_a_leak_of_a_mib(results, "command");
  expect_a_leak_of_a_mib(results, "all");
  const json rounds = role_in(results, "command").at("rounds");
  ASSERT_EQ(rounds.size(), 60U);
  EXPECT_EQ(rounds.front().at("round"), 1);
  EXPECT_EQ(rounds.back().at("round"), 60);
  EXPECT_THAT(codes(results, "limitations"), Contains("not_interleaved"));
  EXPECT_EQ(results.at("variants").size(), 1U);

  for (const char* format : {"text", "markdown", "html", "junit", "csv"}) {
    const Finished report = memduel(place, {"report", a, "--format", format});
    EXPECT_EQ(report.status, 0) << format << report.err;
  }
  const std::string b = place.path("later").string();
  ASSERT_EQ(memduel(place, {"watch", "--out", b, "--round-pattern", "Round (\\d+)", "--",
                            "/usr/bin/python3", script, "20"})
                .status,
            0);
  const Finished compared = memduel(place, {"compare", a, b, "--verbose"});
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("peak RSS"));
  EXPECT_THAT(compared.out, HasSubstr("not interleaved"));
  EXPECT_THAT(compared.out, HasSubstr("\n  later  "));
  EXPECT_THAT(compared.out, Not(HasSubstr("--repeats"))) << "watch has none";
  const Finished again = memduel(place, {"watch", "--out", a, "--", "/bin/true"});
  EXPECT_EQ(again.status, 125);
  EXPECT_THAT(again.err, HasSubstr("contains another run"));
}

TEST(Watch, TakesRoundsFromALogThatIsRotated) {
  const Workplace place;
  const std::string script = place.file("leak.py", kLeak);
  const fs::path log = place.path("job.log");
  const std::string before = place.file("job.log", "INFO Round 99 begins\n");
  Child sleeper({"sleep", "600"});
  const fs::path out = place.path("run");
  Running watch(place, {"watch", "--out", out.string(), "--pid", sleeper.pid(), "--log",
                        log.string(), "--round-pattern", "Round (\\d+)"});
  ASSERT_TRUE(has_begun(out));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto write = [&](int from, int to) {
    std::ofstream file(log, std::ios::app);
    for (int round = from; round <= to; ++round) {
      file << "INFO Round " << round << " begins" << std::endl;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
  write(1, 10);
  fs::rename(log, place.path("job.log.1"));
  write(11, 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  watch.signal(SIGINT);
  const Finished run = watch.wait();
  EXPECT_EQ(run.status, 130) << run.err;
  const json rounds = role_in(results_in(out), "command").at("rounds");
  ASSERT_EQ(rounds.size(), 19U) << "the last one has not ended, the one from before was not seen";
  EXPECT_EQ(rounds.front().at("round"), 1);
  EXPECT_EQ(rounds.back().at("round"), 19);
  EXPECT_GT(rounds.back().at("metrics").at("end_rss_bytes").get<double>(), 0);
  EXPECT_THAT(codes(results_in(out), "limitations"), Contains("joined_late"));
}

TEST(Watch, NamesAProcessByTheProgramThatItExecutesMeanwhile) {
  const Workplace place;
  Child shim({"sh", "-c", "sleep 2; exec sleep 600"});
  const fs::path out = place.path("run");
  Running watch(place, {"watch", "--out", out.string(), "--pid", shim.pid()});
  ASSERT_TRUE(has_begun(out));
  EXPECT_TRUE(eventually([&] {
    if (!fs::exists(out / "config.json")) return false;
    return json::parse(read_file(out / "config.json"))
               .at("workload")
               .at("processes")
               .at(0)
               .at("argv") == json({"sleep", "600"});
  }));
  watch.signal(SIGINT);
  const Finished run = watch.wait();
  EXPECT_EQ(run.status, 130) << run.err;
  EXPECT_THAT(run.out, HasSubstr("watched pid " + shim.pid() + " (sleep 600)"));
  EXPECT_EQ(memduel(place, {"report", out.string(), "--format", "json"}).out.find("sleep 2"),
            std::string::npos);
}

TEST(Watch, TakesRoundsFromAnnotateAndCountsDescendants) {
  const Workplace place;
  const std::string script = place.file("marks.py", R"py(
import subprocess, sys, time
sys.path.insert(0, sys.argv[1])
import memduel_annotate as memduel
child = subprocess.Popen([sys.executable, "-c", "import time; x = b'x' * (64 << 20); time.sleep(600)"])
memduel.idle()
time.sleep(2.5)
kept = []
for n in range(1, 9):
    memduel.round_begin(n)
    memduel.phase("train")
    kept.append(bytearray(b"x") * (4 << 20))
    memduel.round_end(n)
child.kill()
child.wait()
)py");
  const std::string out = place.path("run").string();
  const Finished run = memduel(place, {"watch", "--out", out, "--quiet", "--", "/usr/bin/python3",
                                       script, MEMDUEL_ANNOTATE});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const json command = role_in(results_in(out), "command");
  ASSERT_EQ(command.at("rounds").size(), 8U);
  EXPECT_EQ(command.at("rounds").at(3).at("phases").at(0).at("phase"), "train");
  const double grown = command.at("rounds").at(7).at("metrics").at("end_rss_bytes").get<double>() -
                       command.at("rounds").at(3).at("metrics").at("end_rss_bytes").get<double>();
  EXPECT_NEAR(grown, 16 * kMib, kMib);
  EXPECT_GE(command.at("metrics").at("peak_rss_above_idle_bytes").get<double>(), 32 * kMib);
  const json tree = role_in(results_in(out), "all");
  EXPECT_GE(tree.at("metrics").at("peak_rss_bytes").get<double>(), (64 + 32) * kMib);
}

TEST(Watch, ReturnsTheStatusOfItsCommandOr125) {
  const Workplace place;
  const auto watch = [&](const std::string& name, std::vector<std::string> command) {
    std::vector<std::string> words = {"watch", "--out", place.path(name).string(), "--"};
    words.insert(words.end(), command.begin(), command.end());
    return memduel(place, words);
  };
  const Finished quick = watch("three", {"/bin/sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(quick.status, 3) << quick.err;
  EXPECT_EQ(quick.out, "out\n") << "the command has standard output for itself";
  EXPECT_THAT(quick.err, HasSubstr("err\n"));
  EXPECT_THAT(codes(results_in(place.path("three")), "warnings"), Contains("command_failed"));
  EXPECT_EQ(role_in(results_in(place.path("three")), "command").at("exit_status"), 3);
  EXPECT_EQ(watch("killed", {"/bin/sh", "-c", "kill -9 $$"}).status, 128 + 9);
  const Finished missing = watch("missing", {"/no/such/program"});
  EXPECT_EQ(missing.status, 125);
  EXPECT_THAT(missing.err, HasSubstr("No such file"));
  EXPECT_FALSE(fs::exists(place.path("missing"))) << "nothing to trip over next time";
}

TEST(Watch, SeesWhatACommandHoldsThatEndsWithinTheFirstInterval) {
  const Workplace place;
  const std::string out = place.path("run").string();
  const Finished run = memduel(place, {"watch", "--out", out, "--", "/usr/bin/python3", "-S", "-c",
                                       "import time; held = b'x' * (50 << 20); time.sleep(0.6)"});
  EXPECT_EQ(run.status, 0) << run.err;
  const double peak =
      role_in(results_in(out), "command").at("metrics").at("peak_rss_bytes").get<double>();
  EXPECT_GE(peak, 50 * kMib);
  EXPECT_LE(peak, 70 * kMib);
}

TEST(Watch, ForwardsATerminationToItsCommand) {
  const Workplace place;
  const fs::path out = place.path("run");
  Running watch(place, {"watch", "--out", out.string(), "--", "/bin/sh", "-c",
                        "trap 'exit 7' TERM; touch " + place.path("ready").string() +
                            "; while :; do sleep 0.05; done"});
  ASSERT_TRUE(eventually([&] { return fs::exists(place.path("ready")); }));
  watch.signal(SIGTERM);
  EXPECT_EQ(watch.wait().status, 7);
  EXPECT_TRUE(fs::exists(out / "results.json"));
}

TEST(Watch, ExitsAsItsGatesAskUnlessTheCommandFails) {
  const Workplace place;
  struct Case {
    const char* gate;
    const char* command;
    int status;
    const char* says;
  };
  const std::vector<Case> cases = {
      {"all.peak_rss_bytes<=1MiB", "sleep 0.2; exit 0", 1,
       "Gate all.peak_rss_bytes<=1MiB failed: "},
      {"*.peak_rss_bytes<=900MiB", "sleep 0.2; exit 0", 0,
       "Gate all.peak_rss_bytes<=900MiB passed: "},
      {"all.peak_rss_bytes<=1MiB:advisory", "sleep 0.2; exit 0", 0, "failed: "},
      {"all.peak_rss_bytes<=1MiB", "sleep 0.2; exit 7", 7,
       "Gate all.peak_rss_bytes<=1MiB failed: "},
      {"all.rss_growth_bytes_per_minute<=1MiB", "sleep 0.2; exit 0", 3, "1MiB not measured: "},
  };
  for (const Case& one : cases) {
    const fs::path out = place.path("run");
    const Finished run = memduel(place, {"watch", "--out", out.string(), "--gate", one.gate, "--",
                                         "/bin/sh", "-c", one.command});
    EXPECT_EQ(run.status, one.status) << one.gate << run.err;
    EXPECT_THAT(run.err, HasSubstr(one.says)) << one.gate;
    if (one.status != 7) {
      EXPECT_EQ(memduel(place, {"check", out.string()}).status, one.status)
          << one.gate << ": the gate is kept with the run";
    }
    fs::remove_all(out);
  }
  const Finished quiet =
      memduel(place, {"watch", "--quiet", "--out", place.path("run").string(), "--gate",
                      "all.peak_rss_bytes<=1MiB", "--", "/bin/sleep", "0.2"});
  EXPECT_EQ(quiet.status, 1);
  EXPECT_THAT(quiet.err, HasSubstr("Gate all.peak_rss_bytes<=1MiB failed: "));
}

TEST(Watch, JudgesItsGatesWhenTheDurationIsOver) {
  const Workplace place;
  Child sleeper({"sleep", "600"});
  for (const auto& [gate, status] : {std::pair{"command.peak_rss_bytes<=1KiB", 1},
                                     std::pair{"command.peak_rss_bytes<=900MiB", 0}}) {
    const fs::path out = place.path("run");
    const Finished run = memduel(place, {"watch", "--out", out.string(), "--pid", sleeper.pid(),
                                         "--duration", "0.5", "--gate", gate});
    EXPECT_EQ(run.status, status) << run.err;
    EXPECT_THAT(run.out, HasSubstr(std::string("Gate ") + gate));
    fs::remove_all(out);
  }
}

TEST(Watch, WritesMetricsForPrometheusAndEndsThem) {
  const Workplace place;
  Child first({"sleep", "600"});
  Child second({"sleep", "600"});
  const fs::path file = place.path("watch.prom");
  std::string during;
  std::thread reader([&] {
    for (int i = 0; i < 200 && during.empty(); ++i) {
      if (fs::exists(file)) during = read_file(file);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const Finished run =
      memduel(place, {"watch", "--out", place.path("night"), "--metrics", file.string(), "--pid",
                      first.pid(), second.pid(), "--duration", "2.5", "--pss-interval", "0.2"});
  reader.join();
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(during, HasSubstr("memduel_rss_bytes{run=\"night\",role=\"command-2\"} "));
  EXPECT_THAT(during, HasSubstr("memduel_processes{run=\"night\",role=\"command-1\"} 1\n"));
  const std::string after = read_file(file);
  EXPECT_THAT(after, Not(HasSubstr("memduel_rss_bytes")));
  EXPECT_THAT(after, HasSubstr("memduel_watch_end_time_seconds{run=\"night\"} "));
  const json results = json::parse(read_file(place.path("night/results.json")));
  for (const json& role : results.at("trials")[0].at("roles")) {
    if (role.at("role") != "command-1") continue;
    EXPECT_THAT(after, HasSubstr(fmt::format(
                           "memduel_peak_rss_bytes{{run=\"night\",role=\"command-1\"}} {:.0f}\n",
                           role.at("metrics").at("peak_rss_bytes").get<double>())));
  }
  const Finished nowhere = memduel(place, {"watch", "--out", place.path("other"), "--metrics",
                                           place.path("none/watch.prom"), "--", "true"});
  EXPECT_EQ(nowhere.status, 125) << "before the command is started";
  EXPECT_FALSE(fs::exists(place.path("other")));
}

TEST(Watch, CountsALineForEveryProcessAndItsMetricsForAllTogether) {
  const Workplace place;
  Child first({"sleep", "600"});
  Child second({"sleep", "600"});
  const fs::path log = place.file("job.log", "");
  const fs::path out = place.path("run");
  Running watch(
      place, {"watch", "--out", out.string(), "--pid", first.pid(), second.pid(), "--log",
              log.string(), "--round-pattern", "Round (?<round>\\d+) (?<metric_loss_ratio>\\S+)"});
  ASSERT_TRUE(has_begun(out));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  for (int round = 1; round <= 6; ++round) {
    std::ofstream(log, std::ios::app) << "Round " << round << " 0." << round << std::endl;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  first.end();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  for (int round = 7; round <= 9; ++round) {
    std::ofstream(log, std::ios::app) << "Round " << round << " 0." << round << std::endl;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  watch.signal(SIGINT);
  const Finished run = watch.wait();
  EXPECT_EQ(run.status, 130) << run.err;
  const json results = results_in(out);
  const auto rss_of = [&](const char* role, std::size_t round) {
    return role_in(results, role).at("rounds").at(round).at("metrics").at("end_rss_bytes");
  };
  EXPECT_EQ(role_in(results, "command-1").at("rounds").size(), 5U) << "the sixth did not end";
  EXPECT_EQ(role_in(results, "command-2").at("rounds").size(), 8U);
  EXPECT_EQ(role_in(results, "all").at("rounds").size(), 8U);
  EXPECT_EQ(rss_of("all", 2).get<double>(),
            rss_of("command-1", 2).get<double>() + rss_of("command-2", 2).get<double>());
  EXPECT_EQ(rss_of("all", 7), rss_of("command-2", 7)) << "the other one has ended";
  for (const char* role : {"command-2", "all"})
    EXPECT_EQ(role_in(results, role).at("metrics").at("loss_ratio"), 0.9) << role;
}

TEST(Watch, GoesOnWhenOneOfSeveralProcessesEnds) {
  const Workplace place;
  Child first({"sleep", "600"});
  Child second({"sleep", "600"});
  const fs::path out = place.path("run");
  Running watch(place, {"watch", "--out", out.string(), "--pid", first.pid(), second.pid()});
  ASSERT_TRUE(has_begun(out));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::string ended = "pid " + first.pid() + " ended after";
  first.end();
  ASSERT_TRUE(eventually([&] { return watch.err().find(ended) != std::string::npos; }))
      << watch.err();
  EXPECT_THAT(watch.err(), HasSubstr("the watch continues with 1 of 2"));
  second.end();
  const Finished run = watch.wait();
  EXPECT_EQ(run.status, 0) << run.err;
  const json results = results_in(out);
  EXPECT_THAT(codes(results, "limitations"), Contains("process_ended"));
  EXPECT_TRUE(role_in(results, "command-1").is_object());
  EXPECT_TRUE(role_in(results, "command-2").is_object());
}

TEST(Watch, WarnsWhenTheLimitIsNearAndSaysAPatternNeverMatched) {
  const Workplace place;
  const std::string out = place.path("run").string();
  const Finished run =
      memduel(place, {"watch", "--out", out, "--warn", "0", "--critical", "100", "--round-pattern",
                      "Epoche (\\d+)", "--", "/bin/sh", "-c", "echo Epoch 1; sleep 0.3"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("memduel: warning: "));
  EXPECT_THAT(run.err, HasSubstr("no line of its standard output matches Epoche"));
  const json results = results_in(out);
  EXPECT_THAT(codes(results, "warnings"), Contains("memory_warning"));
  EXPECT_THAT(codes(results, "warnings"), Not(Contains("memory_critical")));
  EXPECT_THAT(codes(results, "warnings"), Contains("pattern_never_matched"));
}

TEST(Watch, SaysThatALogWasNeverThereAndThatTheDirectoryIsUsed) {
  const Workplace place;
  const std::string out = place.path("run").string();
  const std::vector<std::string> words = {
      "watch",  "--out", out,       "--log", place.path("no.log"), "--round-pattern",
      "(\\d+)", "--",    "/bin/sh", "-c",    "sleep 0.3"};
  const Finished run = memduel(place, words);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("memduel: warning: command: its log no.log never existed"));
  const Finished again = memduel(place, words);
  EXPECT_THAT(again.err, HasSubstr("the output directory contains another run"));
  EXPECT_THAT(again.err, HasSubstr("use another --out"));
  EXPECT_THAT(again.err, Not(HasSubstr("--resume")));
}

/// What memduel with these arguments writes on a terminal of its own.
std::string on_a_terminal(const std::string& before, const std::string& arguments) {
  const std::string command = before +
                              " /usr/bin/python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "
                              "'" MEMDUEL_PROGRAM "' " +
                              arguments + " < /dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  EXPECT_EQ(pclose(pipe), 0) << text;
  return text;
}

TEST(Watch, DrawsItsLinesBelowTheCommandsOutputOnATerminal) {
  const Workplace place;
  const std::string script = place.file("leak.py", kLeak);
  const std::string watch = "watch --round-pattern \"Round (\\d+)\" --out " +
                            place.path("run").string() + " -- /usr/bin/python3 " + script + " 60";
  const std::string colored = on_a_terminal("env -u NO_COLOR", watch);
  for (const char* part : {"INFO Round 1 begins\r\n", "INFO Round 60 begins\r\n", "\033[J", "RSS ",
                           "\033[1m", " process", "▁"})
    EXPECT_THAT(colored, HasSubstr(part));
  fs::remove_all(place.path("run"));
  const std::string plain = on_a_terminal("env NO_COLOR=1", watch);
  EXPECT_THAT(plain, HasSubstr("\033[J"));
  EXPECT_THAT(plain, Not(HasSubstr("\033[1m")));
}

TEST(Watch, HoldsItsOwnMemoryOverTenThousandSamples) {
  const Workplace place;
  Child sleeper({"sleep", "600"});
  const fs::path out = place.path("run");
  Running watch(place, {"watch", "--out", out.string(), "--interval", "0.0005", "--pid",
                        sleeper.pid(), "--duration", "20"});
  ASSERT_TRUE(has_begun(out));
  const std::vector<pid_t> pids = processes_with(out.string());
  ASSERT_EQ(pids.size(), 1U);
  // By then each series is as long as it gets, unless the machine is busy.
  std::this_thread::sleep_for(std::chrono::seconds(12));
  const std::int64_t early_kib = rss_kib(pids[0]);
  std::this_thread::sleep_for(std::chrono::seconds(7));
  const std::int64_t late_kib = rss_kib(pids[0]);
  const Finished run = watch.wait();
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_GT(early_kib, 0);
  // Two series of 8,192 points of 16 bytes, and once more while they are moved.
  EXPECT_LE(late_kib - early_kib, 512) << early_kib << " KiB, then " << late_kib;
  const std::size_t count = run.out.find(" samples");
  ASSERT_NE(count, std::string::npos) << run.out;
  const std::size_t begin = run.out.rfind(' ', count - 1);
  EXPECT_GE(std::stoll(run.out.substr(begin)), 10'000) << run.out;
}

// One look takes a MiB; what is behind a long line is not left for the next rounds'.
TEST(Watch, KeepsUpWithAProgramThatLogsMuch) {
  const Workplace place;
  const Finished run = memduel(
      place, {"watch", "--out", place.path("run").string(), "--round-pattern", "^r (\\d+)", "--",
              "/bin/sh", "-c",
              "echo r 1; sleep 0.3; head -c 40000000 /dev/zero; echo; echo r 2; sleep 1; echo r 3; "
              "sleep 1"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, testing::ContainsRegex("2[ \n]+rounds ended"));
}

TEST(Watch, RefusesWhatCannotBe) {
  const Workplace place;
  const std::string self = std::to_string(getpid());
  struct Case {
    std::vector<std::string> words;
    int status;
    const char* says;
  };
  const std::vector<Case> cases = {
      {{}, 2, "either --pid"},
      {{"--pid", self, "--", "/bin/true"}, 125, "either --pid"},
      {{"--pid", "4194303"}, 2, "no such process"},
      {{"--pid", self, self}, 2, "twice"},
      {{"--pid", "abc"}, 2, "--pid: expected the number of a process, found \"abc\""},
      {{"--pid", self, "--warn", "101"}, 2, "0 to 100"},
      {{"--pid", self, "--critical", "-1"}, 2, "0 to 100"},
      {{"--pid", self, "--warn", "95"}, 2, "above --critical"},
      {{"--pid", self, "--interval", "0"}, 2, "--interval"},
      {{"--pid", self, "--round-pattern", "Round (\\d+)"}, 2, "--log FILE"},
      {{"--pid", self, "--log", "x.log"}, 2, "--round-pattern"},
      {{"--pid", self, "--log", "x.log", "--round-pattern", "Round ("},
       2,
       "--round-pattern: \"Round (\""},
      {{"--pid", self, "--log", "/dev/zero", "--round-pattern", "Round (\\d+)"},
       2,
       "--log /dev/zero: expected a regular file"},
      {{"--pid", self, "--log", "/", "--round-pattern", "Round (\\d+)"},
       2,
       "--log /: expected a regular file"},
      {{"--pid", self, "--gate", "all.peak_rss_bytes<=+2%"}, 2, "needs a baseline"},
      {{"--pid", self, "--gate", "default"}, 2, "--gate: the default gates need a baseline"},
      {{"--pid", self, "--gate", "server.peak_rss_bytes<=1MiB"}, 2, "unknown role 'server'"},
      {{"--pid", self, "--gate", "all.peak_rss_byte<=1MiB"}, 2, "unknown metric 'peak_rss_byte'"},
      {{"--duration", "5", "--", "/bin/true"}, 125, "until it exits"},
      {{"--warn", "120", "--", "/bin/true"}, 125, "0 to 100"},
      {{"--no-such", "--", "/bin/true"}, 125, "--no-such"}};
  for (const Case& one : cases) {
    std::vector<std::string> words = {"watch", "--out", place.path("run").string()};
    words.insert(words.end(), one.words.begin(), one.words.end());
    const Finished run = memduel(place, words);
    EXPECT_EQ(run.status, one.status) << testing::PrintToString(one.words) << run.err;
    EXPECT_THAT(run.err, HasSubstr(one.says)) << testing::PrintToString(one.words);
    EXPECT_FALSE(fs::exists(place.path("run"))) << testing::PrintToString(one.words);
  }
}

}  // namespace
}  // namespace memduel
