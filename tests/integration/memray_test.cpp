// memray in real Python programs. The amounts are those of the programs: bytearray(n) requests n +
// 1 bytes from malloc for n above 512.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memduel_program.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

const std::string kPython = MEMDUEL_MEMRAY_PYTHON;
constexpr double kHeld = 64 * 1024 * 1024 + 1;
constexpr double kOfChild = 3 * 1024 * 1024 + 1;

constexpr const char* kScript = R"py(
import os, signal, sys
kept = []
def hold(): kept.append(bytearray(64 << 20))
def give_back(): bytearray(16 << 20)
def in_child(): kept.append(bytearray(3 << 20))
give_back()
hold()
print("ready", flush=True)
if "fork" in sys.argv:
    if os.fork() == 0:
        in_child()
        os._exit(0)
    os.wait()
if "execute" in sys.argv:
    os.execv(sys.executable, [sys.executable, "-c", "def in_child(): return bytearray(3 << 20)\nb = in_child()"])
if "kill" in sys.argv:
    os.kill(os.getpid(), signal.SIGKILL)
if "wait" in sys.argv:
    signal.pause()
)py";

class Memray : public testing::Test {
 protected:
  [[nodiscard]] Finished record(const std::vector<std::string>& command) const {
    std::vector<std::string> words = {"record", "--profiler", "memray", "-o", profile(), "--"};
    words.insert(words.end(), command.begin(), command.end());
    return memduel(place_, words);
  }
  [[nodiscard]] std::string profile() const { return place_.path("p.memray.json").string(); }
  [[nodiscard]] std::string second() const { return place_.path("p.2.memray.json").string(); }

  Workplace place_;
  std::string script_ = place_.file("held.py", kScript);
};

TEST_F(Memray, FindsWhatIsHeldAtThePeakAndAtTheEndToTheByte) {
  const Finished run = record({kPython, script_});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "ready\n");
  for (const std::string kind : {"peak", "live"}) {
    EXPECT_EQ(bytes_in(place_, profile(), kind, "hold"), kHeld) << kind;
    EXPECT_EQ(bytes_in(place_, profile(), kind, "give_back"), 0) << kind;
  }
}

TEST_F(Memray, RecordsEveryFormOfACommand) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"env", "A=1", kPython, script_},
        {kPython, "-c", "import runpy; runpy.run_path('" + script_ + "')"},
        {kPython, "-u", "-m", "held"}}) {
    fs::remove(profile());
    std::vector<std::string> words = {"record", "--profiler", "memray", "-o", profile(), "--"};
    words.insert(words.end(), command.begin(), command.end());
    const Finished run = memduel(place_, words, fs::path(script_).parent_path());
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(bytes_in(place_, profile(), "peak", "hold"), kHeld) << command.back();
  }
}

TEST_F(Memray, AForkedChildAndAnExecutedProgramHaveFilesOfTheirOwn) {
  for (const std::string way : {"fork", "execute"}) {
    const Finished run = record({kPython, script_, way});
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(bytes_in(place_, profile(), "peak", "hold"), kHeld) << way;
    EXPECT_EQ(bytes_in(place_, second(), "peak", "in_child"), kOfChild) << way;
  }
}

TEST_F(Memray, AKilledProgramKeepsWhatItAllocated) {
  const Finished run = record({kPython, script_, "kill"});
  EXPECT_EQ(run.status, 128 + 9);
  EXPECT_EQ(bytes_in(place_, profile(), "peak", "hold"), kHeld);
}

TEST_F(Memray, IsRefusedForAProgramThatIsNoPythonBeforeItRuns) {
  const Finished run = record({"/bin/echo", "it ran"});
  EXPECT_EQ(run.status, 125);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("memray records Python programs, found /bin/echo"));
}

/// A server that SIGTERM ends and its client, under both profilers.
TEST_F(Memray, ProfilesTheRolesOfAJobBesideTheRecorder) {
  const std::string config =
      place_.file("job.json", R"({
    "name": "job", "baseline": "a",
    "workload": { "kind": "command", "processes": [
      { "role": "server", "end": "stop", "ready": { "log": "ready" }, "argv": [")" +
                                  kPython + R"(", ")" + script_ + R"(", "wait"] },
      { "role": "client", "after": ["server"], "argv": [")" +
                                  kPython + R"(", ")" + script_ + R"("] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "env": { "A": "1" } } ],
    "measure": { "repeats": 1 }, "profile": { "profilers": ["recorder", "memray"] } })");
  const Finished run =
      memduel(place_, {"run", config, "--out", place_.path("run"), "--on-inconclusive", "pass"});
  ASSERT_EQ(run.status, 0) << run.err;
  int profiles = 0;
  for (const auto& entry : fs::directory_iterator(place_.path("run/profiles"))) {
    if (!entry.path().string().ends_with(".memray.json")) continue;
    ++profiles;
    EXPECT_EQ(bytes_in(place_, entry.path(), "peak", "hold"), kHeld) << entry.path();
  }
  EXPECT_EQ(profiles, 4) << "of two roles in two variants";
}

TEST_F(Memray, ARoleThatIsNoPythonIsRefusedBeforeTheFirstTrial) {
  const std::string config = place_.file("job.json", R"({
    "name": "job", "baseline": "a",
    "workload": { "kind": "command", "processes": [
      { "role": "server", "argv": [")" + kPython + R"(", ")" +
                                                         script_ + R"("] },
      { "role": "client", "argv": ["/bin/true"] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "env": { "A": "1" } } ],
    "measure": { "repeats": 1 }, "profile": { "profilers": ["memray"] } })");
  const Finished run = memduel(place_, {"run", config, "--out", place_.path("run")});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("role client"), HasSubstr("found /bin/true")));
  EXPECT_FALSE(fs::exists(place_.path("run/logs/000001-server.stdout")));
}

}  // namespace
}  // namespace memduel
