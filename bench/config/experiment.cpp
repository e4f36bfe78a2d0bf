#include "config/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "command_workload.h"
#include "config/arms.h"
#include "config/config_json.h"
#include "model/removed.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

void expect_variant(const std::string& name, const std::vector<std::string>& names,
                    const std::string& place) {
  if (std::ranges::find(names, name) == names.end()) refuse_variant(name, names, place);
}

/// The gates that the config names, where the overrides have others. What is no list of texts, the
/// schema refuses.
std::vector<std::string> replaced_gates(const json& document, const Overrides& overrides) {
  std::vector<std::string> replaced;
  if (overrides.gates.empty() || !document.is_object()) return replaced;
  for (const json& gate : document.value("gates", json::array()))
    if (gate.is_string()) replaced.push_back(gate);
  if (replaced == overrides.gates) replaced.clear();
  return replaced;
}

/// What options say in place of the file.
void apply_overrides(ConfigTree& tree, const Overrides& overrides) {
  const auto set = [&](const std::string& assignment, const std::string& option) {
    tree.places.replace(set_json_value(tree.root, assignment), option);
  };
  for (const std::string& assignment : overrides.set) set(assignment, "--set " + assignment);
  if (overrides.repeats) set(fmt::format("measure.repeats={}", *overrides.repeats), "--repeats");
  if (overrides.warmups) set(fmt::format("measure.warmups={}", *overrides.warmups), "--warmup");
  if (!overrides.gates.empty()) set("gates=" + json(overrides.gates).dump(), "--gate");
}

void refuse_repeated_names(const std::vector<std::string>& names, const Places& places) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (seen.insert(names[i]).second) continue;
    JsonPath path = variant_path(i);
    path.emplace_back("name");
    throw Error(ExitCode::usage, fmt::format("found the variant name \"{}\" twice", names[i]),
                places.at(path), "give every variant its own name");
  }
}

void refuse_unknown_ablation_variants(const Document& document, const Places& places) {
  const AblationPlan& ablation = *document.ablation;
  const auto names = document.variant_names();
  expect_variant(ablation.candidate, names, places.at({"ablation", "candidate"}));
  for (std::size_t i = 0; i < ablation.switches.size(); ++i)
    for (const auto& [view, cell] : {std::pair{"added_alone", &ablation.switches[i].added_alone},
                                     {"removed_alone", &ablation.switches[i].removed_alone}})
      if (cell->variant)
        expect_variant(*cell->variant, names,
                       places.at({"ablation", "switches", std::to_string(i), view, "variant"}));
}

/// Of the variants of a document those that run, each with its place.
class VariantChoice {
 public:
  VariantChoice(Document& document, Places& places) : document_(document), places_(places) {
    for (std::size_t i = 0; i < document.variants.size(); ++i) from_.push_back(i);
    refuse_repeated_names(document.variant_names(), places);
    expect_variant(document.baseline, document.variant_names(), places.at({"baseline"}));
  }

  void select(const std::vector<std::string>& wanted) {
    for (const std::string& name : wanted)
      expect_variant(name, document_.variant_names(), "--variants");
    std::vector<Variant> selected;
    std::vector<std::size_t> from;
    for (const std::size_t i : from_)
      if (std::ranges::find(wanted, document_.variants[i].name) != wanted.end()) {
        selected.push_back(std::move(document_.variants[i]));
        from.push_back(i);
      }
    document_.variants = std::move(selected);
    from_ = std::move(from);
    expect_variant(document_.baseline, document_.variant_names(), "--variants, baseline");
    document_.ablation.reset();  // it is about all its variants
  }

  void add_twin() {
    std::vector<Variant>& all = document_.variants;
    if (std::ranges::any_of(all, [](const Variant& one) { return one.twin_of.has_value(); }))
      return;
    const auto found = std::ranges::find(all, document_.baseline, &Variant::name);
    from_.push_back(from_[static_cast<std::size_t>(found - all.begin())]);
    Variant twin = *found;
    twin.name = twin_name(document_.baseline);
    twin.twin_of = document_.baseline;
    all.push_back(std::move(twin));
  }

  void finish() && {
    places_.rearrange(variant_path(0).front(), from_);
    const auto names = document_.variant_names();
    refuse_repeated_names(names, places_);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Variant& variant = document_.variants[i];
      JsonPath path = variant_path(i);
      path.emplace_back("twin_of");
      if (variant.twin_of) expect_variant(*variant.twin_of, names, places_.at(path));
    }
    if (document_.ablation) refuse_unknown_ablation_variants(document_, places_);
    if (names.size() < 2)
      throw Error(ExitCode::usage, "found one variant, expected two or more",
                  places_.at({variant_path(0).front()}), "add a variant");
  }

 private:
  Document& document_;
  Places& places_;
  std::vector<std::size_t> from_;  ///< of each variant: its index before
};

