#include "base/stop_request.h"

#include <gtest/gtest.h>

#include <csignal>

namespace memduel {
namespace {

TEST(StopRequest, NamesTheFirstSignal) {
  StopRequest stop;
  EXPECT_FALSE(stop.asked());
  stop.take(SIGHUP);
  stop.take(SIGINT);
  EXPECT_TRUE(stop.asked());
  EXPECT_EQ(stop.error("stopped", "here").code(), ExitCode::terminated);
  EXPECT_EQ(stop.error("stopped", "here").where(), "here");
  StopRequest interrupted;
  interrupted.take(SIGINT);
  EXPECT_EQ(interrupted.error("stopped").code(), ExitCode::interrupted);
}

TEST(StopRequest, OnlyASecondInterruptAsksForHaste) {
  StopRequest stop;
  stop.take(SIGHUP);
  stop.take(SIGHUP);
  stop.take(SIGTERM);
  stop.take(SIGINT);
  EXPECT_FALSE(stop.asked_for_haste());
  stop.take(SIGINT);
  EXPECT_TRUE(stop.asked_for_haste());
}

TEST(ListenForSignals, LeavesIgnoredOnesIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  const StopRequest& stop = listen_for_signals();
  std::raise(SIGHUP);
  EXPECT_FALSE(stop.asked());
  std::raise(SIGTERM);
  EXPECT_TRUE(stop.asked());
  std::signal(SIGHUP, before);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace
}  // namespace memduel
