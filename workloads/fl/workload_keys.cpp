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
                    "Where models, batches and optimizers live: cpu, cuda (the first GPU) or "
                    "cuda:N, counted from 0. See docs/gpu.md."}};
  if (by_role) {
    schema["properties"] = {{"server", schema}, {"client", schema}};
    schema["additionalProperties"] = false;
    schema["type"] = {"string", "object"};
    schema["description"] =
        "One device (cpu, cuda or cuda:N), or one for the server and one for all clients. See "
        "docs/gpu.md.";
  }
  return {"device", KeyPresence::with_default, [=](Schema&) { return schema; }, read_device, {}};
}

void add_threads(WorkloadKeys& keys) {
  keys.with_default("threads", &Work::threads,
                    "Per role; the reduction order, and so the bits of the result, depend on it.",
                    kThreads);
}

void add_end(WorkloadKeys& keys) {
  Schema seed = {{"type", "integer"}};
  seed.update(range(0, kMostSeed));
  seed["description"] =
      "Of models, of data and of {seed}; equal for all variants and trials. Default: measure.seed "
      "where the config has one, else 1.";
  keys.judged("seed", seed.dump().c_str())
      .with_default("deadline_seconds", &Work::deadline_seconds, "Of one trial.", kPositive);
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
                        "The first thousand are without attacks; fewer than 1,100 may all be.",
                        range(kFewestGraphs, 10'000'000))
          .with_default("seed", &Data::seed,
                        "Of the traffic and of the split into training and validation.", kFromZero);
  return keys;
}

const DatasetKeys& log_graphs() {
  static const DatasetKeys keys =
      form("log_graphs", "name", "can-log", Data{})
          .required("file", &Data::file,
                    "A recording below a data folder: candump -l, or HCRL's CSV or text.",
                    kFileName)
          .with_default("attacks", &Data::attacks,
                        "The recording comes once as it is, and once more under each.",
                        {{"uniqueItems", true}, {"items", choices({"dos", "fuzzy", "spoofing"})}})
          .with_default("seed", &Data::seed,
                        "Of the attacks and of the split into training and validation.", kFromZero);
  return keys;
}

Data eeg_samples() {
  Data dataset;
  dataset.train_samples = 256;
  dataset.test_samples = 64;
  return dataset;
}

void add_eeg_samples(DatasetKeys& keys) {
  keys.with_default("train_samples", &Data::train_samples, "Epochs of EEG.", kSamples)
      .with_default("test_samples", &Data::test_samples, "For the score of each epoch of training.",
                    kSamples);
}

const DatasetKeys& synthetic_eeg() {
  static const DatasetKeys keys = [] {
    DatasetKeys made = form("synthetic_eeg", "name", "synthetic-eeg", eeg_samples());
    add_eeg_samples(made);
    return made.with_default("channels", &Data::channels, "", range(1, 640))
        .with_default("seconds", &Data::seconds, "Of each, at 200 Hz: a patch a second.", kSeconds)
        .with_default("seed", &Data::seed, "", kFromZero);
  }();
  return keys;
}

const DatasetKeys& recorded_eeg() {
  static const DatasetKeys keys = [] {
    DatasetKeys made = form("recorded_eeg", "name", "edf", eeg_samples());
    made.required("file", &Data::file,
                  "A recording at 200 Hz below a data folder, with annotations \"Sleep stage W\", "
                  "N1, N2, N3, R.",
                  kFileName);
    add_eeg_samples(made);
    return made.with_default("seconds", &Data::seconds, "Of each: a patch a second.", kSeconds)
        .with_default("seed", &Data::seed, "Of the split into training and validation.", kFromZero);
  }();
  return keys;
}

constexpr const char* kDatasetText = "See memduel list datasets.";

}  // namespace

