// memduel report DIR: the report of a finished or running duel in one of several formats.
#include <fmt/format.h>

#include <map>

#include "base/characters.h"
#include "base/file.h"
#include "base/run_directory.h"
#include "cli/finished_run.h"
#include "cli/print.h"
#include "cli/report_formats.h"
#include "cli/verbs.h"
#include "experiment/store/run_lock.h"
#include "reports/formats/html.h"

namespace memduel::cli {
namespace {

struct ReportArguments {
  std::string directory;
  std::string format = "html";
  bool confidential = false;
};

/// Numbers of blocks.
std::vector<int> looks_of(const FinishedRun& unfinished, const std::filesystem::path& directory) {
  const AnalysisSettings settings = settings_in(directory, unfinished.run);
  std::vector<int> blocks;
  for (const Look& look : planned_looks(unfinished.run, settings).looks)
    blocks.push_back(look.blocks);
  return blocks;
}

int report(const ReportArguments& arguments) {
  const WithSeries series = arguments.format == "html" ? WithSeries::yes : WithSeries::no;
  const FinishedRun finished = conclude(arguments.directory, {}, series);
  ReportOptions options;
  options.confidential = arguments.confidential;
  if (is_in_use(arguments.directory)) options.running = looks_of(finished, arguments.directory);
  ReportModel model = model_of(finished, options);
  if (arguments.format == "html") {
    prepare_page(model, finished, arguments.directory);
    const std::filesystem::path path = std::filesystem::path(arguments.directory) / kReportFile;
    write_file_atomically(path, render_html(model));
    print(escape_terminal(path.string()) + "\n");
    return 0;
  }
  print(render_report(arguments.format, model));
  return 0;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names = {"html"};
  for (const std::string& name : report_formats()) names.push_back(name);
  return names;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "report", "write the report of a run, also of one still going", report);
  verb->group("Look");
  verb->footer(
      "Example: memduel report runs/quickstart --format markdown >> \"$GITHUB_STEP_SUMMARY\"");
  verb->add_option("DIR", arguments->directory, "a run directory")->required();
  verb->add_option("--format", arguments->format,
                   "html writes DIR/report.html; the others go to stdout")
      ->check(CLI::IsMember(format_names()))
      ->capture_default_str();
  verb->add_flag("--confidential", arguments->confidential,
                 "leave out environment values, arguments, paths and log lines");
}

}  // namespace memduel::cli
