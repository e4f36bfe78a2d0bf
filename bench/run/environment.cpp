#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>

#include "memduel/memory.h"
#include "memory/kernel_files.h"
#include "run/plan.h"
#include "util/bytes.h"
#include "version.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::optional<std::string> first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return {};
  return line;
}

/// The text after ':' in the first line of `file` that starts with `key`.
std::optional<std::string> field(const fs::path& file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

std::optional<std::int64_t> number(const std::optional<std::string>& text) {
  if (!text) return {};
  std::istringstream stream(*text);
  std::int64_t value = 0;
  if (!(stream >> value)) return {};
  return value;
}

/// "always [madvise] never" is madvise.
std::optional<std::string> bracketed(const std::optional<std::string>& line) {
  if (!line) return {};
  const auto open = line->find('[');
  const auto close = line->find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return line->substr(open + 1, close - open - 1);
}

/// The limit of this process's memory cgroup; absent where there is none.
std::optional<std::int64_t> cgroup_limit(const fs::path& root) {
  constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;  // v1 says 2^63 less a page
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    const auto path_at = line.rfind(':');
    if (path_at == std::string::npos || path_at + 1 >= line.size()) continue;
    const std::string path = line.substr(path_at + 2);
    const bool version_two = line.starts_with("0::");
    if (!version_two && line.find(":memory:") == std::string::npos) continue;
    const fs::path file = version_two
                              ? root / "sys/fs/cgroup" / path / "memory.max"
                              : root / "sys/fs/cgroup/memory" / path / "memory.limit_in_bytes";
    const auto limit = number(first_line(file));
    if (limit && *limit < kUnlimited) return limit;
  }
  return {};
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/// The load average of each core where it is low and no other program runs: "0.25 0.10 0.05 1/456
/// 1234" has the number of those that run after the three averages.
std::optional<double> load_of_idle_cores(const fs::path& root, int cores) {
  constexpr double kLow = 0.25;  // of each core
  std::istringstream loads(first_line(root / "proc/loadavg").value_or(""));
  double load = 0;
  double ignored = 0;
  int running = 0;
  if (cores == 0 || !(loads >> load >> ignored >> ignored >> running)) return std::nullopt;
  return running <= 1 && load < kLow * cores ? std::optional(load / cores) : std::nullopt;
}

/// The share of all cores' time that is used now. Unless the cores are idle, memduel watches them
/// for a moment: the load average remembers what ended a minute ago.
std::optional<double> cpu_busy_ratio(const fs::path& root) {
  if (const auto load = load_of_idle_cores(root, usable_cores())) return load;
  MemoryInfoOptions options;
  options.cpu_interval = std::chrono::milliseconds(50);
  options.pss = false;
  options.root = root;
  const auto percent = memory_info(options).cpu_percent;
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

std::string allocator() {
  const char* preload = std::getenv("LD_PRELOAD");
  return preload == nullptr || *preload == '\0' ? "glibc" : fmt::format("LD_PRELOAD={}", preload);
}

template <typename T>
void put(json& into, const char* key, const std::optional<T>& value) {
  if (value) into[key] = *value;
}

}  // namespace

std::string memduel_version() {
  return kVersion;
}

json describe_environment(const json& of_site, const fs::path& root) {
  json environment = json::object();
  put(environment, "cpu", field(root / "proc/cpuinfo", "model name"));
  if (const int cores = usable_cores(); cores > 0) environment["cores"] = cores;
  const std::string meminfo = text_of(root / "proc/meminfo");
  put(environment, "memory_bytes", sized_field(meminfo, "MemTotal"));
  put(environment, "swap_bytes", sized_field(meminfo, "SwapTotal"));
  utsname system{};
  if (uname(&system) == 0) environment["kernel"] = system.release;
  environment["glibc"] = gnu_get_libc_version();
  environment["allocator"] = allocator();
  put(environment, "transparent_hugepage",
      bracketed(first_line(root / "sys/kernel/mm/transparent_hugepage/enabled")));
  if (const auto aslr = number(first_line(root / "proc/sys/kernel/randomize_va_space"))) {
    environment["aslr"] = *aslr != 0;
  }
  put(environment, "cgroup_limit_bytes", cgroup_limit(root));
  if (const auto load = first_line(root / "proc/loadavg")) {
    environment["load"] = std::strtod(load->c_str(), nullptr);
  }
  put(environment, "cpu_busy_ratio", cpu_busy_ratio(root));
  const std::time_t now = std::time(nullptr);
  environment["date"] = fmt::format("{:%Y-%m-%d}", fmt::localtime(now));
  environment["memduel"] = kVersion;
  if (*kRevision != '\0') environment["revision"] = kRevision;
  environment.update(of_site);
  environment["fingerprint"] = environment_fingerprint(environment);
  return environment;
}

std::string environment_fingerprint(const json& environment) {
  json relevant = json::object();
  for (const char* key : {"cpu", "cores", "kernel", "glibc", "allocator", "torch", "gpu",
                          "transparent_hugepage", "aslr"}) {
    if (environment.contains(key)) relevant[key] = environment[key];
  }
  constexpr std::size_t kDigits = 12;
  return sha256_hex(relevant.dump(-1, ' ', false, json::error_handler_t::replace))
      .substr(0, kDigits);
}

}  // namespace memduel