/// Of images; those of graphs and of EEG have forms.
const DatasetKeys& keys_of(const DatasetConfig*) {
  static const DatasetKeys keys =
      DatasetKeys("dataset")
          .required("name", &Data::name, kDatasetText,
                    choices({"mnist", "cifar10", "dummy-cifar10"}))
          .optional("train_samples", &Data::train_samples,
                    "Over all clients, of a dummy set for each client; absent: all there are.",
                    range(1, 1'000'000'000))
          .optional("test_samples", &Data::test_samples, "Absent: all there are.",
                    range(1, 1'000'000'000))
          .with_default("seed", &Data::seed, "Of the split into training and validation.",
                        kFromZero)
          .with_default("partition", &Data::partition,
                        "How training samples are shared among clients.",
                        choices({"iid", "class_noniid", "dirichlet"}))
          .with_default("dirichlet_alpha", &Data::dirichlet_alpha, "", kPositive);
  return keys;
}

const Keys<TransportOptions>& keys_of(const TransportOptions*) {
  static const Keys<TransportOptions> keys =
      Keys<TransportOptions>("transport")
          .with_default("kind", &TransportOptions::kind, "", choices({"grpc", "unix"}))
          .with_default("port", &TransportOptions::port, "0: any free port; grpc only.",
                        range(0, 65535))
          .with_default("max_message_bytes", &TransportOptions::max_message_bytes, "",
                        range(65536, 2147483647));
  return keys;
}

const Keys<OptimizerConfig>& keys_of(const OptimizerConfig*) {
  static const Keys<OptimizerConfig> keys =
      Keys<OptimizerConfig>("optimizer")
          .with_default("name", &OptimizerConfig::name, "", choices({"adam", "sgd"}))
          .with_default("learning_rate", &OptimizerConfig::learning_rate, "", kPositive);
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
constexpr const char* kModelText = "See memduel list models.";

void add_rounds(WorkloadKeys& keys) {
  keys.with_default("clients", &Work::clients, "", range(1, 256))
      .with_default("rounds", &Work::rounds, "", kRounds);
}

void add_exchange(WorkloadKeys& keys) {
  keys.add(either("send", &Work::send_gradient, "weights", "gradient",
                  {{"default", "weights"},
                   {"description", "What clients send: new weights, or previous minus new."}}))
      .with_default("weights", &Work::weights, "Of the clients in the average.",
                    choices({"equal", "sample_size"}))
      .add(either("on_lost_client", &Work::continue_without_lost_clients, "fail", "continue",
                  {{"default", "fail"},
                   {"description", "What the server does when a client is lost in a round."}}))
      .add(either("topology", &Work::swarm, "star", "swarm",
                  {{"description",
                    "star, the default: a server and its clients. swarm: no server; clients take "
                    "the aggregator's role in turn."}}))
      .with_default("transport", &Work::transport, "")
      .with_default("stall_seconds", &Work::stall_seconds,
                    "A client that sends or takes nothing for so long, in its turn, is lost.",
                    kPositive);
  add_end(keys);
}

const WorkloadKeys& federated() {
  static const WorkloadKeys keys = [] {
    WorkloadKeys made = form("federated", "kind", "federated", Work{});
    made.required("model", &Work::model, kModelText, kImageModels).add(device_key(true));
    add_threads(made);
    made.required("dataset", &Work::dataset, "");
    add_rounds(made);
    made.with_default("local_steps", &Work::local_steps,
                      "Optimizer steps of a client in one round.", kBatch)
        .with_default("batch_size", &Work::batch_size, "", kBatch)
        .optional("validation_batch_size", &Work::validation_batch_size, "Absent: batch_size.",
                  kBatch)
        .with_default("pre_validation", &Work::pre_validation,
                      "Clients validate the global model before they train.")
        .with_default("client_validation", &Work::client_validation,
                      "Clients validate their own model after they trained.")
        .with_default("server_validation", &Work::server_validation,
                      "The server validates each new global model.")
        .with_default("optimizer", &Work::optimizer, "");
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
         "dtype": {"enum": ["float32", "int64"], "description": "Absent: float32."},
         "buffer": {"type": "boolean", "description": "Not trained, as batch norm's statistics: averaged as plain means."}}}]}})";

const WorkloadKeys& state_dict() {
  static const WorkloadKeys keys = [] {
    Work defaults;
    defaults.dataset.name = "none";
    defaults.server_validation = false;
    WorkloadKeys made = form("state_dict", "kind", "state-dict", std::move(defaults));
    made.required("model", &Work::model,
                  "A network's state, or a table of shapes: Llama-3.1-8B's, or this config's own.",
                  choices({"mnist-cnn", "cifar-cnn", "resnet18", "csfl-cnn", "csfl-light-cnn",
                           "llama-3.1-8b", "tensors"}))
        .optional("tensors", &Work::tensors,
                  "Of model tensors: name to shape, 32-bit floats, or to an object that says more.",
                  Schema::parse(kTensors))
        .add(device_key(true))
        .with_default("state_bytes", &Work::state_bytes,
                      "Of a table of shapes: the size to which it is scaled, by its first "
                      "dimensions; 0: as it is.",
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
                        "That are selected and train; at most clients.", range(1, 10'000))
          .with_default("methods", &SimulationConfig::methods,
                        "Of selecting clients, run one after the other.",
                        {{"minItems", 1},
                         {"maxItems", 16},
                         {"items", choices({"random", "highest_loss", "round_robin"})}})
          .with_default("repeats", &SimulationConfig::repeats,
                        "Of each method, each with a seed of its own.", range(1, 1000))
          .with_default("local_epochs", &SimulationConfig::local_epochs, "", kEpochs)
          .with_default("fast_mode", &SimulationConfig::fast_mode,
                        "An epoch ends after its third batch.")
          .with_default("parallel_clients", &SimulationConfig::parallel_clients,
                        "Clients that train at once, each on a replica of the model; 0 and 1: one "
                        "after the other; -1: as many as memory and cores hold, at most 8. Never "
                        "more than clients_per_round; more than memory holds is refused.",
                        range(-1, 10'000));
  return keys;
}

const WorkloadKeys& simulation() {
  static const WorkloadKeys keys = [] {
    WorkloadKeys made = form("simulation", "kind", "simulation", simulation_defaults());
    made.required("model", &Work::model, kModelText, kImageModels).add(device_key(false));
    add_threads(made);
    made.required("dataset", &Work::dataset, "")
        .with_default("clients", &Work::clients, "", range(1, 10'000))
        .with_default("rounds", &Work::rounds, "Of each method and repeat.", kRounds)
        .with_keys_of(&Work::simulation, selection_keys())
        .with_default("batch_size", &Work::batch_size, "", kBatch)
        .with_default("validation_batch_size", &Work::validation_batch_size, "", kBatch)
        .with_keys_of(&Work::optimizer,
                      rate_of(simulation_defaults().optimizer, "Of SGD without momentum."));
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
                        "Trained before the student, which learns from its answers.",
                        kGraphClassifiers)
          .with_default("autoencoder", &GraphConfig::autoencoder,
                        "Trained first, on graphs without attacks; its errors say how hard a graph "
                        "is.",
                        choices({"vgae-large", "vgae-small", "vgae-old-teacher"}))
          .with_default("autoencoder_epochs", &GraphConfig::autoencoder_epochs, "", kRounds)
          .with_default("teacher_epochs", &GraphConfig::teacher_epochs, "", kRounds)
          .with_default("student_epochs", &GraphConfig::student_epochs, "", kRounds)
          .optional("device_memory_bytes", &GraphConfig::device_memory_bytes,
                    "What batch sizes are planned for; absent: what is free.", kPositive);
  return keys;
}

const WorkloadKeys& graph() {
  static const WorkloadKeys keys = [] {
    WorkloadKeys made = form("graph", "kind", "graph", graph_defaults());
    made.with_default("model", &Work::model, "The student.", kGraphClassifiers)
        .add(device_key(false));
    add_threads(made);
    made.add(dataset_key({"graph_dataset",
                          "name",
                          &Data::name,
                          kDatasetText,
                          {{"can-generated", &generated_graphs()}, {"can-log", &log_graphs()}}}))
        .with_keys_of(&Work::graph, stages())
        .with_default("batch_size", &Work::batch_size,
                      "Graphs of a step; with any value of the optimization batch_size but fixed: "
                      "the most.",
                      kBatch)
        .with_keys_of(&Work::optimizer, rate_of(graph_defaults().optimizer, "Of Adam."));
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
          .with_default("trials", &FineTuningConfig::trials,
                        "Fine-tunings, one after the other; each is a round.", kEpochs)
          .with_default("epochs", &FineTuningConfig::epochs, "Of a fine-tuning, at most.", kEpochs)
          .with_default("patience", &FineTuningConfig::patience,
                        "Epochs without a better kappa that end a fine-tuning.", kEpochs)
          .with_default("learning_rates", &FineTuningConfig::learning_rates,
                        "Of AdamW, taken in turn by the fine-tunings; one that learns nothing is "
                        "pruned.",
                        {{"minItems", 1}, {"maxItems", 1000}, {"items", kPositive}})
          .with_default("dropout", &FineTuningConfig::dropout, "",
                        {{"minimum", 0}, {"exclusiveMaximum", 1}});
  return keys;
}

const WorkloadKeys& eeg() {
  static const WorkloadKeys keys = [] {
    WorkloadKeys made = form("eeg", "kind", "eeg", eeg_defaults());
    made.required("model", &Work::model, "A criss-cross transformer; see memduel list models.",
                  choices({"cbramod", "cbramod-small"}))
        .add(device_key(false));
    add_threads(made);
    made.add(dataset_key({"eeg_dataset",
                          "name",
                          &Data::name,
                          kDatasetText,
                          {{"synthetic-eeg", &synthetic_eeg()}, {"edf", &recorded_eeg()}}},
                         {{"name", "synthetic-eeg"}}))
        .with_default("batch_size", &Work::batch_size, "", kBatch)
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
      "federated: rounds replayed by memduel-worker. state-dict: the same rounds without training, "
      "for a state of any size. simulation: all clients in one process. graph: a training on "
      "graphs of bus traffic, an epoch a round. eeg: fine-tunings of a network for EEG, one after "
      "the other in one process, each a round.",
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
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"title", "memduel experiment with an FL workload"},
          {"description",
           "The replays' workloads; all else of an experiment is in experiment.schema.json."},
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
