#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "model/run_directory.h"
#include "run/shares.h"
#include "util/error.h"
#include "util/file.h"
#include "util/json.h"

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

HelperResult run_slurm_command(const std::vector<std::string>& argv) {
  HelperOptions options;
  if (argv.front() == "sbatch" || argv.front() == "scancel") options.stop = nullptr;
  return capture(argv, options);
}

std::string SlurmCommands::expect(const std::vector<std::string>& argv) const {
  const HelperResult done = run_(argv);
  if (done.exit_status == 0) return done.out;
  const std::vector<std::string> said = lines_of(done.err);
  throw Error(ExitCode::cannot_measure,
              said.empty() ? fmt::format("exited with {}", done.exit_status)
                           : fmt::format("{}", fmt::join(said, "; ")),
              argv.front(),
              "check partitions and nodes with sinfo, and Slurm itself with scontrol ping");
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
                fmt::format("expected a job's number, found \"{}\"", without_line_end(answer)),
                "sbatch");
  return *job;
}

std::optional<std::map<SlurmTaskId, SlurmTask>> SlurmCommands::queue(
    const std::vector<std::int64_t>& jobs) const {
  HelperResult done;
  try {
    done = run_({"squeue", "--noheader", "--array", fmt::format("--jobs={}", fmt::join(jobs, ",")),
                 "--format=%i|%T|%r"});
  } catch (const Error& error) {
    if (error.code() != ExitCode::cannot_measure) throw;
    return std::nullopt;  // it was not done in time
  }
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
  const HelperResult kept = run_({"sacct", "--noheader", "--parsable2", "--allocations",
                                  "--jobs=" + to_text(task), "--format=State"});
  const std::vector<std::string> states = lines_of(kept.out);
  // "CANCELLED by 1000".
  if (kept.exit_status == 0 && !states.empty())
    return states.back().substr(0, states.back().find(' '));
  const HelperResult fresh = run_({"scontrol", "--oneliner", "show", "job", to_text(task)});
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

namespace {

namespace fs = std::filesystem;

constexpr const char* kRecordSchema = "memduel.slurm/2";

bool is_open(const ShareTask& task) {
  return task.state != kShareDone && task.state != kShareLost;
}

/// "1-3,7": how sbatch takes indices.
std::string ranges_of(const std::vector<int>& indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", indices[i]);
    if (last > i) text += fmt::format("-{}", indices[last]);
    i = last + 1;
  }
  return text;
}

fs::path log_file(const fs::path& directory, const std::string& job, const std::string& index) {
  return directory / fmt::format("log-{}-{}.txt", job, index);
}

}  // namespace

fs::path share_directory(const fs::path& directory, int share) {
  return directory / fmt::format("shard-{}", share);
}

fs::path slurm_script_file(const fs::path& directory) {
  return directory / "task.sh";
}

SlurmRecord read_slurm_record(const fs::path& directory) {
  const fs::path file = directory / kSlurmFile;
  if (!is_there(file))
    throw Error(ExitCode::usage, "found no Slurm run to resume", directory.string());
  const nlohmann::json document = parse_foreign_json(read_text_file(file));
  const JsonReader in(document, file.string());
  if (const auto schema = in.maybe_text("schema"); schema != kRecordSchema)
    throw Error(ExitCode::io,
                fmt::format("expected \"{1}\", found \"{0}\"", schema.value_or(""), kRecordSchema),
                file.string(), "finish it with the memduel that began it");
  auto record = read_value<SlurmRecord>(in);
  for (std::size_t i = 0; i < record.tasks.size(); ++i)
    if (record.tasks[i].share != static_cast<int>(i) + 1)
      throw Error(ExitCode::io,
                  fmt::format("expected shard {1}, found {0}", record.tasks[i].share, i + 1),
                  fmt::format("{}: /tasks/{}", file.string(), i));
  return record;
}

SlurmShares::SlurmShares(fs::path directory, SlurmRecord record, int retries,
                         SlurmCommands commands)
    : directory_(std::move(directory)),
      record_(std::move(record)),
      retries_(retries),
      commands_(std::move(commands)),
      gone_(record_.tasks.size(), 0) {
  record_.schema = kRecordSchema;
  save();
}

/// Most looks change nothing.
void SlurmShares::save() {
  std::string text = written(record_).dump(1) + "\n";
  if (text == saved_) return;
  write_file_atomically(directory_ / kSlurmFile, text);
  saved_ = std::move(text);
}

/// An array of shares above `offset`.
std::string SlurmShares::job_name(int offset) const {
  return offset == 0 ? record_.name : fmt::format("{}+{}", record_.name, offset);
}

void SlurmShares::adopt() {
  std::map<std::string, int> offsets;
  const int most = commands_.max_array_size() - 1;
  for (const ShareTask& task : record_.tasks)
    if (task.state == kShareWaits) {
      const int offset = (task.share - 1) / most * most;
      offsets[job_name(offset)] = offset;
    }
  for (const auto& [name, offset] : offsets) {
    const std::vector<std::int64_t> jobs = commands_.jobs_named(name);
    if (jobs.empty()) continue;
    const auto queue = commands_.queue(jobs);
    if (!queue) continue;
    for (const auto& [id, found] : *queue)
      for (ShareTask& task : record_.tasks)
        if (task.state == kShareWaits && task.share == id.index + offset) {
          task.job = id.job;
          task.index = id.index;
          task.state = found.state;
        }
  }
  save();
}

