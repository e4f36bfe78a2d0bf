#include "experiment/trial/launcher_reports.h"

#include <fmt/format.h>

namespace memduel {
namespace {

Exited read_exit(const std::vector<std::string>& fields) {
  Exited exited{fields[1], {}};
  ExitRecord& record = exited.record;
  (fields[2] == "signal" ? record.signal : record.status) = std::stoi(fields[3]);
  record.cpu_seconds = std::stod(fields[4]) * 1e-6;
  record.max_rss_bytes = std::stoll(fields[5]) * 1024;
  record.minor_faults = std::stoll(fields[6]);
  record.major_faults = std::stoll(fields[7]);
  record.t_ns = std::stoll(fields[8]);
  return exited;
}

LauncherEnded read_end(const std::vector<std::string>& fields) {
  LauncherEnded ended{std::stod(fields[1]) * 1e-6, std::stoi(fields[2]), std::stoi(fields[3]), {}};
  if (fields[4] != "-") ended.peak_cgroup_bytes = std::stoll(fields[4]);
  return ended;
}

}  // namespace

std::optional<LauncherReport> read_report(const std::vector<std::string>& fields) {
  const std::string& name = fields.front();
  if (name == "spawned") return Spawned{fields[1], std::stoi(fields[2]), std::stoll(fields[3])};
  if (name == "unstarted") return Unstarted{fields[1], fields[2], std::stoi(fields[3])};
  if (name == "exited") return read_exit(fields);
  if (name == "reaped") return Reaped{std::stoi(fields[1]), std::stoll(fields[2]) * 1024};
  if (name == "escaped") return Escaped{fmt::format("{} ({})", fields[1], fields[2])};
  if (name == "ended") return read_end(fields);
  return std::nullopt;
}

}  // namespace memduel
