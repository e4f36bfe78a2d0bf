#include "config/read_document.h"

#include <fmt/format.h>

#include "config/reference.h"
#include "model/keys.h"
#include "model/removed.h"
#include "model/validate.h"
#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;

/// A file of memduel's that is no config.
void refuse_other_files(const json& root, const Places& places) {
  if (!root.is_object() || !root.contains("schema") || !root["schema"].is_string()) return;
  const std::string schema = root["schema"];
  if (const auto instead = replacement_for(Removed::schema, schema))
    throw Error(ExitCode::usage, "found no config", places.file(), std::string(*instead));
  if (schema.starts_with("memduel.results/"))
    throw Error(ExitCode::usage, "expected a config, found the results of a run", places.file(),
                "to see or judge them: memduel report DIR, memduel check DIR; to measure the same "
                "again: config.json in DIR");
  if (schema.starts_with("memduel."))
    throw Error(ExitCode::usage,
                fmt::format("expected a config, found a file of schema \"{}\"", schema),
                places.file());
}

}  // namespace

Schema experiment_schema_in_order() {
  Schema schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                   {"title", "memduel experiment"},
                   {"description", "A workload, two or more variants, and how to measure them."}};
  schema.update(whole_schema_of<Document>());
  return schema;
}

const json& experiment_schema() {
  static const json schema = json::parse(experiment_schema_in_order().dump());
  return schema;
}

Document read_document(const json& root, const Places& places) {
  refuse_other_files(root, places);
  validate_against_schema(root, experiment_schema(), places);
  Document document;
  try {
    read_from(root, document);
  } catch (const Error& error) {  // the schema says no more of what a provider made
    throw Error(error.code(), error.what(), places.at({"expanded", "workload"}), error.advice());
  }
  if (document.workload.own.is_null() && !document.expanded.is_null())
    throw Error(ExitCode::usage,
                "found the output of a workload plug-in beside a workload of kind command",
                places.at({"expanded"}), "omit it");
  return document;
}

}  // namespace memduel
