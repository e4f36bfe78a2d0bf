#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/config_json.h"
#include "config/job.h"
#include "config/provider.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/json.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

/// What a provider says of an arm; all else of it is the config's.
constexpr const char* kOfTheJob[] = {"argv", "append", "cwd", "templates"};

/// What it says of the job beside its processes and arms.
constexpr const char* kOfTheAnswer[] = {"workload", "variants", "default_gates", "held_models",
                                        "groups",   "meters",   "resolved"};

json arm_named(const json& arms, const std::string& name) {
  const auto found = std::ranges::find_if(
      arms, [&](const json& arm) { return arm.is_object() && arm.value("name", json()) == name; });
  return found == arms.end() ? json() : *found;
}

/// What an answer says of an arm; of a twin that was not asked for, what it says of its arm.
json said_of(const json& arm, const json& answer) {
  const json own = arm_named(answer, arm.at("name"));
  return own.is_null() && arm.contains("twin_of") ? arm_named(answer, arm.at("twin_of")) : own;
}

/// A twin that is as its arm needs no answer; of two builds, each runs its own programs.
bool is_asked_for(const json& arm, const json& arms) {
  if (!arm.contains("twin_of")) return true;
  const json of = arm_named(arms, arm.at("twin_of"));
  for (const char* key : {"switches", "env", "allocator"})
    if (of.value(key, json()) != arm.value(key, json())) return true;
  return false;
}

void refuse_keys_of_the_job(const json& arms, const std::vector<std::string>& places) {
  for (std::size_t i = 0; i < arms.size(); ++i)
    for (const char* key : kOfTheJob)
      if (arms[i].contains(key))
        throw Error(ExitCode::usage,
                    fmt::format("found \"{}\", which the provider says of a variant", key),
                    places[i] + "." + key);
}

/// Every switch of every arm with its value.
json with_switches(json arms, const Catalog& catalog, const std::string& kind,
                   const std::vector<std::string>& places) {
  for (std::size_t i = 0; i < arms.size(); ++i) {
    json& arm = arms[i];
    std::optional<std::string> preset;
    if (arm.contains("preset")) preset = arm.at("preset").get<std::string>();
    arm["switches"] = resolve_optimizations(catalog, kind, preset,
                                            arm.value("switches", json::object()), places[i]);
  }
  return arms;
}

/// A preset stays as the name of its values alone.
void drop_changed_presets(json& arms, const Catalog& catalog, const std::string& kind) {
  for (json& arm : arms)
    if (arm.contains("preset") &&
        arm.at("switches") != resolve_optimizations(catalog, kind,
                                                    arm.at("preset").get<std::string>(),
                                                    json::object(), ""))
      arm.erase("preset");
}

/// What a provider is asked; {seed} stands for the seed. @param own the same arms as the document
/// has them: what each sets itself. @param meters null where the document names none.
json request_for(json workload, const json& arms, const json& own, const json& meters) {
  workload.erase("seed");
  json request = {{"workload", std::move(workload)}, {"variants", json::array()}};
  if (!meters.is_null()) request["meters"] = meters;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const json& arm = arms[i];
    if (!is_asked_for(arm, arms)) continue;
    json asked = {{"name", arm.at("name")},
                  {"switches", arm.at("switches")},
                  {"own", own[i].value("switches", json::object())},
                  {"env", arm.value("env", json::object())}};
    if (arm.contains("allocator")) asked["allocator"] = arm.at("allocator");
    request["variants"].push_back(std::move(asked));
  }
  return request;
}

json meters_of(const json& document) {
  return document.value("/measure/meters"_json_pointer, json());
}

/// The arms of the job: the config's, with what the answer says of each.
json arms_of_job(const json& arms, const json& answer, const Provider& provider,
                 const std::string& file) {
  json result = json::array();
  for (json arm : arms) {
    const json said = said_of(arm, answer);
    if (said.is_null())
      throw Error(ExitCode::usage,
                  fmt::format("found no variant \"{}\", expected one for each in the request",
                              arm.at("name").get<std::string>()),
                  fmt::format("{}: {} expand", file, provider.argv.front()));
    json env = said.value("env", json::object());
    if (env.is_object()) env.update(arm.value("env", json::object()));
    arm["env"] = std::move(env);
    for (const char* key : kOfTheJob)
      if (said.contains(key)) arm[key] = said.at(key);
    result.push_back(std::move(arm));
  }
  return result;
}

