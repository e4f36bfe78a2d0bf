#include "experiment/slurm/slurm_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>
#include <string_view>

#include "base/error.h"

namespace memduel {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Of "17_2".
std::optional<SlurmTaskId> task_id(std::string_view text) {
  const std::size_t mark = text.find('_');
  if (mark == std::string_view::npos) return std::nullopt;
  const auto job = number_of<std::int64_t>(text.substr(0, mark));
  const auto index = number_of<int>(text.substr(mark + 1));
  if (!job || !index) return std::nullopt;
  return SlurmTaskId{*job, *index};
}

/// The value of `key` in a line of KEY=VALUE words; empty where it is not there.
std::string value_in(const std::string& line, const std::string& key) {
  const std::string start = " " + key + "=";
  const std::size_t at = (" " + line).find(start);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + start.size() - 1;
  return line.substr(begin, line.find(' ', begin) - begin);
}

}  // namespace

std::string to_text(const SlurmTaskId& id) {
  return fmt::format("{}_{}", id.job, id.index);
}

std::string SlurmCommands::expect(const std::vector<std::string>& argv) const {
  const Captured done = run_(argv);
  if (done.exit_status == 0) return done.out;
  const std::vector<std::string> said = lines_of(done.err);
  throw Error(ExitCode::cannot_measure,
              said.empty() ? fmt::format("exited with {}", done.exit_status)
                           : fmt::format("{}", fmt::join(said, "; ")),
              argv.front(), "see sinfo for partitions and nodes, scontrol ping for Slurm itself");
}

std::int64_t SlurmCommands::submit(const std::vector<std::string>& options,
                                   const std::filesystem::path& script) const {
  std::vector<std::string> argv = {"sbatch", "--parsable"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.push_back(script.string());
  const std::string answer = expect(argv);
  // With several clusters the number is followed by ";" and a cluster.
  const auto job =
      number_of<std::int64_t>(std::string_view(answer).substr(0, answer.find_first_of(";\n")));
  if (!job)
    throw Error(ExitCode::cannot_measure,
                fmt::format("found \"{}\", expected a job's number", without_line_end(answer)),
                "sbatch");
  return *job;
}

std::optional<std::map<SlurmTaskId, SlurmTask>> SlurmCommands::queue(
    const std::vector<std::int64_t>& jobs) const {
  const Captured done = run_({"squeue", "--noheader", "--array",
                              fmt::format("--jobs={}", fmt::join(jobs, ",")), "--format=%i|%T|%r"});
  // It says so of a single job that it has forgotten.
  const bool forgotten = done.err.find("Invalid job id") != std::string::npos;
  if (done.exit_status != 0 && !forgotten) return std::nullopt;
  std::map<SlurmTaskId, SlurmTask> tasks;
  for (const std::string& line : lines_of(done.out)) {
    const std::size_t first = line.find('|');
    const std::size_t second = line.find('|', first + 1);
    if (second == std::string::npos) continue;
    if (const auto id = task_id(std::string_view(line).substr(0, first)))
      tasks[*id] = {line.substr(first + 1, second - first - 1), line.substr(second + 1)};
  }
  return tasks;
}

std::vector<std::int64_t> SlurmCommands::jobs_named(const std::string& name) const {
  std::vector<std::int64_t> jobs;
  for (const std::string& line :
       lines_of(expect({"squeue", "--noheader", "--name=" + name, "--format=%F"})))
    if (const auto job = number_of<std::int64_t>(line); job && !std::ranges::count(jobs, *job))
      jobs.push_back(*job);
  return jobs;
}

std::string SlurmCommands::end_of(const SlurmTaskId& task) const {
  // Where accounting is on, it remembers for good; Slurm itself for MinJobAge, five minutes mostly.
  const Captured kept = run_({"sacct", "--noheader", "--parsable2", "--allocations",
                              "--jobs=" + to_text(task), "--format=State"});
  const std::vector<std::string> states = lines_of(kept.out);
  // "CANCELLED by 1000".
  if (kept.exit_status == 0 && !states.empty())
    return states.back().substr(0, states.back().find(' '));
  const Captured fresh = run_({"scontrol", "--oneliner", "show", "job", to_text(task)});
  for (const std::string& line : lines_of(fresh.out))
    if (value_in(line, "ArrayTaskId") == std::to_string(task.index))
      return value_in(line, "JobState");
  return "";
}

int SlurmCommands::max_array_size() const {
  constexpr int kDefault = 1001;
  for (const std::string& line : lines_of(expect({"scontrol", "show", "config"}))) {
    if (!line.starts_with("MaxArraySize")) continue;
    return number_of<int>(std::string_view(line).substr(line.find_last_of(' ') + 1))
        .value_or(kDefault);
  }
  return kDefault;
}

int SlurmCommands::nodes(const std::string& partition) const {
  std::vector<std::string> argv = {"sinfo", "--noheader", "--Node", "--format=%N"};
  if (!partition.empty()) argv.push_back("--partition=" + partition);
  const std::vector<std::string> lines = lines_of(expect(argv));
  // A node has a line for each of its partitions.
  return static_cast<int>(std::set(lines.begin(), lines.end()).size());
}

void SlurmCommands::cancel(const std::vector<std::int64_t>& jobs) const {
  std::vector<std::string> argv = {"scancel"};
  for (const std::int64_t job : jobs) argv.push_back(std::to_string(job));
  expect(argv);
}

}  // namespace memduel
