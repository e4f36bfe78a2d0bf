#include "base/removed.h"

#include <algorithm>
#include <array>

namespace memduel {
namespace {

struct Replacement {
  Removed kind;
  std::string_view name;
  std::string_view instead;
};

constexpr std::string_view kAbsoluteGate =
    "it was removed: give an absolute gate, --gate 'ROLE.METRIC<=900MiB'";

constexpr std::array kReplacements = {
    Replacement{Removed::verb, "import-appfl",
                "it was removed: write the job as docs/appfl.md says"},
    Replacement{Removed::option, "--budgets", kAbsoluteGate},
    Replacement{Removed::option, "--write-budgets", kAbsoluteGate},
    Replacement{Removed::option, "check --candidate", kAbsoluteGate},
    Replacement{Removed::option, "--retry-on-regress",
                "it was removed: measure more blocks, --repeats N"},
    Replacement{Removed::tracer, "massif",
                "it was removed: use recorder, heaptrack, gperftools or jemalloc"},
    Replacement{Removed::tracer, "gperftools-cpu",
                "it was removed: memduel measures memory; perf records CPU time"},
    Replacement{Removed::export_format, "speedscope",
                "it was removed: speedscope.app opens pprof and folded"},
    Replacement{Removed::export_format, "json",
                "it was removed: pprof has all allocations, folded is text, and memduel record "
                "--count -o FILE writes the counters as JSON"},
    Replacement{Removed::schema, "memduel.budgets/1",
                "budgets were removed: give absolute gates, --gate 'ROLE.METRIC<=900MiB'"},
    Replacement{Removed::catalogue_key, "matters_with", "name the switch in \"idle\" of an arm"},
    Replacement{Removed::catalogue_key, "works_only_with", "refuse the arm in expand"},
    Replacement{Removed::catalogue_key, "at_most", "refuse the arm in expand"},
};

}  // namespace

std::optional<std::string_view> replacement_for(Removed kind, std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kReplacements, [&](const Replacement& one) { return one.kind == kind && one.name == name; });
  if (found == kReplacements.end()) return std::nullopt;
  return found->instead;
}

}  // namespace memduel
