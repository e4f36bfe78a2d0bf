#include <fmt/format.h>

#include <algorithm>

#include "model/metric_catalogue.h"
#include "model/renamed_since_1.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/json.h"
#include "util/json_text.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr const char* kResultsSchema = "memduel.results/2";
constexpr const char* kFirstSchema = "memduel.results/1";

/// Of a file that does not say it.
JobFacts job_of_older_results(const std::vector<TrialData>& trials) {
  JobFacts job;
  for (const TrialData& trial : trials)
    for (const RoleData& role : trial.roles)
      if (std::ranges::find(job.roles, role.role) == job.roles.end() && role.role != kTree)
        job.roles.push_back(role.role);
  job.groups = groups_by_name(job.roles);
  if (!job.roles.empty()) job.reference = job.roles.front();
  return job;
}

constexpr auto kReplace = json::error_handler_t::replace;

/// Blanks before the line's first character, where the text ends in the middle of a line.
std::size_t indentation_at_end(std::string_view text) {
  const std::size_t line = text.rfind('\n') + 1;
  return std::min(text.find_first_not_of(' ', line), text.size()) - line;
}

/// As nlohmann would write them `depth` blanks deep.
void write_rounds(const RoleData& role, int indent, std::size_t depth, const TextSink& sink) {
  JsonText text(indent, depth);
  text.write_pieces(role.rounds.items(), sink);
}

}  // namespace

json results_to_json(const Results& results) {
  json document = written(results);
  document["schema"] = kResultsSchema;
  document["experiment"] = {{"name", results.name},
                            {"baseline", results.baseline},
                            {"config_sha256", results.config_sha256}};
  return document;
}

ResultsWriter::ResultsWriter(const Results& results) : results_(results), mark_(random_digits()) {}

json ResultsWriter::results_without_rounds() const {
  Results without = results_;
  for (TrialData& trial : without.trials)
    for (RoleData& role : trial.roles) role.rounds.clear();
  json document = results_to_json(without);
  for (std::size_t i = 0; i < results_.trials.size(); ++i)
    for (std::size_t j = 0; j < results_.trials[i].roles.size(); ++j)
      if (!results_.trials[i].roles[j].rounds.empty())
        document["trials"][i]["roles"][j]["rounds"] = mark_;
  return document;
}

void ResultsWriter::write(const json& document, int indent, const TextSink& sink) const {
  const std::string text = document.dump(indent, ' ', false, kReplace);
  const std::string quoted = '"' + mark_ + '"';
  std::size_t at = 0;
  for (const TrialData& trial : results_.trials)
    for (const RoleData& role : trial.roles) {
      if (role.rounds.empty()) continue;
      const std::size_t mark = text.find(quoted, at);
      if (mark == std::string::npos) continue;
      sink(std::string_view(text).substr(at, mark - at));
      const std::size_t depth =
          indent < 0 ? 0 : indentation_at_end(std::string_view(text).substr(0, mark));
      write_rounds(role, indent, depth, sink);
      at = mark + quoted.size();
    }
  sink(std::string_view(text).substr(at));
}

void write_results(const Results& results, int indent, const TextSink& sink) {
  const ResultsWriter writer(results);
  writer.write(writer.results_without_rounds(), indent, sink);
}

namespace {

Results read_current_results(const JsonReader& in) {
  auto results = read_value<Results>(in);
  const JsonReader experiment = in.at("experiment");
  results.name = experiment.at("name").text();
  results.baseline = experiment.at("baseline").text();
  results.config_sha256 = experiment.at("config_sha256").text();
  if (!in.find("job")) results.job = job_of_older_results(results.trials);
  return results;
}

}  // namespace

Results results_from_json(const json& value, const std::string& where) {
  const JsonReader in(value, where);
  const auto schema = in.maybe_text("schema");
  if (schema == kResultsSchema) return read_current_results(in);
  if (schema == kFirstSchema) {
    json translated = value;
    translate_results_1(translated, where);
    return read_current_results(JsonReader(translated, where));
  }
  throw Error(
      ExitCode::io,
      fmt::format("schema is {}, expected '{}' or '{}'",
                  schema ? fmt::format("'{}'", *schema) : "missing", kResultsSchema, kFirstSchema),
      where + " at /schema", "read it with the memduel version that wrote it");
}

}  // namespace memduel
