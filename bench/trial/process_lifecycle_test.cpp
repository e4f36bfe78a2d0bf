#include "process_lifecycle.h"

#include "test_planned_trial.h"
#include "trial/processes.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StoppingATrial : public PlannedTrial {
 protected:
  StoppingATrial() {
    plan_process("server", End::stop);
    plan_process("client-1");
    plan_process("observer", End::stop);
    plan_.stop_grace_seconds = 5;
    begin();
    run("server", 10);
    run("client-1", 20);
    stopping_.emplace(plan_, *processes_, [this](const SupervisedProcess& process, int number) {
      sent_.push_back(process.role() + (number == SIGKILL ? " KILL" : " TERM"));
    });
  }

  RoleTrace& trace(const std::string& role) { return processes_->named(role).trace; }

  std::optional<Stopping> stopping_;
  std::vector<std::string> sent_;
};

TEST_F(StoppingATrial, WaitsForAllThatItIsToWaitFor) {
  stopping_->once_waited_for(kSecondNs);
  EXPECT_THAT(sent_, IsEmpty());
  processes_->named("client-1").state = State::ended;
  stopping_->once_waited_for(kSecondNs);
  EXPECT_THAT(sent_, ElementsAre("server TERM"));
  EXPECT_TRUE(processes_->named("server").asked_to_stop);
  EXPECT_EQ(processes_->named("observer").state, State::ended) << "its turn never came";
  EXPECT_FALSE(stopping_->began_after_last_round());
}

TEST_F(StoppingATrial, KillsOnceWhatHasNotEndedWithinTheGrace) {
  processes_->named("client-1").state = State::ended;
  stopping_->once_waited_for(kSecondNs);
  stopping_->check_grace(6 * kSecondNs);
  EXPECT_THAT(stopping_->killed_after_grace(), IsEmpty());
  stopping_->check_grace(6 * kSecondNs + 1);
  stopping_->check_grace(9 * kSecondNs);
  EXPECT_THAT(sent_, ElementsAre("server TERM", "server KILL"));
  EXPECT_THAT(stopping_->killed_after_grace(), ElementsAre("server"));
}

TEST_F(StoppingATrial, TellsOneThatCameUpTooLate) {
  stopping_->stop_if_begun(processes_->named("server"));
  EXPECT_THAT(sent_, IsEmpty());
  processes_->named("client-1").state = State::ended;
  processes_->named("server").state = State::starting;
  stopping_->once_waited_for(kSecondNs);
  EXPECT_THAT(sent_, IsEmpty());
  stopping_->stop_if_begun(run("server", 11));
  EXPECT_THAT(sent_, ElementsAre("server TERM"));
}

TEST_F(StoppingATrial, StopsWhenEveryRoleWithRoundsHasEndedTheLastOne) {
  plan_.stop_after_round = 3;
  trace("server").last_round_begun = 3;
  trace("client-1").last_round_begun = 3;
  trace("server").last_round_ended = 3;
  trace("client-1").last_round_ended = 2;
  trace("client-1").marks_round_ends = true;
  stopping_->after_last_round(100 * kSecondNs);
  EXPECT_THAT(sent_, IsEmpty());
  trace("client-1").last_round_ended = 3;
  stopping_->after_last_round(100 * kSecondNs);
  EXPECT_THAT(sent_, ElementsAre("server TERM", "client-1 TERM"));
  EXPECT_TRUE(stopping_->began_after_last_round());
}

TEST_F(StoppingATrial, WithoutAnEndMarkTheLastRoundIsOverAfterTwiceTheLongest) {
  plan_.stop_after_round = 2;
  trace("server").last_round_begun = 2;
  trace("server").last_round_ended = 1;
  trace("server").last_round_begun_ns = 10 * kSecondNs;
  trace("server").longest_round_ns = 3 * kSecondNs;
  stopping_->after_last_round(16 * kSecondNs);
  EXPECT_THAT(sent_, IsEmpty());
  stopping_->after_last_round(16 * kSecondNs + 1);
  EXPECT_THAT(sent_, ElementsAre("server TERM", "client-1 TERM"));
  EXPECT_TRUE(trace("server").last_round_ended_by_time);
}

TEST_F(StoppingATrial, AShortRoundIsGivenHalfASecond) {
  plan_.stop_after_round = 2;
  trace("server").last_round_begun = 2;
  trace("server").last_round_ended = 1;
  trace("server").last_round_begun_ns = 10 * kSecondNs;
  trace("server").longest_round_ns = kSecondNs / 100;
  stopping_->after_last_round(10 * kSecondNs + kSecondNs / 2);
  EXPECT_THAT(sent_, IsEmpty());
  stopping_->after_last_round(10 * kSecondNs + kSecondNs / 2 + 1);
  EXPECT_FALSE(sent_.empty());
}

TEST_F(StoppingATrial, GoesOnWhereNobodyMarksRounds) {
  plan_.stop_after_round = 1;
  stopping_->after_last_round(100 * kSecondNs);
  EXPECT_THAT(sent_, IsEmpty());
}

}  // namespace
}  // namespace memduel
