// memduel calibrate CONFIG: the baseline against its twin, which shows what noise looks like here.
#include <fmt/format.h>

#include "cli/print.h"
#include "cli/verbs.h"
#include "duel.h"
#include "model/run_directory.h"
#include "run/conclusion.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

constexpr int kDefaultBlocks = 24;

struct CalibrateArguments {
  std::string config;
  int blocks_per_duel = 8;
  RunOptions options;
};

std::string size_of(const RoleMetric& row, std::optional<double> size) {
  if (!size) return "-";
  if (metric_info(row.metric).scale == Scale::difference) return format_metric(row.metric, size);
  return *size < 1 ? format_percent(*size) : format_change(1 + *size);
}

/// Not so a metric that is none in the median, or that varies in a way nothing can be told of.
bool is_sized(const CalibratedMetric& metric) {
  return metric.noise_floor > 0 || metric.minimum_detectable;
}

std::string describe(const Calibration& calibration) {
  std::string text = fmt::format("{:<12} {:<34} {:>14} {:>18}\n", "role", "metric", "noise floor",
                                 "minimum detectable");
  for (const auto& [row, metric] : calibration.metrics)
    text += fmt::format("{:<12} {:<34} {:>14} {:>18}\n", row.role, row.metric,
                        is_sized(metric) ? size_of(row, metric.noise_floor) : "-",
                        size_of(row, metric.minimum_detectable));
  text += fmt::format(
      "\n{} each, as comparisons of {} trials each: {} of {} called improved or regressed\n"
      "false-positive rate: {:.1f}% (95% CI {:.1f}% to {:.1f}%, Clopper–Pearson)\n",
      format_count(static_cast<std::size_t>(calibration.blocks), "trial"),
      calibration.blocks_per_duel, calibration.flagged_gate_rows,
      format_count(static_cast<std::size_t>(calibration.gate_rows), "gate row was",
                   "gate rows were"),
      100 * calibration.false_positive_rate, 100 * calibration.false_positive_interval.low,
      100 * calibration.false_positive_interval.high);
  return text;
}

int calibrate_config(const CalibrateArguments& arguments) {
  RunOptions options = arguments.options;
  if (!options.repeats) options.repeats = kDefaultBlocks;
  if (*options.repeats < arguments.blocks_per_duel)
    throw Error(ExitCode::usage,
                fmt::format("expected at least {} trials each, enough for one comparison, found {}",
                            arguments.blocks_per_duel, *options.repeats),
                "--repeats");
  const Experiment experiment =
      experiment_with_twin(load_experiment(arguments.config, overrides_from(options)));
  const auto path = calibration_path(experiment.config, environment_of(experiment, options));
  if (!path)
    throw Error(ExitCode::usage, "expected a directory for the result, found none", "calibrate",
                "set HOME or XDG_CACHE_HOME");
  const std::filesystem::path directory =
      output_directory(options, experiment.config.name + "-calibration");
  const FinishedRun finished = run_duel(experiment, options, directory).finished;
  const Calibration calibration =
      calibrate(finished.run, settings_from_config(finished.run.config), arguments.blocks_per_duel);
  write_calibration(*path, calibration);
  if (!options.quiet) {
    print_fitted(describe(calibration));
    print(fmt::format("\ncalibration: {}\nReport: {}\n", escape_terminal(path->string()),
                      escape_terminal((directory / kReportFile).string())));
  }
  return 0;
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "calibrate", "compare the baseline with itself to find the noise floor",
               calibrate_config);
  verb->group(kCompareGroup);
  verb->footer(
      "Example:\n"
      "  memduel calibrate configs/quickstart.json --repeats 40\n"
      "\n"
      "An A/A test: only the baseline of CONFIG runs. Later runs of the same baseline in the "
      "same environment use the noise floor and the rate of false verdicts.");
  verb->add_option("CONFIG", arguments->config, "config of an experiment")->required();
  RunOptions& options = arguments->options;
  add_config_options(*verb, options);
  add_plan_options(*verb, options,
                   fmt::format("run both copies N times (default: {})", kDefaultBlocks));
  verb->add_option("--repeats-per-comparison", arguments->blocks_per_duel,
                   "judge comparisons of N trials each")
      ->check(CLI::Range(5, 100))
      ->capture_default_str()
      ->type_name("N")
      ->group(kHowOftenOptions);
  add_out(*verb, options);
  add_resume(*verb, options);
  add_quiet(*verb, options.quiet);
}

}  // namespace memduel::cli