void choose_variants(Document& document, Places& places, const Overrides& overrides) {
  VariantChoice choice(document, places);
  if (overrides.arms) choice.select(*overrides.arms);
  if (overrides.calibrate) choice.add_twin();
  std::move(choice).finish();
}

void refuse_keys_of_providers(const Variant& variant, const JsonPath& path, const Places& places) {
  const char* key = variant.preset ? "preset" : !variant.switches.empty() ? "switches" : nullptr;
  if (key == nullptr) return;
  JsonPath at = path;
  at.emplace_back(key);
  throw Error(ExitCode::usage,
              fmt::format("found \"{}\", which workloads of kind command do not use", key),
              places.at(at));
}

bool is_same_program(const Variant& a, const Variant& b) {
  return a.switches == b.switches && a.env == b.env && a.processes == b.processes &&
         a.templates == b.templates && a.allocator == b.allocator;
}

void refuse_equal_variants(const std::vector<Variant>& variants, const Places& places) {
  for (std::size_t i = 0; i < variants.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (variants[i].twin_of || variants[j].twin_of || !is_same_program(variants[i], variants[j]))
        continue;
      throw Error(ExitCode::usage,
                  fmt::format("the variants \"{}\" and \"{}\" have the same program, arguments, "
                              "environment and directory",
                              variants[j].name, variants[i].name),
                  places.at(variant_path(i)), kMeasureTheNoise);
    }
}

/// One round more than the default leaves out is asked for: then some must be left.
void refuse_only_warmup_rounds(const Document& document, const Places& places) {
  const Job& job = document.workload.job;
  const int left_out = document.measure.warmup_rounds;
  const auto& rounds = job.stop_after_round ? job.stop_after_round : job.rounds;
  if (!rounds || left_out <= 1 || left_out < *rounds) return;
  throw Error(ExitCode::usage,
              fmt::format("found {}, expected less than the {} of a trial (workload.{})", left_out,
                          format_count(static_cast<std::size_t>(*rounds), "round"),
                          job.stop_after_round ? "stop_after_round" : "rounds"),
              places.at({"measure", "warmup_rounds"}), "else none of its rounds is left");
}

/// The resolved text must be UTF-8: it is hashed, stored and embedded into the report.
std::string canonical_text(const json& resolved, const std::string& origin) {
  try {
    return resolved.dump();
  } catch (const json::type_error&) {
    throw Error(ExitCode::usage,
                "found text that is not UTF-8, in it or in the name of its directory", origin);
  }
}

/// The order's seed is fresh for every run, the workload's the same for all.
void resolve_seeds(Document& document, const Overrides& overrides) {
  std::optional<std::uint64_t>& seed = document.measure.seed;
  if (!document.workload.job.seed) document.workload.job.seed = seed.value_or(1);
  if (overrides.seed)
    seed = overrides.seed;
  else if (!seed)
    seed = overrides.drawn_seed.value_or(1);
}

void resolve_gates(Document& document, const Overrides& overrides, const Places& places) {
  if (overrides.strict_gates) document.strict_gates = true;
  std::optional<DefaultGatesDecide>& defaults = document.default_gates;
  if (std::ranges::find(document.gates, kDefaultGates) == document.gates.end()) {
    if (overrides.no_default_gates)
      defaults = DefaultGatesDecide::never;
    else if (overrides.default_gates_if_named_only && !defaults)
      defaults = DefaultGatesDecide::in_check;
    return;
  }
  if (overrides.no_default_gates)
    throw Error(ExitCode::usage, "the gates contain \"default\"", "--no-default-gates",
                "leave it out, or name other gates with --gate");
  if (overrides.gates.empty() && defaults && *defaults != DefaultGatesDecide::always)
    throw Error(ExitCode::usage, "found \"default\" although default_gates is false",
                places.at({"gates"}), "remove one of them");
  defaults.reset();
}

/// A kind of workload that is not built in has a provider, named or not.
void name_provider(Document& document, const Places& places) {
  const bool is_command = document.workload.own.is_null();
  if (is_command && !document.provider.empty())
    throw Error(ExitCode::usage, "found a workload of kind command, which needs no provider",
                places.at({"provider"}), "leave it out, or name a kind of its own");
  if (!is_command && document.provider.empty()) document.provider = {kDefaultProvider};
  if (is_command) return;
  if (const auto instead = replacement_for(Removed::program, document.provider[0]))
    throw Error(ExitCode::usage, fmt::format("found the program \"{}\"", document.provider[0]),
                places.at({"provider", "0"}), std::string(*instead));
}

/// A document whose workload is a job, and where each part of it comes from.
struct JobSource {
  Places places;  ///< of workload and variants
  std::filesystem::path directory;
  bool is_expanded = false;
};

