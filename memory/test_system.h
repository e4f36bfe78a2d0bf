// Stand-ins for tests: a directory with the files of /proc and /sys that a test needs, and a device
// that records its calls.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "memduel/memory.h"
#include "util/file.h"

namespace memduel {

inline constexpr std::int64_t kMebi = std::int64_t{1} << 20;

class PreparedSystem {
 public:
  [[nodiscard]] std::filesystem::path root() const { return scratch_.path(); }
  /// The directory of the group of version 2.
  [[nodiscard]] std::string group() const { return root() / "sys/fs/cgroup/job"; }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root() / name).parent_path());
    std::ofstream(root() / name) << text;
  }

  void machine(std::int64_t total_bytes, std::int64_t available_bytes) const {
    write("proc/meminfo",
          "MemTotal: " + std::to_string(total_bytes >> 10) +
              " kB\nMemFree: 1 kB\nMemAvailable: " + std::to_string(available_bytes >> 10) +
              " kB\nSwapTotal: 2048 kB\nSwapFree: 512 kB\n");
  }
  void machine_stall(const std::string& text) const { write("proc/pressure/memory", text); }

  /// A group around this process. @param limit_bytes absent: "max".
  void group_of_version_2(std::optional<std::int64_t> limit_bytes, std::int64_t used_bytes) const {
    write("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write("proc/self/cgroup", "0::/job\n");
    write("sys/fs/cgroup/job/memory.max", limit_bytes ? std::to_string(*limit_bytes) : "max");
    write("sys/fs/cgroup/job/memory.current", std::to_string(used_bytes));
  }
  void group_stall(const std::string& text) const {
    write("sys/fs/cgroup/job/memory.pressure", text);
  }

  void group_of_version_1(std::int64_t limit_bytes, std::int64_t used_bytes) const {
    write("proc/self/mountinfo",
          "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    write("proc/self/cgroup", "4:memory:/job\n");
    write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", std::to_string(limit_bytes));
    write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", std::to_string(used_bytes));
  }

 private:
  ScratchDirectory scratch_{std::filesystem::temp_directory_path(), "prepared_system"};
};

/// A device that writes down what it was asked for.
class ScriptedDevice : public DeviceMemory {
 public:
  std::string why;      ///< it can do nothing
  std::string failure;  ///< thrown by all but limitation()
  std::int64_t reserved = 200 * kMebi;
  std::vector<std::string> calls;

  [[nodiscard]] std::string limitation() const override { return why; }
  [[nodiscard]] std::optional<DeviceBytes> bytes() const override {
    fail_if_told();
    return DeviceBytes{100 * kMebi, reserved, 600 * kMebi, 1000 * kMebi};
  }
  void synchronize() override {
    fail_if_told();
    calls.emplace_back("synchronize");
  }
  void empty_cache() override {
    calls.emplace_back("empty_cache");
    reserved = 100 * kMebi;
  }

 private:
  void fail_if_told() const {
    if (!failure.empty()) throw std::runtime_error(failure);
  }
};

}  // namespace memduel
