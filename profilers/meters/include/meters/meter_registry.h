// Every meter memduel has, in one table: what `list meters` prints and what a config may name; and
// what this machine lets them measure: the rows of `memduel doctor`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "meters/meter.h"
#include "profile/recording.h"

namespace memduel {

struct Capability {
  std::string name;
  bool ok = false;
  std::string detail;  ///< what was found
  std::string advice;  ///< how to get it; empty when ok
};

/// statm, smaps_rollup and peak_reset (VmHWM through clear_refs), each tried on this very process.
std::vector<Capability> meter_capabilities();

enum class MeterKind {
  outside,  ///< reads other processes from memduel
  inside,   ///< a probe in the worker; its numbers travel as gauges at marks
};

struct MeterEntry {
  std::string name;
  MeterKind kind = MeterKind::outside;
  std::string summary;
  std::string needs;
  std::vector<std::string> metrics;
  Availability (*works_here)() = nullptr;
  /// Null for inside probes, and for cgroup: the trial's group is the supervisor's, who reads it in
  /// every trial that has a meter.
  std::unique_ptr<Meter> (*make)(const MeterSite&) = nullptr;
};

const std::vector<MeterEntry>& meters();

/// The entry called `name`. Throws Error(usage) that names the nearest meter.
const MeterEntry& meter_named(const std::string& name);

}  // namespace memduel
