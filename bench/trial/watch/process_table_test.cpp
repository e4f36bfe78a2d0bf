#include "process_table.h"

#include <gmock/gmock.h>

#include "trial_processes.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr pid_t kSelf = 99;

ProcessLine line(pid_t pid, pid_t parent, std::uint64_t started, char state = 'S') {
  return {pid, parent, state, started};
}

/// Two processes that are joined, and what the table of all processes makes of their descendants.
class JoinedProcesses : public testing::Test {
 protected:
  JoinedProcesses() {
    for (const char* role : {"command-1", "command-2"}) {
      ProcessSpec& spec = plan_.processes.emplace_back();
      spec.role = role;
      spec.argv = {role};
    }
    processes_.emplace(
        plan_, [this] { return table_.update(lines_, kSelf); },
        [this](const std::string&, pid_t pid) { joined_.push_back(pid); },
        [this](pid_t pid, const ProcessOrigin*) { return table_.origin_of(pid); });
    processes_->runs_as(processes_->named("command-1"), 10);
    processes_->runs_as(processes_->named("command-2"), 20);
  }

  std::vector<pid_t> joined(std::vector<ProcessLine> processes) {
    lines_ = std::move(processes);
    lines_.push_back(line(1, 0, 0));
    lines_.push_back(line(kSelf, 1, 50));
    joined_.clear();
    processes_->renew(0);
    return joined_;
  }
  std::vector<pid_t> members(const char* role) { return processes_->of_role(role); }

  TrialPlan plan_;
  ProcessTable table_;
  std::vector<ProcessLine> lines_;
  std::vector<pid_t> joined_;
  std::optional<TrialProcesses> processes_;
};

TEST_F(JoinedProcesses, HaveDescendantsOfEachRootAndNobodyElse) {
  // Numbers wrap around: a child may have a smaller one than its parent.
  EXPECT_THAT(joined({line(10, 1, 100), line(20, 1, 100), line(12, 10, 110), line(3, 12, 120),
                      line(21, 20, 130), line(50, 1, 5), line(51, kSelf, 140)}),
              ElementsAre(12, 3, 21));
  EXPECT_THAT(members("command-1"), ElementsAre(10, 12, 3));
  EXPECT_THAT(members("command-2"), ElementsAre(20, 21));
}

TEST_F(JoinedProcesses, KeepOneWhoseParentEnded) {
  joined({line(10, 1, 100), line(20, 1, 100), line(12, 10, 110), line(13, 12, 120)});
  EXPECT_THAT(joined({line(10, 1, 100), line(20, 1, 100), line(12, 10, 110, 'Z'), line(13, 1, 120),
                      line(14, 13, 130)}),
              ElementsAre(14));
  EXPECT_THAT(members("command-1"), ElementsAre(10, 13, 14));
}

TEST_F(JoinedProcesses, DropANumberThatCameBackAsAnotherProcess) {
  joined({line(10, 1, 100), line(20, 1, 100), line(12, 10, 110)});
  // 12 ended, and a process of somebody else got its number.
  EXPECT_THAT(joined({line(10, 1, 100), line(20, 1, 100), line(12, 1, 500)}), IsEmpty());
  EXPECT_THAT(members("command-1"), ElementsAre(10));
  EXPECT_THAT(joined({line(10, 1, 100), line(20, 1, 100), line(12, 1, 500)}), IsEmpty());
  EXPECT_THAT(members("command-1"), ElementsAre(10));
}

TEST_F(JoinedProcesses, TakeUpANumberThatCameBackAsADescendant) {
  joined({line(10, 1, 100), line(20, 1, 100), line(12, 10, 110)});
  joined({line(10, 1, 100), line(20, 1, 100), line(12, 20, 500)});
  EXPECT_THAT(joined({line(10, 1, 100), line(20, 1, 100), line(12, 20, 500)}), ElementsAre(12));
  EXPECT_THAT(members("command-1"), ElementsAre(10));
  EXPECT_THAT(members("command-2"), UnorderedElementsAre(20, 12));
}

TEST(ProcessTable, HasParentsBeforeTheirChildrenAndNobodyDead) {
  ProcessTable table;
  EXPECT_THAT(table.update({line(3, 12, 120), line(12, 10, 110), line(10, 1, 100),
                            line(13, 10, 115, 'Z'), line(kSelf, 1, 1)},
                           kSelf),
              ElementsAre(10, 12, 3));
  EXPECT_EQ(table.origin_of(3).parent, 12);
  EXPECT_EQ(table.origin_of(13).parent, 0);
}

}  // namespace
}  // namespace memduel
