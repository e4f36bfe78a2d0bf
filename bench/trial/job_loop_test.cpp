#include "job_loop.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "meters/procfs_meter.h"

namespace memduel {
namespace {

using testing::ElementsAre;

/// The test itself, which nobody of memduel started, and a log that it writes.
class LoopOverAJoinedProcess : public testing::Test {
 protected:
  LoopOverAJoinedProcess() {
    ProcessSpec& spec = plan_.processes.emplace_back();
    spec.role = "command";
    spec.argv = {"command"};
    spec.joined = getpid();
    plan_.text_marks = {{"command", TextMarkSpec::From::file, log_, "Round (\\d+)"}};
    plan_.pss_interval_seconds = 60;
    write("Round 9\n");
    loop_.emplace(plan_, TrialMeters(std::make_unique<ProcfsMeter>(), 3600),
                  JobLoop::Options{.living = [] { return std::vector<pid_t>{getpid()}; },
                                   .first_sweep_after_ns = 0});
    process().state = SupervisedProcess::State::running;
    loop_->processes.runs_as(process(), getpid());
  }

  void write(const char* text) const { std::ofstream(log_, std::ios::app) << text; }
  SupervisedProcess& process() { return loop_->processes.started().front(); }
  /// Turns until the process has so many marks, for ten seconds at most. Returns the samples due.
  int turn_until(std::size_t marks) {
    int samples = 0;
    const std::int64_t over_ns = monotonic_ns() + 10 * kSecondNs;
    while (process().trace.marks.size() < marks && monotonic_ns() < over_ns)
      samples +=
          loop_->turn(
              over_ns, [this](void* source) { sources_.push_back(source); }, [](std::int64_t) {})
              ? 1
              : 0;
    return samples;
  }
  std::vector<std::pair<Mark::Kind, int>> marks() {
    std::vector<std::pair<Mark::Kind, int>> found;
    for (const MarkEvent& event : process().trace.marks)
      found.emplace_back(event.mark.kind, event.mark.round);
    return found;
  }

  ScratchDirectory scratch_{testing::TempDir(), "job-loop"};
  std::filesystem::path log_ = scratch_.path() / "job.log";
  TrialPlan plan_;
  std::vector<void*> sources_;
  std::optional<JobLoop> loop_;
};

TEST_F(LoopOverAJoinedProcess, TakesMarksSamplesAndPss) {
  write("Round 1\n");
  EXPECT_EQ(turn_until(1), 1) << "the first sample is due at once, the next one in an hour";
  EXPECT_THAT(marks(), ElementsAre(std::pair(Mark::Kind::round_begin, 1)));
  const auto rss = static_cast<double>(process_memory(getpid())->rss.value());
  EXPECT_NEAR(static_cast<double>(process().trace.marks[0].mark.sizes.rss.value()), rss, 0.1 * rss);
  const std::vector<PssSweep> sweeps = loop_->meters.take_sweeps();
  ASSERT_EQ(sweeps.size(), 1U);
  EXPECT_TRUE(sweeps[0].complete);
  EXPECT_GT(sweeps[0].bytes.at("command"), 0);
  EXPECT_LE(sweeps[0].bytes.at("command"), 1.1 * rss);
}

TEST_F(LoopOverAJoinedProcess, TakesTheLastLinesOfAProcessThatEnds) {
  write("Round 1\nRound 2");
  turn_until(1);
  loop_->end(process());
  EXPECT_EQ(process().state, SupervisedProcess::State::ended);
  EXPECT_THAT(marks(), ElementsAre(std::pair(Mark::Kind::round_begin, 1),
                                   std::pair(Mark::Kind::round_end, 1),
                                   std::pair(Mark::Kind::round_begin, 2)));
}

TEST_F(LoopOverAJoinedProcess, LeavesOtherSourcesToItsCaller) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const Descriptor reading(ends[0]);
  const Descriptor writing(ends[1]);
  loop_->events.add(reading.get(), &ends);
  ASSERT_EQ(::write(writing.get(), "x", 1), 1);
  write("Round 1\n");
  turn_until(1);
  EXPECT_THAT(sources_, testing::Contains(&ends));
}

}  // namespace
}  // namespace memduel
