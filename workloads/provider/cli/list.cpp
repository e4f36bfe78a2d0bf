// memduel list datasets|models: what memduel-fl knows beside its switches.
#include <fmt/format.h>

#include <memory>

#include "cli/print.h"
#include "fl_commands.h"
#include "kdgat/graph_models.h"
#include "provider/datasets.h"
#include "provider/worker_program.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

std::string list_datasets() {
  std::string text;
  for (const Dataset& dataset : known_datasets())
    text += fmt::format("{:<16} {}\n                 {}\n", dataset.name, dataset.summary,
                        whereabouts(dataset, data_directories(std::nullopt)));
  return text;
}

std::string list_models() {
  const auto worker = find_worker();
  if (!worker)
    throw Error(ExitCode::cannot_measure,
                "this build has no memduel-worker, which contains the models", "",
                "build preset release");
  const nlohmann::json known = describe_worker(*worker);
  std::string text;
  for (const nlohmann::json& model : known.at("models"))
    text +=
        fmt::format("{:<16} {} parameters, a state of {}\n", model.at("name").get<std::string>(),
                    model.at("parameters").get<std::int64_t>(),
                    format_bytes(model.at("state_bytes").get<double>()));
  for (const GraphModel& model : graph_models())
    text += fmt::format("{:<16} {} parameters with {} identifiers, for graphs\n", model.name,
                        parameter_count(model), kPublishedIdentifiers);
  return text;
}

}  // namespace

void add_fl_list(CLI::App& app, Action& action) {
  auto what = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("list", "list data sets or models");
  verb->group(kFlGroup);
  verb->footer("Example:\n  memduel list datasets");
  verb->add_option("KIND", *what, "datasets or models")
      ->required()
      ->check(CLI::IsMember({"datasets", "models"}));
  verb->callback([what, &action] {
    action = [what] {
      print_fitted(*what == "models" ? list_models() : list_datasets());
      return 0;
    };
  });
}

}  // namespace memduel::cli
