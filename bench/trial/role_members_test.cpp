#include "role_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A second after the last time that was asked for, when every process is read again.
std::int64_t later() {
  static std::int64_t now_ns = 0;
  return now_ns += kSecondNs;
}

/// A server (10) and a client (20), with whatever a test lets them start.
class Members : public testing::Test {
 protected:
  Members() {
    members_.add_root("server", 10);
    members_.add_root("client-1", 20);
  }

  std::vector<std::string> update(const std::vector<pid_t>& living) {
    std::vector<std::string> found;
    for (const Member& each : members_.update(living, later(), false))
      found.push_back(each.role + " " + std::to_string(each.pid));
    return found;
  }

  std::map<pid_t, ProcessOrigin> origins_;
  RoleMembers members_{{{"trainer", "client_train\\.py"}},
                       [this](pid_t pid, const ProcessOrigin*) { return origins_[pid]; }};
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

TEST_F(Members, AMatchByTheArgumentsOfAForkingShellEndsWhenTheChildExecutesAProgram) {
  const std::string script = "sh -c loader & python3 client_train.py";
  origins_ = {{20, {1, "client-1", script}}, {21, {20, "client-1", script}}};
  EXPECT_THAT(update({10, 20, 21}), ElementsAre("trainer 21"));
  EXPECT_THAT(update({10, 20, 21}), IsEmpty());
  origins_[21].command = "loader";
  EXPECT_THAT(update({10, 20, 21}), ElementsAre("client-1 21"));
  EXPECT_THAT(members_.matched(), IsEmpty());
  EXPECT_THAT(update({10, 20, 21}), IsEmpty());
  origins_[22] = {20, "client-1", script};
  EXPECT_THAT(update({10, 20, 21, 22}), ElementsAre("trainer 22"));
  origins_[22].command = "python3 client_train.py";
  EXPECT_THAT(update({10, 20, 21, 22}), IsEmpty());
  origins_[22].command = "sh";
  EXPECT_THAT(update({10, 20, 21, 22}), IsEmpty()) << "it matched by itself";
  EXPECT_EQ(members_.matched(), (std::map<pid_t, std::string>{{22, "trainer"}}));
}

TEST_F(Members, AMatchByTheArgumentsOfAForkingParentYieldsToThatOfTheProgramItExecutes) {
  RoleMembers members({{"launcher", "launcher\\.py$"}, {"app", "the-app"}},
                      [this](pid_t pid, const ProcessOrigin*) { return origins_[pid]; });
  members.add_root("server", 10);
  origins_ = {{11, {10, "server", "python3 launcher.py"}},
              {12, {11, "server", "python3 launcher.py"}}};
  members.update({10, 11, 12}, later(), false);
  origins_[12].command = "python3 -c pass the-app";
  const std::vector<Member> changed = members.update({10, 11, 12}, later(), false);
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed.front().role, "app");
  EXPECT_EQ(changed.front().otherwise, "launcher");
  EXPECT_EQ(members.matched(), (std::map<pid_t, std::string>{{11, "launcher"}, {12, "app"}}));
  EXPECT_THAT(members.update({10, 11, 12}, later(), false), IsEmpty());
}

TEST_F(Members, AProcessIsReadAgainAfterATwentiethOfItsAge) {
  origins_ = {{21, {20, "client-1", "python3 client.py"}}};
  constexpr std::int64_t kMs = kSecondNs / 1000;
  const std::int64_t begin = later();
  const auto found_at = [&](std::int64_t ms) {
    return !members_.update({10, 20, 21}, begin + ms * kMs, false).empty();
  };
  EXPECT_TRUE(found_at(0));
  EXPECT_FALSE(found_at(100));
  origins_[21].command = "python3 client_train.py";
  EXPECT_FALSE(found_at(104));
  EXPECT_TRUE(found_at(105));
}

TEST_F(Members, AProcessIsReadTenTimesASecondAtLeastAndAtOnceIfAsked) {
  origins_ = {{21, {20, "client-1", "python3 client.py"}}};
  update({10, 20, 21});
  const std::int64_t long_after = later() + 1000 * kSecondNs;
  members_.update({10, 20, 21}, long_after, false);
  origins_[21].command = "python3 client_train.py";
  EXPECT_THAT(members_.update({10, 20, 21}, long_after + kSecondNs / 20, false), IsEmpty());
  EXPECT_EQ(members_.update({10, 20, 21}, long_after + kSecondNs / 20, true).size(), 1U);
  origins_[22] = {20, "client-1", "loader"};
  members_.update({10, 20, 21, 22}, 2 * long_after, false);
  members_.update({10, 20, 21, 22}, 3 * long_after, false);
  origins_[22].command = "python3 client_train.py";
  EXPECT_EQ(members_.update({10, 20, 21, 22}, 3 * long_after + kSecondNs / 10, false).size(), 1U);
}

