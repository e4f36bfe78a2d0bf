// Why two tracers that both are right give different numbers, with bounds where the format has any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tracer_agreement.h"
#include "profilers/profile/model/tracer_facts.h"
#include "profilers/profile/questions/profile_difference.h"

namespace memduel {

/// One tracer of an arm and role.
struct TracerSide {
  std::string tracer;
  ProfileSide trials;  ///< of each trial one image, the one that allocated most
  TracerFacts facts;
};

/// A side's answer to one question.
struct SideAmount {
  Estimate mean;     ///< of its trials
  double least = 0;  ///< bytes, of its trials
  double most = 0;
  bool sampled = false;
};

/// Absent when the tracer does not know.
std::optional<SideAmount> amount_of(const TracerSide& side, DifferenceKind kind);

/// Why a tracer has no such amount.
AgreementReason why_unknown(const TracerSide& side, DifferenceKind kind);

/// What can make `other` differ from `reference`: sampling, size classes or pages, what one of them
/// does not see or brings along, a peak or an end that is another moment, trials that differ among
/// themselves.
std::vector<AgreementReason> reasons_for(const TracerSide& reference, const SideAmount& expected,
                                         const TracerSide& other, const SideAmount& found,
                                         DifferenceKind kind);

}  // namespace memduel
