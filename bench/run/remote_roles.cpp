#include "experiment/plan/spread_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/installed.h"
#include "base/random_digits.h"
#include "profilers/tracers/preloaded.h"

namespace memduel {
namespace {

constexpr const char* kThisMachine = "127.0.0.1";

std::string said_by_scontrol(const std::vector<std::string>& words) {
  std::vector<std::string> argv = {"scontrol"};
  argv.insert(argv.end(), words.begin(), words.end());
  const Captured done = capture(argv);
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
        fmt::format("found node {}, and the allocation has {}", process.node, site.nodes.size()),
        "role " + process.role, "ask Slurm for more: --nodes");
  if (process.allocator)
    throw Error(ExitCode::usage, "an arm's allocator cannot be verified on another node",
                "role " + process.role, "set LD_PRELOAD in its env, or leave out its node");
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
  return std::ranges::any_of(experiment.arms, [](const Arm& arm) {
    return std::ranges::any_of(
        arm.processes, [](const JobProcess& process) { return are_elsewhere(process.nodes); });
  });
}

std::vector<SiteNode> nodes_of_allocation(const std::map<std::string, std::string>& environment) {
  const std::string list = value_in(environment, "SLURM_JOB_NODELIST");
  const std::string own = value_in(environment, "SLURMD_NODENAME");
  if (list.empty() || own.empty())
    throw Error(ExitCode::cannot_measure,
                "roles are to run on several nodes, and this is no batch job of Slurm", "node",
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

std::map<std::string, std::string> addresses_of_roles(const Arm& arm, const PlanSite& site) {
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

}  // namespace memduel
