#include "experiment/trial/role_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "base/descriptor.h"
#include "memory/text_file.h"

namespace memduel {
namespace {

void add_size(std::optional<std::int64_t>& sum, std::optional<std::int64_t> bytes) {
  if (bytes) sum = sum.value_or(0) + *bytes;
}

bool reset_peak(pid_t pid) {
  const Descriptor file(
      open(fmt::format("/proc/{}/clear_refs", pid).c_str(), O_WRONLY | O_CLOEXEC));
  return file && write(file.get(), "5", 1) == 1;
}

}  // namespace

MarkSizes RoleMemory::read(const std::vector<pid_t>& processes) {
  MarkSizes sizes;
  std::optional<std::int64_t> peak;
  int living = 0;
  pid_t last = 0;
  for (const pid_t pid : processes) {
    const std::string status = text_of(fmt::format("/proc/{}/status", pid));
    const auto rss = sized_field(status, "VmRSS");
    if (!rss) continue;  // a zombie has none
    ++living;
    last = pid;
    add_size(sizes.rss, rss);
    add_size(sizes.anon, sized_field(status, "RssAnon"));
    add_size(sizes.file, sized_field(status, "RssFile"));
    peak = sized_field(status, "VmHWM");
  }
  const bool is_new = known_ == 0;
  const bool was_alone =
      is_new ? processes.size() == 1 : alone_ == last && known_ == processes.size();
  alone_ = living == 1 ? last : 0;
  known_ = processes.size();
  if (alone_ == 0) return sizes;
  if (was_alone) sizes.peak = peak;
  peaks_reset_ = reset_peak(alone_) && peaks_reset_;
  return sizes;
}

std::optional<std::int64_t> resident_bytes(const std::vector<pid_t>& processes) {
  std::optional<std::int64_t> sum;
  for (const pid_t pid : processes)
    add_size(sum, sized_field(text_of(fmt::format("/proc/{}/status", pid)), "VmRSS"));
  return sum;
}

}  // namespace memduel
