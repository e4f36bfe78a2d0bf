#include "trial_metering.h"

#include "test_planned_trial.h"

namespace memduel {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

Mark mark(Mark::Kind kind, int round) {
  Mark made;
  made.kind = kind;
  made.round = round;
  return made;
}

const auto kBegin = Mark::Kind::round_begin;
const auto kEnd = Mark::Kind::round_end;

class MeteringATrial : public PlannedTrial {
 protected:
  MeteringATrial() {
    plan_process("server");
    plan_process("client-1").takes_rounds = true;
    begin();
    run("server", 10);
    run("client-1", 20);
    meters_.emplace(plan_);
    metering_.emplace(TrialMetering::Parts{plan_, *processes_, *meters_, text_marks_, false,
                                           [this] { return now_; }});
  }

  void say(const std::string& role, const Mark& what) { metering_->take_lines({{role, {what}}}); }
  const RoleTrace& trace(const std::string& role) { return processes_->named(role).trace; }

  std::int64_t now_ = 100 * kSecondNs;
  TextMarks text_marks_{{}};
  std::optional<TrialMeters> meters_;
  std::optional<TrialMetering> metering_;
};

TEST_F(MeteringATrial, ALineIsAMarkOfWhenItWasRead) {
  say("server", mark(kBegin, 1));
  now_ += kSecondNs;
  say("server", mark(kEnd, 1));
  ASSERT_THAT(trace("server").marks, SizeIs(2));
  EXPECT_EQ(trace("server").marks[0].mark.t_ns, 100 * kSecondNs);
  EXPECT_EQ(trace("server").marks[1].mark.t_ns, 101 * kSecondNs);
  EXPECT_EQ(trace("server").last_round_ended, 1);
  EXPECT_TRUE(trace("server").marks_round_ends);
}

TEST_F(MeteringATrial, TheNextBeginEndsARound) {
  for (const std::int64_t seconds : {0, 2, 7, 9}) {
    now_ = (100 + seconds) * kSecondNs;
    say("server", mark(kBegin, trace("server").last_round_begun + 1));
  }
  EXPECT_EQ(trace("server").last_round_begun, 4);
  EXPECT_EQ(trace("server").last_round_ended, 3);
  EXPECT_EQ(trace("server").longest_round_ns, 5 * kSecondNs);
  EXPECT_FALSE(trace("server").marks_round_ends);
}

TEST_F(MeteringATrial, TheReferenceRolesRoundsAreLentToThoseThatTakeThem) {
  say("server", mark(kBegin, 1));
  say("server", mark(kEnd, 1));
  ASSERT_THAT(trace("client-1").marks, SizeIs(2));
  EXPECT_TRUE(trace("client-1").has_lent_rounds);
  EXPECT_EQ(trace("client-1").last_round_ended, 1);
}

TEST_F(MeteringATrial, OnlyTheReferenceRoleLends) {
  processes_->named("server").marks.marking_pid = 0;
  plan_.reference = "client-1";
  say("server", mark(kBegin, 1));
  EXPECT_THAT(trace("client-1").marks, IsEmpty());
}

TEST_F(MeteringATrial, TheReferenceMayBeARoleOfDescendants) {
  plan_.reference = "trainer";
  say("trainer", mark(kBegin, 1));
  say("trainer", mark(kEnd, 1));
  EXPECT_THAT(trace("client-1").marks, SizeIs(2));
  EXPECT_THAT(trace("server").marks, IsEmpty());
  EXPECT_EQ(processes_->matched_traces().at("trainer").last_round_ended, 1);
}

TEST_F(MeteringATrial, ARoleThatMarksForItselfTakesNoRounds) {
  processes_->named("client-1").marks.marking_pid = 20;
  say("server", mark(kBegin, 1));
  EXPECT_THAT(trace("client-1").marks, IsEmpty());
}

TEST_F(MeteringATrial, TheRunningRoundIsKnown) {
  say("server", mark(kBegin, 3));
  EXPECT_EQ(processes_->named("server").running_round, 3);
  say("server", mark(kEnd, 3));
  EXPECT_EQ(processes_->named("server").running_round, std::nullopt);
}

TEST_F(MeteringATrial, ALineMayNameARoleThatNoProcessIs) {
  say("trainer", mark(kBegin, 1));
  const RoleTrace& trainer = processes_->matched_traces().at("trainer");
  EXPECT_EQ(trainer.begin_ns, 100 * kSecondNs);
  EXPECT_EQ(trainer.last_round_begun, 1);
  EXPECT_THAT(trainer.marks, SizeIs(1));
}

}  // namespace
}  // namespace memduel