std::vector<std::string> SlurmShares::go_on() {
  adopt();
  std::vector<std::string> said;
  const auto queue = commands_.queue(open_jobs());
  if (!queue)
    throw Error(ExitCode::cannot_measure, "Slurm does not respond", "squeue",
                "check it with scontrol ping");
  for (ShareTask& task : record_.tasks) {
    if (task.state == kShareDone || task.state == kShareWaits ||
        queue->contains({task.job, task.index}))
      continue;
    if (is_whole_share(share_directory(directory_, task.share))) {
      task.state = kShareDone;
      continue;
    }
    said.push_back(how_it_ended(task, commands_.end_of({task.job, task.index})) +
                   "; it is submitted again");
    task = ShareTask(task.share);
  }
  save();
  submit();
  return said;
}

void SlurmShares::submit() {
  if (std::ranges::none_of(record_.tasks,
                           [](const auto& task) { return task.state == kShareWaits; }))
    return;
  const int most = commands_.max_array_size() - 1;
  std::map<int, std::vector<ShareTask*>> arrays;  // by offset
  for (ShareTask& task : record_.tasks)
    if (task.state == kShareWaits) arrays[(task.share - 1) / most * most].push_back(&task);
  for (const auto& [offset, tasks] : arrays) {
    std::vector<int> indices;
    for (const ShareTask* task : tasks) indices.push_back(task->share - offset);
    std::vector<std::string> options = {"--job-name=" + job_name(offset),
                                        "--array=" + ranges_of(indices),
                                        fmt::format("--export=ALL,{}={}", kShareOffset, offset),
                                        "--output=" + log_file(directory_, "%A", "%a").string()};
    options.insert(options.end(), record_.sbatch.begin(), record_.sbatch.end());
    const std::int64_t job = commands_.submit(options, slurm_script_file(directory_));
    for (ShareTask* task : tasks) {
      task->job = job;
      task->index = task->share - offset;
      task->state = "PENDING";
      gone_[static_cast<std::size_t>(task->share - 1)] = 0;
    }
    save();
  }
}

std::vector<std::string> SlurmShares::look() {
  std::vector<std::string> said;
  const auto queue = commands_.queue(open_jobs());
  answers_ = queue.has_value();
  if (!answers_) return said;
  for (std::size_t i = 0; i < record_.tasks.size(); ++i) {
    ShareTask& task = record_.tasks[i];
    if (!is_open(task) || task.state == kShareWaits) continue;
    if (const auto found = queue->find({task.job, task.index}); found != queue->end()) {
      gone_[i] = 0;
      task.state = found->second.state;
      if (const std::string& why = found->second.reason; !why.empty() && why != "None")
        task.state += fmt::format(" ({})", why);
      continue;
    }
    // What it wrote last may come to this machine a moment later.
    if (++gone_[i] < 2) continue;
    if (const std::string words = judge(task); !words.empty()) said.push_back(words);
  }
  save();
  try {
    submit();
  } catch (const Error& error) {
    answers_ = false;
    said.push_back(error.message());
  }
  return said;
}

/// Of a task that has ended. Returns what is to be told.
std::string SlurmShares::judge(ShareTask& task) {
  const std::string end = commands_.end_of({task.job, task.index});
  const bool whole = is_whole_share(share_directory(directory_, task.share));
  const bool again = task.attempts <= retries_ && end != "CANCELLED";
  if (whole && (end.empty() || end == "COMPLETED" || !again)) {
    task.state = kShareDone;
    return "";
  }
  const std::string what = how_it_ended(task, end);
  if (!again) {
    task.state = kShareLost;
    return what + "; it is not retried";
  }
  task.state = kShareWaits;
  task.job = 0;
  return fmt::format("{}; retry {} of {}", what, task.attempts++, retries_);
}

std::string SlurmShares::how_it_ended(const ShareTask& task, const std::string& end) const {
  return fmt::format("shard {} of {} ended early: {} (job {}){}", task.share, record_.tasks.size(),
                     end.empty() ? "unknown reason" : end,
                     to_text(SlurmTaskId{task.job, task.index}), last_words(task));
}

/// What its log ends with.
std::string SlurmShares::last_words(const ShareTask& task) const {
  const fs::path log = log_file(directory_, std::to_string(task.job), std::to_string(task.index));
  std::string text;
  try {
    text = without_line_end(read_text_file(log));
  } catch (const Error&) {
    return "";
  }
  if (text.empty()) return "";
  return fmt::format("; {} ends with: {}", log.string(), text.substr(text.rfind('\n') + 1));
}

bool SlurmShares::over() const {
  return std::ranges::none_of(record_.tasks, is_open);
}

bool SlurmShares::has_lost() const {
  return std::ranges::any_of(record_.tasks,
                             [](const auto& task) { return task.state == kShareLost; });
}

std::string SlurmShares::summary() const {
  std::map<std::string, int> states;
  for (const ShareTask& task : record_.tasks) ++states[task.state];
  std::vector<std::string> words;
  words.reserve(states.size());
  for (const auto& [state, count] : states) words.push_back(fmt::format("{} {}", count, state));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<std::int64_t> SlurmShares::open_jobs() const {
  std::vector<std::int64_t> jobs;
  for (const ShareTask& task : record_.tasks)
    if (is_open(task) && task.job != 0 && !std::ranges::count(jobs, task.job))
      jobs.push_back(task.job);
  return jobs;
}

}  // namespace memduel
