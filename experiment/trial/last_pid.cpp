#include "experiment/trial/last_pid.h"

#include <fcntl.h>

#include <array>
#include <charconv>
#include <string_view>

namespace memduel {

LastPid::LastPid() : file_(open("/proc/loadavg", O_RDONLY | O_CLOEXEC)) {}

bool LastPid::moved() {
  std::array<char, 128> bytes{};
  const ssize_t size = pread(file_.get(), bytes.data(), bytes.size(), 0);
  if (size <= 0) return false;
  std::string_view line(bytes.data(), static_cast<std::size_t>(size));
  line.remove_prefix(line.rfind(' ') + 1);
  pid_t now = 0;
  std::from_chars(line.data(), line.data() + line.size(), now);
  return std::exchange(last_, now) != now;
}

}  // namespace memduel
