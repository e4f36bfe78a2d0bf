#include "reports/formats/csv.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(CsvReport, HasOneLinePerValueOfTrialRoundAndPhase) {
  ReportModel model;
  TrialData trial;
  trial.id = 7;
  trial.block = 3;
  trial.position = 1;
  trial.arm = "a,b";
  trial.status = TrialStatus::killed_for_memory;
  RoleData role;
  role.role = "server";
  role.metrics = {{"peak_rss_bytes", 4096.0 * 1024 * 1024}};
  role.rounds = {{2, 0, 0, {{"round_seconds", 0.125}}, {{"train", 0, 0, {{"peak_rss_bytes", 3}}}}}};
  trial.roles.push_back(role);
  model.results.trials.push_back(trial);
  EXPECT_EQ(render_csv(model),
            "trial,block,position,arm,kind,status,role,round,phase,metric,value,tracer\n"
            "7,3,1,\"a,b\",measure,killed_for_memory,server,,,peak_rss_bytes,4294967296,\n"
            "7,3,1,\"a,b\",measure,killed_for_memory,server,2,,round_seconds,0.125,\n"
            "7,3,1,\"a,b\",measure,killed_for_memory,server,2,train,peak_rss_bytes,3,\n");
  model.results.trials[0].kind = TrialKind::profile;
  model.results.trials[0].tracer = "heaptrack";
  EXPECT_NE(render_csv(model).find("profile,killed_for_memory,server,2,,round_seconds,0.125,"
                                   "heaptrack\n"),
            std::string::npos);
}

}  // namespace
}  // namespace memduel
