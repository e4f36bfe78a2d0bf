// memduel report DIR: the report of a finished or running duel in one of several formats.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "cli/print.h"
#include "cli/verbs.h"
#include "finished_run.h"
#include "model/run_directory.h"
#include "reports/pages.h"
#include "run/store.h"
#include "run_options.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

struct ReportArguments {
  std::string directory;
  std::optional<std::string> format;
  bool confidential = false;
  bool verbose = false;
};

/// Numbers of blocks.
std::vector<int> looks_of(const FinishedRun& unfinished, const std::filesystem::path& directory) {
  const AnalysisSettings settings = settings_in(directory, unfinished.run);
  std::vector<int> blocks;
  for (const Look& look : planned_looks(unfinished.run, settings).looks)
    blocks.push_back(look.blocks);
  return blocks;
}

/// A run recommends --verbose for what its summary leaves out, all of which is in the text.
std::string format_of(const ReportArguments& arguments) {
  if (!arguments.verbose) return arguments.format.value_or("html");
  if (arguments.format.value_or("text") == "text") return "text";
  throw Error(ExitCode::usage, "--verbose applies to text only: other formats contain everything",
              "--format " + *arguments.format, "omit one of the two");
}

int report(const ReportArguments& arguments) {
  refuse_hyperfine_file("report", arguments.directory);
  const std::string format = format_of(arguments);
  const WithSeries series = format == "html" ? WithSeries::yes : WithSeries::no;
  const FinishedRun finished = conclude(arguments.directory, {}, series);
  ReportOptions options;
  options.confidential = arguments.confidential;
  if (is_in_use(arguments.directory)) options.running = looks_of(finished, arguments.directory);
  ReportModel model = model_of(finished, options);
  if (format == "html") {
    prepare_page(model, finished, arguments.directory);
    const std::filesystem::path path = std::filesystem::path(arguments.directory) / kReportFile;
    write_file_atomically(path, render_html(model));
    print(escape_terminal(path.string()) + "\n");
    return 0;
  }
  print(render_report(format, model));
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
      add_verb(app, action, "report", "write the report of a run, finished or not", report);
  verb->group(kReportGroup);
  verb->footer(
      fmt::format("Examples:\n"
                  "  memduel report runs/quickstart\n"
                  "  memduel report runs/quickstart --format markdown >>$GITHUB_STEP_SUMMARY\n\n"
                  "FORMAT: html (written to DIR/report.html), or to stdout {}",
                  fmt::join(report_formats(), ", ")));
  add_run_directory(*verb, arguments->directory);
  verb->add_option("--format", arguments->format, "write the report in this format")
      ->check(CLI::IsMember(format_names()))
      ->type_name("FORMAT")
      ->default_str("html");
  verb->add_flag("--verbose", arguments->verbose, "print every table and note, as --format text");
  verb->add_flag("--confidential", arguments->confidential,
                 "omit environment values, arguments, paths and log lines");
}

}  // namespace memduel::cli
