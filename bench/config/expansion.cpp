#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/provider.h"
#include "config/read_document.h"
#include "model/document.h"
#include "model/keys.h"
#include "model/removed.h"
#include "model/validate.h"
#include "provider_answers.h"
#include "resolution.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/json.h"
#include "util/text.h"

namespace memduel {

const Keys<RoleMetric>& keys_of(const RoleMetric*) {
  static const Keys<RoleMetric> keys = Keys<RoleMetric>("role_metric", kMoreKeys)
                                           .required("role", &RoleMetric::role, "")
                                           .required("metric", &RoleMetric::metric, "");
  return keys;
}

const Keys<RoleGroup>& keys_of(const RoleGroup*) {
  static const Keys<RoleGroup> keys = Keys<RoleGroup>("role_group", kMoreKeys)
                                          .required("name", &RoleGroup::name, "")
                                          .required("count", &RoleGroup::count, "");
  return keys;
}

const Keys<HeldModel>& keys_of(const HeldModel*) {
  static const Keys<HeldModel> keys = Keys<HeldModel>("held_model", kMoreKeys)
                                          .required("role", &HeldModel::role, "")
                                          .required("metric", &HeldModel::metric, "")
                                          .required("copies", &HeldModel::copies, "")
                                          .required("what", &HeldModel::what, "");
  return keys;
}

namespace {

using nlohmann::json;

/// What a provider says of a variant. One that a resolved config keeps has all other keys, too.
struct AnsweredVariant {
  Variant variant;
  IdleSwitches idle;
};

struct Answer {
  Job job;
  std::vector<AnsweredVariant> variants;
  std::optional<std::vector<std::string>> meters;
  std::optional<json> resolved;  ///< the workload with every default of its kind
  std::optional<std::vector<RoleMetric>> default_gates;
  std::optional<std::vector<RoleGroup>> groups;
  std::optional<std::vector<HeldModel>> held_models;
};

constexpr const char* kRenamedToSwitches = "it was renamed: \"switches\"";

const Keys<AnsweredVariant>& keys_of(const AnsweredVariant*) {
  static const Keys<AnsweredVariant> keys =
      Keys<AnsweredVariant>("answered_variant", kMoreKeys)
          .with_keys_of(&AnsweredVariant::variant,
                        keys_of(static_cast<const Variant*>(nullptr))
                            .only({"name", "switches", "allocator", "env", "cwd", "argv", "append",
                                   "templates"}))
          .optional("idle", &AnsweredVariant::idle, "")
          .removed("optimizations", kRenamedToSwitches);
  return keys;
}

const Keys<Answer>& keys_of(const Answer*) {
  static const Keys<Answer> keys =
      Keys<Answer>("answer", kMoreKeys)
          .required("workload", &Answer::job, "")
          .required("variants", &Answer::variants, "")
          .optional("meters", &Answer::meters, "", kMeters)
          .optional("resolved", &Answer::resolved, "", {{"type", "object"}})
          .optional("default_gates", &Answer::default_gates, "")
          .optional("groups", &Answer::groups, "")
          .optional("held_models", &Answer::held_models, "")
          .removed("arms", "it was renamed: \"variants\"")
          .removed("optimizations", kRenamedToSwitches);
  return keys;
}

/// What of a provider's answer is kept.
constexpr const char* kOfTheAnswer[] = {"workload", "variants", "default_gates", "held_models",
                                        "groups",   "meters",   "resolved"};

/// Asks for a job. Throws as ask_catalogue(). @param request its "origin" is the config's file
json ask_expansion(const Provider& provider, const json& request, const AskProvider& ask) {
  json asked = request;
  asked["schema"] = "memduel.expand/2";
  return ask_for(provider, "expand", "memduel.expanded/2", asked, ask);
}

/// Of an answer. @param file of the config
std::string origin_of(const Provider& provider, const std::string& file) {
  return fmt::format("{}, as {} expands it", file, provider.argv.front());
}

/// Of a twin that was not asked for, what is said of its variant. Null where nothing is.
const Variant* answered(const Variant& variant, const Answer& answer) {
  const auto named = [&](const std::string& name) -> const Variant* {
    for (const AnsweredVariant& one : answer.variants)
      if (one.variant.name == name) return &one.variant;
    return nullptr;
  };
  const Variant* own = named(variant.name);
  return own == nullptr && variant.twin_of ? named(*variant.twin_of) : own;
}

/// A twin that is as its variant needs no answer; of two builds, each runs its own programs.
bool is_asked_for(const Variant& variant, const std::vector<Variant>& variants) {
  if (!variant.twin_of) return true;
  const auto of = std::ranges::find(variants, *variant.twin_of, &Variant::name);
  return of == variants.end() || of->switches != variant.switches || of->env != variant.env ||
         of->allocator != variant.allocator;
}

void refuse_keys_of_the_job(const Document& document, const Places& places) {
  for (std::size_t i = 0; i < document.variants.size(); ++i) {
    const Variant& variant = document.variants[i];
    const char* key = !variant.argv.empty()        ? "argv"
                      : !variant.append.empty()    ? "append"
                      : variant.cwd                ? "cwd"
                      : !variant.templates.empty() ? "templates"
                                                   : nullptr;
    if (key == nullptr) continue;
    throw Error(ExitCode::usage,
                fmt::format("expected preset, switches, env or allocator (the workload plug-in of "
                            "kind \"{1}\" sets everything else), found \"{0}\"",
                            key, document.workload.kind()),
                places.at(below(variant_path(i), key)));
  }
}

/// Every switch of every variant with its value.
std::vector<Variant> with_switches(std::vector<Variant> variants, const Catalog& catalog,
                                   const std::string& kind, const Places& places) {
  try {
    for (std::size_t i = 0; i < variants.size(); ++i)
      variants[i].switches =
          resolve_optimizations(catalog, kind, variants[i].preset, variants[i].switches,
                                json_place(places.file(), variant_path(i)));
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), places.located(error.where()), error.advice());
  }
  return variants;
}

