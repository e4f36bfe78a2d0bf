// An arm in the words of its config.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace memduel {

/// Null where there is none: configs come from anywhere.
const nlohmann::json& config_member(const nlohmann::json& object, const char* key);

/// Null where the config has no arm of that name.
const nlohmann::json& arm_of(const nlohmann::json& config, const std::string& name);

/// Words of a command; of a confidential report that they were left out.
std::string config_words(const nlohmann::json& value);

/// Whether the directory that an arm runs in is told; left out, a program below it is `src/lua`.
enum class Place { told, left_out };

/// What an arm changes of its job, part by part: "A=1 ./sort2 -x under jemalloc". Empty where it
/// changes nothing of it.
std::string arm_words(const nlohmann::json& arm, const nlohmann::json& processes,
                      Place place = Place::told);

/// Of a baseline that changes nothing of its job: what the other arms change, before they do, as in
/// "server: ./server --port 1"; "the baseline" where they change no command.
std::string baseline_words(const nlohmann::json& config);

}  // namespace memduel
