// The peak of a role is the kernel's own maximum, wherever it lies and however its process ends.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using nlohmann::json;

/// Three rounds; the last one has a peak of some milliseconds, which is the life's. It logs VmHWM,
/// the kernel's maximum since memduel last reset it, and so knows the largest of them.
constexpr const char* kPeakingServer = R"(
import signal, sys, time
log, done, mode = open(sys.argv[1], "w"), sys.argv[2], sys.argv[3]
if mode == "kill":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
largest = 0
def say(text):
    global largest
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            largest = max(largest, int(line.split()[1]) << 10)
    print(text or "true peak %d" % largest, file=log, flush=True)
    time.sleep(0.15)
time.sleep(1)  # until memduel has found a process that a pattern names
say("Logging to")
for number, mib in enumerate((24, 48, 96), 1):
    say("round %d" % number)
    block = bytearray(b"x") * (mib << 20)
    if log.name.endswith("child.log") and mode != "kill":
        time.sleep(0.1)  # its peak is sampled
    del block
say("")
open(done, "w").close()
if mode != "exit":
    time.sleep(600)
)";

/// Starts another program and ends with it.
constexpr const char* kParentOfAServer = R"(
import signal, subprocess, sys
print("Logging to", flush=True)
child = subprocess.Popen([sys.executable] + sys.argv[1:])
if sys.argv[-1] == "kill":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
child.wait()
)";

constexpr const char* kWaiterForServers = R"(
import os, sys, time
print("Logging to", flush=True)
while not all(map(os.path.exists, sys.argv[1:])):
    time.sleep(0.02)
)";

/// What the program itself may still touch after it has read its maximum, to print it.
constexpr double kToPrint = 64 << 10;

/// By so much the kernel's counters of a process may be behind: since 6.2 they are per-CPU counters
/// (mm_struct.rss_stat), which are summed up after a batch of pages on a CPU (percpu_counter_batch,
/// lib/percpu_counter.c: the larger of 32 and twice the CPUs). VmRSS and statm of newer kernels are
/// exact, VmHWM and what wait4 reports are not, so a sample may be above them.
double tolerance() {
  const std::int64_t cpus = sysconf(_SC_NPROCESSORS_ONLN);
  return static_cast<double>(std::max<std::int64_t>(32, 2 * cpus) * cpus * sysconf(_SC_PAGESIZE));
}

json trial_role(const json& trial, const std::string& role) {
  for (const json& each : trial.at("roles"))
    if (each.at("role") == role) return each;
  ADD_FAILURE() << "no role " << role;
  return {};
}

class Peaks : public testing::Test {
 protected:
  /// One job with the server as roles of a group and as a descendant of another role.
  json results(const std::string& mode) {
    write_file_atomically(place_.path("server.py"), kPeakingServer);
    write_file_atomically(place_.path("parent.py"), kParentOfAServer);
    write_file_atomically(place_.path("waiter.py"), kWaiterForServers);
    json config = json::parse(R"json({
      "name": "peaks",
      "workload": {"kind": "command", "deadline_seconds": 60, "stop_grace_seconds": 0.5,
        "processes": [
          {"role": "server", "count": 2,
           "argv": ["/usr/bin/python3", "server.py", "{trial_dir}/server-{index}.log",
                    "{trial_dir}/done-{index}"]},
          {"role": "parent",
           "argv": ["/usr/bin/python3", "parent.py", "server.py", "{trial_dir}/child.log",
                    "{trial_dir}/done-child"]},
          {"role": "waiter",
           "argv": ["/usr/bin/python3", "waiter.py", "{trial_dir}/done-1", "{trial_dir}/done-2",
                    "{trial_dir}/done-child"]}],
        "match": [{"role": "child", "pattern": "python3 server\\.py"}],
        "marks": [{"role": "parent", "pattern": "(?<idle>Logging to)"},
                  {"role": "waiter", "pattern": "(?<idle>Logging to)"}]},
      "variants": [{"name": "a"}, {"name": "b", "env": {"OTHER": "1"}}],
      "baseline": "a", "measure": {"repeats": 1}})json");
    json& workload = config["workload"];
    for (const int process : {0, 1}) {
      json& spec = workload["processes"][process];
      spec["argv"].push_back(mode);
      if (mode != "exit") spec["end"] = "stop";
    }
    for (const auto& [role, log] :
         {std::pair("server", "server-{index}.log"), std::pair("child", "child.log")}) {
      for (const char* pattern :
           {"(?<idle>Logging to)", "round (\\d+)", "true peak (?<metric_true_peak_bytes>\\d+)"})
        workload["marks"].push_back(
            {{"role", role}, {"from", {{"file", log}}}, {"pattern", pattern}});
    }
    const Finished finished =
        memduel(place_, {"run", place_.file("peaks.json", config.dump()), "--out",
                         place_.path("run").string(), "--on-inconclusive", "pass"});
    EXPECT_LE(finished.status, 1) << finished.err << finished.out;
    return results_in(place_.path("run"));
  }

  Workplace place_;
};

