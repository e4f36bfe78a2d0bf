#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "profile/difference.h"

namespace memduel {
namespace {

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

std::int64_t time_of(const Profile& profile, const char* key) {
  return std::strtoll(profile.fact(key).c_str(), nullptr, 10);
}

/// What of a part other processes may have as well; empty: it is the process's own.
std::string shared_name(const ResidentPart& part) {
  if (part.owner == PageOwner::file && part.share == kShared) return "file:" + part.name;
  const bool inherited = part.owner == PageOwner::inherited && part.name == kSharedWithOthers;
  return inherited ? kSharedWithOthers : std::string();
}

std::string owner_name(const Profile& profile, std::uint32_t node) {
  const ProfileLocation& location = profile.locations[profile.stacks[node].location];
  const bool has_name = location.kind == ProfileLocation::Kind::owner && !location.names.empty();
  return has_name ? location.names.front().function : std::string();
}

/// The same of a site, whose stack begins with its owner.
std::string shared_name(const Profile& profile, const AllocationSite& site) {
  if (site.stack == 0) return {};
  const std::string name = owner_name(profile, site.stack);
  const std::uint32_t above = profile.stacks[site.stack].parent;
  if (name == kShared && above != 0) return owner_name(profile, above);
  return name == kSharedWithOthers ? name : std::string();
}

/// Remembers of what is shared the most that a process has had.
class SharedOnce {
 public:
  explicit SharedOnce(const std::vector<const Profile*>& processes) {
    for (const Profile* process : processes) pids_.push_back(process->fact("pid"));
  }

  /// Of `bytes` of what is shared as `name`, those that are not counted yet.
  double count(const Profile& process, const std::string& name, double bytes) {
    std::string whose;
    if (name == kSharedWithOthers) {
      whose = process.fact("parent_pid");
      if (std::ranges::find(pids_, whose) != pids_.end()) return 0;
    }
    double& most = counted_[{name, whose}];
    const double more = std::max(0.0, bytes - most);
    most = std::max(most, bytes);
    return more;
  }

 private:
  std::vector<std::string> pids_;
  std::map<std::pair<std::string, std::string>, double> counted_;
};

/// When an image ran. One that did not end by itself ran to the end, as far as is known.
struct Life {
  const Profile* profile = nullptr;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

Life life_of(const Profile& profile) {
  Life life{&profile, time_of(profile, "started_ns"), time_of(profile, "ended_ns")};
  if (life.end != 0) return life;
  const std::string end = profile.fact("end");
  const bool went_on = end.starts_with("abruptly") || end.starts_with("not yet");
  life.end = went_on ? kForever : profile.resident->time_ns;
  return life;
}

double bytes_together(const std::vector<const Profile*>& processes) {
  double sum = 0;
  SharedOnce once(processes);
  for (const Profile* process : processes) {
    sum += process->resident->program_bytes();
    for (const ResidentPart& part : process->resident->parts)
      if (const std::string name = shared_name(part); !name.empty())
        sum += once.count(*process, name, part.bytes) - part.bytes;
  }
  return sum;
}

struct Together {
  std::vector<const Profile*> processes;
  double bytes = 0;

  void prefer(std::vector<const Profile*> others) {
    const double more = bytes_together(others);
    if (processes.empty() || more > bytes) *this = {std::move(others), more};
  }
};

void prefer_those_at_once(Together& most, const std::vector<Profile>& trial) {
  std::vector<Life> lives;
  for (const Profile& profile : trial) {
    if (!profile.resident) continue;
    const Life life = life_of(profile);
    if (life.begin == 0) {
      most.prefer({&profile});
    } else {
      lives.push_back(life);
    }
  }
  std::ranges::stable_sort(lives, {}, &Life::begin);
  std::vector<Life> running;
  for (const Life& life : lives) {
    std::erase_if(running, [&](const Life& other) { return other.end <= life.begin; });
    running.push_back(life);
    std::vector<const Profile*> processes;
    for (const Life& one : running) processes.push_back(one.profile);
    most.prefer(std::move(processes));
  }
}

}  // namespace

std::vector<const Profile*> snapshots_at_once(const ProfileSide& side) {
  Together most;
  for (const std::vector<Profile>& trial : side) prefer_those_at_once(most, trial);
  return most.processes;
}

std::vector<std::vector<ResidentPart>> parts_counted_once(
    const std::vector<const Profile*>& processes) {
  std::vector<std::vector<ResidentPart>> counted;
  SharedOnce once(processes);
  for (const Profile* process : processes) {
    counted.push_back(process->resident->parts);
    for (ResidentPart& part : counted.back())
      if (const std::string name = shared_name(part); !name.empty())
        part.bytes = once.count(*process, name, part.bytes);
  }
  return counted;
}

std::vector<LiveSites> sites_counted_once(const std::vector<const Profile*>& processes) {
  std::vector<LiveSites> counted;
  SharedOnce once(processes);
  for (const Profile* process : processes) {
    counted.push_back(process->resident->sites);
    for (auto& [number, amount] : counted.back())
      if (const std::string name = shared_name(*process, process->sites[number]); !name.empty())
        amount.bytes = once.count(*process, name, amount.bytes);
  }
  return counted;
}

}  // namespace memduel