TEST(ReadOrigin, ReadsTheArgumentsOfOneProgramOnce) {
  const ProcessOrigin first = RoleMembers::read_origin(getpid(), nullptr);
  EXPECT_THAT(first.command, testing::HasSubstr("supervision_unit_test"));
  ProcessOrigin before = first;
  before.command = "as it was";
  EXPECT_EQ(RoleMembers::read_origin(getpid(), &before).command, "as it was");
  before.line->arguments->begin -= 16;
  EXPECT_EQ(RoleMembers::read_origin(getpid(), &before).command, first.command);
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

/// As Members, with matches of their own.
class Matches : public testing::Test {
 protected:
  /// "role pid" of each that changed.
  std::vector<std::string> update(RoleMembers& members, const std::vector<pid_t>& living) {
    std::vector<std::string> found;
    for (const Member& each : members.update(living, later(), false))
      found.push_back(each.role + " " + std::to_string(each.pid));
    return found;
  }

  RoleMembers members_of(const std::vector<RoleMatch>& matches) {
    RoleMembers members(
        matches, [this](pid_t pid, const ProcessOrigin*) { return origins_[pid]; },
        [this](pid_t pid, int port) { return ports_[pid] == port; });
    members.add_root("node-1", 10);
    members.add_root("node-2", 20);
    return members;
  }

  std::map<pid_t, ProcessOrigin> origins_;
  std::map<pid_t, int> ports_;
};

TEST_F(Matches, OfEqualArgumentsDifferByTheirAncestor) {
  RoleMembers members =
      members_of({{.role = "app_1", .pattern = "client-app", .ancestor = "node-1"},
                  {.role = "app_2", .pattern = "client-app", .ancestor = "node-2"}});
  origins_ = {{11, {10, "node-1", "launcher"}},
              {12, {11, "node-1", "client-app"}},
              {21, {20, "node-2", "client-app"}},
              {31, {1, "node-2", "client-app"}}};
  EXPECT_THAT(update(members, {10, 20, 11, 12, 21, 31}),
              ElementsAre("node-1 11", "app_1 12", "app_2 21", "app_2 31"));
}

TEST_F(Matches, KeepTheirAncestorsWhenTheirParentEnds) {
  RoleMembers members =
      members_of({{.role = "app", .pattern = "client-app", .ancestor = "node-1"}});
  origins_ = {{11, {10, {}, "launcher"}}, {12, {11, {}, "helper"}}};
  update(members, {10, 11, 12});
  origins_[12] = {1, {}, "helper"};
  EXPECT_THAT(update(members, {10, 12}), IsEmpty());
  origins_[12].command = "client-app";
  EXPECT_THAT(update(members, {10, 12}), ElementsAre("app 12"));
}

TEST_F(Matches, OfACountAreNumberedAndOneThatEndsMakesItsNameFree) {
  RoleMembers members = members_of({{.role = "worker", .pattern = "worker", .count = 2}});
  for (const pid_t pid : {11, 12, 13, 14}) origins_[pid] = {10, "node-1", "worker"};
  EXPECT_THAT(update(members, {10, 20, 11, 12}), ElementsAre("worker-1 11", "worker-2 12"));
  EXPECT_THAT(update(members, {10, 20, 11, 12}), IsEmpty());
  EXPECT_THAT(members.exceeded(), IsEmpty());
  EXPECT_THAT(update(members, {10, 20, 11, 12, 13}), ElementsAre("node-1 13")) << "one too many";
  EXPECT_THAT(members.exceeded(), ElementsAre("worker"));
  EXPECT_THAT(update(members, {10, 20, 12, 14}), ElementsAre("worker-1 14"));
}

TEST_F(Matches, OfACountTakeNoNumberForForkedCopies) {
  RoleMembers members = members_of({{.role = "worker", .pattern = "worker", .count = 2}});
  origins_ = {{11, {10, "node-1", "worker"}}, {12, {11, "node-1", "worker"}}};
  EXPECT_THAT(update(members, {10, 11, 12}), ElementsAre("worker-1 11", "worker-1 12"));
  EXPECT_THAT(update(members, {10, 11, 12}), IsEmpty()) << "a fork of worker-1 is of worker-1";
  origins_[12].command = "uname -p";
  EXPECT_THAT(update(members, {10, 11, 12}), IsEmpty());
  origins_[10].command = "worker";
  origins_[13] = {10, "node-1", "worker"};
  EXPECT_THAT(update(members, {10, 11, 13}), ElementsAre("node-1 13"));
  EXPECT_THAT(update(members, {10, 11, 13}), ElementsAre("worker-2 13")) << "a fork that stays";
  EXPECT_THAT(members.exceeded(), IsEmpty());
}

TEST_F(Matches, WithAPortAreThoseThatListenOnIt) {
  RoleMembers members = members_of({{.role = "site_1", .pattern = "site", .port = 9001},
                                    {.role = "site_2", .pattern = "site", .port = 9002}});
  for (const pid_t pid : {11, 12}) origins_[pid] = {10, "node-1", "site"};
  EXPECT_THAT(update(members, {10, 20, 11, 12}), ElementsAre("node-1 11", "node-1 12"));
  ports_ = {{11, 9002}, {12, 9001}};
  EXPECT_THAT(update(members, {10, 20, 11, 12}), ElementsAre("site_2 11", "site_1 12"));
}

TEST(IsListening, IsOfTheProcessWhoseSocketListensOnThePort) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int port = ntohs(address.sin_port);
  EXPECT_FALSE(RoleMembers::is_listening(getpid(), port));
  ASSERT_EQ(listen(socket.get(), 1), 0);
  EXPECT_TRUE(RoleMembers::is_listening(getpid(), port));
  EXPECT_FALSE(RoleMembers::is_listening(getppid(), port));
}

}  // namespace
}  // namespace memduel
