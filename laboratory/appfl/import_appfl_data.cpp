#include "laboratory/appfl/import_appfl_data.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.h"

namespace memduel {
namespace {

constexpr std::int64_t kMostSamples = 1'000'000'000;

struct DataSet {
  const char* appfl;
  const char* name;
  const char* difference;  ///< to APPFL's; empty: none
  std::int64_t train_samples;
};

constexpr std::array<DataSet, 3> kDataSets = {
    {{"get_mnist", "mnist",
      "of MNIST's 10,000 test images 8,000 train and 2,000 validate, where APPFL has 60,000 and "
      "10,000",
      60'000},
     {"get_cifar10", "cifar10",
      "CIFAR-10's first batch of 10,000 images trains, where APPFL has all five", 50'000},
     {"get_dummy_cifar10", "dummy-cifar10", "", 0}}};

void expect_client_numbers(AppflSources& sources, std::int64_t clients) {
  for (const auto& [file, value] : sources.each_client("data_configs.dataset_kwargs.client_id"))
    if (to_whole(value, 0, kMostClients) != static_cast<std::int64_t>(file))
      sources.lose(value, fmt::format("this file is client-{}: its share is the one of client_id "
                                      "{}, by the order of the files",
                                      file + 1, file));
  for (const auto& [file, value] : sources.each_client("data_configs.dataset_kwargs.num_clients"))
    if (to_whole(value, 1, kMostClients) != clients)
      sources.lose(value, fmt::format("the data is shared among the server's {} clients", clients));
}

/// The clients' data set, and where the first of them names it.
std::pair<DataSet, AppflValue> import_data_set(AppflSources& sources) {
  const auto names = sources.each_client("data_configs.dataset_name");
  if (names.empty()) sources.missing("data_configs.dataset_name", true);
  const AppflValue& name = names.begin()->second;
  for (const auto& [file, other] : names)
    if (other.text != name.text)
      throw Error(ExitCode::usage,
                  fmt::format("found \"{}\", and \"{}\" in {}, line {}", to_text(other),
                              to_text(name), name.file, name.line),
                  other.place(), "all clients must share one data set");
  sources.ignore("data_configs.dataset_path");
  std::vector<std::string> known;
  for (const DataSet& one : kDataSets) {
    if (to_text(name) == one.appfl) return {one, name};
    known.emplace_back(one.appfl);
  }
  refuse_value(name, known, "memduel replays these data sets of APPFL's examples");
}

void import_partition(AppflSources& sources, nlohmann::ordered_json& dataset) {
  const auto strategy = sources.client("data_configs.dataset_kwargs.partition_strategy");
  if (!strategy) return;
  const std::string& name = to_text(*strategy);
  if (name == "iid" || name == "class_noniid") {
    dataset["partition"] = name;
  } else if (name.starts_with("dirichlet")) {  // APPFL's get_mnist says dirichlet_nomiid
    dataset["partition"] = "dirichlet";
    if (const auto alpha = sources.client("data_configs.dataset_kwargs.alpha2"))
      dataset["dirichlet_alpha"] = to_positive(*alpha);
    sources.lose(*strategy,
                 "one Dirichlet draw per class, of alpha2; APPFL draws the clients' "
                 "sizes as well, of alpha1");
  } else {
    refuse_value(*strategy, {"iid", "class_noniid", "dirichlet_noniid"});
  }
}

}  // namespace

ImportedData import_appfl_data(AppflSources& sources, const std::string& model,
                               std::int64_t clients) {
  const auto [data, name] = import_data_set(sources);
  expect_client_numbers(sources, clients);
  const bool for_mnist = model == "mnist-cnn";
  if (for_mnist != (std::string_view(data.name) == "mnist"))
    throw Error(ExitCode::usage,
                fmt::format("found data set {}, which model {} of {} cannot read", data.name, model,
                            sources.server_file()),
                name.place());
  nlohmann::ordered_json dataset = {{"name", data.name}};
  if (std::string_view(data.name) == "dummy-cifar10") {
    const auto samples = sources.client("data_configs.dataset_kwargs.samples_per_client");
    const std::int64_t each = samples ? to_whole(*samples, 1, kMostSamples) : 64;
    dataset["train_samples"] = each;
    dataset["test_samples"] = 32;
    for (const auto& [file, value] :
         sources.each_client("data_configs.dataset_kwargs.partition_strategy"))
      sources.lose(value, "dummy data has no shares, as in APPFL");
    return {std::move(dataset), each * clients};
  }
  sources.lose(name, data.difference);
  import_partition(sources, dataset);
  return {std::move(dataset), data.train_samples};
}

}  // namespace memduel
