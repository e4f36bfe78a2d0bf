#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "model/metric_catalogue.h"
#include "run/plan.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

/// A capability, what is lost without it, and what remains.
struct Dependence {
  const char* capability;
  const char* metrics;
  const char* remains;
};

constexpr Dependence kDependences[] = {
    {"recorder",
     "heap and mapped bytes, allocated_bytes, allocation_count, live_at_end_bytes, stacks",
     "peak_rss_bytes, which is noisier"},
    {"statm", "peak_rss_bytes and all growth",
     "peak_heap_and_mapped_bytes and allocation_count, which are exact"},
    {"smaps_rollup", "peak_pss_bytes, end_pss_bytes",
     "all.peak_rss_bytes, in which shared pages count once per process"},
    {"peak_reset", "exact peaks of rounds and phases",
     "sampled peaks, and the exact peak of a whole trial"},
    {"oom_counter", "\"killed for memory\" as the reason of a failure",
     "such a trial is reported as failed"},
    {"subreaper", "trials with processes that daemonize themselves", "all other trials"},
    {"memduel-worker", "the built-in FL workloads", "commands, builds and revisions"},
    {"git", "compare --ref-a --ref-b", "compare --build-a --build-b"},
};

const Capability* find_capability(const std::vector<Capability>& capabilities,
                                  const std::string& name) {
  const auto found = std::ranges::find(capabilities, name, &Capability::name);
  return found == capabilities.end() ? nullptr : &*found;
}

std::vector<RunnerLoss> losses(const std::vector<Capability>& capabilities) {
  std::vector<RunnerLoss> lost;
  for (const Dependence& dependence : kDependences) {
    const Capability* row = find_capability(capabilities, dependence.capability);
    if (row == nullptr || row->ok) continue;
    const std::string how = row->advice.empty() ? "" : "; " + row->advice;
    lost.push_back({dependence.metrics, row->detail + how, dependence.remains});
  }
  const Capability* cgroup = find_capability(capabilities, "cgroup");
  const bool charged = cgroup != nullptr && cgroup->ok &&
                       cgroup->detail.find("no memory controller") == std::string::npos;
  if (!charged)
    lost.push_back({kPeakCgroup,
                    cgroup == nullptr || cgroup->ok ? "no memory controller can be used here"
                                                    : cgroup->detail + "; " + cgroup->advice,
                    "all.peak_rss_bytes, without the page cache"});
  return lost;
}

std::string machine_line(const json& environment) {
  std::string line = environment.value("cpu", std::string("unknown processor"));
  line += fmt::format(", {} cores", environment.value("cores", 0));
  if (environment.contains("memory_bytes"))
    line += ", " + format_bytes(environment.at("memory_bytes").get<double>());
  if (environment.contains("cgroup_limit_bytes"))
    line += fmt::format(" (limited to {})",
                        format_bytes(environment.at("cgroup_limit_bytes").get<double>()));
  return line;
}

std::vector<std::string> noise(const json& environment) {
  std::vector<std::string> noisy = {
      "round_seconds, cpu_seconds: other virtual machines on the same host can slow them down at "
      "any time; make their gates advisory, or gate allocation_count instead"};
  const double busy = environment.value("cpu_busy_ratio", 0.0);
  constexpr double kBusy = 0.5;
  if (busy > kBusy)
    noisy.push_back(fmt::format("everything but counts: other programs use {:.0f}% of {} cores now",
                                100 * busy, environment.value("cores", 1)));
  const std::string pages = environment.value("transparent_hugepage", std::string());
  if (pages == "always")
    noisy.emplace_back(
        "peak_rss_bytes: transparent huge pages are always on, so it changes in steps of 2 MiB");
  return noisy;
}

bool works(const std::vector<Capability>& capabilities, const char* name) {
  const Capability* row = find_capability(capabilities, name);
  return row != nullptr && row->ok;
}

/// `text` on lines of at most 80 columns after `indent` spaces.
std::string paragraph(const std::string& text, std::size_t indent) {
  constexpr std::size_t kWidth = 80;
  const std::string space(indent, ' ');
  std::string out;
  std::string line = space;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() > indent && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line = space;
    }
    line += (line.size() > indent ? " " : "") + word;
  }
  return out + line + "\n";
}

}  // namespace

RunnerReport describe_runner(const std::vector<Capability>& capabilities, const json& environment) {
  RunnerReport report;
  report.machine = machine_line(environment);
  report.lost = losses(capabilities);
  report.noisy = noise(environment);
  if (works(capabilities, "recorder"))
    report.gates = {"all.peak_heap_and_mapped_bytes<=+1%", "all.allocation_count<=+1%"};
  if (works(capabilities, "statm"))
    report.gates.emplace_back("all.peak_rss_no_files_bytes<=+3%|+4MiB");
  return report;
}

std::string runner_text(const RunnerReport& report) {
  std::string text = paragraph("This runner: " + report.machine, 0);
  text += report.lost.empty() ? "\nEverything that memduel measures can be measured here.\n"
                              : "\nCannot be measured here\n";
  for (const RunnerLoss& loss : report.lost)
    text += paragraph(loss.metrics, 2) + paragraph("reason: " + loss.why, 6) +
            paragraph("still available: " + loss.remains, 6);
  text += "\nToo noisy for most gates\n";
  for (const std::string& line : report.noisy) text += paragraph(line, 2);
  text += "\nRecommended gates (docs/ci.md lists what each can detect)\n";
  for (const std::string& gate : report.gates) text += "  --gate '" + gate + "'\n";
  return text;
}

}  // namespace memduel
