#include "config/reference.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "config/experiment.h"
#include "config/read_document.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// Files that are made of the tables of keys; MEMDUEL_UPDATE_GOLDEN=1 config_test writes them.
void expect_file(const std::string& name, const std::string& text) {
  const fs::path file = fs::path(MEMDUEL_CONFIGS).parent_path() / name;
  if (std::getenv("MEMDUEL_UPDATE_GOLDEN") != nullptr) write_file_atomically(file, text);
  EXPECT_TRUE(read_text_file(file) == text)
      << name << " is not as MEMDUEL_UPDATE_GOLDEN=1 makes it";
}

TEST(Reference, WritesSchemas) {
  expect_file("configs/schema/experiment.schema.json", schema_text(experiment_schema_in_order()));
  expect_file("configs/schema/suite.schema.json", schema_text(suite_schema_in_order()));
}

TEST(Reference, WritesPageOfKeys) {
  expect_file("docs/config.md", config_reference());
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
