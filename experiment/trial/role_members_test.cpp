#include "experiment/trial/role_members.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A server (10) and a client (20), with whatever a test lets them start.
class Members : public testing::Test {
 protected:
  Members() {
    members_.add_root("server", 10);
    members_.add_root("client-1", 20);
  }

  std::vector<std::string> update(const std::vector<pid_t>& living) {
    std::vector<std::string> found;
    for (const Member& each : members_.update(living))
      found.push_back(each.role + " " + std::to_string(each.pid));
    return found;
  }

  std::map<pid_t, ProcessOrigin> origins_;
  RoleMembers members_{{{"trainer", "client_train\\.py"}},
                       [this](pid_t pid) { return origins_[pid]; }};
};

TEST_F(Members, ADescendantIsOfItsParentsRole) {
  origins_ = {{11, {10, "server", "helper"}},
              {21, {20, "client-1", "loader"}},
              {22, {21, {}, "an empty environment"}}};
  EXPECT_THAT(update({10, 11, 20, 21, 22}), ElementsAre("server 11", "client-1 21", "client-1 22"));
  EXPECT_THAT(update({10, 11, 20, 21, 22}), IsEmpty()) << "told once";
}

TEST_F(Members, ADaemonIsOfTheRoleItsEnvironmentNames) {
  origins_ = {{30, {1, "server", "daemon"}}, {31, {1, {}, "nobody's"}}};
  EXPECT_THAT(update({10, 20, 30, 31}), ElementsAre("server 30"));
}

TEST_F(Members, AMatchIsARoleOfItsOwnAndSoAreItsChildren) {
  origins_ = {{21, {20, "client-1", "python3 client_train.py --epochs 2"}},
              {22, {21, "client-1", "nvidia-smi"}}};
  EXPECT_THAT(update({10, 20, 21, 22}), ElementsAre("trainer 21", "trainer 22"));
  EXPECT_EQ(members_.matched(), (std::map<pid_t, std::string>{{21, "trainer"}, {22, "trainer"}}));
}

TEST_F(Members, AProcessMayComeToMatchWhenItExecutesAnotherProgram) {
  origins_ = {{21, {20, "client-1", "python3 client.py"}}};
  EXPECT_THAT(update({10, 20, 21}), ElementsAre("client-1 21"));
  origins_[21].command = "python3 client_train.py";
  EXPECT_THAT(update({10, 20, 21}), ElementsAre("trainer 21"));
  origins_[21].command = "sh";
  EXPECT_THAT(update({10, 20, 21}), IsEmpty());
}

TEST_F(Members, AProcessThatWasStartedAsARoleKeepsIt) {
  origins_ = {{20, {1, "client-1", "python3 client_train.py"}}};
  EXPECT_THAT(update({10, 20}), IsEmpty());
}

TEST_F(Members, ANumberThatComesBackIsAnotherProcess) {
  origins_ = {{21, {20, "client-1", "loader"}}};
  update({10, 20, 21});
  update({10, 20});
  origins_[21] = {10, "server", "helper"};
  EXPECT_THAT(update({10, 20, 21}), ElementsAre("server 21"));
}

}  // namespace
}  // namespace memduel
