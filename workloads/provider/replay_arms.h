// The arms of a replay: every switch with its value, and what may not stand together. Variables of
// an arm's environment that speak of a switch, as NVFlare's do in external processes, either set
// the switch or are refused beside it, so that no process gets two answers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace memduel {

/// `optimizations` of an arm with the switches that `env` sets: NVFLARE_CLIENT_MEMORY_GC_ROUNDS is
/// client_gc_rounds, NVFLARE_CUDA_EMPTY_CACHE is cuda_empty_cache. Throws Error(usage) at `place`
/// for a value that is none, and where the arm gives the switch another value.
nlohmann::json with_environment_switches(nlohmann::json optimizations, const nlohmann::json& env,
                                         const std::string& place);

/// NVFLARE_ENABLE_JEMALLOC_PRELOAD of an arm's `env` as its allocator: sets it to jemalloc, as the
/// start script would preload it. Throws Error(usage) at `place` for a value that is none, and
/// beside an allocator that is another answer.
void set_environment_allocator(nlohmann::json& arm, const std::string& place);

/// Throws Error(usage) at `place` where `env` bounds the arenas and a switch does so, too.
/// @param optimizations of the arm, resolved.
void refuse_reserved_environment(const nlohmann::json& optimizations, const nlohmann::json& env,
                                 const std::string& place);

/// The arm of a request with all that its environment sets, too: optimizations and allocator.
/// Throws Error(usage) at `place` for settings that no worker runs together.
nlohmann::json resolve_replay_arm(const nlohmann::json& arm, const nlohmann::json& workload,
                                  const std::string& place);

}  // namespace memduel
