#include "fl/worker_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "data/load.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {

JsonFields::JsonFields(const nlohmann::json& object, std::string file, std::string path)
    : object_(object), file_(std::move(file)), path_(std::move(path)) {
  if (!object_.is_object())
    throw Error(ExitCode::usage,
                fmt::format("{}: found {}, expected an object", path_.empty() ? "root" : path_,
                            object_.type_name()),
                file_);
}

std::string JsonFields::place(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

void JsonFields::fail(const std::string& key, const std::string& what) const {
  throw Error(ExitCode::usage, fmt::format("{}: {}", place(key), what), file_);
}

const nlohmann::json& JsonFields::required(const std::string& key) {
  known_.insert(key);
  const auto found = object_.find(key);
  if (found == object_.end()) fail(key, "missing");
  return *found;
}

bool JsonFields::has(const std::string& key) {
  known_.insert(key);
  return object_.contains(key);
}

std::int64_t JsonFields::checked_integer(const nlohmann::json& value, const std::string& key,
                                         std::int64_t least) const {
  if (!value.is_number_integer() || value.get<std::int64_t>() < least)
    fail(key, fmt::format("found {}, expected a whole number of at least {}", value.dump(), least));
  return value.get<std::int64_t>();
}

std::int64_t JsonFields::integer(const std::string& key, std::int64_t least) {
  return checked_integer(required(key), key, least);
}

std::int64_t JsonFields::integer_or(const std::string& key, std::int64_t least,
                                    std::int64_t fallback) {
  return has(key) ? integer(key, least) : fallback;
}

double JsonFields::positive(const std::string& key) {
  const nlohmann::json& value = required(key);
  if (!value.is_number() || !(value.get<double>() > 0)) fail(key, not_above_zero(value.dump()));
  return value.get<double>();
}

std::string JsonFields::word(const std::string& key, const std::vector<std::string>& choices) {
  const auto value = get<std::string>(key);
  if (std::ranges::find(choices, value) == choices.end())
    fail(key, fmt::format("found \"{}\", expected {}", value, fmt::join(choices, ", ")));
  return value;
}

std::string JsonFields::word_or(const std::string& key, const std::vector<std::string>& choices,
                                const std::string& fallback) {
  return has(key) ? word(key, choices) : fallback;
}

JsonFields JsonFields::object(const std::string& key) {
  return {required(key), file_, place(key)};
}

void JsonFields::expect_no_more() const {
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (const auto& [key, value] : object_.items()) {
    if (known_.contains(key)) continue;
    fail(key, "unknown key; " +
                  nearest_advice(key, known, fmt::format("known are {}", fmt::join(known, ", "))));
  }
}

namespace {

DatasetConfig read_dataset(JsonFields fields) {
  DatasetConfig dataset;
  dataset.name = fields.word("name", {"mnist", "cifar10", "dummy-cifar10", "none"});
  if (fields.has("train_samples"))
    dataset.train_samples = static_cast<std::size_t>(fields.integer("train_samples", 1));
  if (fields.has("test_samples"))
    dataset.test_samples = static_cast<std::size_t>(fields.integer("test_samples", 1));
  dataset.seed = static_cast<std::uint64_t>(fields.integer_or("seed", 0, 42));
  dataset.partition = fields.word_or("partition", {"iid", "class_noniid", "dirichlet"}, "iid");
  if (fields.has("dirichlet_alpha")) dataset.dirichlet_alpha = fields.positive("dirichlet_alpha");
  fields.expect_no_more();
  return dataset;
}

TransportOptions read_transport(JsonFields fields) {
  TransportOptions transport;
  transport.kind = fields.word("kind", {"grpc", "unix"});
  transport.port = static_cast<int>(fields.integer_or("port", 0, 0));
  transport.max_message_bytes =
      static_cast<std::size_t>(fields.integer("max_message_bytes", 65536));
  fields.expect_no_more();
  return transport;
}

void read_training(JsonFields& fields, WorkloadConfig& workload) {
  workload.local_steps = static_cast<int>(fields.integer("local_steps", 1));
  workload.batch_size = static_cast<int>(fields.integer("batch_size", 1));
  workload.validation_batch_size =
      static_cast<int>(fields.integer_or("validation_batch_size", 1, workload.batch_size));
  workload.pre_validation = fields.get_or("pre_validation", false);
  workload.client_validation = fields.get_or("client_validation", false);
  workload.server_validation = fields.get_or("server_validation", true);
  JsonFields optimizer = fields.object("optimizer");
  workload.optimizer = optimizer.word("name", {"adam", "sgd"});
  workload.learning_rate = optimizer.positive("learning_rate");
  optimizer.expect_no_more();
}

void read_simulation(JsonFields& fields, WorkloadConfig& workload) {
  SimulationConfig& simulation = workload.simulation;
  simulation.clients_per_round = static_cast<int>(fields.integer("clients_per_round", 1));
  simulation.methods = fields.get<std::vector<std::string>>("methods");
  simulation.repeats = static_cast<int>(fields.integer("repeats", 1));
  simulation.local_epochs = static_cast<int>(fields.integer("local_epochs", 1));
  simulation.fast_mode = fields.get<bool>("fast_mode");
  simulation.parallel_clients = static_cast<int>(fields.integer("parallel_clients", -1));
  workload.dataset = read_dataset(fields.object("dataset"));
  workload.batch_size = static_cast<int>(fields.integer("batch_size", 1));
  workload.validation_batch_size =
      static_cast<int>(fields.integer_or("validation_batch_size", 1, workload.batch_size));
  workload.optimizer = "sgd";
  workload.learning_rate = fields.positive("learning_rate");
}

void read_graph_dataset(JsonFields fields, WorkloadConfig& workload) {
  DatasetConfig& dataset = workload.dataset;
  dataset.name = fields.word("name", {"can-generated", "can-log"});
  dataset.seed = static_cast<std::uint64_t>(fields.integer("seed", 0));
  GraphConfig& graph = workload.graph;
  if (dataset.name == "can-generated") {
    graph.graphs = static_cast<std::size_t>(fields.integer("graphs", kFewestGraphs));
  } else {
    graph.file = fields.get<std::string>("file");
    graph.attacks = fields.get<std::vector<std::string>>("attacks");
  }
  fields.expect_no_more();
}

void read_graph(JsonFields& fields, WorkloadConfig& workload) {
  const std::vector<std::string> classifiers = {"gat-large", "gat-small", "gat-old-teacher"};
  GraphConfig& graph = workload.graph;
  read_graph_dataset(fields.object("dataset"), workload);
  workload.model = fields.word("model", classifiers);
  graph.teacher = fields.word("teacher", classifiers);
  graph.autoencoder = fields.word("autoencoder", {"vgae-large", "vgae-small", "vgae-old-teacher"});
  graph.autoencoder_epochs = static_cast<int>(fields.integer("autoencoder_epochs", 1));
  graph.teacher_epochs = static_cast<int>(fields.integer("teacher_epochs", 1));
  graph.student_epochs = static_cast<int>(fields.integer("student_epochs", 1));
  workload.batch_size = static_cast<int>(fields.integer("batch_size", 1));
  if (fields.has("device_memory_bytes"))
    graph.device_memory_bytes = fields.positive("device_memory_bytes");
  workload.optimizer = "adam";
  workload.learning_rate = fields.positive("learning_rate");
}

void read_eeg_dataset(JsonFields fields, WorkloadConfig& workload) {
  DatasetConfig& dataset = workload.dataset;
  dataset.name = fields.word("name", {"synthetic-eeg", "edf"});
  dataset.train_samples = static_cast<std::size_t>(fields.integer("train_samples", 1));
  dataset.test_samples = static_cast<std::size_t>(fields.integer("test_samples", 1));
  dataset.seed = static_cast<std::uint64_t>(fields.integer("seed", 0));
  if (dataset.name == "edf")
    workload.fine_tuning.file = fields.get<std::string>("file");
  else
    workload.fine_tuning.channels = static_cast<int>(fields.integer("channels", 1));
  workload.fine_tuning.seconds = static_cast<int>(fields.integer("seconds", 1));
  fields.expect_no_more();
}

void read_eeg(JsonFields& fields, WorkloadConfig& workload) {
  FineTuningConfig& fine_tuning = workload.fine_tuning;
  read_eeg_dataset(fields.object("dataset"), workload);
  workload.model = fields.word("model", {"cbramod", "cbramod-small"});
  fine_tuning.trials = static_cast<int>(fields.integer("trials", 1));
  fine_tuning.epochs = static_cast<int>(fields.integer("epochs", 1));
  fine_tuning.patience = static_cast<int>(fields.integer("patience", 1));
  fine_tuning.learning_rates = fields.get<std::vector<double>>("learning_rates");
  if (fine_tuning.learning_rates.empty())
    fields.fail("learning_rates", "found none, expected one or more");
  fine_tuning.dropout = fields.get<double>("dropout");
  workload.batch_size = static_cast<int>(fields.integer("batch_size", 1));
}

void read_exchange(JsonFields& fields, WorkloadConfig& workload) {
  workload.weights = fields.word_or("weights", {"equal", "sample_size"}, "equal");
  workload.send_gradient = fields.word_or("send", {"weights", "gradient"}, "weights") == "gradient";
  workload.continue_without_lost_clients =
      fields.word_or("on_lost_client", {"fail", "continue"}, "fail") == "continue";
  workload.swarm = fields.word_or("topology", {"star", "swarm"}, "star") == "swarm";
  workload.transport = read_transport(fields.object("transport"));
  workload.transport.deadline_seconds = workload.deadline_seconds;
  if (fields.has("stall_seconds")) workload.stall_seconds = fields.positive("stall_seconds");
  if (workload.kind == "federated") {
    workload.dataset = read_dataset(fields.object("dataset"));
    read_training(fields, workload);
  } else {
    workload.dataset.name = "none";
    workload.server_validation = false;
    workload.state_bytes = fields.integer_or("state_bytes", 0, 0);
    if (fields.has("tensors")) workload.tensors = fields.get<nlohmann::json>("tensors");
  }
}

void read_clients(JsonFields& fields, WorkloadConfig& workload) {
  workload.model = fields.get<std::string>("model");
  workload.clients = static_cast<int>(fields.integer("clients", 1));
  workload.rounds = static_cast<int>(fields.integer("rounds", 1));
  if (workload.kind == "simulation")
    read_simulation(fields, workload);
  else
    read_exchange(fields, workload);
}

bool is_device(const std::string& name) {
  if (name == "cpu" || name == "cuda") return true;
  constexpr std::string_view kCudaPrefix = "cuda:";
  const std::string_view number =
      std::string_view(name).substr(std::min(name.size(), kCudaPrefix.size()));
  return name.starts_with(kCudaPrefix) && !number.empty() && number.size() <= 3 &&
         number.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string device_at(JsonFields& fields, const std::string& key) {
  auto name = fields.get_or<std::string>(key, "cpu");
  if (!is_device(name)) fields.fail(key, "found \"" + name + "\", expected cpu, cuda or cuda:N");
  return name;
}

/// One for all roles, or one for the server and one for its clients.
void read_devices(JsonFields& fields, WorkloadConfig& workload) {
  const auto given = fields.get_or<nlohmann::json>("device", "cpu");
  if (!given.is_object()) {
    workload.device = workload.server_device = device_at(fields, "device");
    return;
  }
  if (workload.kind != "federated" && workload.kind != "state-dict")
    fields.fail("device",
                "found an object, but one process does all the work: expected one device");
  JsonFields roles = fields.object("device");
  workload.server_device = device_at(roles, "server");
  workload.device = device_at(roles, "client");
  roles.expect_no_more();
}

WorkloadConfig read_workload(JsonFields fields) {
  WorkloadConfig workload;
  workload.kind = fields.word("kind", {"federated", "state-dict", "simulation", "graph", "eeg"});
  read_devices(fields, workload);
  workload.threads = static_cast<int>(fields.integer("threads", 1));
  workload.deadline_seconds = fields.positive("deadline_seconds");
  if (workload.kind == "graph")
    read_graph(fields, workload);
  else if (workload.kind == "eeg")
    read_eeg(fields, workload);
  else
    read_clients(fields, workload);
  fields.expect_no_more();
  return workload;
}

}  // namespace

WorkerConfig parse_worker_config(const nlohmann::json& json, const std::string& name) {
  JsonFields fields(json, name, "");
  WorkerConfig config;
  config.workload = read_workload(fields.object("workload"));
  config.optimizations = fields.get<nlohmann::json>("switches");
  config.seed = static_cast<std::uint64_t>(fields.integer("seed", 0));
  config.meters = fields.get<std::vector<std::string>>("meters");
  config.trial_dir = fields.get<std::string>("trial_dir");
  config.data_dir = fields.get<std::string>("data_dir");
  config.address_file = fields.get<std::string>("address_file");
  config.model_file = fields.get<std::string>("model_file");
  if (config.workload.kind == "graph") config.graph_file = fields.get<std::string>("graph_file");
  fields.expect_no_more();
  return config;
}

WorkerConfig load_worker_config(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false,
                                          /*ignore_comments=*/true);
  if (json.is_discarded()) throw Error(ExitCode::usage, "not valid JSON", path.string());
  return parse_worker_config(json, path.string());
}

}  // namespace memduel
