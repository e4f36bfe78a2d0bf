#include "experiment/config/job_facts_of.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

using nlohmann::json;

TEST(JobFactsOf, ACommandHasGroupsWhereAProcessHasACountOfSeveral) {
  const JobFacts job = job_facts_of({{"kind", "command"},
                                     {"processes",
                                      {{{"role", "coordinator"}},
                                       {{"role", "worker"}, {"count", 3}},
                                       {{"role", "alone"}, {"count", 1}}}},
                                     {"match", {{{"role", "loader"}, {"pattern", "load"}}}}});
  const std::vector<std::string> roles = {"coordinator", "worker-1", "worker-2",
                                          "worker-3",    "alone-1",  "loader"};
  EXPECT_EQ(job.roles, roles);
  const std::vector<RoleGroup> groups = {{"worker", 3}};
  EXPECT_EQ(job.groups, groups);
  EXPECT_EQ(job.reference, "coordinator") << "the first, where none is named";
  const std::vector<RoleMetric> gates = {{"tree", "peak_heap_and_mapped_bytes"},
                                         {"tree", "peak_rss_no_files_bytes"}};
  EXPECT_EQ(job.default_gates, gates);
  EXPECT_TRUE(job.held_models.empty());
}

TEST(JobFactsOf, ACommandNamesItsReference) {
  const json processes = {{{"role", "worker"}, {"count", 2}}, {{"role", "coordinator"}}};
  EXPECT_EQ(job_facts_of({{"kind", "command"}, {"processes", processes}}).reference, "worker-1");
  EXPECT_EQ(
      job_facts_of({{"kind", "command"}, {"processes", processes}, {"reference", "coordinator"}})
          .reference,
      "coordinator");
}

}  // namespace
}  // namespace memduel
