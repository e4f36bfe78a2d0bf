#include "experiment/supervision/supervised_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "experiment/marks/log_tail.h"
#include "experiment/trial/launcher/protocol.h"
#include "profilers/profile/capture/preload.h"

namespace memduel {
namespace {

Descriptor make_log(const std::filesystem::path& path) {
  // Appending, because a program may open /dev/stderr a second time.
  Descriptor log(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (!log) throw Error(ExitCode::io, std::strerror(errno), path.string());
  return log;
}

/// Also for processes of other users, which a job may start.
void make_witness_file(const std::filesystem::path& path) {
  make_directory(path.parent_path());
  const Descriptor file = make_log(path);
  fchmod(file.get(), 0666);
}

}  // namespace

SupervisedProcess::SupervisedProcess(const ProcessSpec& spec, const TrialPlan& plan)
    : spec_(&spec),
      cwd_(std::filesystem::absolute(spec.cwd.empty() ? plan.trial_dir : spec.cwd)),
      stdout_path_(logs_of(plan).file(spec.role, "stdout")),
      stderr_path_(logs_of(plan).file(spec.role, "stderr")),
      stdout_(make_log(stdout_path_)),
      stderr_(make_log(stderr_path_)) {
  trace.role = spec.role;
  trace.rss.metric = "rss_bytes";
  for (const auto& directory : {spec.heap_dir, spec.trace_dir}) {
    if (!directory) continue;
    make_directory(*directory);
    admit_other_users(*directory);
  }
  if (spec.allocator) make_witness_file(spec.allocator->witness);
  if (spec.ready) readiness.emplace(*spec.ready, std::vector{stdout_path_, stderr_path_});
}

std::vector<std::string> SupervisedProcess::spawn_request() const {
  std::vector<std::string> fields = {"spawn", role(), cwd_.string(),
                                     std::to_string(spec_->argv.size())};
  fields.insert(fields.end(), spec_->argv.begin(), spec_->argv.end());
  for (const auto& [name, value] : spec_->env) fields.push_back(name + "=" + value);
  fields.push_back(fmt::format("{}={}", kRoleVariable, role()));
  fields.push_back(fmt::format("MEMDUEL_MARKS_FD={}", kMarksDescriptor));
  fields.push_back(fmt::format("MEMDUEL_MARKS_INODE={}", marks.inode()));
  return fields;
}

std::vector<int> SupervisedProcess::spawn_descriptors() {
  return {stdout_.get(), stderr_.get(), marks.remote().get()};
}

void SupervisedProcess::release_descriptors() {
  stdout_.reset();
  stderr_.reset();
  marks.remote().reset();
}

std::optional<double> SupervisedProcess::silent_seconds() const {
  std::optional<std::filesystem::file_time_type> last;
  for (const std::filesystem::path& log : {stdout_path_, stderr_path_}) {
    std::error_code error;
    if (std::filesystem::file_size(log, error) == 0 || error) continue;
    const auto written = std::filesystem::last_write_time(log, error);
    if (!error) last = std::max(last.value_or(written), written);
  }
  if (!last) return std::nullopt;
  const std::chrono::duration<double> silence =
      std::filesystem::file_time_type::clock::now() - *last;
  return std::max(0.0, silence.count());
}

std::string SupervisedProcess::last_words() const {
  std::string words = log_tail(stderr_path_);
  if (words.empty()) words = log_tail(stdout_path_);
  std::string indented;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find('\n', at), words.size());
    indented += "\n  | " + words.substr(at, end - at);
    at = end + 1;
  }
  return indented;
}

}  // namespace memduel
