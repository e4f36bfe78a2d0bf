#include "remote_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>
#include <thread>

#include "external/preloaded.h"
#include "model/metric_catalogue.h"
#include "run/plan.h"
#include "run/store.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/process.h"

namespace memduel {
namespace {

constexpr const char* kThisMachine = "127.0.0.1";

std::string said_by_scontrol(const std::vector<std::string>& words) {
  std::vector<std::string> argv = {"scontrol"};
  argv.insert(argv.end(), words.begin(), words.end());
  const HelperResult done = capture(argv);
  if (done.exit_status == 0) return done.out;
  throw Error(ExitCode::cannot_measure, without_line_end(done.err), "scontrol");
}

/// NodeAddr=… of a line of such words.
std::string address_in(const std::string& line, const std::string& node) {
  const std::string key = " NodeAddr=";
  const std::size_t at = line.find(key);
  if (at == std::string::npos) return node;
  const std::size_t begin = at + key.size();
  return line.substr(begin, line.find(' ', begin) - begin);
}

std::string address_of(const PlanSite& site, int node) {
  const auto place = static_cast<std::size_t>(node - 1);
  return place < site.nodes.size() ? site.nodes[place].address : kThisMachine;
}

void send(ProcessSpec& process, const PlanSite& site, const std::filesystem::path& trial_dir) {
  if (process.node > static_cast<int>(site.nodes.size()))
    throw Error(
        ExitCode::usage,
        fmt::format("found node {}, but the allocation has {}", process.node, site.nodes.size()),
        "role " + process.role, "request more nodes from Slurm: --nodes");
  if (process.allocator)
    throw Error(ExitCode::usage, "a variant's allocator cannot be verified on another node",
                "role " + process.role, "set LD_PRELOAD in its env, or omit its node");
  const std::string& node = site.nodes[static_cast<std::size_t>(process.node - 1)].name;
  const std::string token = random_digits();
  process.remote = {node, trial_dir / "nodes" / process.role, token};
  std::vector<std::string> argv = {"srun",
                                   "--nodes=1",
                                   "--ntasks=1",
                                   "--overlap",
                                   "--export=ALL",
                                   "--nodelist=" + node,
                                   "--job-name=" + token,
                                   "--quiet",
                                   "--kill-on-bad-exit=0"};
  argv.insert(argv.end(),
              {program_beside("memduel").string(), "watch", "--quiet", "--interval", "0.01",
               "--pss-interval", "1", "--out", process.remote->run.string(), "--"});
  argv.insert(argv.end(), process.argv.begin(), process.argv.end());
  process.argv = std::move(argv);
  process.env[kNodeToken] = token;
  // A command that SIGTERM ended: its watch ends with 128 and the signal's number.
  if (process.end == End::stop)
    process.exit_statuses.insert(process.exit_statuses.end(), {137, 143});
}

}  // namespace

bool is_spread(const Experiment& experiment) {
  return std::ranges::any_of(experiment.variants, [](const Variant& arm) {
    return std::ranges::any_of(
        arm.processes, [](const JobProcess& process) { return are_elsewhere(process.nodes); });
  });
}

std::vector<SiteNode> nodes_of_allocation(const std::map<std::string, std::string>& environment) {
  const std::string list = value_in(environment, "SLURM_JOB_NODELIST");
  const std::string own = value_in(environment, "SLURMD_NODENAME");
  if (list.empty() || own.empty())
    throw Error(ExitCode::cannot_measure,
                "the roles use several nodes, but this is not a Slurm batch job", "node",
                "memduel run CONFIG --launcher slurm --nodes N, or sbatch --nodes=N");
  std::vector<SiteNode> nodes;
  std::istringstream names(said_by_scontrol({"show", "hostnames", list}));
  for (std::string name; std::getline(names, name);) {
    const SiteNode node{name,
                        address_in(said_by_scontrol({"--oneliner", "show", "node", name}), name)};
    nodes.insert(name == own ? nodes.begin() : nodes.end(), node);
  }
  return nodes;
}

std::map<std::string, std::string> addresses_of_roles(const Variant& arm, const PlanSite& site) {
  std::map<std::string, std::string> addresses;
  for (const JobProcess& process : arm.processes) {
    const std::vector<std::string> roles = process.roles();
    for (std::size_t i = 0; i < roles.size(); ++i)
      addresses[roles[i]] = address_of(site, process.node(i));
    addresses[process.role] = addresses[roles.front()];
  }
  return addresses;
}

void send_to_nodes(TrialPlan& plan, const PlanSite& site, const std::filesystem::path& trial_dir) {
  for (ProcessSpec& process : plan.processes)
    if (process.node > 1) send(process, site, trial_dir);
}

namespace {

/// The clocks of two machines began at different times.
void shift(RoleData& role, std::int64_t ns) {
  for (RoundData& round : role.rounds.edit()) {
    round.begin_ns += ns;
    round.end_ns += ns;
    for (PhaseData& phase : round.phases) {
      phase.begin_ns += ns;
      phase.end_ns += ns;
    }
  }
  for (OutsideRounds& part : role.outside_rounds) {
    part.begin_ns += ns;
    part.end_ns += ns;
  }
  for (Series& series : role.series.edit())
    for (std::int64_t& t : series.t_ns) t += ns;
}

/// srun ends before the watch that it was told to end has written what it knows.
RunData finished_run(const std::filesystem::path& directory) {
  constexpr std::chrono::milliseconds kPause{100};
  constexpr int kLooks = 100;
  for (int look = 1; is_in_use(directory) && look < kLooks; ++look)
    std::this_thread::sleep_for(kPause);
  RunData run = read_run(directory, WithSeries::yes);
  if (run.trials.empty()) throw Error(ExitCode::cannot_measure, "is not finished");
  return run;
}

/// Throws Error naming what is wrong with it.
void take(const ProcessSpec& process, TrialRun& run) {
  const RemoteRole& remote = *process.remote;
  const RunData measured = finished_run(remote.run);
  const auto text = [&](const char* key) {
    const auto found = measured.environment.find(key);
    return found != measured.environment.end() && found->is_string() ? found->get<std::string>()
                                                                     : std::string();
  };
  if (text("node_token") != remote.token)
    throw Error(ExitCode::cannot_measure, "has the token of another trial");
  const std::string version = memduel_version();
  if (text("memduel") != version)
    throw Error(ExitCode::cannot_measure,
                fmt::format("is of memduel {}, but this is memduel {}", text("memduel"), version));
  const auto& roles = measured.trials.front().roles;
  const auto found = std::ranges::find(roles, "command", &RoleData::role);
  const auto own = std::ranges::find(run.trial.roles, process.role, &RoleData::role);
  if (found == roles.end() || own == run.trial.roles.end())
    throw Error(ExitCode::cannot_measure, "has no process");
  RoleData role = *found;
  role.role = process.role;
  shift(role, run.trial.begin_ns - measured.trials.front().begin_ns);
  *own = std::move(role);
}

}  // namespace

void take_remote_roles(const TrialPlan& plan, TrialRun& run) {
  std::set<std::string> nodes;
  for (const ProcessSpec& process : plan.processes) {
    if (!process.remote || run.trial.status != TrialStatus::ok) continue;
    nodes.insert(process.remote->node);
    try {
      take(process, run);
    } catch (const std::exception& problem) {
      run.trial.status = TrialStatus::failed;
      run.trial.failure = fmt::format("the measurement of {} on node {} {}", process.role,
                                      process.remote->node, problem.what());
    }
  }
  if (nodes.empty()) return;
  std::erase_if(run.trial.roles, [](const RoleData& role) { return role.role == kTree; });
  run.limitations.push_back(
      {"roles_on_other_nodes",
       fmt::format("roles ran on {} other nodes, so there are no values for all processes, and "
                   "their heap is not measured",
                   nodes.size()),
       "see the numbers of each role"});
}

}  // namespace memduel
