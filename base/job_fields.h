// The fields of what is known of a job, each once.
#pragma once

#include "base/job_facts.h"
#include "base/json/described.h"

namespace memduel {

template <>
inline constexpr auto kDescription<RoleGroup> =
    described("RoleGroup", always("name", &RoleGroup::name), always("count", &RoleGroup::count));

template <>
inline constexpr auto kDescription<RoleMetric> = described(
    "RoleMetric", always("role", &RoleMetric::role), always("metric", &RoleMetric::metric));

template <>
inline constexpr auto kDescription<HeldModel> =
    described("HeldModel", always("role", &HeldModel::role), always("metric", &HeldModel::metric),
              always("copies", &HeldModel::copies), always("what", &HeldModel::what));

template <>
inline constexpr auto kDescription<JobFacts> = described(
    "JobFacts", always("roles", &JobFacts::roles), always("groups", &JobFacts::groups),
    always("reference", &JobFacts::reference), always("default_gates", &JobFacts::default_gates),
    always("held_models", &JobFacts::held_models), if_set("better", &JobFacts::better));

}  // namespace memduel
