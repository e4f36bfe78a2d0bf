#include "experiment/import_appfl_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace memduel {
namespace {

using nlohmann::ordered_json;

// The schema's bounds, so that a value out of them is refused where it stands in the YAML.
constexpr std::int64_t kMostRounds = 1'000'000;
constexpr std::int64_t kMostClients = 256;
constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr std::int64_t kLeastMessage = 65'536;
constexpr std::int64_t kMostMessage = 2'147'483'647;

/// APPFL waits so long for one call; a round has one.
constexpr std::int64_t kSecondsPerRound = 3600;
constexpr std::int64_t kMostSeconds = 86'400;

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

void expect(AppflSources& sources, const std::optional<AppflValue>& value,
            const std::vector<std::string>& same, const std::string& otherwise) {
  if (!value) return;
  if (std::find(same.begin(), same.end(), to_text(*value)) == same.end())
    sources.lose(*value, otherwise);
}

/// A flag that has to be off, with settings that matter only where it is on.
void expect_off(AppflSources& sources, const std::string& flag,
                const std::vector<std::string>& details, const std::string& why) {
  const auto value = sources.shared(flag);
  if (value && to_flag(*value)) {
    sources.lose(*value, why);
    return;
  }
  for (const std::string& detail : details) {
    sources.ignore("client_configs." + detail);
    sources.ignore(detail);
  }
}

// ---- clients, rounds -------------------------------------------------------------------------

std::int64_t import_clients(AppflSources& sources) {
  std::optional<AppflValue> stated;
  for (const char* const key :
       {"server_configs.num_clients", "server_configs.scheduler_kwargs.num_clients",
        "server_configs.aggregator_kwargs.num_clients"}) {
    const auto value = sources.server(key);
    if (value && stated && to_whole(*value, 1, kMostClients) != to_whole(*stated, 1, kMostClients))
      throw Error(ExitCode::usage,
                  fmt::format("found {} clients, and {} in line {}", *value->text, *stated->text,
                              stated->line),
                  value->place());
    if (!stated) stated = value;
  }
  const auto files = static_cast<std::int64_t>(sources.client_files());
  const std::int64_t clients = stated ? to_whole(*stated, 1, kMostClients) : files;
  if (files != 1 && files != clients)
    throw Error(ExitCode::usage,
                fmt::format("found {} clients, and {} client files", clients, files),
                stated ? stated->place() : sources.server_file(),
                "give one file for each client, or one that stands for all");
  return clients;
}

std::int64_t import_rounds(AppflSources& sources) {
  const auto rounds = sources.server("server_configs.num_global_epochs");
  if (!rounds) sources.missing("server_configs.num_global_epochs");
  return to_whole(*rounds, 1, kMostRounds);
}

// ---- model -----------------------------------------------------------------------------------

std::int64_t model_number(AppflSources& sources, const AppflValue& model, const std::string& name) {
  const auto value = sources.shared("model_configs.model_kwargs." + name);
  if (!value)
    throw Error(ExitCode::usage, fmt::format("model CNN needs model_kwargs.{}", name),
                model.place());
  return to_whole(*value, 1, 1'000'000);
}

std::string import_cnn(AppflSources& sources, const AppflValue& model) {
  const std::int64_t channels = model_number(sources, model, "num_channel");
  const std::int64_t pixels = model_number(sources, model, "num_pixel");
  if (channels == 1 && pixels == 28) return "mnist-cnn";
  if (channels == 3 && pixels == 32) return "cifar-cnn";
  throw Error(ExitCode::usage,
              fmt::format("found a CNN for {} channels of {} pixels, expected 1 of 28 (MNIST) or 3 "
                          "of 32 (CIFAR-10)",
                          channels, pixels),
              model.place());
}

void expect_ten_classes(AppflSources& sources) {
  const auto classes = sources.shared("model_configs.model_kwargs.num_classes");
  if (classes && to_whole(*classes, 1, 1'000'000) != 10)
    throw Error(ExitCode::usage, fmt::format("found {} classes, expected 10", *classes->text),
                classes->place());
}

AppflValue model_name(AppflSources& sources) {
  auto model = sources.shared("model_configs.model_name");
  if (!model) sources.missing("client_configs.model_configs.model_name");
  sources.ignore("client_configs.model_configs.model_path");
  sources.ignore("model_configs.model_path");
  return *model;
}

std::string import_network(AppflSources& sources) {
  const AppflValue model = model_name(sources);
  expect_ten_classes(sources);
  if (to_text(model) == "CNN") return import_cnn(sources, model);
  if (to_text(model) == "ResNet18") return "resnet18";
  refuse_value(model, {"CNN", "ResNet18"}, "memduel replays these models of APPFL's examples");
}

/// A language model is a table of shapes here: carried, not trained.
ordered_json import_language_model(AppflSources& sources) {
  constexpr const char* kLlama = "meta-llama/Llama-3.1-8B";
  constexpr const char* kOurs = "llama-3.1-8b";
  constexpr std::int64_t kScaledTo = std::int64_t{1} << 30;
  const AppflValue model = model_name(sources);
  if (to_text(model) == "load_hf_llm") {
    const auto which = sources.shared("model_configs.model_kwargs.model_name");
    if (!which) sources.missing("client_configs.model_configs.model_kwargs.model_name");
    if (to_text(*which) != kLlama)
      refuse_value(*which, {kLlama}, "memduel carries the shapes of this language model");
    sources.lose(*which, "scaled to 1 GiB of 32-bit floats; workload.state_bytes sets it");
    return {{"model", kOurs}, {"state_bytes", kScaledTo}};
  }
  return {{"model", import_network(sources)}};
}

// ---- data ------------------------------------------------------------------------------------

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

const DataSet& import_data_set_name(AppflSources& sources, AppflValue& name) {
  const auto names = sources.each_client("data_configs.dataset_name");
  if (names.empty()) sources.missing("data_configs.dataset_name", true);
  name = names.begin()->second;
  for (const auto& [file, other] : names)
    if (other.text != name.text)
      throw Error(ExitCode::usage,
                  fmt::format("found \"{}\", and \"{}\" in {}, line {}", to_text(other),
                              to_text(name), name.file, name.line),
                  other.place(), "all clients must share one data set");
  sources.ignore("data_configs.dataset_path");
  std::vector<std::string> known;
  for (const DataSet& one : kDataSets) {
    if (to_text(name) == one.appfl) return one;
    known.emplace_back(one.appfl);
  }
  refuse_value(name, known, "memduel replays these data sets of APPFL's examples");
}

void import_partition(AppflSources& sources, ordered_json& dataset) {
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

/// @param train_samples receives how many of them APPFL has over all clients.
ordered_json import_data(AppflSources& sources, const std::string& model, std::int64_t clients,
                         std::int64_t& train_samples) {
  AppflValue name;
  const DataSet& data = import_data_set_name(sources, name);
  expect_client_numbers(sources, clients);
  const bool for_mnist = model == "mnist-cnn";
  if (for_mnist != (std::string_view(data.name) == "mnist"))
    throw Error(ExitCode::usage,
                fmt::format("found data set {}, which model {} of {} cannot read", data.name, model,
                            sources.server_file()),
                name.place());
  ordered_json dataset = {{"name", data.name}};
  train_samples = data.train_samples;
  if (std::string_view(data.name) == "dummy-cifar10") {
    const auto samples = sources.client("data_configs.dataset_kwargs.samples_per_client");
    const std::int64_t each = samples ? to_whole(*samples, 1, kMostSamples) : 64;
    dataset["train_samples"] = each;
    dataset["test_samples"] = 32;
    train_samples = each * clients;
    for (const auto& [file, value] :
         sources.each_client("data_configs.dataset_kwargs.partition_strategy"))
      sources.lose(value, "dummy data has no shares, as in APPFL");
    return dataset;
  }
  sources.lose(name, data.difference);
  import_partition(sources, dataset);
  return dataset;
}

// ---- training --------------------------------------------------------------------------------

std::int64_t import_batch(AppflSources& sources, const std::string& key) {
  constexpr std::int64_t kAppflDefault = 32;
  const auto value = sources.shared("train_configs." + key);
  return value ? to_whole(*value, 1, 1'000'000) : kAppflDefault;
}

std::int64_t import_local_steps(AppflSources& sources, std::int64_t samples_per_client,
                                std::int64_t batch) {
  constexpr std::int64_t kMost = 1'000'000;
  const auto mode = sources.shared("train_configs.mode");
  if (mode && to_text(*mode) == "epoch") {
    const auto epochs = sources.shared("train_configs.num_local_epochs");
    if (!epochs) sources.missing("client_configs.train_configs.num_local_epochs");
    const std::int64_t each = std::max<std::int64_t>((samples_per_client + batch - 1) / batch, 1);
    const std::int64_t count = to_whole(*epochs, 1, kMost);
    if (count > kMost / each)
      throw Error(
          ExitCode::usage,
          fmt::format("found {} epochs of {} steps, expected at most {} steps", count, each, kMost),
          epochs->place());
    const std::int64_t steps = count * each;
    sources.lose(*epochs, fmt::format("replayed as {} steps, of an equal share of {} samples",
                                      steps, samples_per_client));
    return steps;
  }
  if (mode && to_text(*mode) != "step") refuse_value(*mode, {"step", "epoch"});
  const auto steps = sources.shared("train_configs.num_local_steps");
  if (!steps) sources.missing("client_configs.train_configs.num_local_steps");
  return to_whole(*steps, 1, kMost);
}

ordered_json import_optimizer(AppflSources& sources) {
  ordered_json optimizer = {{"name", "adam"}};
  if (const auto name = sources.shared("train_configs.optim")) {
    if (to_text(*name) == "SGD") optimizer["name"] = "sgd";
    expect(sources, name, {"Adam", "SGD"}, "replayed as Adam; adam and sgd are known");
  }
  // torch's defaults where APPFL's files give none.
  optimizer["learning_rate"] = optimizer.at("name") == "sgd" ? 0.01 : 0.001;
  if (const auto rate = sources.shared("train_configs.optim_args.lr"))
    optimizer["learning_rate"] = to_positive(*rate);
  return optimizer;
}

bool flag_of(AppflSources& sources, const std::string& key) {
  const auto value = sources.shared("train_configs." + key);
  return value && to_flag(*value);
}

/// What memduel does in one way only.
void expect_one_way_of_training(AppflSources& sources) {
  expect(sources, sources.shared("train_configs.loss_fn_name"), {"CELoss"},
         "cross-entropy is used");
  expect(sources, sources.shared("train_configs.loss_fn"), {"CrossEntropyLoss"},
         "cross-entropy is used");
  expect(sources, sources.shared("train_configs.metric_name"), {"accuracy"}, "accuracy is used");
  for (const char* const key : {"train_configs.loss_fn_path", "train_configs.metric_path"}) {
    sources.ignore(std::string("client_configs.") + key);
    sources.ignore(key);
  }
  expect_off(sources, "train_configs.use_dp", {"train_configs.epsilon"},
             "no differential privacy here");
  expect_off(sources, "train_configs.clip_grad",
             {"train_configs.clip_value", "train_configs.clip_norm"}, "gradients are not clipped");
  if (const auto shuffle = sources.shared("train_configs.train_data_shuffle"))
    if (!to_flag(*shuffle)) sources.lose(*shuffle, "training samples are always shuffled");
  if (const auto shuffle = sources.shared("train_configs.val_data_shuffle"))
    if (to_flag(*shuffle)) sources.lose(*shuffle, "validation samples are never shuffled");
}

void add_training(AppflSources& sources, ordered_json& workload) {
  const std::string model = import_network(sources);
  const std::int64_t clients = workload.at("clients");
  std::int64_t samples = 0;
  workload["model"] = model;
  workload["dataset"] = import_data(sources, model, clients, samples);
  const std::int64_t batch = import_batch(sources, "train_batch_size");
  workload["local_steps"] = import_local_steps(sources, samples / clients, batch);
  workload["batch_size"] = batch;
  workload["validation_batch_size"] = import_batch(sources, "val_batch_size");
  workload["pre_validation"] = flag_of(sources, "do_pre_validation");
  workload["client_validation"] = flag_of(sources, "do_validation");
  const auto at_server = sources.server("server_configs.do_validation");
  workload["server_validation"] = at_server && to_flag(*at_server);
  workload["send"] = flag_of(sources, "send_gradient") ? "gradient" : "weights";
  workload["optimizer"] = import_optimizer(sources);
  expect_one_way_of_training(sources);
}

// ---- server and transport --------------------------------------------------------------------

std::string import_weights(AppflSources& sources) {
  const auto mode = sources.server("server_configs.aggregator_kwargs.client_weights_mode");
  if (!mode) return "equal";
  if (to_text(*mode) != "equal" && to_text(*mode) != "sample_size")
    refuse_value(*mode, {"equal", "sample_size"});
  return *mode->text;
}

void expect_one_way_of_serving(AppflSources& sources) {
  expect(sources, sources.server("server_configs.scheduler"), {"SyncScheduler"},
         "replayed as SyncScheduler: the server waits for all clients");
  expect(sources, sources.server("server_configs.aggregator"), {"FedAvgAggregator"},
         "replayed as FedAvgAggregator");
  if (const auto same = sources.server("server_configs.scheduler_kwargs.same_init_model"))
    if (!to_flag(*same)) sources.lose(*same, "all clients start from the same model");
  expect(sources, sources.server("server_configs.device"), {"cpu"}, "replayed on the CPU");
  expect(sources, sources.shared("train_configs.device"), {"cpu"}, "replayed on the CPU");
  for (const AppflValue& ssl : sources.ending_with("use_ssl"))
    if (to_flag(ssl)) sources.lose(ssl, "the roles of a trial talk without TLS");
}

ordered_json import_transport(AppflSources& sources) {
  constexpr std::int64_t kAppflDefault = 2 * 1024 * 1024;
  const std::string key = "comm_configs.grpc_configs.max_message_size";
  const auto bounded = [](const AppflValue& value) {
    return to_whole(value, kLeastMessage, kMostMessage);
  };
  const auto at_server = sources.server("server_configs." + key);
  const auto at_clients = sources.client(key);
  const std::int64_t used = at_server ? bounded(*at_server) : kAppflDefault;
  if (at_clients && bounded(*at_clients) != used)
    sources.lose(*at_clients, fmt::format("both sides have one limit: the server's {}", used));
  return {{"kind", "grpc"}, {"max_message_bytes", used}};
}

/// Whether anything is trained at all.
bool is_training(AppflSources& sources) {
  const auto trainer = sources.shared("train_configs.trainer");
  if (trainer && to_text(*trainer) == "LLMDummyTrainer") return false;
  expect(sources, trainer, {"VanillaTrainer"}, "replayed as VanillaTrainer");
  return true;
}

}  // namespace

ordered_json import_appfl_workload(AppflSources& sources) {
  const bool training = is_training(sources);
  ordered_json workload = {{"kind", training ? "federated" : "state-dict"}};
  workload["clients"] = import_clients(sources);
  workload["rounds"] = import_rounds(sources);
  if (training) {
    add_training(sources, workload);
  } else {
    workload.update(import_language_model(sources));
    for (const AppflValue& value : sources.below("data_configs"))
      sources.lose(value, "carried without training: no data is read");
  }
  expect_one_way_of_serving(sources);
  workload["weights"] = import_weights(sources);
  workload["transport"] = import_transport(sources);
  workload["deadline_seconds"] =
      std::min(kMostSeconds, kSecondsPerRound * workload.at("rounds").get<std::int64_t>());
  return workload;
}

}  // namespace memduel