/// What the provider is told of is in the config `origin`; one that names it has said so itself.
template <typename Ask>
json asked(const std::string& origin, const Provider& provider, const Ask& ask) {
  try {
    return ask();
  } catch (const Error& error) {
    if (error.where().starts_with(origin)) throw;
    const bool started = error.code() != ExitCode::io;
    if (!started && provider.is_default())
      throw Error(ExitCode::usage,
                  fmt::format("found the kind \"{}\", which no program here knows", provider.kind),
                  json_place(origin, {"workload", "kind"}),
                  nearest_advice(
                      provider.kind, {"command"},
                      "expected \"command\"; the package memduel-fl has the kinds of the "
                      "replays, and a kind of your own needs a \"provider\": docs/providers.md"));
    throw Error(started ? error.code() : ExitCode::usage, error.what(),
                fmt::format("{}: {}", origin, error.where()), error.advice());
  }
}

/// The first of these that a provider has answered already.
const json* kept_in(const json& document, const json& before) {
  for (const json* one : {&document, &before})
    if (one->is_object() && one->contains("expanded") &&
        one->value("provider", json()) == document.at("provider"))
      return &one->at("expanded");
  return nullptr;
}

/// A switch or preset that the kept catalogue does not have may be one of a newer provider.
bool answers(const json& kept, const json& document, const Provider& provider) {
  try {
    const Catalog catalog = catalog_of(kept.at("catalogue"), provider);
    const json& own = document.at("variants");
    const json request = request_for(
        document.at("workload"),
        with_switches(own, catalog, provider.kind, std::vector<std::string>(own.size())), own,
        meters_of(document));
    const std::string sha256 = sha256_hex(request.dump());
    return kept.at("request_sha256") == sha256 ||
           kept.value("resolved_sha256", std::string()) == sha256;
  } catch (const Error&) {
    return false;
  } catch (const json::exception&) {
    return false;
  }
}

/// Where the provider settles more of an arm than the config says.
void take_what_is_said(json& arms, const json& answer) {
  for (json& arm : arms) {
    const json said = said_of(arm, answer);
    if (!said.is_object()) continue;
    for (const char* key : {"switches", "allocator"})
      if (said.contains(key)) arm[key] = said.at(key);
  }
}

/// Of a provider that says which kinds it has.
void refuse_unknown_kind(const json& catalogue, const Provider& provider, const std::string& file) {
  if (!catalogue.contains("kinds")) return;
  auto kinds = catalogue.at("kinds").get<std::vector<std::string>>();
  if (std::ranges::find(kinds, provider.kind) != kinds.end()) return;
  if (provider.is_default()) kinds.emplace_back("command");
  throw Error(ExitCode::usage,
              fmt::format("found \"{}\", expected {}", provider.kind, fmt::join(kinds, " or ")),
              json_place(file, {"workload", "kind"}), nearest_advice(provider.kind, kinds));
}

/// Asks for the job of `document` and keeps the answer, with what would be asked for its resolved
/// document: a config that is loaded again is another text, and the same question.
void ask_for_job(Expansion& expansion, const json& document, const Provider& provider,
                 const Origin& origin, const AskProvider& ask) {
  const json& own = document.at("variants");
  json request = request_for(expansion.workload, expansion.arms, own, meters_of(document));
  expansion.kept["request_sha256"] = sha256_hex(request.dump());
  request["origin"] = origin.file;
  for (json& asked : request["variants"])
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i].at("name") == asked.at("name")) asked["place"] = origin.arms[i];
  const json answer =
      asked(origin.file, provider, [&] { return ask_expansion(provider, request, ask); });
  if (!provider.is_default()) expansion.kept["directory"] = provider.directory.string();
  expansion.kept["programs"] = programs_of(provider);
  for (const char* key : kOfTheAnswer)
    if (answer.contains(key)) expansion.kept[key] = answer.at(key);
  json arms = expansion.arms;
  take_what_is_said(arms, answer.at("variants"));
  const json meters = meters_of(document);
  const json resolved =
      request_for(answer.value("resolved", expansion.workload), arms, arms,
                  meters.is_null() ? expansion.kept.value("meters", default_meters()) : meters);
  expansion.kept["resolved_sha256"] = sha256_hex(resolved.dump());
}