/// Makes all of the job absolute and checks it, with what each variant changes of it.
void resolve_workload(Document& document, const JobSource& source) {
  resolve_job(document.workload.job, source.directory, source.places);
  for (std::size_t i = 0; i < document.variants.size(); ++i) {
    const JsonPath path = variant_path(i);
    if (!source.is_expanded) refuse_keys_of_providers(document.variants[i], path, source.places);
    resolve_changes(document.variants[i], document.workload.job, source.directory, path,
                    source.places);
  }
}

/// The experiment of a document in which nothing is open. @param kept what config.json has
Experiment finished(Document document, json kept, const std::string& origin) {
  Experiment experiment;
  experiment.config_sha256 = sha256_hex(canonical_text(kept, origin));
  experiment.resolved = std::move(kept);
  experiment.facts = job_facts_of(document.workload.job);
  experiment.name = std::move(document.name);
  experiment.baseline = std::move(document.baseline);
  experiment.job = std::move(document.workload.job);
  experiment.variants = std::move(document.variants);
  experiment.measure = std::move(document.measure);
  experiment.profile = std::move(document.profile);
  experiment.gates = std::move(document.gates);
  return experiment;
}

Experiment experiment_from(ConfigTree tree, const std::filesystem::path& directory,
                           const Overrides& overrides, const AskProvider& ask) {
  std::vector<std::string> replaced = replaced_gates(tree.root, overrides);
  apply_overrides(tree, overrides);
  expand_matrices(tree);
  Places places = std::move(tree.places);
  Document document = read_document(tree.root, places);
  name_provider(document, places);
  choose_variants(document, places, overrides);
  for (std::size_t i = 0; i < document.variants.size(); ++i) {
    JsonPath path = variant_path(i);
    path.emplace_back("env");
    refuse_bad_environment(document.variants[i].env, path, places);
  }
  JobSource source{places, directory};
  std::optional<ExpandedDocument> expanded;
  if (!document.provider.empty()) {
    expanded = expand(document, places, directory, overrides.resumed, ask);
    document = expanded->job;
    source = {Places(fmt::format("{}, as {} expands it", places.file(), document.provider[0])),
              expanded->directory, true};
  }
  resolve_seeds(document, overrides);
  resolve_gates(document, overrides, places);
  resolve_workload(document, source);
  if (!document.measure.meters) document.measure.meters = default_meters();
  refuse_equal_variants(document.variants, places);
  refuse_only_warmup_rounds(document, places);
  json kept = expanded ? folded(*expanded, document) : written_document(document);
  Experiment experiment = finished(std::move(document), std::move(kept), source.places.file());
  if (expanded) {
    experiment.facts = with_answer(experiment.facts, expanded->kept, source.places.file());
    experiment.expansion = std::move(expanded->expansion);
  }
  if (overrides.gates.empty()) experiment.gates_place = places.at({"gates"});
  experiment.replaced_gates = std::move(replaced);
  return experiment;
}

/// A file of memduel's that is no config.
void refuse_other_files(const json& root, const std::string& origin) {
  if (!root.is_object() || !root.contains("schema") || !root["schema"].is_string()) return;
  if (const auto instead = replacement_for(Removed::schema, root["schema"].get<std::string>()))
    throw Error(ExitCode::usage, "found no config", origin, std::string(*instead));
}

std::string text_of(const std::filesystem::path& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    const std::filesystem::path kept = path / kConfigFile;
    throw Error(
        ExitCode::io, "found a directory, expected a config", path.string(),
        std::filesystem::exists(kept, unknown) ? "a run keeps its config: " + kept.string() : "");
  }
  return read_text_file(path);
}

}  // namespace

void refuse_variant(const std::string& name, const std::vector<std::string>& names,
                    const std::string& place) {
  throw Error(
      ExitCode::usage,
      fmt::format("found \"{}\", expected the name of a variant: {}", name, fmt::join(names, ", ")),
      place, nearest_advice(name, names));
}

std::string twin_name(const std::string& baseline) {
  return baseline + "-twin";
}

Experiment parse_experiment(std::string_view text, const std::string& origin,
                            const std::filesystem::path& directory, const Overrides& overrides,
                            const AskProvider& ask) {
  ConfigTree tree = parse_config_text(text, origin);
  refuse_other_files(tree.root, origin);
  return experiment_from(std::move(tree), directory, overrides, ask);
}

Experiment load_experiment(const std::filesystem::path& path, const Overrides& overrides,
                           const AskProvider& ask) {
  return parse_experiment(text_of(path), path.string(),
                          std::filesystem::absolute(path).parent_path(), overrides, ask);
}

Experiment make_experiment(const Document& document, const std::string& origin,
                           const std::filesystem::path& directory, const Overrides& overrides,
                           const AskProvider& ask) {
  return experiment_from({given_in(document), Places(origin)}, directory, overrides, ask);
}

Document load_document(const std::filesystem::path& path, const std::string& name) {
  ConfigTree tree = parse_config_text(text_of(path), name);
  refuse_other_files(tree.root, name);
  expand_matrices(tree);
  return read_document(tree.root, tree.places);
}

}  // namespace memduel
