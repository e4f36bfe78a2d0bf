#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

using testing::HasSubstr;

std::string message_of(const std::string& gate) {
  try {
    parse_gate(gate);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  ADD_FAILURE() << gate << " was accepted";
  return {};
}

TEST(ParseGate, ReadsRelativeAbsoluteAndAdvisory) {
  const Gate gate = parse_gate("server.peak_rss_bytes<=+2%|+64MiB:advisory");
  EXPECT_EQ(gate.role, "server");
  EXPECT_EQ(gate.metric, "peak_rss_bytes");
  EXPECT_TRUE(gate.advisory);
  ASSERT_EQ(gate.bounds.size(), 2U);
  EXPECT_EQ(gate.bounds[0].of, GateQuantity::ratio);
  EXPECT_DOUBLE_EQ(gate.bounds[0].value, 0.02);
  EXPECT_EQ(gate.bounds[1].of, GateQuantity::difference);
  EXPECT_DOUBLE_EQ(gate.bounds[1].value, 64.0 * 1048576);
}

TEST(ParseGate, IsOnAllProcessesWithoutARoleAndTakesShortNames) {
  const Gate gate = parse_gate("peak_rss<=+5%");
  EXPECT_EQ(gate.role, "all");
  EXPECT_EQ(gate.metric, "peak_rss_bytes");
  EXPECT_EQ(parse_gate("server.heap<=9MiB").metric, "peak_heap_bytes");
  EXPECT_EQ(parse_gate("cpu_seconds<=3s").metric, "cpu_seconds");
  EXPECT_THROW(parse_gate("<=+5%"), Error);
  EXPECT_THROW(parse_gate(".peak_rss<=+5%"), Error);
}

TEST(ParseGate, ReadsCeilingsInTheMetricsUnit) {
  EXPECT_DOUBLE_EQ(parse_gate("*.peak_rss_bytes<=900MiB").bounds[0].value, 900.0 * 1048576);
  EXPECT_DOUBLE_EQ(parse_gate("all.round_seconds<=1.5min").bounds[0].value, 90);
  EXPECT_DOUBLE_EQ(parse_gate("all.allocation_count<=1000").bounds[0].value, 1000);
  EXPECT_DOUBLE_EQ(parse_gate("server.rss_growth_bytes_per_round<=64KiB/round").bounds[0].value,
                   65536);
}

TEST(ParseGate, KeepsColonsOfABenchmarksName) {
  EXPECT_EQ(parse_gate("BM_copy/8/threads:4.real_time_seconds<=+5%").role, "BM_copy/8/threads:4");
}

TEST(ParseGate, NamesTheNearestMetricWhereABoundHasTheUnitOfThat) {
  EXPECT_THAT(message_of("server.peak_rss_byte<=900MiB"),
              HasSubstr("did you mean \"peak_rss_bytes\"?"));
  EXPECT_THAT(message_of("server.perplexity<=9MiB"), HasSubstr("has unit 'MiB'"));
}

TEST(ParseGate, AJobsOwnMetricNeedsNoUnitInItsName) {
  const Gate gate = parse_gate("server.loss<=0.5|+2%");
  EXPECT_EQ(gate.metric, "loss");
  EXPECT_EQ(gate.bounds[0].of, GateQuantity::value);
  EXPECT_DOUBLE_EQ(gate.bounds[0].value, 0.5);
}

TEST(ParseGate, RefusesABoundWithoutOrWithAnotherUnit) {
  EXPECT_THAT(message_of("server.peak_rss_bytes<=900"), HasSubstr("has no unit"));
  EXPECT_THAT(message_of("server.peak_rss_bytes<=9s"), HasSubstr("has unit 's'"));
  EXPECT_THAT(message_of("server.round_seconds<=9MiB"), HasSubstr("us, ms, s or min"));
}

TEST(ParseGate, RefusesPercentOfGrowthAndPercentWithoutPlus) {
  EXPECT_THAT(message_of("server.rss_growth_bytes_per_round<=+5%"),
              HasSubstr("no limit in percent"));
  EXPECT_THAT(message_of("server.peak_rss_bytes<=5%"), HasSubstr("write +5%, or -5%"));
}

TEST(ParseGate, ReadsALimitOnAnImprovement) {
  const Gate gate = parse_gate("server.peak_rss_bytes<=-20%|-64MiB");
  ASSERT_EQ(gate.bounds.size(), 2U);
  EXPECT_EQ(gate.bounds[0].of, GateQuantity::ratio);
  EXPECT_DOUBLE_EQ(gate.bounds[0].value, -0.2);
  EXPECT_EQ(gate.bounds[1].of, GateQuantity::difference);
  EXPECT_DOUBLE_EQ(gate.bounds[1].value, -64.0 * 1048576);
  EXPECT_TRUE(has_relative_bound(gate));
  EXPECT_FALSE(has_ceiling(gate));
  EXPECT_THAT(message_of("server.peak_rss_bytes<=-100%"), HasSubstr("no change saves that much"));
  EXPECT_THAT(message_of("server.peak_rss_bytes<=-0%"), HasSubstr("write +0%"));
}

TEST(ParseGate, RefusesACeilingWhereMoreIsBetter) {
  EXPECT_THAT(message_of("server.validation_accuracy_ratio<=0.9"), HasSubstr("higher is better"));
}

TEST(ParseGate, RefusesWhatIsNoGate) {
  for (const char* text :
       {"", "<=", "server.<=+2%", ".peak_rss_bytes<=+2%", "server.peak_rss_bytes",
        "server.peak_rss_bytes<=", "server.peak_rss_bytes<=+x%", "server.peak_rss_bytes<=+2%|",
        "server.peak_rss_bytes<=+-2%", "server.peak_rss_bytes<=--2%",
        "server.peak_rss_bytes<=+2%:maybe", "server.peak_rss_bytes<=nan%",
        "server.peak_rss_bytes<=inf"}) {
    EXPECT_FALSE(message_of(text).empty());
  }
}

TEST(CheckGateNames, NamesTheNearestRoleAndGauge) {
  const auto message = [](const char* gate) {
    try {
      JobFacts job;
      job.better["queue_bytes"] = Direction::lower;
      check_gate_names({parse_gate(gate)}, {"server", "all"}, {"queue_bytes"}, job);
    } catch (const Error& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(message("sever.peak_rss_bytes<=+1%"), HasSubstr("did you mean \"server\"?"));
  EXPECT_THAT(message("program.peak_rss_bytes<=+1%"),
              HasSubstr("the roles of this run are server, all, or * for all"));
  EXPECT_THAT(message("server.queue_byte_bytes<=+1%"), HasSubstr("unknown metric"));
  EXPECT_EQ(message("server.queue_bytes<=+1%"), "");
  EXPECT_EQ(message("*.peak_heap_bytes<=+1%"), "");
  EXPECT_THAT(message("server.peak_rs_byte<=+1%"), HasSubstr("did you mean \"peak_rss_bytes\"?"));
  EXPECT_THAT(message("server.perplexity<=+1%"), HasSubstr("no trial recorded it"));
}

std::string refusal_by(const JobFacts& job, const char* gate, const std::string& metric) {
  const std::vector<std::string> roles = {"server", "all"};
  std::string before;
  for (const bool has_run : {false, true}) {
    try {
      if (has_run)
        check_gate_names({parse_gate(gate)}, roles, {metric}, job);
      else
        check_gates_before_run({parse_gate(gate)}, roles, job, true);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      if (!has_run) before = error.message();
      if (has_run) return (before.empty() ? "after: " : "") + error.message();
    }
  }
  return before;
}

TEST(GateOnAnUndeclaredMetric, MayBeACeilingAlone) {
  JobFacts logged;
  logged.better["loss"] = Direction::undeclared;
  EXPECT_EQ(refusal_by(logged, "server.loss<=0.5", "loss"), "");
  for (const char* gate : {"server.loss<=+2%", "*.loss<=+0.1", "server.loss<=0.5|+2%:advisory"}) {
    EXPECT_THAT(refusal_by(logged, gate, "loss"),
                testing::StartsWith("gate '" + std::string(gate) +
                                    "': whether higher or lower is better for loss is not "
                                    "declared"));
  }
  EXPECT_THAT(refusal_by(logged, "server.loss<=+2%", "loss"),
              testing::AllOf(HasSubstr(R"(workload.metrics: {"loss": {"better": "lower"}})"),
                             HasSubstr("(?<lower_loss>…)"),
                             HasSubstr(R"(gauge("loss", x, better="lower"))")));
  EXPECT_THAT(refusal_by({}, "server.loss<=+2%", "loss"), testing::StartsWith("after: "))
      << "a program may declare it";
}

TEST(GateOnABenchmark, IsAcceptedBeforeTheRunUnlessARoleWasMeant) {
  const auto refusal = [](const char* gate) {
    try {
      check_gates_before_run({parse_gate(gate)}, {"server", "client-1", "all"}, {}, false);
    } catch (const Error& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_EQ(refusal("BM_push/100.allocation_count<=+0%"), "");
  EXPECT_EQ(refusal("add.real_time_seconds<=+5%"), "");
  EXPECT_THAT(refusal("sever.peak_rss_bytes<=+1%"), HasSubstr("did you mean \"server\"?"));
  EXPECT_THAT(refusal("client.peak_rss_bytes<=+1%"), HasSubstr("did you mean \"client-1\"?"));
  EXPECT_THAT(refusal("tree.peak_rss_bytes<=+1%"), HasSubstr("it was renamed"));
  EXPECT_THAT(refusal("BM_push.peak_rs_bytes<=+1%"), HasSubstr("unknown metric"));
}

TEST(GateOnADeclaredMetric, IsBoundedOnTheSideThatIsWorse) {
  JobFacts job;
  job.better = {{"loss", Direction::lower}, {"throughput", Direction::higher}};
  for (const char* gate : {"server.loss<=+2%", "server.loss<=0.5", "server.throughput<=+5%"})
    EXPECT_EQ(
        refusal_by(job, gate, std::string(gate).substr(7, 4) == "loss" ? "loss" : "throughput"), "")
        << gate;
  EXPECT_THAT(refusal_by(job, "server.throughput<=100", "throughput"),
              HasSubstr("higher is better for throughput, so an upper limit has no meaning"));
}

}  // namespace
}  // namespace memduel
