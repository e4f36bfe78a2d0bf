// memduel list: what this build knows, by kind.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

#include "cli/print.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "config/experiment.h"
#include "config/provider.h"
#include "config_templates.h"
#include "external/tracers.h"
#include "fl.h"
#include "meters/meter_registry.h"
#include "model/metric_catalogue.h"
#include "model/metric_names.h"
#include "model/run_directory.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

std::string list_optimizations(const Catalog& catalog) {
  std::string text;
  for (const Optimization& optimization : catalog.optimizations) {
    text += fmt::format("{}: {}\n", optimization.name, optimization.summary);
    for (const OptimizationValue& value : optimization.values) {
      const std::string name =
          value.value.is_string() ? value.value.get<std::string>() : value.value.dump();
      const bool original = &value == &optimization.values.front();
      text += fmt::format("    {:<24} {}{}\n", name, value.summary, original ? " (original)" : "");
    }
  }
  return text;
}

std::string list_presets(const Catalog& catalog) {
  std::string text;
  for (const Preset& preset : catalog.presets)
    text += fmt::format("{:<18} {}\n", preset.name, preset.summary);
  return text;
}

/// Where there is a GPU, it is the worker that knows whether its LibTorch can use it.
Availability availability_of(const MeterEntry& meter) {
  Availability here = meter.works_here();
  if (meter.name != "cuda" || !here.works) return here;
  const auto fl = ask_fl_of_machine();
  if (!fl || fl->cuda) return here;
  return {false, fl->no_cuda};
}

constexpr std::size_t kIndent = 4;

std::string indented(const std::string& text) {
  return wrapped_help(std::string(kIndent, ' ') + text, kIndent);
}

std::string list_meters() {
  std::string text;
  for (const MeterEntry& meter : meters()) {
    const Availability here = availability_of(meter);
    const char* side = meter.kind == MeterKind::outside ? "outside" : "inside";
    text += wrapped_help(fmt::format("{} ({}): {}", meter.name, side, meter.summary), kIndent);
    const std::string way = here.how.empty() ? "" : ", " + here.how;
    text += indented("works here: " + (here.works ? "yes" + way : "no, " + here.why));
    text += indented("needs " + meter.needs);
    text += indented(fmt::format("metrics: {}", fmt::join(meter.metrics, ", ")));
  }
  return text;
}

std::string list_tracers() {
  std::string text;
  for (const TracerEntry& tracer : tracers()) {
    const std::string obstacle = obstacle_here(tracer, tracer.works_here());
    text += wrapped_help(fmt::format("{}: {}", tracer.name, tracer.summary), kIndent);
    text += indented(obstacle.empty() ? "works here" : "does not work here: " + obstacle);
    text += indented(fmt::format(
        "needs {}; writes .{}{}",
        tracer.package.empty()  ? "nothing"
        : tracer.records_python ? "the package " + tracer.package + " in the program's own Python"
                                : "Debian's package " + tracer.package,
        tracer.extension, tracer.dumps_rounds ? ", one more per round" : ""));
    if (!tracer.allocator.empty())
      text +=
          indented(fmt::format("the program runs with {} while it is profiled", tracer.allocator));
    text += indented(tracer.limits);
  }
  return text;
}

std::string list_metrics() {
  std::string text;
  for (const MetricInfo& metric : all_metrics()) {
    const std::string margin = metric.scale == Scale::logarithm
                                   ? fmt::format("{:g}% or {}", metric.relative_margin * 100,
                                                 format_metric(metric.name, metric.absolute_margin))
                                   : format_metric(metric.name, metric.absolute_margin);
    const std::string short_name = short_name_of_metric(metric.name);
    text += metric.name;
    if (short_name != metric.name) text += " or " + short_name;
    text += fmt::format("\n    {} ({} is better, margin {})\n", metric.summary,
                        to_name(metric.better), margin);
  }
  return text;
}

using List = std::function<std::string(const Catalog&)>;

const std::map<std::string, List>& lists() {
  const auto of_build = [](std::string (*list)()) {
    return [list](const Catalog&) { return list(); };
  };
  static const std::map<std::string, List> kLists = {
      {"switches", list_optimizations},    {"presets", list_presets},
      {"meters", of_build(list_meters)},   {"profilers", of_build(list_tracers)},
      {"metrics", of_build(list_metrics)}, {"templates", of_build(list_templates)},
  };
  return kLists;
}

/// Of all kinds of workload that have no provider of their own.
Catalog catalog_of_fl() {
  if (!find_fl())
    throw Error(ExitCode::cannot_measure,
                "memduel-fl, which has switches and presets, is not installed", "",
                "name a CONFIG with a workload plug-in that has them: docs/providers.md");
  return ask_whole_catalogue({{kDefaultProvider}, ".", ""}, ask_program);
}

/// What memduel-fl lists itself.
constexpr const char* kListsOfFl[] = {"datasets", "models"};

struct ListArguments {
  std::string what;
  std::string config;
  std::string named_template;
};

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const auto& [name, print_list] : lists()) names.push_back(name);
  names.insert(names.end(), std::begin(kListsOfFl), std::end(kListsOfFl));
  std::ranges::sort(names);
  return names;
}

int list(const ListArguments& arguments) {
  if (!arguments.named_template.empty()) {
    if ((!arguments.what.empty() && arguments.what != "templates") || !arguments.config.empty())
      throw Error(ExitCode::usage, "expected no other list beside a template", "--template",
                  "memduel list --template NAME prints one template");
    print(template_text(arguments.named_template));
    return 0;
  }
  if (arguments.what.empty()) {
    print_fitted(
        fmt::format("memduel list KIND, where KIND is one of\n  {}\n", fmt::join(kinds(), "\n  ")));
    return 0;
  }
  const bool of_catalogue = arguments.what == "switches" || arguments.what == "presets";
  if (arguments.config.empty()) {
    if (!lists().contains(arguments.what)) return list_of_fl(arguments.what);
    print_fitted(lists().at(arguments.what)(of_catalogue ? catalog_of_fl() : Catalog{}));
    return 0;
  }
  if (!of_catalogue)
    throw Error(ExitCode::usage, "expected no config for a list of " + arguments.what,
                arguments.config, "a config lists switches and presets only");
  const Experiment experiment = load_experiment(arguments.config);
  print_fitted(
      lists().at(arguments.what)(experiment.expansion ? experiment.expansion->catalog : Catalog{}));
  return 0;
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "list", "list meters, metrics, profilers, switches and more", list);
  verb->group(kSetupGroup);
  verb->footer(
      "Examples:\n"
      "  memduel list meters\n"
      "  memduel list --template flower-server > my-flower.json\n"
      "  memduel list switches examples/provider/pool.json");
  verb->add_option("KIND", arguments->what, fmt::format("{}", fmt::join(kinds(), ", ")))
      ->check(CLI::IsMember(kinds()));
  verb->add_option("CONFIG", arguments->config,
                   "list the switches or presets of this config's plug-in");
  verb->add_option("--template", arguments->named_template,
                   "print this config to begin with, of memduel list templates")
      ->type_name("NAME");
}

}  // namespace memduel::cli