void expect_kernels_peak(const json& role) {
  SCOPED_TRACE(role.at("role"));
  const json& metrics = role.at("metrics");
  const double peak = metrics.at("peak_rss_bytes");
  const double read = metrics.at("true_peak_bytes");
  EXPECT_GE(peak, read - tolerance());
  EXPECT_LE(peak, read + tolerance() + kToPrint);
  EXPECT_GT(peak, 96.0 * (1 << 20));
  ASSERT_EQ(role.at("rounds").size(), 3U);
  EXPECT_EQ(role.at("rounds").at(2).at("metrics").at("peak_rss_bytes"), peak);
  EXPECT_LT(role.at("rounds").at(1).at("metrics").at("peak_rss_bytes"), peak);
  EXPECT_EQ(metrics.at("idle_rss_bytes").get<double>() +
                metrics.at("peak_rss_above_idle_bytes").get<double>(),
            peak);
}

void expect_peaks(const json& results, bool child_is_sampled) {
  ASSERT_EQ(results.at("trials").size(), 4U);
  for (const json& trial : results.at("trials")) {
    SCOPED_TRACE(trial.at("id"));
    ASSERT_EQ(trial.at("status"), "ok") << trial.value("failure", "");
    for (const char* name : {"server-1", "server-2", "child"}) {
      const json role = trial_role(trial, name);
      expect_kernels_peak(role);
      const bool is_sampled = std::string(name) == "child" && child_is_sampled;
      EXPECT_EQ(role.contains("peak_rss_is_sampled"), is_sampled) << name;
    }
    const json tree = trial_role(trial, "all");
    EXPECT_TRUE(tree.at("peak_rss_is_sampled")) << "a sum";
    EXPECT_TRUE(tree.at("metrics").contains("peak_rss_above_idle_bytes"));
    const double largest = tree.at("metrics").at("peak_largest_process_rss_bytes");
    for (const char* name : {"server-1", "server-2", "child"})
      EXPECT_GE(largest, trial_role(trial, name).at("metrics").at("peak_rss_bytes").get<double>());
  }
}

TEST_F(Peaks, InTheLastRoundAreTheKernelsOfAProcessThatExits) {
  expect_peaks(results("exit"), true);
}

TEST_F(Peaks, InTheLastRoundAreTheKernelsOfAProcessThatSigtermEnds) {
  expect_peaks(results("stop"), true);
}

// Nobody but memduel's launcher waits for the child then, and so it gets the kernel's maximum.
TEST_F(Peaks, InTheLastRoundAreTheKernelsOfAProcessThatSigkillEnds) {
  expect_peaks(results("kill"), false);
}

TEST_F(Peaks, ThatAreSampledAreMarkedWhereTheyAreExplained) {
  results("exit");
  const std::string run = place_.path("run").string();
  EXPECT_NE(memduel(place_, {"explain", run, "child.peak_rss_bytes"})
                .out.find("the peak was sampled, so the true peak may be higher"),
            std::string::npos);
  EXPECT_EQ(memduel(place_, {"explain", run, "server_max.peak_rss_bytes"}).out.find("sample."),
            std::string::npos);
}

}  // namespace
}  // namespace memduel
