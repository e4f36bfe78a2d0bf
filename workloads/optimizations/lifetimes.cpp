#include "workloads/optimizations/lifetimes.h"

#include "memduel/memory_torch.h"
#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

constexpr Choice<RequestLifetime> kRequestLifetime[] = {
    {"kept_until_barrier", RequestLifetime::kept_until_barrier},
    {"released", RequestLifetime::released}};
constexpr Choice<LocalModels> kLocalModels[] = {{"kept_until_done", LocalModels::kept_until_done},
                                                {"cleared_first", LocalModels::cleared_first}};
constexpr Choice<PreviousState> kPreviousState[] = {
    {"kept", PreviousState::kept},
    {"dropped_after_gradient", PreviousState::dropped_after_gradient}};
constexpr Choice<ClientLocals> kClientLocals[] = {
    {"kept", ClientLocals::kept},
    {"kept_until_next_receive", ClientLocals::kept_until_next_receive},
    {"released_on_send", ClientLocals::released_on_send},
    {"released", ClientLocals::released}};
constexpr Choice<OptimizerState> kOptimizerState[] = {
    {"new_each_round", OptimizerState::new_each_round}, {"reused", OptimizerState::reused}};
constexpr Choice<FlowControl> kFlowControl[] = {{"default", FlowControl::default_window},
                                                {"bounded", FlowControl::bounded}};
constexpr Choice<Cleanup> kCleanup[] = {{"none", Cleanup::none}, {"trim", Cleanup::trim}};

}  // namespace

RequestLifetime choose_request_lifetime(const std::string& value) {
  return choose("request_lifetime", kRequestLifetime, value);
}
LocalModels choose_local_models(const std::string& value) {
  return choose("local_models", kLocalModels, value);
}
PreviousState choose_previous_state(const std::string& value) {
  return choose("previous_state", kPreviousState, value);
}
ClientLocals choose_client_locals(const std::string& value) {
  return choose("client_locals", kClientLocals, value);
}
OptimizerState choose_optimizer_state(const std::string& value) {
  return choose("optimizer_state", kOptimizerState, value);
}
FlowControl choose_flow_control(const std::string& value) {
  return choose("flow_control", kFlowControl, value);
}
Cleanup choose_cleanup(const std::string& value) {
  return choose("cleanup", kCleanup, value);
}

CleanupReport clean_up(Cleanup cleanup) {
  return cleanup == Cleanup::trim ? cleanup_memory({.device = &torch_cuda()}) : CleanupReport{};
}

}  // namespace memduel
