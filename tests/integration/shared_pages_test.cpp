// What the sum of resident sets counts once for each process, and what it leaves out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <string>

#include "support/memduel_program.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kBytesOfMebibyte = 1 << 20;

/// Three children wait beside their parent. What it took before the fork is theirs as well; what
/// each takes afterwards is its own.
constexpr const char* kForkingServer = R"(
import os, signal, sys, time
before, after = int(sys.argv[1]), int(sys.argv[2])
block = bytearray(before << 20)
parent, children = os.getpid(), []
for _ in range(3):
    if os.getpid() == parent:
        children.append(os.fork())
own = bytearray(after << 20)
if os.getpid() == parent:
    def stop(number, frame):
        for child in children:
            os.kill(child, signal.SIGTERM)
            os.waitpid(child, 0)
        sys.exit(0)
    signal.signal(signal.SIGTERM, stop)
    time.sleep(0.1)
    print("ready", flush=True)
time.sleep(60)
)";

json duel_of(const fs::path& script) {
  const auto server = [&](const char* before, const char* after) {
    return json::array({"/usr/bin/python3", "-S", script.string(), before, after});
  };
  return {
      {"name", "forks"},
      {"workload",
       {{"kind", "command"},
        {"processes",
         {{{"role", "server"},
           {"argv", server("1", "40")},
           {"ready", {{"log", "ready"}}},
           {"end", "stop"}},
          {{"role", "client"}, {"argv", {"sleep", "0.1"}}, {"after", {"server"}}}}}}},
      {"variants",
       {{{"name", "separate"}}, {{"name", "forked"}, {"argv", {{"server", server("64", "1")}}}}}},
      {"baseline", "separate"},
      {"profile", {{"trials", 0}}}};
}

class SharedPagesOfAJob : public testing::Test {
 protected:
  /// Four processes of 40 MiB against 64 MiB that four share.
  json run(const std::vector<std::string>& before = {}) {
    const std::string script = place_.file("server.py", kForkingServer);
    const std::string config = place_.file("duel.json", duel_of(script).dump());
    fs::permissions(place_.path(""), fs::perms::all);
    std::vector<std::string> words = before;
    words.insert(words.end(), {MEMDUEL_PROGRAM, "run", config, "--repeats", "6", "--out",
                               place_.path("run").string()});
    Running running(place_, words.front(), {words.begin() + 1, words.end()});
    const Finished finished = running.wait();
    EXPECT_EQ(finished.status, 0) << finished.out << finished.err;
    return results_in(place_.path("run"));
  }

  static void expect_the_truth(const json& results, const char* metric) {
    const json row = comparison(results, "all", metric);
    ASSERT_TRUE(row.is_object()) << metric;
    EXPECT_TRUE(row.at("gate"));
    EXPECT_EQ(row.at("verdict"), "improved");
    EXPECT_NEAR(row.at("baseline_median").get<double>(), (4 * 40 + 1) * kBytesOfMebibyte,
                32 * kBytesOfMebibyte);
    EXPECT_NEAR(row.at("candidate_median").get<double>(), (64 + 4) * kBytesOfMebibyte,
                32 * kBytesOfMebibyte);
    const json sum = comparison(results, "all", "peak_rss_bytes");
    EXPECT_NEAR(sum.at("candidate_median").get<double>(), 4 * (64 + 1) * kBytesOfMebibyte,
                64 * kBytesOfMebibyte);
    EXPECT_EQ(sum.at("verdict"), "regressed") << "which is why nobody is asked for it";
    EXPECT_FALSE(sum.at("gate"));
  }

  Workplace place_;
};

TEST_F(SharedPagesOfAJob, CountOnceByItsControlGroup) {
  const json results = run();
  if (!comparison(results, "all", "peak_cgroup_bytes").is_object())
    GTEST_SKIP() << "no control group can be made here";
  expect_the_truth(results, "peak_shared_once_bytes");
}

TEST_F(SharedPagesOfAJob, CountOnceByTheProportionalSetWithoutOne) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  expect_the_truth(run({"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}),
                   "peak_pss_bytes");
}

/// A parent with 16 MiB and children that wait, write to all of these, or execute a program with 16
/// MiB of its own.
constexpr const char* kPreforks = R"(
import os, sys, time
what, children = sys.argv[1], int(sys.argv[2])
own = "import time; own = bytearray(b'x') * (16 << 20); time.sleep(0.5); del own"
data = bytearray(b"x") * (16 << 20)
pids = []
for _ in range(children):
    pid = os.fork()
    if pid == 0:
        if what == "execute":
            os.execv(sys.executable, [sys.executable, "-S", "-c", own])
        if what == "copy":
            for i in range(0, len(data), 4096):
                data[i] = 1
        time.sleep(0.5)
        os._exit(0)
    pids.append(pid)
for pid in pids:
    os.waitpid(pid, 0)
)";

class Preforking : public testing::Test {
 protected:
  /// `what` against waiting, by `children`.
  json results_of(const std::string& what, int children) {
    const std::string script = "/usr/bin/python3 -S " + place_.file("preforks.py", kPreforks);
    const std::string count = " " + std::to_string(children);
    const Finished run = memduel(
        place_, {"compare", "--a", script + " wait" + count, "--b", script + " " + what + count,
                 "--repeats", "5", "--warmup", "0", "--out", place_.path("run").string()});
    EXPECT_EQ(run.status, 0) << run.out << run.err;
    return results_in(place_.path("run"));
  }

