// memduel explain DIR ROLE.METRIC: how a verdict came about, in plain words with the numbers.
#include "cli/print.h"
#include "cli/verbs.h"
#include "finished_run.h"
#include "run_options.h"
#include "verdict/questions.h"

namespace memduel::cli {
namespace {

struct ExplainArguments {
  std::string directory;
  std::string row;
};

int explain_row(const ExplainArguments& arguments) {
  refuse_hyperfine_file("explain", arguments.directory);
  const FinishedRun finished = conclude(arguments.directory, {}, WithSeries::no);
  const std::string row = arguments.row.empty() ? worst_row(finished.results) : arguments.row;
  print_fitted(explain(finished.results, row));
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "explain", "explain how a verdict was reached", explain_row);
  verb->group(kReportGroup);
  verb->footer(
      "Examples:\n"
      "  memduel explain runs/quickstart\n"
      "  memduel explain runs/quickstart server.peak_rss_bytes");
  add_run_directory(*verb, arguments->directory);
  verb->add_option("ROLE.METRIC", arguments->row,
                   "row of the results (default: the worst that a gate judges)");
}

}  // namespace memduel::cli