/// A preset stays as the name of its values alone.
void drop_changed_presets(std::vector<Variant>& variants, const Catalog& catalog,
                          const std::string& kind) {
  for (Variant& variant : variants)
    if (variant.preset && variant.switches != resolve_optimizations(catalog, kind, variant.preset,
                                                                    json::object(), ""))
      variant.preset.reset();
}

/// Reports state what a preset is, not only how it is called.
void describe_presets(std::vector<Variant>& variants, const Catalog& catalog) {
  for (Variant& variant : variants) {
    if (!variant.preset || variant.description) continue;
    const auto preset = std::ranges::find(catalog.presets, *variant.preset, &Preset::name);
    if (preset != catalog.presets.end()) variant.description = preset->summary;
  }
}

/// What a provider is asked; {seed} stands for the seed. @param own the same variants as the
/// document has them: what each sets itself.
json request_for(json workload, const std::vector<Variant>& variants,
                 const std::vector<Variant>& own,
                 const std::optional<std::vector<std::string>>& meters) {
  workload.erase("seed");
  json request = {{"workload", std::move(workload)}, {"variants", json::array()}};
  if (meters) request["meters"] = *meters;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Variant& variant = variants[i];
    if (!is_asked_for(variant, variants)) continue;
    json asked = {{"name", variant.name},
                  {"switches", variant.switches},
                  {"own", own[i].switches},
                  {"env", variant.env}};
    if (variant.allocator) asked["allocator"] = name_of(*variant.allocator);
    request["variants"].push_back(std::move(asked));
  }
  return request;
}

/// The variants of the job: the config's, with what the answer says of each.
std::vector<Variant> variants_of_job(std::vector<Variant> variants, const Answer& answer,
                                     const Provider& provider, const std::string& file) {
  for (Variant& variant : variants) {
    const Variant* said = answered(variant, answer);
    if (said == nullptr)
      throw Error(
          ExitCode::usage,
          fmt::format("expected each variant of the request, found no \"{}\"", variant.name),
          json_place(origin_of(provider, file), {"variants"}), kWhatAProviderAnswers);
    variant.env.insert(said->env.begin(), said->env.end());
    variant.argv = said->argv;
    variant.append = said->append;
    variant.cwd = said->cwd;
    variant.templates = said->templates;
  }
  return variants;
}