  static json memory_of(const json& results, const std::string& arm) {
    for (const json& memory : results.at("resident"))
      if (memory.at("variant") == arm) return memory;
    ADD_FAILURE() << "no snapshot of " << arm;
    return {};
  }

  static double owned(const json& memory, const std::string& owner, const std::string& name = "") {
    double sum = 0;
    for (const json& part : memory.at("owners"))
      if (part.at("owner") == owner && (name.empty() || part.at("name") == name))
        sum += part.at("bytes").get<double>();
    return sum;
  }

  /// The name of the first cause of the gate on memory with each page once.
  static std::string cause(const json& results) {
    for (const json& row : results.at("first_screen").at("rows"))
      if (row.at("metric") == "peak_shared_once_bytes" && !row.at("causes").empty())
        return row.at("causes").at(0).at("name");
    return {};
  }

  Workplace place_;
};

TEST_F(Preforking, CopiesOfItsChildrenAreTheCauseOfMoreMemory) {
  const json results = results_of("copy", 8);
  const json waits = memory_of(results, "a");
  const json copies = memory_of(results, "b");
  EXPECT_EQ(copies.at("processes"), 9);
  EXPECT_NEAR(owned(copies, "inherited", "own-copy") - owned(waits, "inherited", "own-copy"),
              8 * 16 * kBytesOfMebibyte, 8 * kBytesOfMebibyte);
  EXPECT_NEAR(owned(copies, "live"), 16 * kBytesOfMebibyte, 2 * kBytesOfMebibyte)
      << "what the children share is their parent's";
  const json held = comparison(results, "all", "peak_shared_once_bytes");
  if (!held.is_object()) GTEST_SKIP() << "no control group can be made here";
  EXPECT_EQ(cause(results), "pages of the parent that forked children copied on write");
  const double measured = held.at("candidate_median").get<double>();
  const double shown =
      copies.at("bytes").get<double>() - copies.at("page_cache_bytes").get<double>();
  EXPECT_NEAR(shown, measured, 0.1 * measured);
}

TEST_F(Preforking, ChildrenThatExecuteAProgramAddTheirOwnMemory) {
  const json results = results_of("execute", 3);
  const json executes = memory_of(results, "b");
  EXPECT_EQ(executes.at("processes"), 4) << "the forked images ended where the programs began";
  EXPECT_NEAR(owned(executes, "live"), 4 * 16 * kBytesOfMebibyte, 4 * kBytesOfMebibyte);
}

/// 40 MiB in a file of a tmpfs, written and read in parts.
constexpr const char* kSpills = R"(
import os
path = "/dev/shm/memduel-test-%d" % os.getpid()
part = bytearray(1 << 20)
with open(path, "wb") as file:
    for _ in range(40):
        file.write(part)
os.unlink(path)
)";

TEST(AFileInATmpfs, IsMemoryOfTheJob) {
  const Workplace place;
  const std::string keeps = place.file("keeps.py", "kept = bytearray(40 << 20)\n");
  const std::string spills = place.file("spills.py", kSpills);
  const Finished run = memduel(place, {"compare", "--a", "/usr/bin/python3 -S " + keeps, "--b",
                                       "/usr/bin/python3 -S " + spills, "--repeats", "8", "--out",
                                       place.path("run").string()});
  const json results = results_in(place.path("run"));
  const json held = comparison(results, "all", "peak_shared_once_bytes");
  if (!held.is_object()) GTEST_SKIP() << "no control group can be made here";
  EXPECT_EQ(comparison(results, "all", "peak_rss_bytes").at("verdict"), "improved");
  EXPECT_TRUE(held.at("gate"));
  EXPECT_NE(held.at("verdict"), "improved") << run.out;
  EXPECT_NEAR(held.at("candidate_median").get<double>(), held.at("baseline_median").get<double>(),
              4 * kBytesOfMebibyte);
}

/// What is written last is in the page cache, which the kernel takes back.
TEST(AFileOnADisk, IsNoMemoryOfTheJob) {
  const Workplace place;
  struct statfs about{};
  statfs(place.path("").c_str(), &about);
  if (about.f_type == TMPFS_MAGIC) GTEST_SKIP() << "the place of tests is a tmpfs";
  const std::string writes = place.file("writes.py", R"(
import sys
part = bytearray(8 << 20)
with open(sys.argv[1], "wb") as file:
    for _ in range(int(sys.argv[2])):
        file.write(part)
)");
  const std::string command = "/usr/bin/python3 -S " + writes + " {trial_dir}/out ";
  memduel(place, {"compare", "--a", command + "1", "--b", command + "12", "--out",
                  place.path("run").string()});
  const json rss = comparison(results_in(place.path("run")), "all", "peak_rss_no_files_bytes");
  EXPECT_TRUE(rss.at("gate"));
  EXPECT_EQ(rss.at("verdict"), "unchanged");
}

}  // namespace
}  // namespace memduel
