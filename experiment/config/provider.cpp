#include "experiment/config/provider.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/capture.h"
#include "base/error.h"
#include "base/foreign_json.h"
#include "base/sha256.h"
#include "base/text.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr const char* kCatalogueSchema = "memduel.catalogue/1";
constexpr const char* kRequestSchema = "memduel.expand/1";
constexpr const char* kExpansionSchema = "memduel.expanded/1";

std::string command_of(const Provider& provider, const std::string& word) {
  return fmt::format("{} {}", fmt::join(provider.argv, " "), word);
}

/// An answer that is not one.
[[noreturn]] void refuse(const Provider& provider, const std::string& word,
                         const std::string& what) {
  throw Error(ExitCode::usage, what, command_of(provider, word),
              "docs/providers.md says what a provider answers");
}

json ask(const Provider& provider, const std::string& word, const std::string& schema,
         const std::string& input) {
  std::vector<std::string> argv = provider.argv;
  argv.push_back(word);
  CaptureOptions options;
  options.input = input;
  options.directory = provider.directory;
  const Captured answer = capture(argv, options);
  if (answer.exit_status != 0) {
    const std::string said = without_line_end(valid_utf8(answer.err));
    throw Error(ExitCode::usage,
                said.empty()
                    ? fmt::format("ended with status {} and said nothing", answer.exit_status)
                    : said,
                command_of(provider, word));
  }
  json value = parse_foreign_json(answer.out);
  if (!value.is_object()) refuse(provider, word, "found no JSON object, expected one");
  const json found = value.value("schema", json());
  if (found != schema)
    refuse(provider, word,
           fmt::format("found the schema {}, expected \"{}\"", found.dump(), schema));
  return value;
}

void expect(const Provider& provider, const std::string& word, const json& answer,
            const std::string& key, json::value_t type) {
  const auto found = answer.find(key);
  if (found != answer.end() && found->type() == type) return;
  refuse(provider, word,
         fmt::format("found {} for \"{}\", expected {}",
                     found == answer.end() ? "nothing" : found->type_name(), key,
                     json(type).type_name()));
}

}  // namespace

json ask_catalogue(const Provider& provider) {
  const std::string word = "catalogue";
  json catalogue = ask(provider, word, kCatalogueSchema, "");
  for (const char* text : {"name", "version"})
    expect(provider, word, catalogue, text, json::value_t::string);
  for (const char* list : {"optimizations", "presets"}) {
    if (!catalogue.contains(list)) catalogue[list] = json::array();
    expect(provider, word, catalogue, list, json::value_t::array);
  }
  catalog_of(catalogue, provider);
  return catalogue;
}

Catalog catalog_of(const json& catalogue, const Provider& provider) {
  json optimizations = catalogue.at("optimizations");
  std::vector<json> presets = catalogue.at("presets");
  const auto is_for = [&](json& each, const char* key) {
    if (each.is_object()) each[key] = json::array({provider.kind});
  };
  for (json& each : optimizations) is_for(each, "applies_to");
  for (json& each : presets) is_for(each, "workload_kinds");
  try {
    return parse_catalog(optimizations, presets);
  } catch (const Error& error) {
    throw Error(ExitCode::usage, fmt::format("{}: {}", error.where(), error.what()),
                command_of(provider, "catalogue"), error.advice());
  }
}

json programs_of(const Provider& provider) {
  json programs = json::object();
  for (const std::string& word : provider.argv) {
    const auto path = (provider.directory / word).lexically_normal();
    std::error_code no_file;
    if (std::filesystem::is_regular_file(path, no_file))
      programs[path.string()] = sha256_hex_of_file(path);
  }
  return programs;
}

json ask_expansion(const Provider& provider, const json& request) {
  const std::string word = "expand";
  json asked = request;
  asked["schema"] = kRequestSchema;
  json answer = ask(provider, word, kExpansionSchema, asked.dump() + "\n");
  expect(provider, word, answer, "workload", json::value_t::object);
  expect(provider, word, answer, "arms", json::value_t::array);
  return answer;
}

}  // namespace memduel