/// What the provider is told of is in a config; one that names it has said so itself.
template <typename Ask>
json asked(const Places& places, const Provider& provider, const Ask& ask) {
  try {
    return ask();
  } catch (const Error& error) {
    if (error.where().starts_with(places.file()))
      throw Error(error.code(), error.what(), places.located(error.where()), error.advice());
    const bool started = error.code() != ExitCode::io;
    if (!started && provider.is_default())
      throw Error(
          ExitCode::usage,
          fmt::format("expected a kind of an installed workload plug-in, found \"{}\"",
                      provider.kind),
          places.at({"workload", "kind"}),
          nearest_advice(provider.kind, {kCommandKind},
                         "expected \"command\"; the package memduel-fl has the kinds of the "
                         "replays, and your own kind needs a \"provider\": docs/providers.md"));
    throw Error(started ? error.code() : ExitCode::usage, error.what(),
                fmt::format("{}: {}", places.file(), error.where()), error.advice());
  }
}

/// The first of these that a provider has answered already.
const json* kept_in(const Document& document, const std::optional<Document>& before) {
  if (!document.expanded.is_null()) return &document.expanded;
  const bool same = before && !before->expanded.is_null() && before->provider == document.provider;
  return same ? &before->expanded : nullptr;
}

/// A switch or preset that the kept catalogue does not have may be one of a newer provider.
bool answers(const json& kept, const Document& document, const Provider& provider) {
  try {
    const Catalog catalog = catalog_of(kept.at("catalogue"), provider);
    const json request = request_for(
        document.workload.own, with_switches(document.variants, catalog, provider.kind, Places("")),
        document.variants, document.measure.meters);
    const std::string sha256 = sha256_hex(request.dump());
    return kept.at("request_sha256") == sha256 ||
           kept.value("resolved_sha256", std::string()) == sha256;
  } catch (const Error&) {
    return false;
  } catch (const json::exception&) {
    return false;
  }
}

/// Where the provider settles more of a variant than the config says.
void take_what_is_said(std::vector<Variant>& variants, const Answer& answer) {
  for (Variant& variant : variants) {
    const Variant* said = answered(variant, answer);
    if (said == nullptr) continue;
    if (!said->switches.empty()) variant.switches = said->switches;
    if (said->allocator) variant.allocator = said->allocator;
  }
}

/// Of a provider that says which kinds it has.
void refuse_unknown_kind(std::vector<std::string> kinds, const Provider& provider,
                         const Places& places) {
  if (kinds.empty() || std::ranges::find(kinds, provider.kind) != kinds.end()) return;
  if (provider.is_default()) kinds.emplace_back(kCommandKind);
  throw Error(ExitCode::usage,
              fmt::format("expected {1}, found \"{0}\"", provider.kind, fmt::join(kinds, " or ")),
              places.at({"workload", "kind"}), nearest_advice(provider.kind, kinds));
}

/// The config gives the seed of a job, also if a provider makes the job.
void refuse_bad_seed(const json& workload, const Places& places) {
  static const json schema = {
      {"properties",
       {{"workload",
         {{"properties",
           {{"seed", json::parse(whole_schema_of<Job>().dump()).at("properties").at("seed")}}}}}}}};
  if (const auto seed = workload.find("seed"); seed != workload.end())
    validate_against_schema({{"workload", {{"seed", *seed}}}}, schema, places);
}

/// The questions about one document.
class Questions {
 public:
  Questions(const Document& document, const Places& places, const AskProvider& ask)
      : document_(document), places_(places), ask_(ask) {}

  json catalogue(const Provider& provider) const {
    return asked(places_, provider, [&] { return ask_catalogue(provider, ask_); });
  }

