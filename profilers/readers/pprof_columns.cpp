// Units as pprof spells them, and the columns of amounts that its values become.

#include "pprof_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "profile/outputs.h"
#include "profile/profile.h"

namespace memduel {

struct NamedUnit {
  std::string_view name;
  ProfileUnit unit;
  double each;  ///< how many bytes or nanoseconds one of it is, 1 for counts
};

/// Counts, where the name is none of bytes or time.
constexpr NamedUnit unit_named(std::string_view name) {
  constexpr NamedUnit kUnits[] = {
      {"bytes", ProfileUnit::bytes, 1},
      {"nanoseconds", ProfileUnit::nanoseconds, 1},
      {"microseconds", ProfileUnit::nanoseconds, 1e3},
      {"milliseconds", ProfileUnit::nanoseconds, 1e6},
      {"seconds", ProfileUnit::nanoseconds, 1e9},
  };
  for (const NamedUnit& unit : kUnits) {
    if (name == unit.name) return unit;
  }
  return {"count", ProfileUnit::samples, 1};
}

namespace {

struct PprofHeapType {
  const char* name;
  ProfileKind kind;
};

constexpr PprofHeapType kPprofHeapTypes[] = {
    {kPprofAllocated, ProfileKind::allocated},
    {kPprofLive, ProfileKind::live},
    {kPprofPeak, ProfileKind::peak},
    {kPprofTemporary, ProfileKind::temporary},
};

std::vector<PprofColumn> heap_columns(const std::vector<PprofType>& types) {
  std::vector<PprofColumn> columns;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto& [type, unit] = types[i];
    for (const PprofHeapType& heap : kPprofHeapTypes) {
      const std::string name = heap.name;
      if (type == name + "_space" && unit == "bytes") columns.push_back({i, heap.kind});
      if (type == name + "_objects") columns.push_back({i, heap.kind, &Estimate::count});
    }
    if (type == "space" && unit == "bytes") columns.push_back({i, ProfileKind::live});
    if (type == "objects") columns.push_back({i, ProfileKind::live, &Estimate::count});
  }
  return columns;
}

PprofColumns one_column(const std::vector<PprofType>& types, std::string_view preferred) {
  std::size_t chosen = types.size() - 1;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!preferred.empty() && types[i].type == preferred) chosen = i;
  }
  PprofColumns found;
  PprofColumn column;
  column.value = chosen;
  const NamedUnit unit = unit_named(types[chosen].unit);
  found.unit = unit.unit;
  column.each = unit.each;
  found.amounts = fmt::format("{} ({})", types[chosen].type, types[chosen].unit);
  found.columns.push_back(column);
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i != chosen && types[i].type == "samples") {
      found.columns.push_back({i, ProfileKind::allocated, &Estimate::count});
    }
  }
  return found;
}

}  // namespace

PprofColumns choose_pprof_columns(const std::vector<PprofType>& types, std::string_view preferred) {
  PprofColumns found;
  found.columns = heap_columns(types);
  if (found.columns.empty()) found = one_column(types, preferred);
  found.counted = std::ranges::any_of(
      found.columns, [](const PprofColumn& column) { return column.amount == &Estimate::count; });
  return found;
}

void estimate_pprof_variance(Estimate& amount, ProfileUnit unit, double period) {
  if (amount.count <= 0 || amount.bytes <= 0) return;
  const double mean = amount.bytes / amount.count;
  if (unit != ProfileUnit::bytes) {
    amount.variance = amount.count * mean * mean;
    return;
  }
  const double p = -std::expm1(-mean / period);
  amount.variance = amount.count * mean * mean * std::exp(-mean / period) / p;
  amount.samples = std::max<std::int64_t>(1, std::llround(amount.count * p));
}

}  // namespace memduel
