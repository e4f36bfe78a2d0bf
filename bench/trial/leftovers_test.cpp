#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "trial/processes.h"
#include "util/file.h"

namespace memduel {
namespace {

/// A cache directory that no other memduel on this machine has: no other memduel ends what these
/// tests leave behind, and they find nothing that others left.
class OwnCache : public testing::Test {
 protected:
  OwnCache() { use(cache_.path()); }
  ~OwnCache() override { ::unsetenv("XDG_CACHE_HOME"); }

  static void use(const std::filesystem::path& cache) {
    ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  }

 private:
  const ScratchDirectory cache_{testing::TempDir(), "own_cache"};
};

class TrialName : public OwnCache {};
class LeftoversTest : public OwnCache {};

/// The name that a process gave which has ended since.
std::string name_of_the_dead() {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string name = unique_trial_name(5);
    _exit(::write(ends[1], name.data(), name.size()) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  ::waitpid(child, nullptr, 0);
  std::string name(200, '\0');
  const ssize_t size = ::read(ends[0], name.data(), name.size());
  ::close(ends[0]);
  name.resize(static_cast<std::size_t>(std::max<ssize_t>(0, size)));
  return name;
}

/// The part of the owner, which is `here`, replaced.
std::string with_owner(const std::string& owner) {
  const std::string name = unique_trial_name(1);
  const std::string here = std::to_string(::getpid()) + "-";
  const std::size_t place = name.find("-" + here) + 1;
  return name.substr(0, place) + owner;
}

/// A process that sleeps with these variables, in a session of its own if asked.
pid_t sleeper(const std::string& trial, const std::string& session, bool own_session) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (own_session) ::setsid();
  ::setenv(kTrialVariable, trial.c_str(), 1);
  if (!session.empty()) ::setenv(kBuildSessionVariable, session.c_str(), 1);
  ::execlp("sleep", "sleep", "60", nullptr);
  _exit(127);
}

bool is_left(pid_t pid) {
  // Its environment is the new program's once it has been executed.
  for (int i = 0; i < 200 && command_of(pid).find("sleep") != 0; ++i) ::usleep(5000);
  const auto left = find_leftovers().processes;
  return std::ranges::find(left, pid) != left.end();
}

void end(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST_F(TrialName, SaysWhetherItsOwnerLives) {
  EXPECT_FALSE(owner_has_ended(unique_trial_name(1)));
  EXPECT_NE(unique_trial_name(1), unique_trial_name(1));
  EXPECT_TRUE(owner_has_ended(name_of_the_dead()));
  // Another process has got the number since.
  EXPECT_TRUE(owner_has_ended(with_owner(std::to_string(::getpid()) + "-1-2-3")));
  for (const char* none : {"", "1", "1-2-3", "0-1-2-3", "1-2-3-4-5", "a-b-c-d"}) {
    EXPECT_FALSE(owner_has_ended(none)) << none;
    EXPECT_FALSE(owner_has_ended(with_owner(none))) << none;
  }
  EXPECT_FALSE(owner_has_ended("doctor-1"));
}

// A container's process 7 is not this namespace's, and not another machine's.
TEST_F(TrialName, OfAnotherNamespaceOrMachineIsNotJudged) {
  const std::string dead = name_of_the_dead();
  ASSERT_TRUE(owner_has_ended(dead));
  std::string other_boot = dead;
  other_boot[0] = other_boot[0] == '0' ? '1' : '0';
  EXPECT_FALSE(owner_has_ended(other_boot));
  std::string other_namespace = dead;
  other_namespace.insert(dead.find('-') + 1, "1");
  EXPECT_FALSE(owner_has_ended(other_namespace));
}

TEST_F(TrialName, OfAnotherCacheDirectoryIsNotJudged) {
  const std::string dead = name_of_the_dead();
  ASSERT_TRUE(owner_has_ended(dead));
  const ScratchDirectory other(testing::TempDir(), "other_cache");
  use(other.path());
  EXPECT_FALSE(owner_has_ended(dead));
}

TEST_F(LeftoversTest, AreOfTrialsWhoseMemduelHasEnded) {
  const pid_t own = sleeper(unique_trial_name(1), "", false);
  const pid_t left = sleeper(name_of_the_dead(), "", true);
  EXPECT_FALSE(is_left(own));
  EXPECT_TRUE(is_left(left));
  EXPECT_NE(describe_leftovers(find_leftovers()).find("sleep"), std::string::npos);
  end_leftovers({{left}, {}});
  int status = 0;
  ::waitpid(left, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(find_leftovers().processes.empty());
  end(own);
}

TEST_F(LeftoversTest, OfABuildAreNotItsServers) {
  const std::string session = std::to_string(::getsid(0));
  const pid_t compiler = sleeper(name_of_the_dead(), session, false);
  const pid_t server = sleeper(name_of_the_dead(), session, true);
  EXPECT_TRUE(is_left(compiler));
  EXPECT_FALSE(is_left(server));
  end(compiler);
  end(server);
}

}  // namespace
}  // namespace memduel
