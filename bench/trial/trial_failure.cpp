#include "experiment/supervision/trial_deadline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/text.h"

namespace memduel {
namespace {

using State = SupervisedProcess::State;

/// What to do about a process that has nobody left to work for.
std::string never_ends(const std::deque<SupervisedProcess>& processes) {
  std::vector<std::string> waited_for;
  bool any_ended = false;
  for (const SupervisedProcess& process : processes) {
    any_ended = any_ended || process.state == State::ended;
    if (process.state == State::running && process.spec().end == End::wait)
      waited_for.push_back(process.role());
  }
  if (!any_ended || waited_for.empty()) return {};
  return fmt::format("\n  the others have ended; \"end\": \"stop\" ends {} with them",
                     fmt::join(waited_for, ", "));
}

}  // namespace

std::string describe_overrun(const TrialPlan& plan,
                             const std::deque<SupervisedProcess>& processes) {
  std::vector<std::string> there;
  for (const SupervisedProcess& process : processes) {
    if (process.state != State::ended) there.push_back(process.role());
  }
  std::string text =
      fmt::format("the trial did not end within {} s; still there: {}{}", plan.deadline_seconds,
                  fmt::join(there, ", "), never_ends(processes));
  for (const SupervisedProcess& process : processes) {
    if (process.state != State::running) continue;
    const auto silent = process.silent_seconds();
    const std::string since =
        silent ? ", silent for " + format_seconds(*silent) : ", which never wrote a word";
    text += fmt::format("\n{}{}:{}", process.role(), since, process.last_words());
  }
  return text;
}

}  // namespace memduel
