#include "experiment/run/printed_output.h"

#include <filesystem>

#include "base/file.h"
#include "base/sha256.h"

namespace memduel {
namespace {

/// The log is read into memory.
constexpr std::uintmax_t kMostHashed = std::uintmax_t{32} << 20;

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

}  // namespace

std::optional<std::string> hash_of_output(const TrialPlan& plan, const ProcessSpec& process) {
  const std::filesystem::path log = logs_of(plan).file(process.role, "stdout");
  std::error_code absent;
  const auto bytes = std::filesystem::file_size(log, absent);
  if (absent || bytes == 0 || bytes >= kMostHashed) return std::nullopt;
  std::string text = read_file(log);
  leave_out(text, process.argv.front());
  leave_out(text, plan.trial_dir.string());
  leave_out(text, process.cwd.string());
  return sha256_hex(text);
}

}  // namespace memduel
