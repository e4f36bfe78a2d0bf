#include "meters/procfs_meter.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "memory/proc_files.h"
#include "model/metric_catalogue.h"

namespace memduel {
namespace {

constexpr std::int64_t kPeaksInterval = 10'000'000;
/// A status costs ten times what a statm costs.
constexpr std::int64_t kRestPerPeaks = 1000;
/// statm takes shared memory for pages of files. When both together grew by so much, a status says
/// what of it they are: seldom, since the growth has to be a part of what there is.
constexpr std::int64_t kLeastGrowth = 256 * 1024;
constexpr std::int64_t kGrowthPart = 16;

/// CPU time of all threads of a process to the nanosecond; /proc/PID/stat knows only 10 ms ticks.
std::optional<double> cpu_seconds_of(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void add_to(Metrics& metrics, const char* name, std::optional<double> value) {
  if (value) metrics[name] += *value;
}

}  // namespace

struct ProcfsMeter::Process {
  explicit Process(pid_t id) : pid(id), statm(id, "statm"), stat(id, "stat"), status(id, "status") {
    const auto line = stat.read(parse_process_line);
    if (line && is_only_forked(*line)) lender = line->parent;
  }
  ProcessMemory memory() { return status.read(parse_status).value_or(ProcessMemory{}); }

  /// A child of vfork() has its parent's memory until it executes a program: it counts once.
  bool has_own_memory() {
    if (lender != 0 && !share_memory(pid, lender)) lender = 0;
    return lender == 0;
  }

