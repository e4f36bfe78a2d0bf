// Switches that only decide when something is let go of.
#pragma once

#include <string>

#include "memduel/memory.h"

namespace memduel {

/// request_lifetime: what a server handler keeps of a request until its answer is sent.
enum class RequestLifetime { kept_until_barrier, released };
/// local_models: when the server drops the clients' states, after or before it answers.
enum class LocalModels { kept_until_done, cleared_first };
/// previous_state: the client's copy from before training, in rounds that send differences.
enum class PreviousState { kept, dropped_after_gradient };
/// client_locals: when the client lets go of the states that it received and sent. kept: as
/// APPFL's script, the first one never, the others when they are replaced. kept_until_next_receive
/// and released_on_send: as NVFlare's client, without and with clear_cache. released: after their
/// last use.
enum class ClientLocals { kept, kept_until_next_receive, released_on_send, released };
/// optimizer_state: a new optimizer each round, or one for the run.
enum class OptimizerState { new_each_round, reused };
/// flow_control: gRPC's window growth.
enum class FlowControl { default_window, bounded };
/// cleanup: whether freed memory is handed back at the end of a round.
enum class Cleanup { none, trim };

RequestLifetime choose_request_lifetime(const std::string& value);
LocalModels choose_local_models(const std::string& value);
PreviousState choose_previous_state(const std::string& value);
ClientLocals choose_client_locals(const std::string& value);
OptimizerState choose_optimizer_state(const std::string& value);
FlowControl choose_flow_control(const std::string& value);
Cleanup choose_cleanup(const std::string& value);

/// Under Cleanup::trim: cleanup_memory of memduel/memory.h, with what LibTorch caches on a GPU.
/// Otherwise nothing, which takes no time.
CleanupReport clean_up(Cleanup cleanup);

}  // namespace memduel