  /// Asks for the job and keeps what matters of the answer in `kept`.
  json ask_for_job(const Provider& provider, const std::vector<Variant>& variants,
                   json& kept) const {
    json request =
        request_for(document_.workload.own, variants, document_.variants, document_.measure.meters);
    kept["request_sha256"] = sha256_hex(request.dump());
    request["origin"] = places_.file();
    for (json& one : request["variants"])
      for (std::size_t i = 0; i < variants.size(); ++i)
        if (one.at("name").get_ref<const std::string&>() == variants[i].name)
          one["place"] = json_place(places_.file(), variant_path(i));
    json answer = asked(places_, provider, [&] { return ask_expansion(provider, request, ask_); });
    if (!provider.is_default()) kept["directory"] = provider.directory.string();
    kept["programs"] = programs_of(provider);
    for (const char* key : kOfTheAnswer)
      if (answer.contains(key)) kept[key] = answer.at(key);
    return answer;
  }

 private:
  const Document& document_;
  const Places& places_;
  const AskProvider& ask_;
};

ExpandedDocument expanded(const Document& document, const Places& places,
                          const std::filesystem::path& directory,
                          const std::optional<Document>& before, const AskProvider& ask) {
  Provider provider{document.provider, directory, document.workload.kind()};
  const json* kept = kept_in(document, before);
  if (kept != nullptr && kept->contains("directory"))
    provider.directory = kept->at("directory").get<std::string>();
  const bool known = kept != nullptr && answers(*kept, document, provider);
  const Questions questions(document, places, ask);
  ExpandedDocument result{{}, document, document, {}, known ? *kept : json::object()};
  result.own.expanded = nullptr;
  if (!known) result.kept["catalogue"] = questions.catalogue(provider);
  const Catalog catalog = catalog_of(result.kept.at("catalogue"), provider);
  refuse_unknown_kind(catalog.kinds, provider, places);
  refuse_keys_of_the_job(document, places);
  std::vector<Variant>& variants = result.own.variants;
  variants = with_switches(document.variants, catalog, provider.kind, places);
  json said = known ? *kept : questions.ask_for_job(provider, variants, result.kept);
  json& workload = result.own.workload.own;
  refuse_bad_seed(workload, places);
  if (workload.contains("seed") && said["workload"].is_object())
    said["workload"]["seed"] = workload["seed"];
  const auto answer = read_answer<Answer>(said, origin_of(provider, places.file()));
  result.expansion = {provider, catalog, result.kept.at("programs")};
  // One that is installed looks for data sets from where memduel was started.
  result.expansion.provider.directory = result.kept.value("directory", std::string("."));
  take_what_is_said(variants, answer);
  if (answer.resolved) workload = *answer.resolved;
  result.job = result.own;
  if (!result.job.measure.meters)
    result.job.measure.meters = answer.meters.value_or(default_meters());
  // What would be asked for the resolved document: loaded again it is another text, and the same
  // question.
  if (!known)
    result.kept["resolved_sha256"] =
        sha256_hex(request_for(workload, variants, variants, result.job.measure.meters).dump());
  drop_changed_presets(variants, catalog, provider.kind);
  describe_presets(variants, catalog);
  result.job.workload = {answer.job};
  result.job.variants = variants_of_job(variants, answer, provider, places.file());
  result.directory = provider.directory;
  return result;
}

/// An answer in which something is not where or what it should be.
[[noreturn]] void refuse_form(const json::exception& error, const std::string& origin,
                              const std::vector<std::string>& argv) {
  throw Error(ExitCode::usage, "found a response of another form: " + reason_of(error),
              fmt::format("{}: {} expand", origin, fmt::join(argv, " ")), kWhatAProviderAnswers);
}

}  // namespace

