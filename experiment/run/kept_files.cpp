#include "experiment/run/kept_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>

#include <tuple>

#include "base/error.h"
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

}  // namespace

FileStamps::FileStamps(const std::vector<TrialFile>& files) : begin_(now_for_files()) {
  for (const TrialFile& file : files) before_.emplace_back(file, stamp_of(file.path));
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

fs::path kept_file(const fs::path& run_directory, const std::string& name, const fs::path& path,
                   const std::string& sha256) {
  constexpr std::size_t kDigits = 12;
  return run_directory / kFilesFolder /
         fmt::format("{}-{}{}", name, sha256.substr(0, kDigits), path.extension().string());
}

std::string keep_file(const fs::path& run_directory, const TrialFile& file) {
  std::string sha256 = sha256_hex_of_file(file.path);
  const fs::path copy = kept_file(run_directory, file.name, file.path, sha256);
  if (fs::exists(copy)) return sha256;
  // Under another name until it is whole: an interrupted run is resumed.
  const fs::path unfinished = copy.string() + ".new";
  try {
    fs::create_directories(copy.parent_path());
    fs::copy_file(file.path, unfinished, fs::copy_options::overwrite_existing);
    fs::rename(unfinished, copy);
  } catch (const fs::filesystem_error& error) {
    throw Error(ExitCode::io, fmt::format("cannot keep {}: {}", file.name, error.code().message()),
                copy.string());
  }
  return sha256;
}

}  // namespace memduel
