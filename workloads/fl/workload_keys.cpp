#include "fl/workload_keys.h"

#include <algorithm>
#include <utility>

#include "model/keys.h"
#include "model/validate.h"

namespace memduel {

const Keys<TransportOptions>& keys_of(const TransportOptions*);
const Keys<OptimizerConfig>& keys_of(const OptimizerConfig*);

namespace {

using nlohmann::json;
using Data = DatasetConfig;
using Work = WorkloadConfig;
using DatasetKeys = Keys<Data>;
using WorkloadKeys = Keys<Work>;

/// The forms of an object, each with a table: the text of one of its keys says which it has.
template <typename S>
struct Forms {
  std::string definition;
  const char* key;
  std::string S::* chosen;
  const char* text;  ///< of the key
  std::vector<std::pair<std::string, const Keys<S>*>> tables;

  [[nodiscard]] Schema schema(Schema& definitions) const {
    Schema names = Schema::array();
    Schema branches = Schema::array();
    for (const auto& [name, keys] : tables) {
      names.push_back(name);
      branches.push_back({{"if", {{"properties", {{key, {{"const", name}}}}}}},
                          {"then", keys->schema(definitions)}});
    }
    definitions[definition] = {{"type", "object"},
                               {"required", {key}},
                               {"properties", {{key, {{"enum", names}, {"description", text}}}}},
                               {"allOf", branches}};
    return {{"$ref", "#/definitions/" + definition}};
  }

