#include "config/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "config/config_json.h"
#include "config/read_document.h"
#include "resolution.h"
#include "tree.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"
#include "variants.h"

namespace memduel {
namespace {

using nlohmann::json;

/// The resolved text must be UTF-8: it is hashed, stored and embedded into the report.
std::string canonical_text(const json& resolved, const std::string& origin) {
  try {
    return resolved.dump();
  } catch (const json::type_error&) {
    throw Error(ExitCode::usage,
                "found text that is not UTF-8, in it or in the name of its directory", origin);
  }
}

Experiment experiment_from(ConfigTree tree, const std::filesystem::path& directory,
                           const Overrides& overrides, const AskProvider& ask) {
  std::vector<std::string> replaced_gates = apply_overrides(tree, overrides);
  expand_matrices(tree);
  Places places = std::move(tree.places);
  Document document = read_document(tree.root, places);
  choose_variants(document, places, overrides);
  JobSource source{places, directory};
  const auto expanded = expand(document, places, directory, overrides.resumed, ask);
  if (expanded) {
    document = expanded->job;
    source = {Places(fmt::format("{}, as {} expands it", places.file(), document.provider[0])),
              expanded->directory, true};
  }
  resolve_document(document, places, source, overrides);
  Experiment experiment;
  experiment.facts = job_facts_of(document.workload.job);
  if (expanded) {
    experiment.facts = with_answer(experiment.facts, expanded->kept, source.places.file());
    experiment.expansion = expanded->expansion;
  } else {
    experiment.places = places;
  }
  experiment.variants = document.variants;
  experiment.config = expanded ? folded(*expanded, document) : std::move(document);
  experiment.config_sha256 =
      sha256_hex(canonical_text(written_document(experiment.config), source.places.file()));
  for (std::size_t i = 0; i < experiment.config.gates.size() && overrides.gates.empty(); ++i)
    experiment.gate_places.push_back(places.at({"gates", std::to_string(i)}));
  experiment.replaced_gates = std::move(replaced_gates);
  return experiment;
}

std::string text_of(const std::filesystem::path& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    const std::filesystem::path kept = path / kConfigFile;
    throw Error(
        ExitCode::io, "expected a config, found a directory", path.string(),
        std::filesystem::exists(kept, unknown) ? "the config of the run is " + kept.string() : "");
  }
  return read_text_file(path);
}

}  // namespace

Experiment parse_experiment(std::string_view text, const std::string& origin,
                            const std::filesystem::path& directory, const Overrides& overrides,
                            const AskProvider& ask) {
  return experiment_from(parse_config_text(text, origin), directory, overrides, ask);
}

Experiment load_experiment(const std::filesystem::path& path, const Overrides& overrides,
                           const AskProvider& ask) {
  return parse_experiment(text_of(path), path.string(),
                          std::filesystem::absolute(path).parent_path(), overrides, ask);
}

Experiment make_experiment(const Document& document, const std::string& origin,
                           const std::filesystem::path& directory, const Overrides& overrides,
                           const AskProvider& ask) {
  Experiment experiment =
      experiment_from({given_in(document), Places(origin)}, directory, overrides, ask);
  experiment.places.reset();
  return experiment;
}

Document load_document(const std::filesystem::path& path, const std::string& name) {
  ConfigTree tree = parse_config_text(text_of(path), name);
  expand_matrices(tree);
  return read_document(tree.root, tree.places);
}

}  // namespace memduel
