// How the answers of a provider are read: by tables of keys, as a config is. An answer may have
// more keys than these.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/provider.h"
#include "model/keys.h"
#include "model/validate.h"

namespace memduel {

inline const Schema kMoreKeys = {{"additionalProperties", true}};

/// "python3 boxes.py expand"
std::string command_of(const Provider& provider, const std::string& word);

/// Asks one question. Throws as AskProvider, and Error(usage) for an answer of another schema.
nlohmann::json ask_for(const Provider& provider, const std::string& word, const char* schema,
                       const nlohmann::json& request, const AskProvider& ask);

/// An answer as a value. Throws Error(usage) at its place in `origin`, in the words of the
/// validator.
template <KeySection S>
S read_answer(const nlohmann::json& answer, const std::string& origin) {
  try {
    return read_valid<S>(answer, Places(origin));
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), error.where(), kWhatAProviderAnswers);
  }
}

}  // namespace memduel