  void read(const json& value, S& into) const {
    const std::string name = value.at(key);
    const auto table = std::ranges::find(tables, name, [](const auto& one) { return one.first; });
    into = table->second->defaults();
    into.*chosen = name;
    table->second->read(value, into);
  }
};

/// The table of one form.
template <typename S>
Keys<S> form(const char* definition, const char* key, const char* name, S defaults) {
  return Keys<S>(definition, {{"required", {key}}}, std::move(defaults))
      .judged(key, Schema{{"const", name}}.dump().c_str());
}

Schema choices(std::initializer_list<const char*> names) {
  return {{"enum", std::vector<std::string>(names.begin(), names.end())}};
}

const Schema kPositive = {{"exclusiveMinimum", 0}};
const Schema kThreads = range(1, 256);
const Schema kSamples = range(1, 10'000'000);
const Schema kBatch = range(1, 1'000'000);
const Schema kSeconds = range(1, 600);
const Schema kFromZero = {{"minimum", 0}};
const Schema kFileName = {{"minLength", 1}};
const Schema kRounds = range(1, kMostRounds);
const Schema kEpochs = range(1, 10'000);
const Schema kGraphClassifiers = choices({"gat-large", "gat-small", "gat-old-teacher"});

/// A choice of two words; the member says whether it is the second.
Key<Work> either(const char* name, bool Work::* member, const char* no, const char* yes,
                 Schema limits) {
  const auto presence =
      limits.contains("default") ? KeyPresence::with_default : KeyPresence::optional;
  Schema own = choices({no, yes});
  own.update(limits);
  return {name,
          presence,
          [own = std::move(own)](Schema&) { return own; },
          [=](const json& value, Work& into) { into.*member = value == yes; },
          {}};
}

constexpr const char* kCpu = "cpu";

void read_device(const json& value, Work& into) {
  const auto of = [&](const char* role) {
    return value.is_object() ? value.value(role, kCpu) : value.get<std::string>();
  };
  into.server_device = of("server");
  into.device = of("client");
}

/// @param by_role the server and the clients may have one each
Key<Work> device_key(bool by_role) {
  Schema schema = {{"type", "string"},
                   {"pattern", "^(cpu|cuda(:[0-9]{1,3})?)$"},
                   {"default", kCpu},
                   {"description",
                    "Device of models, batches and optimizers: cpu, cuda (the first GPU) or "
                    "cuda:N, counted from 0. See docs/gpu.md."}};
  if (by_role) {
    schema["properties"] = {{"server", schema}, {"client", schema}};
    schema["additionalProperties"] = false;
    schema["type"] = {"string", "object"};
    schema["description"] =
        "Device of all roles (cpu, cuda or cuda:N), or one device for the server and one for the "
        "clients. See docs/gpu.md.";
  }
  return {"device", KeyPresence::with_default, [=](Schema&) { return schema; }, read_device, {}};
}

void add_threads(WorkloadKeys& keys) {
  keys.with_default("threads", &Work::threads,
                    "Threads of each role. The order of reductions depends on it, so results are "
                    "bit-identical only for the same number.",
                    kThreads);
}

void add_end(WorkloadKeys& keys) {
  Schema seed = {{"type", "integer"}};
  seed.update(range(0, kMostSeed));
  seed["description"] =
      "Seed of models and data, and value of {seed}; the same in all variants and trials. Default: "
      "measure.seed if it is set, else 1.";
  keys.judged("seed", seed.dump().c_str())
      .with_default("deadline_seconds", &Work::deadline_seconds,
                    "Seconds after which a trial that still runs fails.", kPositive);
}

Key<Work> dataset_key(const Forms<Data>& forms, const json& absent = nullptr) {
  return {"dataset",
          absent.is_null() ? KeyPresence::required : KeyPresence::with_default,
          [=](Schema& definitions) {
            Schema schema = forms.schema(definitions);
            if (!absent.is_null()) schema["default"] = absent;
            return schema;
          },
          [=](const json& value, Work& into) { forms.read(value, into.dataset); },
          {}};
}

// The data sets.

const DatasetKeys& generated_graphs() {
  static const DatasetKeys keys =
      form("generated_graphs", "name", "can-generated", Data{})
          .with_default("graphs", &Data::graphs,
                        "Number of graphs. The first 1,000 contain no attack.",
                        range(kFewestGraphs, 10'000'000))
          .with_default("seed", &Data::seed,
                        "Seed of the traffic and of the split into training and validation.",
                        kFromZero);
  return keys;
}

const DatasetKeys& log_graphs() {
  static const DatasetKeys keys =
      form("log_graphs", "name", "can-log", Data{})
          .required("file", &Data::file,
                    "Recording in a data directory: output of candump -l, or CSV or text of HCRL.",
                    kFileName)
          .with_default("attacks", &Data::attacks,
                        "Attacks to simulate. The data contains the recording once unchanged and "
                        "once with each attack.",
                        {{"uniqueItems", true}, {"items", choices({"dos", "fuzzy", "spoofing"})}})
          .with_default("seed", &Data::seed,
                        "Seed of the attacks and of the split into training and validation.",
                        kFromZero);
  return keys;
}

Data eeg_samples() {
  Data dataset;
  dataset.train_samples = 256;
  dataset.test_samples = 64;
  return dataset;
}

void add_eeg_samples(DatasetKeys& keys) {
  keys.with_default("train_samples", &Data::train_samples, "Number of EEG epochs for training.",
                    kSamples)
      .with_default("test_samples", &Data::test_samples,
                    "Number of EEG epochs for the score after each training epoch.", kSamples);
}

const DatasetKeys& synthetic_eeg() {
  static const DatasetKeys keys = [] {
    DatasetKeys made = form("synthetic_eeg", "name", "synthetic-eeg", eeg_samples());
    add_eeg_samples(made);
    return made.with_default("channels", &Data::channels, "Number of channels.", range(1, 640))
        .with_default("seconds", &Data::seconds,
                      "Seconds of each EEG epoch, at 200 Hz; one patch per second.", kSeconds)
        .with_default("seed", &Data::seed, "Seed of the signals.", kFromZero);
  }();
  return keys;
}

const DatasetKeys& recorded_eeg() {
  static const DatasetKeys keys = [] {
    DatasetKeys made = form("recorded_eeg", "name", "edf", eeg_samples());
    made.required("file", &Data::file,
                  "Recording at 200 Hz in a data directory, with the annotations \"Sleep stage "
                  "W\", N1, N2, N3 and R.",
                  kFileName);
    add_eeg_samples(made);
    return made
        .with_default("seconds", &Data::seconds, "Seconds of each EEG epoch; one patch per second.",
                      kSeconds)
        .with_default("seed", &Data::seed, "Seed of the split into training and validation.",
                      kFromZero);
  }();
  return keys;
}

constexpr const char* kDatasetText = "Data set; memduel list datasets describes them.";

}  // namespace

/// Of images; those of graphs and of EEG have forms.
const DatasetKeys& keys_of(const DatasetConfig*) {
  static const DatasetKeys keys =
      DatasetKeys("dataset")
          .required("name", &Data::name, kDatasetText,
                    choices({"mnist", "cifar10", "dummy-cifar10"}))
          .optional("train_samples", &Data::train_samples,
                    "Training samples of all clients together; in a dummy data set, of each "
                    "client. Default: all.",
                    range(1, 1'000'000'000))
          .optional("test_samples", &Data::test_samples, "Test samples. Default: all.",
                    range(1, 1'000'000'000))
          .with_default("seed", &Data::seed, "Seed of the split into training and validation.",
                        kFromZero)
          .with_default("partition", &Data::partition,
                        "How the training samples are divided among the clients.",
                        choices({"iid", "class_noniid", "dirichlet"}))
          .with_default("dirichlet_alpha", &Data::dirichlet_alpha,
                        "Concentration parameter of partition dirichlet; small values make clients "
                        "differ more.",
                        kPositive);
  return keys;
}

const Keys<TransportOptions>& keys_of(const TransportOptions*) {
  static const Keys<TransportOptions> keys =
      Keys<TransportOptions>("transport")
          .with_default("kind", &TransportOptions::kind,
                        "How server and clients communicate: grpc, or unix for Unix sockets.",
                        choices({"grpc", "unix"}))
          .with_default("port", &TransportOptions::port,
                        "Port of the server, for grpc. 0: any free port.", range(0, 65535))
          .with_default("max_message_bytes", &TransportOptions::max_message_bytes,
                        "Largest message, in bytes.", range(65536, 2147483647));
  return keys;
}

const Keys<OptimizerConfig>& keys_of(const OptimizerConfig*) {
  static const Keys<OptimizerConfig> keys =
      Keys<OptimizerConfig>("optimizer")
          .with_default("name", &OptimizerConfig::name, "Optimizer.", choices({"adam", "sgd"}))
          .with_default("learning_rate", &OptimizerConfig::learning_rate, "Learning rate.",
                        kPositive);
  return keys;
}

// The kinds of workload.

namespace {

/// Of an optimizer that the kind of workload settles.
Keys<OptimizerConfig> rate_of(const OptimizerConfig& optimizer, const char* text) {
  return Keys<OptimizerConfig>("rate", Schema::object(), optimizer)
      .with_default("learning_rate", &OptimizerConfig::learning_rate, text, kPositive);
}

const Schema kImageModels =
    choices({"mnist-cnn", "cifar-cnn", "resnet18", "csfl-cnn", "csfl-light-cnn"});
constexpr const char* kModelText = "Model; memduel list models describes them.";

void add_rounds(WorkloadKeys& keys) {
  keys.with_default("clients", &Work::clients, "Number of clients.", range(1, 256))
      .with_default("rounds", &Work::rounds, "Number of rounds.", kRounds);
}

void add_exchange(WorkloadKeys& keys) {
  keys.add(either("send", &Work::send_gradient, "weights", "gradient",
                  {{"default", "weights"},
                   {"description",
                    "What clients send: their new weights, or the difference from the previous "
                    "ones (gradient)."}}))
      .with_default("weights", &Work::weights, "Weights of the clients in the average.",
                    choices({"equal", "sample_size"}))
      .add(either("on_lost_client", &Work::continue_without_lost_clients, "fail", "continue",
                  {{"default", "fail"},
                   {"description",
                    "Whether the server fails or continues if a client is lost in a round."}}))
      .add(either("topology", &Work::swarm, "star", "swarm",
                  {{"description",
                    "star: a server and its clients. swarm: no server; the clients aggregate in "
                    "turn. Default: star."}}))
      .with_default("transport", &Work::transport, "How server and clients communicate.")
      .with_default("stall_seconds", &Work::stall_seconds,
                    "Seconds without data after which a client is lost.", kPositive);
  add_end(keys);
}

const WorkloadKeys& federated() {
  static const WorkloadKeys keys = [] {
    WorkloadKeys made = form("federated", "kind", "federated", Work{});
    made.required("model", &Work::model, kModelText, kImageModels).add(device_key(true));
    add_threads(made);
    made.required("dataset", &Work::dataset, "Data set.");
    add_rounds(made);
    made.with_default("local_steps", &Work::local_steps,
                      "Optimizer steps of each client in one round.", kBatch)
        .with_default("batch_size", &Work::batch_size, "Samples of each training batch.", kBatch)
        .optional("validation_batch_size", &Work::validation_batch_size,
                  "Batch size of validation. Default: batch_size.", kBatch)
        .with_default("pre_validation", &Work::pre_validation,
                      "Whether clients validate the global model before they train.")
        .with_default("client_validation", &Work::client_validation,
                      "Whether clients validate their own model after training.")
        .with_default("server_validation", &Work::server_validation,
                      "Whether the server validates each new global model.")
        .with_default("optimizer", &Work::optimizer, "Optimizer of the clients.");
    add_exchange(made);
    return made;
  }();
  return keys;
}

/// Name to shape, or to an object that says more.
constexpr const char* kTensors = R"({
  "type": "object", "minProperties": 1,
  "additionalProperties": {
    "anyOf": [
      {"type": "array", "items": {"type": "integer", "minimum": 1}},
      {"type": "object", "additionalProperties": false, "required": ["shape"],
       "properties": {
         "shape": {"type": "array", "items": {"type": "integer", "minimum": 1}},
         "dtype": {"enum": ["float32", "int64"], "description": "Type of the elements. Default: float32."},
         "buffer": {"type": "boolean", "description": "Whether the tensor is not trained, such as statistics of batch normalization; it is averaged without weights."}}}]}})";

const WorkloadKeys& state_dict() {
  static const WorkloadKeys keys = [] {
    Work defaults;
    defaults.dataset.name = "none";
    defaults.server_validation = false;
    WorkloadKeys made = form("state_dict", "kind", "state-dict", std::move(defaults));
    made.required("model", &Work::model,
                  "State of a network, or a table of shapes: llama-3.1-8b, or tensors for that of "
                  "this config.",
                  choices({"mnist-cnn", "cifar-cnn", "resnet18", "csfl-cnn", "csfl-light-cnn",
                           "llama-3.1-8b", "tensors"}))
        .optional("tensors", &Work::tensors,
                  "Shapes for model tensors, by name: a shape of 32-bit floats, or an object with "
                  "shape, dtype and buffer.",
                  Schema::parse(kTensors))
        .add(device_key(true))
        .with_default("state_bytes", &Work::state_bytes,
                      "Size in bytes to which a table of shapes is scaled, by its first "
                      "dimensions. 0: not scaled.",
                      kFromZero);
    add_threads(made);
    add_rounds(made);
    add_exchange(made);
    return made;
  }();
  return keys;
}

Work simulation_defaults() {
  Work workload;
  workload.clients = 100;
  workload.rounds = 100;
  workload.batch_size = 32;
  workload.validation_batch_size = 128;
  workload.deadline_seconds = 3600;
  workload.optimizer = {"sgd", 0.01};
  return workload;
}

const Keys<SimulationConfig>& selection_keys() {
  static const Keys<SimulationConfig> keys =
      Keys<SimulationConfig>("selection")
          .with_default("clients_per_round", &SimulationConfig::clients_per_round,
                        "Clients that are selected and train in each round, at most clients.",
                        range(1, 10'000))
          .with_default("methods", &SimulationConfig::methods,
                        "Methods of selecting clients. They run one after the other.",
                        {{"minItems", 1},
                         {"maxItems", 16},
                         {"items", choices({"random", "highest_loss", "round_robin"})}})
          .with_default("repeats", &SimulationConfig::repeats,
                        "Repeats of each method, each with its own seed.", range(1, 1000))
          .with_default("local_epochs", &SimulationConfig::local_epochs,
                        "Epochs of each selected client in one round.", kEpochs)
          .with_default("fast_mode", &SimulationConfig::fast_mode,
                        "Whether an epoch ends after its third batch.")
          .with_default("parallel_clients", &SimulationConfig::parallel_clients,
                        "Clients that train at once, each on its own replica of the model, at most "
                        "clients_per_round. 0 or 1: one after the other. -1: as many as memory and "
                        "cores allow, at most 8. More than fit into memory is an error.",
                        range(-1, 10'000));
  return keys;
}

const WorkloadKeys& simulation() {
  static const WorkloadKeys keys = [] {
    WorkloadKeys made = form("simulation", "kind", "simulation", simulation_defaults());
    made.required("model", &Work::model, kModelText, kImageModels).add(device_key(false));
    add_threads(made);
    made.required("dataset", &Work::dataset, "Data set.")
        .with_default("clients", &Work::clients, "Number of clients.", range(1, 10'000))
        .with_default("rounds", &Work::rounds, "Rounds of each method and repeat.", kRounds)
        .with_keys_of(&Work::simulation, selection_keys())
        .with_default("batch_size", &Work::batch_size, "Samples of each training batch.", kBatch)
        .with_default("validation_batch_size", &Work::validation_batch_size,
                      "Samples of each validation batch.", kBatch)
        .with_keys_of(&Work::optimizer, rate_of(simulation_defaults().optimizer,
                                                "Learning rate of SGD without momentum."));
    add_end(made);
    return made;
  }();
  return keys;
}

Work graph_defaults() {
  Work workload;
  workload.model = "gat-small";
  workload.batch_size = 4096;
  workload.deadline_seconds = 3600;
  workload.optimizer = {"adam", 0.003};
  return workload;
}

const Keys<GraphConfig>& stages() {
  static const Keys<GraphConfig> keys =
      Keys<GraphConfig>("stages")
          .with_default("teacher", &GraphConfig::teacher,
                        "Teacher model. It is trained first; the student learns from its outputs.",
                        kGraphClassifiers)
          .with_default("autoencoder", &GraphConfig::autoencoder,
                        "Autoencoder model. It is trained first, on graphs without attacks; its "
                        "errors rank how hard a graph is.",
                        choices({"vgae-large", "vgae-small", "vgae-old-teacher"}))
          .with_default("autoencoder_epochs", &GraphConfig::autoencoder_epochs,
                        "Epochs of the autoencoder.", kRounds)
          .with_default("teacher_epochs", &GraphConfig::teacher_epochs, "Epochs of the teacher.",
                        kRounds)
          .with_default("student_epochs", &GraphConfig::student_epochs, "Epochs of the student.",
                        kRounds)
          .optional(
              "device_memory_bytes", &GraphConfig::device_memory_bytes,
              "Device memory in bytes for which batch sizes are planned. Default: the free memory.",
              kPositive);
  return keys;
}

const WorkloadKeys& graph() {
  static const WorkloadKeys keys = [] {
    WorkloadKeys made = form("graph", "kind", "graph", graph_defaults());
    made.with_default("model", &Work::model, "Student model; memduel list models describes them.",
                      kGraphClassifiers)
        .add(device_key(false));
    add_threads(made);
    made.add(dataset_key({"graph_dataset",
                          "name",
                          &Data::name,
                          kDatasetText,
                          {{"can-generated", &generated_graphs()}, {"can-log", &log_graphs()}}}))
        .with_keys_of(&Work::graph, stages())
        .with_default("batch_size", &Work::batch_size,
                      "Graphs of each step; the maximum unless the switch batch_size is fixed.",
                      kBatch)
        .with_keys_of(&Work::optimizer,
                      rate_of(graph_defaults().optimizer, "Learning rate of Adam."));
    add_end(made);
    return made;
  }();
  return keys;
}

Work eeg_defaults() {
  Work workload;
  workload.dataset = synthetic_eeg().defaults();
  workload.dataset.name = "synthetic-eeg";
  workload.batch_size = 64;
  workload.deadline_seconds = 3600;
  return workload;
}

const Keys<FineTuningConfig>& fine_tunings() {
  static const Keys<FineTuningConfig> keys =
      Keys<FineTuningConfig>("fine_tunings")
          .with_default(
              "trials", &FineTuningConfig::trials,
              "Number of fine-tunings. They run one after the other, and each is a round.", kEpochs)
          .with_default("epochs", &FineTuningConfig::epochs,
                        "Maximum number of epochs of a fine-tuning.", kEpochs)
          .with_default("patience", &FineTuningConfig::patience,
                        "Epochs without a better kappa after which a fine-tuning ends.", kEpochs)
          .with_default("learning_rates", &FineTuningConfig::learning_rates,
                        "Learning rates of AdamW. The fine-tunings take them in turn; a "
                        "fine-tuning that does not learn is pruned.",
                        {{"minItems", 1}, {"maxItems", 1000}, {"items", kPositive}})
          .with_default("dropout", &FineTuningConfig::dropout,
                        "Share of units that are dropped in training.",
                        {{"minimum", 0}, {"exclusiveMaximum", 1}});
  return keys;
}

const WorkloadKeys& eeg() {
  static const WorkloadKeys keys = [] {
    WorkloadKeys made = form("eeg", "kind", "eeg", eeg_defaults());
    made.required("model", &Work::model,
                  "Criss-cross transformer; memduel list models describes them.",
                  choices({"cbramod", "cbramod-small"}))
        .add(device_key(false));
    add_threads(made);
    made.add(dataset_key({"eeg_dataset",
                          "name",
                          &Data::name,
                          kDatasetText,
                          {{"synthetic-eeg", &synthetic_eeg()}, {"edf", &recorded_eeg()}}},
                         {{"name", "synthetic-eeg"}}))
        .with_default("batch_size", &Work::batch_size, "Samples of each training batch.", kBatch)
        .with_keys_of(&Work::fine_tuning, fine_tunings());
    add_end(made);
    return made;
  }();
  return keys;
}

const Forms<Work>& kinds() {
  static const Forms<Work> forms = {
      "workload",
      "kind",
      &Work::kind,
      "federated: federated rounds that memduel-worker runs. state-dict: the same rounds without "
      "training, with a state of any size. simulation: all clients in one process. graph: training "
      "on graphs of bus traffic; each epoch is a round. eeg: fine-tuning of an EEG network, "
      "several times in one process; each fine-tuning is a round.",
      {{"federated", &federated()},
       {"state-dict", &state_dict()},
       {"simulation", &simulation()},
       {"graph", &graph()},
       {"eeg", &eeg()}}};
  return forms;
}

}  // namespace

std::vector<std::string> workload_kinds() {
  std::vector<std::string> names;
  for (const auto& [name, keys] : kinds().tables) names.push_back(name);
  return names;
}

Schema workload_schema(Schema& definitions) {
  return kinds().schema(definitions);
}

Schema fl_schema_in_order() {
  Schema definitions = Schema::object();
  Schema workload = workload_schema(definitions);
  return {
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"title", "memduel experiment with an FL workload"},
      {"description",
       "Built-in FL workloads. experiment.schema.json describes all other keys of an experiment."},
      {"allOf", Schema::array({{{"$ref", "experiment.schema.json"}}})},
      {"properties", {{"workload", std::move(workload)}}},
      {"definitions", std::move(definitions)}};
}

json resolve_workload(const json& workload, const Places& places) {
  static const json schema = [] {
    Schema whole = fl_schema_in_order();
    whole.erase("allOf");  // the rest of an experiment is memduel's
    return json::parse(whole.dump());
  }();
  const json document = {{"workload", workload}};
  validate_against_schema(document, schema, places);
  return with_schema_defaults(document, schema).at("workload");
}

WorkloadConfig read_workload(const json& workload) {
  Work config;
  kinds().read(workload, config);
  if (config.validation_batch_size == 0) config.validation_batch_size = config.batch_size;
  config.transport.deadline_seconds = config.deadline_seconds;
  return config;
}

}  // namespace memduel
