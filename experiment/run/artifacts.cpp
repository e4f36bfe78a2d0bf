#include "experiment/run/artifacts.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>

#include <cstdint>
#include <system_error>
#include <tuple>

#include "base/error.h"
#include "base/file.h"
#include "base/run_directory.h"
#include "base/sha256.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// Changes whenever the file is written or replaced; absent when there is no file.
std::optional<std::string> stamp_of(const fs::path& path) {
  struct stat about{};
  if (stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return fmt::format("{} {} {} {}.{} {}.{}", about.st_dev, about.st_ino, about.st_size,
                     about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_ctim.tv_sec,
                     about.st_ctim.tv_nsec);
}

/// The clock that the kernel stamps files with.
timespec now_for_files() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

/// A symlink to what was written before is not written.
bool leads_to_an_older_file(const fs::path& path, const timespec& begin) {
  struct stat about{};
  std::error_code ignored;
  if (!fs::is_symlink(path, ignored) || stat(path.c_str(), &about) != 0) return false;
  return std::tie(about.st_mtim.tv_sec, about.st_mtim.tv_nsec) <
         std::tie(begin.tv_sec, begin.tv_nsec);
}

/// Every place of a path in a text.
void leave_out(std::string& text, const std::string& path) {
  if (path.find('/') == std::string::npos || path == "/") return;
  std::string rest;
  std::size_t begin = 0;
  for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, begin)) {
    rest.append(text, begin, at - begin);
    begin = at + path.size();
  }
  text = rest.append(text, begin);
}

std::optional<std::string> hash_of_output(const TrialPlan& plan, const ProcessSpec& process) {
  std::optional<std::string> text = printed_text(logs_of(plan).file(process.role, "stdout"));
  if (!text || text->empty()) return std::nullopt;
  leave_out(*text, process.argv.front());
  leave_out(*text, plan.trial_dir.string());
  leave_out(*text, process.cwd.string());
  return sha256_hex(*text);
}

void keep(const Artifact& artifact, const fs::path& copy) {
  if (fs::exists(copy)) return;
  // Under another name until it is whole: an interrupted run is resumed.
  const fs::path unfinished = copy.string() + ".new";
  try {
    fs::create_directories(copy.parent_path());
    fs::copy_file(artifact.path, unfinished, fs::copy_options::overwrite_existing);
    fs::rename(unfinished, copy);
  } catch (const fs::filesystem_error& error) {
    throw Error(ExitCode::io,
                fmt::format("cannot keep {}: {}", artifact.name, error.code().message()),
                copy.string());
  }
}

}  // namespace

std::optional<std::string> printed_text(const fs::path& log) {
  constexpr std::uintmax_t kMostPrinted = std::uintmax_t{32} << 20;
  std::error_code absent;
  const auto bytes = fs::file_size(log, absent);
  if (absent || bytes >= kMostPrinted) return std::nullopt;
  return read_file(log);
}

FileStamps::FileStamps(const std::vector<Artifact>& artifacts) : begin_(now_for_files()) {
  for (const Artifact& artifact : artifacts)
    if (artifact.kind != Artifact::Kind::printed)
      before_.emplace_back(artifact, stamp_of(artifact.path));
}

std::optional<std::string> FileStamps::first_not_written() const {
  for (const auto& [file, stamp] : before_) {
    const auto now = stamp_of(file.path);
    if (!now) {
      return fmt::format("every process ended well, but none wrote {}, {}", file.name,
                         file.path.string());
    }
    if (leads_to_an_older_file(file.path, begin_)) {
      return fmt::format(
          "every process ended well, but none wrote {}: {} is a symlink to a file from before the "
          "trial",
          file.name, file.path.string());
    }
    if (now == stamp) {
      return fmt::format("every process ended well, but none wrote {}: {} is as it was before",
                         file.name, file.path.string());
    }
  }
  return std::nullopt;
}

fs::path kept_artifact(const fs::path& run_directory, const Artifact& artifact,
                       const std::string& arm, const std::string& sha256) {
  if (artifact.is_model())
    return run_directory / kModelsFolder / (kept_file_stem(arm, sha256) + ".bin");
  return run_directory / kFilesFolder /
         (kept_file_stem(artifact.name, sha256) + artifact.path.extension().string());
}

std::string kept_file_stem(const std::string& name, const std::string& sha256) {
  return fmt::format("{}-{}", name, sha256.substr(0, 12));
}

void take_artifact(const Artifact& artifact, const TrialPlan& plan, const fs::path& run_directory,
                   TrialData& trial) {
  if (artifact.kind == Artifact::Kind::printed) {
    if (auto hash = hash_of_output(plan, plan.processes.front()))
      trial.files[artifact.name] = std::move(*hash);
    return;
  }
  const std::string sha256 = sha256_hex_of_file(artifact.path);
  keep(artifact, kept_artifact(run_directory, artifact, plan.arm, sha256));
  if (artifact.is_model())
    trial.model_sha256 = sha256;
  else
    trial.files[artifact.name] = sha256;
}

}  // namespace memduel
