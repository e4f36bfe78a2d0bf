#include "profilers/meters/capabilities.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "memory/text_file.h"
#include "profilers/meters/proc_text.h"

namespace memduel {
namespace {

struct FileText {
  std::string text;
  int error_number = 0;
};

FileText own_file(const char* name) {
  const std::string path = std::string("/proc/self/") + name;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {{}, errno};
  std::array<char, 8192> buffer{};
  const ssize_t got = read(file, buffer.data(), buffer.size());
  const int error_number = got < 0 ? errno : 0;
  close(file);
  return {std::string(buffer.data(), static_cast<std::size_t>(got < 0 ? 0 : got)), error_number};
}

Capability readable(const char* name, bool parsed, int error_number, const char* advice) {
  if (parsed) return {name, true, std::string("/proc/PID/") + name + " can be read", {}};
  return {name, false,
          std::string("/proc/PID/") + name + ": " +
              (error_number != 0 ? std::strerror(error_number) : "not the expected text"),
          advice};
}

/// Touches 8 MiB, gives them back and asks whether the peak then falls by most of it.
Capability peak_reset() {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  const char* advice =
      "a kernel with CONFIG_PROC_PAGE_MONITOR; without it peaks of rounds are sampled";
  void* block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return {"peak_reset", false, std::strerror(errno), advice};
  std::memset(block, 1, kBytes);
  munmap(block, kBytes);
  const auto before = sized_field(own_file("status").text, "VmHWM");
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  const bool written = file >= 0 && write(file, "5", 1) == 1;
  const int error_number = errno;
  if (file >= 0) close(file);
  if (!written) {
    return {"peak_reset", false,
            std::string("/proc/self/clear_refs: ") + std::strerror(error_number), advice};
  }
  const auto after = sized_field(own_file("status").text, "VmHWM");
  if (!before || !after) return {"peak_reset", false, "the kernel reports no VmHWM", advice};
  if (*before - *after < static_cast<std::int64_t>(kBytes / 2)) {
    return {"peak_reset", false, "writing to clear_refs does not lower VmHWM", advice};
  }
  return {"peak_reset", true, "writing 5 to /proc/self/clear_refs resets VmHWM", {}};
}

}  // namespace

std::vector<Capability> meter_capabilities() {
  const FileText statm = own_file("statm");
  const FileText rollup = own_file("smaps_rollup");
  return {
      readable("statm", resident_pages(statm.text).value_or(0) > 0, statm.error_number,
               "mount /proc without hidepid, or run as the same user"),
      readable("smaps_rollup", sized_field(rollup.text, "Pss").has_value(), rollup.error_number,
               "Linux 4.14 or later with CONFIG_PROC_PAGE_MONITOR; without it there is no PSS"),
      peak_reset(),
  };
}

}  // namespace memduel
