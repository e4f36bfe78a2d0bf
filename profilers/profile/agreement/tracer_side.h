// What one tracer left of a program, and the amounts that it knows.
#pragma once

#include <optional>
#include <string>

#include "profilers/profile/model/tracer_facts.h"
#include "profilers/profile/questions/profile_difference.h"

namespace memduel {

/// One tracer of an arm and role.
struct TracerSide {
  std::string tracer;
  ProfileSide trials;  ///< of each trial one image, the one that allocated most
  TracerFacts facts;
};

/// A side's answer to one question, bytes.
struct SideAmount {
  Estimate mean;  ///< of its trials
  bool sampled = false;
};

/// Absent when the tracer does not know.
std::optional<SideAmount> amount_of(const TracerSide& side, DifferenceKind kind);

}  // namespace memduel