  pid_t pid;
  pid_t lender = 0;  ///< the parent whose memory it has; 0: it has its own
  ProcFile statm;
  ProcFile stat;
  ProcFile status;
  std::int64_t peak_bytes = 0;    ///< VmHWM as it was last read
  std::int64_t shared_bytes = 0;  ///< RssShmem likewise
  std::int64_t told_bytes = 0;    ///< what statm calls shared, when RssShmem was read
};

struct ProcfsMeter::Role {
  std::string name;
  std::vector<std::unique_ptr<Process>> processes;
  std::optional<std::int64_t> sampled;
  std::optional<std::int64_t> of_files;  ///< part of it
  Series peaks = {kPeakLargestProcess, {}, {}};
};

ProcfsMeter::ProcfsMeter(std::size_t max_points, ProcessPeaks peaks)
    : rss_("rss_bytes", max_points), files_("rss_file_bytes", max_points), peaks_(peaks) {}
ProcfsMeter::~ProcfsMeter() = default;

ProcfsMeter::Role* ProcfsMeter::find(const std::string& role) const {
  const auto found =
      std::ranges::find_if(roles_, [&](const auto& each) { return each->name == role; });
  return found == roles_.end() ? nullptr : found->get();
}

void ProcfsMeter::add(const std::string& role, pid_t pid) {
  Role* entry = find(role);
  if (entry == nullptr) {
    roles_.push_back(std::make_unique<Role>());
    entry = roles_.back().get();
    entry->name = role;
    rss_.add_role(role);
    files_.add_role(role);
  }
  for (const auto& other : roles_) {
    if (other.get() == entry) continue;
    std::erase_if(other->processes, [&](const auto& process) { return process->pid == pid; });
  }
  const bool known = std::ranges::any_of(entry->processes,
                                         [&](const auto& process) { return process->pid == pid; });
  if (!known) entry->processes.push_back(std::make_unique<Process>(pid));
}

std::optional<std::int64_t> ProcfsMeter::sample_role(Role& role) {
  static const std::int64_t page_bytes = sysconf(_SC_PAGESIZE);
  std::int64_t total = 0;
  std::int64_t files = 0;
  std::erase_if(role.processes, [&](const std::unique_ptr<Process>& process) {
    const bool has_own_memory = process->has_own_memory();  // before its pages are read
    const auto statm = process->statm.read(parse_statm);
    const ProcessPages pages = has_own_memory ? statm.value_or(ProcessPages{}) : ProcessPages{};
    total += pages.resident * page_bytes;
    const std::int64_t others = (pages.resident - pages.anonymous()) * page_bytes;
    if (others > process->told_bytes + std::max(kLeastGrowth, process->told_bytes / kGrowthPart)) {
      process->told_bytes = others;
      process->shared_bytes = process->memory().rss_shmem.value_or(0);
    }
    files += std::max<std::int64_t>(0, others - process->shared_bytes);
    // A zombie reads as 0 pages, a reaped process not at all; its number may come back as another.
    return !statm;
  });
  role.sampled.reset();
  role.of_files.reset();
  if (total != 0) {
    role.sampled = total;
    role.of_files = files;
  }
  return role.sampled;
}

bool ProcfsMeter::sample(std::int64_t now_ns) {
  if (peaks_ == ProcessPeaks::yes && now_ns >= peaks_due_ns_) sample_peaks(now_ns);
  std::vector<std::optional<std::int64_t>> values;
  std::vector<std::optional<std::int64_t>> of_files;
  for (const auto& role : roles_) {
    values.push_back(sample_role(*role));
    of_files.push_back(role->of_files);
  }
  if (peaks_ == ProcessPeaks::yes) files_.add(now_ns, of_files);
  return rss_.add(now_ns, values);
}

void ProcfsMeter::sample_peaks(std::int64_t now_ns) {
  const std::int64_t cpu_before = thread_cpu_ns();
  for (const auto& role : roles_) {
    for (const auto& process : role->processes) {
      if (!process->has_own_memory()) continue;
      const ProcessMemory memory = process->memory();
      process->shared_bytes = memory.rss_shmem.value_or(0);
      process->told_bytes = process->shared_bytes + memory.rss_file.value_or(0);
      if (!memory.peak_rss || *memory.peak_rss == process->peak_bytes) continue;
      process->peak_bytes = *memory.peak_rss;
      role->peaks.t_ns.push_back(now_ns);
      role->peaks.values.push_back(*memory.peak_rss);
    }
  }
  peaks_due_ns_ = now_ns + std::max(kPeaksInterval, kRestPerPeaks * (thread_cpu_ns() - cpu_before));
}

std::vector<std::pair<std::string, Series>> ProcfsMeter::series() const {
  std::vector<std::pair<std::string, Series>> all = rss_.series();
  for (auto& files : files_.series()) all.push_back(std::move(files));
  for (const auto& role : roles_)
    if (!role->peaks.t_ns.empty()) all.emplace_back(role->name, role->peaks);
  return all;
}

MeterReading ProcfsMeter::read(const std::string& role) {
  MeterReading reading;
  const Role* entry = find(role);
  if (entry == nullptr) return reading;
  for (const auto& process : entry->processes) {
    add_to(reading.counters, kCpuSeconds, cpu_seconds_of(process->pid));
    if (const auto line = process->stat.read(parse_process_line); line && line->faults) {
      add_to(reading.counters, kMinorFaults, static_cast<double>(line->faults->minor));
      add_to(reading.counters, kMajorFaults, static_cast<double>(line->faults->major));
    }
    if (process->has_own_memory())
      add_to(reading.values, kSwapped, as_double(process->memory().swapped));
  }
  return reading;
}

Metrics ProcfsMeter::read_costly(const std::string& role) {
  Metrics values;
  const Role* entry = find(role);
  if (entry == nullptr) return values;
  for (const auto& process : entry->processes) {
    if (!process->has_own_memory()) continue;
    // Opened each time: an open one goes on about the program that ran before an exec.
    ProcFile smaps_rollup(process->pid, "smaps_rollup");
    add_to(values, "pss_bytes", as_double(smaps_rollup.read(parse_pss)));
  }
  return values;
}

ProcfsMeter::Latest ProcfsMeter::latest(const std::string& role) const {
  const Role* entry = find(role);
  if (entry == nullptr) return {};
  return {entry->sampled, entry->processes.size()};
}

}  // namespace memduel
