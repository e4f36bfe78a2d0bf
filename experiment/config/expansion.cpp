#include "experiment/config/expansion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/sha256.h"
#include "experiment/config/json_text.h"
#include "experiment/config/provider.h"

namespace memduel {
namespace {

using nlohmann::json;

/// What a provider says of an arm; all else of it is the config's.
constexpr const char* kOfTheJob[] = {"argv", "append", "cwd"};

json arm_named(const json& arms, const std::string& name) {
  const auto found = std::find_if(arms.begin(), arms.end(), [&](const json& arm) {
    return arm.is_object() && arm.value("name", json()) == name;
  });
  return found == arms.end() ? json() : *found;
}

/// A twin is the arm that it is of.
std::string expanded_name(const json& arm) {
  return arm.value("twin_of", arm.at("name").get<std::string>());
}

std::string arm_place(const std::string& origin, std::size_t index) {
  return json_place(origin, {"arms", std::to_string(index)});
}

void refuse_keys_of_the_job(const json& arms, const std::string& origin) {
  for (std::size_t i = 0; i < arms.size(); ++i)
    for (const char* key : kOfTheJob)
      if (arms[i].contains(key))
        throw Error(ExitCode::usage,
                    fmt::format("found \"{}\", which the provider says of an arm", key),
                    arm_place(origin, i) + "." + key);
}

/// Every switch of every arm with its value; presets are gone.
json with_switches(json arms, const Catalog& catalog, const std::string& kind,
                   const std::string& origin) {
  for (std::size_t i = 0; i < arms.size(); ++i) {
    json& arm = arms[i];
    std::optional<std::string> preset;
    if (arm.contains("preset")) preset = arm.at("preset").get<std::string>();
    arm["optimizations"] = resolve_optimizations(
        catalog, kind, preset, arm.value("optimizations", json::object()), arm_place(origin, i));
    arm.erase("preset");
  }
  return arms;
}

json request_for(const json& workload, const json& arms) {
  json request = {{"workload", workload}, {"arms", json::array()}};
  for (const json& arm : arms)
    if (!arm.contains("twin_of"))
      request["arms"].push_back(
          {{"name", arm.at("name")}, {"optimizations", arm.at("optimizations")}});
  return request;
}

void refuse_clashes(const Expansion& expansion, const json& own, const std::string& origin) {
  for (std::size_t i = 0; i < expansion.arms.size(); ++i) {
    const auto clash =
        find_clash(expansion.catalog, {expansion.arms[i].at("optimizations"), expansion.workload},
                   own[i].value("optimizations", json::object()));
    if (clash)
      throw Error(ExitCode::usage,
                  fmt::format("found {} with {}, expected {}", clash->chosen, clash->unmet.found,
                              clash->unmet.needed),
                  arm_place(origin, i) + ".optimizations", "the provider runs no such two");
  }
}

/// The arms of the job: the config's, with what the answer says of each.
json arms_of_job(const json& arms, const json& answer, const Provider& provider) {
  json result = json::array();
  for (json arm : arms) {
    const json said = arm_named(answer, expanded_name(arm));
    if (said.is_null())
      throw Error(ExitCode::usage,
                  fmt::format("found no arm \"{}\", expected one for each in the request",
                              expanded_name(arm)),
                  provider.argv.front() + " expand");
    json env = said.value("env", json::object());
    if (env.is_object()) env.update(arm.value("env", json::object()));
    arm["env"] = std::move(env);
    for (const char* key : kOfTheJob)
      if (said.contains(key)) arm[key] = said.at(key);
    result.push_back(std::move(arm));
  }
  return result;
}

/// What the provider is told of is in the config `origin`.
template <typename Ask>
json asked(const std::string& origin, const Ask& ask) {
  try {
    return ask();
  } catch (const Error& error) {
    const bool started = error.code() != ExitCode::io;
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
bool answers(const json& kept, const json& workload, const json& arms, const Provider& provider) {
  try {
    const Catalog catalog = catalog_of(kept.at("catalogue"), provider);
    const json request = request_for(workload, with_switches(arms, catalog, provider.kind, ""));
    return kept.at("request_sha256") == sha256_hex(request.dump());
  } catch (const Error&) {
    return false;
  } catch (const json::exception&) {
    return false;
  }
}

}  // namespace

Expansion expand(json& document, const std::string& origin, const std::filesystem::path& directory,
                 const json& before) {
  Expansion expansion;
  expansion.provider = document.at("provider");
  expansion.workload = document.at("workload");
  const json own = document.at("arms");
  refuse_keys_of_the_job(own, origin);
  Provider provider{expansion.provider, directory, expansion.workload.at("kind")};
  const json* kept = kept_in(document, before);
  if (kept != nullptr && kept->contains("directory"))
    provider.directory = kept->at("directory").get<std::string>();
  const bool known = kept != nullptr && answers(*kept, expansion.workload, own, provider);
  expansion.kept = known ? *kept : json::object();
  if (!known) expansion.kept["catalogue"] = asked(origin, [&] { return ask_catalogue(provider); });
  expansion.catalog = catalog_of(expansion.kept.at("catalogue"), provider);
  expansion.arms = with_switches(own, expansion.catalog, provider.kind, origin);
  refuse_clashes(expansion, own, origin);
  if (!known) {
    const json request = request_for(expansion.workload, expansion.arms);
    const json answer = asked(origin, [&] { return ask_expansion(provider, request); });
    expansion.kept["directory"] = provider.directory.string();
    expansion.kept["programs"] = programs_of(provider);
    expansion.kept["request_sha256"] = sha256_hex(request.dump());
    for (const char* key : {"workload", "arms", "default_gates", "held_models"})
      if (answer.contains(key)) expansion.kept[key] = answer.at(key);
  }
  document.erase("expanded");
  document["workload"] = expansion.kept.at("workload");
  if (!document["workload"].contains("seed") && expansion.workload.contains("seed"))
    document["workload"]["seed"] = expansion.workload.at("seed");
  document["arms"] = arms_of_job(expansion.arms, expansion.kept.at("arms"), provider);
  return expansion;
}

json folded(json document, const Expansion& expansion) {
  json expanded = expansion.kept;
  expanded["workload"] = document.at("workload");
  expanded["arms"] = json::array();
  for (const json& arm : document.at("arms"))
    if (!arm.contains("twin_of")) expanded["arms"].push_back(arm);
  document["expanded"] = std::move(expanded);
  document["workload"] = expansion.workload;
  document["arms"] = expansion.arms;
  return document;
}

json workload_to_be() {
  return {{"kind", "command"}, {"processes", {{{"role", "process"}, {"argv", {"program"}}}}}};
}

}  // namespace memduel
