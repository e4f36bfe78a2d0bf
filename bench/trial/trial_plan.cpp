#include "trial/trial_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "meters/meter_registry.h"
#include "model/metric_catalogue.h"
#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

namespace memduel {
namespace {

[[noreturn]] void refuse(const std::string& role, const std::string& what,
                         const std::string& advice = {}) {
  throw Error(ExitCode::usage, what, role.empty() ? std::string() : "process " + role, advice);
}

void check_process(const ProcessSpec& process) {
  if (process.argv.empty() || process.argv[0].empty()) refuse(process.role, "argv is empty");
  if (process.role.empty() || process.role == kTree ||
      process.role.find('/') != std::string::npos) {
    refuse(process.role, fmt::format("\"{}\" cannot be the name of a role", process.role));
  }
}

std::set<std::string> role_names(const TrialPlan& plan) {
  std::set<std::string> roles;
  for (const ProcessSpec& process : plan.processes) {
    check_process(process);
    if (!roles.insert(process.role).second) refuse(process.role, "two processes have this role");
  }
  return roles;
}

/// Starts in thought whatever can be started, until nothing more can.
void check_order(const TrialPlan& plan, const std::set<std::string>& roles) {
  for (const ProcessSpec& process : plan.processes) {
    for (const std::string& before : process.after) {
      if (roles.contains(before)) continue;
      refuse(process.role,
             fmt::format("waits for \"{}\", which is not a role of the trial", before),
             nearest_advice(before, {roles.begin(), roles.end()}));
    }
  }
  std::set<std::string> started;
  for (std::size_t before = SIZE_MAX; before != started.size();) {
    before = started.size();
    for (const ProcessSpec& process : plan.processes) {
      const bool can_start = std::ranges::all_of(
          process.after, [&](const auto& role) { return started.contains(role); });
      if (can_start) started.insert(process.role);
    }
  }
  for (const ProcessSpec& process : plan.processes) {
    if (!started.contains(process.role)) refuse(process.role, "waits for itself in a cycle");
  }
}

void check_text_marks(const TrialPlan& plan, const std::set<std::string>& roles) {
  for (const TextMarkSpec& spec : plan.text_marks) {
    if (!is_matched_role(plan, spec.role) && !roles.contains(spec.role))
      refuse(spec.role, "has log patterns, but is not a role");
  }
}

}  // namespace

bool is_matched_role(const TrialPlan& plan, const std::string& role) {
  return std::ranges::any_of(plan.match, [&](const RoleMatch& match) {
    const std::vector<std::string> roles = match.roles();
    return std::ranges::find(roles, role) != roles.end();
  });
}

void check_plan(const TrialPlan& plan) {
  const auto roles = role_names(plan);
  check_order(plan, roles);
  check_text_marks(plan, roles);
  const bool ends = std::ranges::any_of(
      plan.processes, [](const auto& process) { return process.end == End::wait; });
  if (!ends && !plan.stop_after_round) {
    refuse({}, "no process of the trial ends it", kGiveATrialAnEnd);
  }
  for (const std::string& name : plan.meters) meter_named(name);
}

std::string path_of(const ProcessSpec& process) {
  const auto own = process.env.find("PATH");
  return own == process.env.end() ? own_path() : own->second;
}

}  // namespace memduel
