#include "run_in_progress.h"

#include <gtest/gtest.h>

#include "model/metric_catalogue.h"

namespace memduel {
namespace {

TrialData trial_with(double sum, double largest) {
  TrialData trial;
  trial.arm = "a";
  RoleData server;
  server.role = "server";
  server.metrics[kPeakRss] = sum;
  server.metrics[kPeakLargestProcess] = largest;
  RoleData client;
  client.role = "client";
  client.metrics[kPeakRss] = 7;
  RoleData tree = server;
  tree.role = std::string(kTree);
  trial.roles = {server, client, tree};
  return trial;
}

// A snapshot is of one process.
TEST(Ledger, KnowsOfARoleWithSeveralProcessesThePeakOfTheLargest) {
  Ledger ledger{RunData{}};
  ledger.add(trial_with(400, 90));
  ledger.add(trial_with(380, 100));
  EXPECT_EQ(ledger.peaks("a").at("server"), 90);
  EXPECT_EQ(ledger.peaks("a").at("client"), 7);
}

}  // namespace
}  // namespace memduel