std::optional<ExpandedDocument> expand(const Document& document, const Places& places,
                                       const std::filesystem::path& directory,
                                       const std::optional<Document>& before,
                                       const AskProvider& ask) {
  if (document.workload.own.is_null()) {
    if (document.provider.empty()) return std::nullopt;
    throw Error(ExitCode::usage,
                "found a workload of kind command, which needs no workload plug-in",
                places.at({"provider"}), "omit it, or name its own kind");
  }
  Document named = document;
  if (named.provider.empty()) named.provider = {kDefaultProvider};
  if (const auto instead = replacement_for(Removed::program, named.provider[0]))
    throw Error(ExitCode::usage, fmt::format("found the program \"{}\"", named.provider[0]),
                places.at({"provider", "0"}), std::string(*instead));
  try {
    return expanded(named, places, directory, before, ask);
  } catch (const json::exception& error) {
    refuse_form(error, places.file(), named.provider);
  }
}

Document folded(const ExpandedDocument& expanded, const Document& job) {
  const json written = written_document(job);
  Document document = job;
  document.workload.own = expanded.own.workload.own;
  document.variants = expanded.own.variants;
  document.expanded = expanded.kept;
  json& kept = document.expanded;
  kept["workload"] = written.at("workload");
  std::vector<std::string> names;
  for (const json& one : kept.at("variants")) names.push_back(one.at("name"));
  kept["variants"] = json::array();
  for (json variant : written.at("variants")) {
    if (std::ranges::find(names, variant.at("name").get<std::string>()) == names.end()) continue;
    variant.emplace("switches", json::object());  // a provider may have no switches
    kept["variants"].push_back(std::move(variant));
  }
  if (kept.contains("resolved")) document.workload.own["seed"] = kept["workload"].at("seed");
  return document;
}

std::vector<IdleSwitches> ask_about_variants(const Expansion& expansion, const json& workload,
                                             const std::vector<Variant>& variants,
                                             const std::string& origin, const AskProvider& ask) {
  const Provider& provider = expansion.provider;
  json request = request_for(workload, variants, variants, std::nullopt);
  request["origin"] = origin;
  const json answer =
      asked(Places(origin), provider, [&] { return ask_expansion(provider, request, ask); });
  const auto said = read_answer<Answer>(answer, origin_of(provider, origin));
  std::vector<IdleSwitches> idle;
  for (const Variant& variant : variants)
    for (const AnsweredVariant& one : said.variants)
      if (one.variant.name == variant.name) idle.push_back(one.idle);
  return idle;
}

json site_request(const Document& resolved) {
  return request_for(resolved.workload.own, resolved.variants, resolved.variants, std::nullopt);
}

JobFacts with_answer(const JobFacts& job, const json& answer, const std::string& origin) {
  const auto said = read_answer<Answer>(answer, origin);
  JobFacts all = job;
  if (said.default_gates) all.default_gates = *said.default_gates;
  if (said.groups) all.groups = *said.groups;
  if (said.held_models) all.held_models = *said.held_models;
  for (std::size_t i = 0; said.default_gates && i < all.default_gates.size(); ++i) {
    const RoleMetric& gate = all.default_gates[i];
    if (metric_info(all, gate.metric).better == Direction::undeclared)
      throw Error(ExitCode::usage,
                  fmt::format("expected a metric with a declared direction, found {0}.{1}",
                              gate.role, gate.metric),
                  json_place(origin, below({"default_gates"}, i)),
                  "\"metrics\": {\"" + gate.metric +
                      "\": {\"better\": \"lower\"}} in the workload that the plug-in makes");
  }
  return all;
}

JobFacts facts_of_workload(const Workload& workload, const std::string& origin,
                           const AskProvider& ask) {
  if (workload.own.is_null()) return job_facts_of(workload.job);
  const Provider provider{{kDefaultProvider}, ".", workload.kind()};
  json request = request_for(workload.own, {}, {}, std::nullopt);
  request["origin"] = origin;
  const json answer =
      asked(Places(origin), provider, [&] { return ask_expansion(provider, request, ask); });
  return with_answer(job_facts_of(job_from_json(answer.at("workload"), origin)), answer, origin);
}

}  // namespace memduel
