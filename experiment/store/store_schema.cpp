#include "experiment/store/store_schema.h"

#include <array>
#include <utility>

#include "base/error.h"

namespace memduel {
namespace {

template <typename Value>
using Name = std::pair<Value, const char*>;

constexpr std::array<Name<TrialKind>, 3> kKinds = {{{TrialKind::warmup, "warmup"},
                                                    {TrialKind::measure, "measure"},
                                                    {TrialKind::profile, "profile"}}};

constexpr std::array<Name<TrialStatus>, 4> kStatuses = {
    {{TrialStatus::ok, "ok"},
     {TrialStatus::failed, "failed"},
     {TrialStatus::killed_for_memory, "killed_for_memory"},
     {TrialStatus::dropped, "dropped"}}};

template <typename Names, typename Value>
std::string name_of(const Names& names, Value value) {
  for (const auto& [one, name] : names) {
    if (one == value) return name;
  }
  return {};
}

template <typename Value, std::size_t N>
Value value_of(const std::array<Name<Value>, N>& names, const std::string& text) {
  for (const auto& [value, name] : names) {
    if (text == name) return value;
  }
  throw Error(ExitCode::io, "the run store is damaged: found \"" + text + "\" for a trial");
}

}  // namespace

std::string to_text(TrialKind kind) {
  return name_of(kKinds, kind);
}
std::string to_text(TrialStatus status) {
  return name_of(kStatuses, status);
}
TrialKind trial_kind_from_text(const std::string& text) {
  return value_of(kKinds, text);
}
TrialStatus trial_status_from_text(const std::string& text) {
  return value_of(kStatuses, text);
}

}  // namespace memduel
