#include "experiment/role_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string_view>

#include "experiment/descriptor.h"
#include "profilers/meters/proc_text.h"

namespace memduel {
namespace {

void add_size(std::optional<std::int64_t>& sum, std::string_view status, std::string_view field) {
  if (const auto bytes = sized_field(status, field)) sum = sum.value_or(0) + *bytes;
}

bool reset_peak(pid_t pid) {
  const Descriptor file(
      open(fmt::format("/proc/{}/clear_refs", pid).c_str(), O_WRONLY | O_CLOEXEC));
  return file && write(file.get(), "5", 1) == 1;
}

}  // namespace

RoleMemory read_role_memory(const std::vector<pid_t>& processes) {
  RoleMemory memory;
  for (const pid_t pid : processes) {
    const Descriptor file(open(fmt::format("/proc/{}/status", pid).c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 8192> buffer{};
    const ssize_t got = file ? read(file.get(), buffer.data(), buffer.size()) : 0;
    const std::string_view status(buffer.data(), static_cast<std::size_t>(got > 0 ? got : 0));
    add_size(memory.sizes.rss, status, "VmRSS");
    add_size(memory.sizes.anon, status, "RssAnon");
    add_size(memory.sizes.file, status, "RssFile");
    if (processes.size() == 1) memory.sizes.peak = sized_field(status, "VmHWM");
  }
  if (memory.sizes.peak) memory.peak_is_reset = reset_peak(processes.front());
  return memory;
}

}  // namespace memduel
