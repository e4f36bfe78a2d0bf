// The words of the vocabulary as they are written in files and reports.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "analysis/values/results.h"

namespace memduel {

template <typename Enum, size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

inline constexpr Names<Verdict, 4> kVerdictNames = {{{Verdict::improved, "improved"},
                                                     {Verdict::regressed, "regressed"},
                                                     {Verdict::unchanged, "unchanged"},
                                                     {Verdict::inconclusive, "inconclusive"}}};
inline constexpr Names<Tier, 2> kTierNames = {{{Tier::strong, "strong"}, {Tier::plain, "plain"}}};
inline constexpr Names<GrowthVerdict, 5> kGrowthVerdictNames = {
    {{GrowthVerdict::flat, "flat"},
     {GrowthVerdict::growing, "growing"},
     {GrowthVerdict::stepped, "stepped"},
     {GrowthVerdict::settling, "settling"},
     {GrowthVerdict::inconclusive, "inconclusive"}}};
inline constexpr Names<GateOutcome, 3> kGateOutcomeNames = {
    {{GateOutcome::passed, "passed"},
     {GateOutcome::failed, "failed"},
     {GateOutcome::undecided, "undecided"}}};
inline constexpr Names<TrialKind, 3> kTrialKindNames = {{{TrialKind::warmup, "warmup"},
                                                         {TrialKind::measure, "measure"},
                                                         {TrialKind::profile, "profile"}}};
inline constexpr Names<TrialStatus, 4> kTrialStatusNames = {
    {{TrialStatus::ok, "ok"},
     {TrialStatus::failed, "failed"},
     {TrialStatus::killed_for_memory, "killed_for_memory"},
     {TrialStatus::dropped, "dropped"}}};

inline constexpr Names<SwitchEffect, 5> kSwitchEffectNames = {
    {{SwitchEffect::saves, "saves"},
     {SwitchEffect::costs, "costs"},
     {SwitchEffect::mixed, "mixed"},
     {SwitchEffect::nothing, "nothing"},
     {SwitchEffect::cannot_tell, "cannot_tell"}}};

inline constexpr Names<AgreementOutcome, 7> kAgreementOutcomeNames = {
    {{AgreementOutcome::reference, "reference"},
     {AgreementOutcome::same, "same"},
     {AgreementOutcome::close, "close"},
     {AgreementOutcome::explained, "explained"},
     {AgreementOutcome::possible, "possible"},
     {AgreementOutcome::unexplained, "unexplained"},
     {AgreementOutcome::unknown, "unknown"}}};

template <typename Enum, size_t N>
constexpr std::string_view name_in(const Names<Enum, N>& names, Enum value) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) return name;
  }
  return {};
}

constexpr std::string_view to_name(Verdict value) {
  return name_in(kVerdictNames, value);
}
constexpr std::string_view to_name(Tier value) {
  return name_in(kTierNames, value);
}
constexpr std::string_view to_name(GrowthVerdict value) {
  return name_in(kGrowthVerdictNames, value);
}
constexpr std::string_view to_name(GateOutcome value) {
  return name_in(kGateOutcomeNames, value);
}
constexpr std::string_view to_name(TrialKind value) {
  return name_in(kTrialKindNames, value);
}
constexpr std::string_view to_name(SwitchEffect value) {
  return name_in(kSwitchEffectNames, value);
}
constexpr std::string_view to_name(AgreementOutcome value) {
  return name_in(kAgreementOutcomeNames, value);
}
constexpr std::string_view to_name(TrialStatus value) {
  return name_in(kTrialStatusNames, value);
}

}  // namespace memduel