Expansion expanded(json& document, const Origin& origin, const json& before,
                   const AskProvider& ask) {
  Expansion expansion;
  expansion.provider = document.at("provider");
  expansion.workload = document.at("workload");
  const json own = document.at("variants");
  Provider provider{expansion.provider, origin.directory, expansion.workload.at("kind")};
  const json* kept = kept_in(document, before);
  if (kept != nullptr && kept->contains("directory"))
    provider.directory = kept->at("directory").get<std::string>();
  const bool known = kept != nullptr && answers(*kept, document, provider);
  expansion.kept = known ? *kept : json::object();
  if (!known)
    expansion.kept["catalogue"] =
        asked(origin.file, provider, [&] { return ask_catalogue(provider, ask); });
  refuse_unknown_kind(expansion.kept.at("catalogue"), provider, origin.file);
  refuse_keys_of_the_job(own, origin.arms);
  expansion.catalog = catalog_of(expansion.kept.at("catalogue"), provider);
  expansion.arms = with_switches(own, expansion.catalog, provider.kind, origin.arms);
  if (!known) ask_for_job(expansion, document, provider, origin, ask);
  take_what_is_said(expansion.arms, expansion.kept.at("variants"));
  drop_changed_presets(expansion.arms, expansion.catalog, provider.kind);
  const json seed = expansion.workload.value("seed", json());
  if (expansion.kept.contains("resolved")) expansion.workload = expansion.kept.at("resolved");
  document.erase("expanded");
  document["workload"] = expansion.kept.at("workload");
  if (!seed.is_null()) document["workload"]["seed"] = seed;
  if (meters_of(document).is_null())
    document["measure"]["meters"] = expansion.kept.value("meters", default_meters());
  document["variants"] =
      arms_of_job(expansion.arms, expansion.kept.at("variants"), provider, origin.file);
  return expansion;
}

/// An answer in which something is not where or what it should be.
[[noreturn]] void refuse_form(const json::exception& error, const std::string& origin,
                              const std::vector<std::string>& argv) {
  throw Error(ExitCode::usage, "found an answer of another form: " + reason_of(error),
              fmt::format("{}: {} expand", origin, fmt::join(argv, " ")), kWhatAProviderAnswers);
}

}  // namespace

Expansion expand(json& document, const Origin& origin, const json& before, const AskProvider& ask) {
  try {
    return expanded(document, origin, before, ask);
  } catch (const json::exception& error) {
    refuse_form(error, origin.file, document.at("provider"));
  }
}

json default_meters() {
  return {"procfs", "heap"};
}

std::vector<IdleSwitches> ask_about_arms(const Expansion& expansion, const json& arms,
                                         const std::string& origin, const AskProvider& ask) {
  const Provider provider = provider_of(expansion);
  json request = request_for(expansion.workload, arms, arms, nullptr);
  request["origin"] = origin;
  const json answer =
      asked(origin, provider, [&] { return ask_expansion(provider, request, ask); });
  std::vector<IdleSwitches> idle;
  try {
    for (const json& arm : arms)
      idle.push_back(
          said_of(arm, answer.at("variants")).value("idle", json::object()).get<IdleSwitches>());
  } catch (const json::exception& error) {
    refuse_form(error, origin, provider.argv);
  }
  return idle;
}

json site_request(const Expansion& expansion) {
  return request_for(expansion.workload, expansion.arms, expansion.arms, nullptr);
}

Provider provider_of(const Expansion& expansion) {
  return {expansion.provider, expansion.kept.value("directory", std::string(".")),
          expansion.workload.at("kind")};
}

json folded(json document, const Expansion& expansion) {
  json expanded = expansion.kept;
  expanded["workload"] = document.at("workload");
  expanded["variants"] = json::array();
  for (const json& arm : document.at("variants"))
    if (!arm_named(expansion.kept.at("variants"), arm.at("name")).is_null())
      expanded["variants"].push_back(arm);
  document["expanded"] = std::move(expanded);
  const json seed = document.at("workload").at("seed");
  document["workload"] = expansion.workload;
  if (expansion.kept.contains("resolved")) document["workload"]["seed"] = seed;
  document["variants"] = expansion.arms;
  return document;
}

JobFacts with_answer(const JobFacts& job, const json& answer, const std::string& origin) {
  json facts = to_json(job);
  for (const char* key : {"default_gates", "held_models", "groups"})
    if (answer.contains(key)) facts[key] = answer.at(key);
  JobFacts all = job_facts_from_json(facts, origin);
  for (const RoleMetric& gate : all.default_gates)
    if (metric_info(all, gate.metric).better == Direction::undeclared)
      throw Error(ExitCode::usage,
                  fmt::format("the provider names a default gate on {}.{}, of which nothing "
                              "declares whether higher or lower is better",
                              gate.role, gate.metric),
                  origin,
                  "declare it in the workload that the provider makes: \"metrics\": {\"" +
                      gate.metric + "\": {\"better\": \"lower\"}}");
  return all;
}

JobFacts facts_of_workload(const json& workload, const std::string& origin,
                           const AskProvider& ask) {
  if (workload.at("kind") == "command") return job_facts_of(workload);
  const Provider provider{{kDefaultProvider}, ".", workload.at("kind")};
  json request = request_for(workload, json::array(), json::array(), nullptr);
  request["origin"] = origin;
  const json answer =
      asked(origin, provider, [&] { return ask_expansion(provider, request, ask); });
  return with_answer(job_facts_of(answer.at("workload")), answer, origin);
}

json workload_to_be() {
  return {{"kind", "command"}, {"processes", {{{"role", "process"}, {"argv", {"program"}}}}}};
}

}  // namespace memduel
