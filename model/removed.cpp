#include "model/removed.h"

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
    "it was removed: write an absolute gate, --gate 'ROLE.METRIC<=900MiB'";

constexpr std::string_view kNoEffectOnPlan = "it had no effect: plan prints only its estimate";
constexpr std::string_view kNoEffectOnCalibrate =
    "it had no effect: calibrate judges no gate and prints one table";

constexpr std::array kReplacements = {
    Replacement{Removed::verb, "import-appfl",
                "it was removed: write the job as described in docs/appfl.md"},
    Replacement{Removed::verb, "laboratory", "it was renamed: memduel fl"},
    Replacement{Removed::option, "--budgets", kAbsoluteGate},
    Replacement{Removed::option, "--write-budgets", kAbsoluteGate},
    Replacement{Removed::option, "check --candidate", kAbsoluteGate},
    Replacement{Removed::option, "--retry-on-regress",
                "it was removed: measure more trials with --repeats N"},
    Replacement{Removed::option, "--on-undecided",
                "it was renamed: --on-inconclusive beyond, pass or fail"},
    Replacement{Removed::option, "--arm", "it was renamed: --variant"},
    Replacement{Removed::option, "--arms", "it was renamed: --variants"},
    Replacement{Removed::option, "--blocks", "it was renamed: --shard I/N"},
    Replacement{Removed::option, "--shares", "it was renamed: --shards"},
    Replacement{Removed::option, "--tracer", "it was renamed: --profiler"},
    Replacement{Removed::option, "--image", "it was renamed: --process"},
    Replacement{Removed::option, "--blocks-per-duel", "it was renamed: --repeats-per-comparison"},
    Replacement{Removed::option, "list optimizations", "it was renamed: memduel list switches"},
    Replacement{Removed::option, "list tracers", "it was renamed: memduel list profilers"},
    Replacement{Removed::option, "compare --no-default-gates",
                "compare judges the default gates only with --gate default"},
    Replacement{Removed::option, "plan --resume", kNoEffectOnPlan},
    Replacement{Removed::option, "plan --quiet", kNoEffectOnPlan},
    Replacement{Removed::option, "plan --verbose", kNoEffectOnPlan},
    Replacement{Removed::option, "plan --export", kNoEffectOnPlan},
    Replacement{Removed::option, "calibrate --arms",
                "it had no effect: calibrate runs only the baseline"},
    Replacement{Removed::option, "calibrate --gate", kNoEffectOnCalibrate},
    Replacement{Removed::option, "calibrate --gate-strict", kNoEffectOnCalibrate},
    Replacement{Removed::option, "calibrate --no-default-gates", kNoEffectOnCalibrate},
    Replacement{Removed::option, "calibrate --export", kNoEffectOnCalibrate},
    Replacement{Removed::option, "calibrate --verbose", kNoEffectOnCalibrate},
    Replacement{Removed::option, "ablate --verbose", "it had no effect: ablate prints every table"},
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
                "budgets were removed: write absolute gates, --gate 'ROLE.METRIC<=900MiB'"},
    Replacement{
        Removed::schema, "memduel.catalogue/1",
        "memduel.catalogue/2 uses \"switches\" instead of \"optimizations\" (docs/providers.md)"},
    Replacement{Removed::schema, "memduel.expanded/1",
                "memduel.expand/2 and memduel.expanded/2 use \"variants\" instead of \"arms\" and "
                "\"switches\" instead of \"optimizations\" (docs/providers.md)"},
    Replacement{Removed::program, "memduel-laboratory", "it was renamed: memduel-fl"},
    Replacement{Removed::preset, "appfl-as-coded", "it was renamed: appfl-as-implemented"},
    Replacement{Removed::preset, "nvflare-as-coded", "it was renamed: nvflare-as-implemented"},
    Replacement{Removed::preset, "csfl-as-coded", "it was renamed: csfl-as-implemented"},
    Replacement{Removed::preset, "kdgat-as-coded", "it was renamed: kdgat-as-implemented"},
    Replacement{Removed::preset, "cbramod-as-coded", "it was renamed: cbramod-as-implemented"},
    Replacement{Removed::switch_value, "as_coded", "it was renamed: as_implemented"},
    Replacement{Removed::switch_value, "static_as_coded", "it was renamed: static_as_implemented"},
};

}  // namespace

std::optional<std::string_view> replacement_for(Removed kind, std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kReplacements, [&](const Replacement& one) { return one.kind == kind && one.name == name; });
  if (found == kReplacements.end()) return std::nullopt;
  return found->instead;
}

}  // namespace memduel
