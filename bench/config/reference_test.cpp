#include "config/reference.h"

#include <gmock/gmock.h>

#include "config/experiment.h"
#include "config/read_document.h"
#include "support/made_files.h"

namespace memduel {
namespace {

TEST(Reference, WritesSchemas) {
  expect_file(MEMDUEL_CONFIGS "/schema/experiment.schema.json",
              schema_text(experiment_schema_in_order()));
  expect_file(MEMDUEL_CONFIGS "/schema/suite.schema.json", schema_text(suite_schema_in_order()));
}

TEST(Reference, WritesPageOfKeys) {
  expect_file(MEMDUEL_CONFIGS "/../docs/config.md", config_reference());
}

TEST(Reference, WritesTheSchemaThatJudges) {
  EXPECT_EQ(nlohmann::json::parse(schema_text(experiment_schema_in_order())), experiment_schema());
}

TEST(Reference, ListsPathsThatSetTakes) {
  const auto paths = config_key_paths();
  EXPECT_THAT(paths, testing::IsSupersetOf({"measure.repeats", "workload.processes.0.ready.port",
                                            "variants.0.templates.0.to", "gates"}));
  nlohmann::json document;
  for (const std::string& path : paths) {
    if (path.find(".0") != std::string::npos || path.find("NAME") != std::string::npos) continue;
    EXPECT_NO_THROW(set_json_value(document, path + "={}")) << path;
  }
}

}  // namespace
}  // namespace memduel
