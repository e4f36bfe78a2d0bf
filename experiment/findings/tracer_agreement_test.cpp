#include "experiment/findings/tracer_agreement.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "experiment/config/test_support.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Profile trials of one program; their files are those that the tools themselves made.
class RunAgreementTest : public TestFolder {
 protected:
  void SetUp() override {
    TestFolder::SetUp();
    std::filesystem::create_directories(folder_ / "profiles");
    run_.config = {{"arms", {{{"name", "second"}}, {{"name", "first"}}}}};
  }

  void trial(std::int64_t id, const std::string& arm, const std::string& tracer) {
    TrialData trial;
    trial.id = id;
    trial.arm = arm;
    trial.kind = TrialKind::profile;
    trial.tracer = tracer;
    run_.trials.push_back(trial);
  }

  void keep(const std::string& golden, const std::string& name) {
    std::filesystem::copy_file(std::filesystem::path(MEMDUEL_READERS_TESTDATA) / golden,
                               folder_ / "profiles" / name,
                               std::filesystem::copy_options::overwrite_existing);
  }

  RunAgreement found() { return run_agreement(folder_, run_); }

  RunData run_;
};

std::vector<std::string> tracers_of(const TracerAgreement& agreement) {
  std::vector<std::string> names;
  for (const TracerView& view : agreement.tracers) names.push_back(view.tracer);
  return names;
}

TEST_F(RunAgreementTest, IsPerArmAndRoleAndNeedsTwoTracers) {
  trial(11, "first", "massif");
  trial(12, "first", "recorder");
  trial(13, "second", "heaptrack");
  trial(14, "second", "gperftools");
  keep("massif.out", "11-server.massif");
  keep("shapes.mdp", "12-server.mdp");
  keep("shapes.mdp", "12-client-1.mdp");
  keep("heaptrack.raw.zst", "13-server.heaptrack.zst");
  keep("gperftools.heap", "14-server.gperftools.heap");
  keep("cpu.prof", "14-client-1.cpu.prof");
  const RunAgreement agreement = found();
  ASSERT_THAT(agreement.agreement, SizeIs(2)) << "client-1 ran under one";
  EXPECT_EQ(agreement.agreement[0].arm, "second") << "in the order of the config";
  EXPECT_EQ(agreement.agreement[0].role, "server");
  EXPECT_EQ(agreement.agreement[0].reference, "heaptrack");
  EXPECT_EQ(agreement.agreement[1].arm, "first");
  EXPECT_THAT(tracers_of(agreement.agreement[1]), ElementsAre("recorder", "massif"));
  EXPECT_THAT(agreement.limitations, IsEmpty());
}

TEST_F(RunAgreementTest, LeavesOutTrialsThatFailedAndFilesOfNone) {
  trial(11, "first", "heaptrack");
  trial(12, "first", "recorder");
  keep("heaptrack.raw.zst", "11-server.heaptrack.zst");
  keep("shapes.mdp", "12-server.mdp");
  keep("massif.out", "99-server.massif");
  keep("massif.out", "notes.txt");
  EXPECT_THAT(tracers_of(found().agreement.at(0)), ElementsAre("recorder", "heaptrack"));
  run_.trials[0].status = TrialStatus::failed;
  EXPECT_THAT(found().agreement, IsEmpty());
}

TEST_F(RunAgreementTest, TakesTheLastRoundsDumpOfAProcessThatLeftNoOther) {
  trial(11, "first", "gperftools");
  trial(12, "first", "recorder");
  keep("gperftools.heap", "11-server.round1.gperftools.heap");
  keep("gperftools.heap", "11-server.round10.gperftools.heap");
  keep("shapes.mdp", "12-server.mdp");
  const RunAgreement agreement = found();
  const TracerView& view = agreement.agreement.at(0).tracers.at(1);
  EXPECT_EQ(view.images, 1);
  ASSERT_THAT(view.amounts, SizeIs(3));
  EXPECT_THAT(view.besides, HasSubstr("its end is its dump at the end of round 10"));
  keep("gperftools.heap", "11-server.gperftools.heap");
  const RunAgreement whole = found();
  EXPECT_THAT(whole.agreement.at(0).tracers.at(1).besides, Not(HasSubstr("its end is")));
}

TEST_F(RunAgreementTest, CountsTrialsAndImages) {
  trial(11, "first", "heaptrack");
  trial(12, "first", "recorder");
  trial(13, "first", "recorder");
  keep("heaptrack.raw.zst", "11-server.heaptrack.zst");
  keep("shapes.mdp", "12-server.mdp");
  keep("shapes.mdp", "12-server.2.mdp");
  keep("shapes.mdp", "13-server.mdp");
  const TracerAgreement agreement = found().agreement.at(0);
  EXPECT_EQ(agreement.tracers[0].trials, 2);
  EXPECT_EQ(agreement.tracers[0].images, 2);
  EXPECT_EQ(agreement.tracers[1].amounts[0].difference_bytes, 0);
}

TEST_F(RunAgreementTest, SaysWhichProfileCannotBeRead) {
  trial(11, "first", "heaptrack");
  trial(12, "first", "recorder");
  keep("shapes.mdp", "12-server.mdp");
  write_file_atomically(folder_ / "profiles/11-server.heaptrack.zst", "Dear reader\n");
  const RunAgreement agreement = found();
  EXPECT_THAT(agreement.agreement, IsEmpty());
  ASSERT_THAT(agreement.limitations, SizeIs(1));
  EXPECT_THAT(agreement.limitations[0].message, HasSubstr("11-server.heaptrack.zst: byte 0: no "
                                                          "profile of a known format"));
}

}  // namespace
}  // namespace memduel
