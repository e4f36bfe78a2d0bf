#include "trial_processes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_planned_trial.h"
#include "trial/processes.h"

namespace memduel {
namespace {

TEST(LastPid, MovesWhenAProcessIsMade) {
  LastPid last;
  last.moved();
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(last.moved());
  }
}

using testing::ElementsAre;
using testing::IsEmpty;

constexpr pid_t kNobody = (1 << 22) + 1;  // above the kernel's largest pid_max

class ProcessesOfATrial : public PlannedTrial {
 protected:
  ProcessesOfATrial() {
    plan_process("server", End::stop);
    plan_process("client-1");
    plan_.match = {{"trainer", "train\\.py"}};
    begin();
    run("server", 10);
    run("client-1", 20);
    joined_.clear();
  }
};

TEST_F(ProcessesOfATrial, DescendantsAreFoundAndTold) {
  living_ = {10, 11, 20};
  origins_[11] = {10, "server", "helper"};
  processes_->look(kSecondNs);
  EXPECT_THAT(joined_, ElementsAre("server 11"));
  EXPECT_THAT(processes_->of_role("server"), ElementsAre(10, 11));
  EXPECT_TRUE(processes_->named("server").trace.has_several_processes);
  EXPECT_FALSE(processes_->named("client-1").trace.has_several_processes);
}

TEST_F(ProcessesOfATrial, ALookCostsAHundredthOfACpuAtMost) {
  constexpr std::int64_t kCost = kSecondNs / 50;
  look_ns_ = kCost;
  processes_->look(kSecondNs);
  living_ = {10, 11, 20};
  origins_[11] = {10, "server", "helper"};
  processes_->look(kSecondNs + 100 * kCost - 1);
  EXPECT_THAT(joined_, IsEmpty());
  processes_->look(kSecondNs + 200 * kCost);
  EXPECT_THAT(joined_, ElementsAre("server 11"));
}

TEST_F(ProcessesOfATrial, ACheapListIsReadTenTimesASecond) {
  processes_->look(kSecondNs);
  living_ = {10, 11, 20};
  origins_[11] = {10, "server", "helper"};
  processes_->look(kSecondNs * 11 / 10);
  EXPECT_THAT(joined_, ElementsAre("server 11"));
}

TEST_F(ProcessesOfATrial, ADescendantThatMatchesIsARoleOfItsOwn) {
  living_ = {10, 20, 21};
  origins_[21] = {20, "client-1", "python3 train.py"};
  processes_->look(5 * kSecondNs);
  EXPECT_THAT(joined_, ElementsAre("trainer 21"));
  EXPECT_THAT(processes_->of_role("trainer"), ElementsAre(21));
  EXPECT_THAT(processes_->of_role("client-1"), ElementsAre(20));
  const RoleTrace& trace = processes_->matched_traces().at("trainer");
  EXPECT_EQ(trace.begin_ns, 5 * kSecondNs);
  EXPECT_TRUE(trace.of_descendants);
  EXPECT_TRUE(processes_->named("client-1").trace.has_matched_descendants);
}

// A process that its own parent waited for: the kernel's maximum of the parent may be its.
TEST_F(ProcessesOfATrial, AMatchedRoleKnowsThatItsDescendantsAreOfAnotherRole) {
  plan_.match = {{"launcher", "launch"}, {"trainer", "train\\.py"}};
  begin();
  run("server", 10);
  run("client-1", 20);
  living_ = {10, 20, 21, 22};
  origins_[21] = {20, "client-1", "launch"};
  origins_[22] = {21, "client-1", "python3 train.py"};
  processes_->look(5 * kSecondNs);
  EXPECT_TRUE(processes_->matched_traces().at("launcher").has_matched_descendants);
  EXPECT_FALSE(processes_->matched_traces().at("trainer").has_matched_descendants);
}

TEST_F(ProcessesOfATrial, ADescendantIsLookedForBeforeALookIsDue) {
  processes_->look(kSecondNs);
  living_ = {10, 20, 21};
  origins_[21] = {20, "client-1", "python3 train.py"};
  processes_->look_for("server", kSecondNs + 1);
  EXPECT_THAT(joined_, IsEmpty()) << "a role that was started is known";
  processes_->look_for("trainer", kSecondNs + 1);
  EXPECT_THAT(processes_->of_role("trainer"), ElementsAre(21));
}

TEST_F(ProcessesOfATrial, NothingChangesOnceNobodyCanTell) {
  living_ = std::nullopt;
  processes_->look(kSecondNs);
  EXPECT_THAT(processes_->of_role("server"), ElementsAre(10));
}

TEST_F(ProcessesOfATrial, ARoleLivesWhileAnyOfItsProcessesDoes) {
  SupervisedProcess& server = processes_->named("server");
  server.members = {kNobody, getpid()};
  EXPECT_TRUE(processes_->has_living(server, kSecondNs));
  EXPECT_THAT(server.members, ElementsAre(getpid()));
  server.members = {kNobody};
  EXPECT_FALSE(processes_->has_living(server, kSecondNs));
}

TEST_F(ProcessesOfATrial, ARoleLivesInADescendantThatWasNotSeenYet) {
  SupervisedProcess& server = processes_->named("server");
  processes_->look(kSecondNs);
  server.members = {kNobody};
  living_ = {getpid(), 20};
  origins_[getpid()] = {kNobody, "server", "daemon"};
  EXPECT_TRUE(processes_->has_living(server, kSecondNs + 1));
  EXPECT_THAT(joined_, ElementsAre("server " + std::to_string(getpid())));
}

TEST_F(ProcessesOfATrial, ARoleLivesInADaemonWhoseParentEndsDuringTheLook) {
  SupervisedProcess& server = processes_->named("server");
  processes_->look(kSecondNs);
  server.members = {kNobody};
  constexpr pid_t kParent = kNobody + 1;
  living_ = {kParent, 20};
  then_living_ = {getpid(), 20};
  origins_[kParent] = {kNobody, "server", "daemon"};
  origins_[getpid()] = {1, "server", "daemon"};
  EXPECT_TRUE(processes_->has_living(server, kSecondNs + 1));
  EXPECT_THAT(server.members, ElementsAre(getpid()));
}

TEST_F(ProcessesOfATrial, TheReferenceIsTheNamedRoleElseTheFirst) {
  EXPECT_EQ(processes_->reference(), "server");
  plan_.reference = "client-1";
  EXPECT_EQ(processes_->reference(), "client-1");
}

TEST_F(ProcessesOfATrial, EndsWhenAllHaveEnded) {
  EXPECT_TRUE(processes_->any(State::running));
  EXPECT_FALSE(processes_->all_ended());
  processes_->named("server").state = State::ended;
  EXPECT_FALSE(processes_->all_ended());
  processes_->named("client-1").state = State::ended;
  EXPECT_TRUE(processes_->all_ended());
  EXPECT_FALSE(processes_->any(State::running));
}

}  // namespace
}  // namespace memduel
