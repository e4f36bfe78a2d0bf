// A config whose workload is of a provider's kind, as the job that the provider makes of it, and
// back: the resolved config keeps both, so that nobody who reads a run needs the provider.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/job_facts.h"
#include "experiment/config/catalog.h"
#include "experiment/config/provider.h"

namespace memduel {

/// What the document said before its job took its place, and what the provider said of it.
struct Expansion {
  nlohmann::json provider;  ///< argv
  nlohmann::json workload;  ///< of the provider's kind; with every default where it has told them
  nlohmann::json arms;      ///< with every switch
  Catalog catalog;
  /// "expanded" of the resolved config: directory, programs, request_sha256, resolved_sha256,
  /// catalogue, workload, arms, and what else the provider said (docs/providers.md).
  nlohmann::json kept;
};

/// Where a document came from, for messages.
struct Origin {
  std::string file;
  std::filesystem::path directory;
  std::vector<std::string> arms;  ///< the place of each arm of the document
};

/// Puts the job in the place of `document`'s workload and arms. The provider is asked unless the
/// document, or `before`, holds its answer to the same question.
/// @param document with a "provider", otherwise valid
/// @param before the resolved config of the run that is resumed; null where none is
/// Throws Error(usage) at the place in `origin` for arms that the provider does not know.
Expansion expand(nlohmann::json& document, const Origin& origin, const nlohmann::json& before,
                 const AskProvider& ask);

/// Why a switch makes no difference in an arm, by its name.
using IdleSwitches = std::map<std::string, std::string>;

/// What the provider says of each of other arms of the same workload. @param arms each with name,
/// optimizations, env and, where it has one, allocator. Throws as ask_expansion(), where it refuses
/// one of them.
std::vector<IdleSwitches> ask_about_arms(const Expansion& expansion, const nlohmann::json& arms,
                                         const std::string& origin, const AskProvider& ask);

/// What measures the processes of a job where neither its config nor its provider says it.
nlohmann::json default_meters();

/// Of a resolved document: what a provider is asked when its job is to run here.
nlohmann::json site_request(const Expansion& expansion);

/// Who made the job of an expansion.
Provider provider_of(const Expansion& expansion);

/// The document with what it said before, and the job, resolved by now, beside it.
nlohmann::json folded(nlohmann::json document, const Expansion& expansion);

/// `job` with what a provider's answer says of it beside the processes.
JobFacts with_answer(const JobFacts& job, const nlohmann::json& answer, const std::string& origin);

/// The facts of a resolved workload whose run did not keep them; of a kind that is not built in,
/// the laboratory says them. Throws Error(usage) where there is none.
JobFacts facts_of_workload(const nlohmann::json& workload, const std::string& origin,
                           const AskProvider& ask = ask_program);

/// A workload that stands for the provider's while the rest of the config is judged by the schema.
nlohmann::json workload_to_be();

}  // namespace memduel
