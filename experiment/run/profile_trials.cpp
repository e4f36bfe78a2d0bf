#include "experiment/run/profile_trials.h"

#include <fmt/format.h>

#include <algorithm>

namespace memduel {

ProfileTrials::ProfileTrials(RunInProgress& run, TrialRunner& runner) : run_(run), runner_(runner) {
  const Experiment& experiment = run.experiment();
  run.store().forget_notes("tracer_missing");
  if (experiment.profile_trials == 0) return;
  for (const std::string& name : experiment.tracers) {
    const TracerEntry& entry = tracer_named(name);
    const Availability here =
        run.options().tracer_works ? run.options().tracer_works(entry) : entry.works_here();
    if (here.works) {
      tracers_.push_back(name);
      continue;
    }
    run.store().add_limitation(
        {"tracer_missing", fmt::format("there are no profiles by {}: {}", name, here.why),
         entry.package.empty() ? "" : fmt::format("apt-get install {}", entry.package)});
  }
  run.expect_profiles(trials_of_config());
}

int ProfileTrials::trials_of_config() const {
  return run_.experiment().profile_trials * static_cast<int>(tracers_.size() * run_.arm_count());
}

int ProfileTrials::rounds() const {
  const int trials = run_.experiment().profile_trials;
  if (trials > 0) return trials * static_cast<int>(tracers_.size());
  return run_.options().arms_to_profile ? 1 : 0;
}

void ProfileTrials::run() {
  const Experiment& experiment = run_.experiment();
  std::vector<std::string> asked;
  if (run_.options().arms_to_profile) asked = run_.options().arms_to_profile(run_.so_far());
  run_.expect_profiles(trials_of_config() + static_cast<int>(asked.size()));
  if (!asked.empty())
    run_by(kRecorderTracer, [&](const Arm& arm) {
      return std::ranges::find(asked, arm.name) != asked.end() ? 1 : 0;
    });
  for (const std::string& tracer : tracers_)
    run_by(tracer, [&](const Arm&) { return experiment.profile_trials; });
}

void ProfileTrials::run_by(const std::string& tracer,
                           const std::function<int(const Arm&)>& wanted) {
  for (std::size_t arm = 0; arm < run_.arm_count(); ++arm) {
    const Arm& each = run_.experiment().arms[arm];
    while (run_.ledger().profiles(each.name, tracer) < wanted(each)) {
      run_.expect_another_trial();
      run_.tell(each.name, kProfileBlock, tracer);
      const bool records_all = run_.ledger().allocations().value_or(kMostRecordedAllocations + 1) <=
                               kMostRecordedAllocations;
      runner_.run({0, kProfileBlock, 0, arm, TrialKind::profile, tracer, records_all,
                   run_.ledger().peaks(each.name)});
    }
  }
}

}  // namespace memduel
