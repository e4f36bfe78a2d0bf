// What a worker is told: worker.json as values, and the strict reading of its switches, of their
// named values and of numbers, which all workloads share.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fl/transport.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {

/// Rounds, or epochs, of a run.
inline constexpr int kMostRounds = 1'000'000;

/// Of generated bus traffic. The first attack begins at most 4 s after the first thousand: some
/// of so many are under attack.
inline constexpr std::size_t kFewestGraphs = 1100;

/// Of every kind of data set; a member is as below where the kind does not have it.
struct DatasetConfig {
  std::string name;                          ///< see memduel list datasets; or none
  std::optional<std::size_t> train_samples;  ///< over all clients; dummy: of each client
  std::optional<std::size_t> test_samples;
  std::uint64_t seed = 42;
  std::string partition = "iid";  ///< iid, class_noniid, dirichlet
  double dirichlet_alpha = 0.5;
  /// A recording below the data folder: of a car's bus, or EDF with annotated stages.
  std::string file = {};                                            // NOLINT: -Wextra
  std::size_t graphs = 10'000;                                      ///< of generated traffic
  std::vector<std::string> attacks = {"dos", "fuzzy", "spoofing"};  ///< injected one after another
  int channels = 16;                                                ///< of a synthetic epoch of EEG
  int seconds = 30;                                                 ///< of an epoch of EEG
};

struct OptimizerConfig {
  std::string name = "adam";  ///< adam or sgd
  double learning_rate = 0.01;
};

/// What only a simulation has.
struct SimulationConfig {
  int clients_per_round = 10;
  std::vector<std::string> methods = {"random"};  ///< of selection, one after another
  int repeats = 1;                                ///< of each method
  int local_epochs = 1;
  bool fast_mode = true;     ///< an epoch ends after its third batch
  int parallel_clients = 0;  ///< at once; -1: as many as fit
};

/// What only a training on graphs has.
struct GraphConfig {
  std::string autoencoder = "vgae-large";
  std::string teacher = "gat-large";
  int autoencoder_epochs = 2;
  int teacher_epochs = 2;
  int student_epochs = 2;
  std::optional<double> device_memory_bytes;  ///< absent: what is free
};

/// What only fine-tunings on EEG have.
struct FineTuningConfig {
  int trials = 20;                               ///< fine-tunings, one after the other
  int epochs = 100;                              ///< of each, at most
  int patience = 5;                              ///< epochs without a better score that end one
  std::vector<double> learning_rates = {5e-05};  ///< taken in turn
  double dropout = 0.1;
};

/// With the defaults of a federated one; workload_keys.cpp has those of the other kinds.
struct WorkloadConfig {
  std::string kind;   ///< federated, state-dict, simulation, graph or eeg
  std::string model;  ///< graph: the student
  /// cpu, cuda or cuda:N; where there is a server, of the clients.
  std::string device = "cpu";
  std::string server_device = "cpu";
  int threads = 1;
  DatasetConfig dataset;
  int clients = 2;
  int rounds = 5;
  int local_steps = 50;
  int batch_size = 16;
  int validation_batch_size = 0;   ///< 0 where it is read: batch_size
  bool pre_validation = false;     ///< clients validate the global model before they train
  bool client_validation = false;  ///< clients validate their own model after they trained
  bool server_validation = true;   ///< the server validates each new global model
  bool send_gradient = false;      ///< clients send previous - new instead of new
  bool swarm = false;              ///< no server: clients average in turn
  OptimizerConfig optimizer;
  std::string weights = "equal";  ///< equal or sample_size
  /// What the server does when a client is lost in a round: fail the trial, or go on without it.
  bool continue_without_lost_clients = false;
  TransportOptions transport;
  double deadline_seconds = 600;
  double stall_seconds = 60;  ///< a client that sends or takes nothing for so long is lost
  /// state-dict workload: what a table of shapes is scaled to; 0: as it is.
  std::int64_t state_bytes = 0;
  nlohmann::json tensors;  ///< of model "tensors": name to shape
  SimulationConfig simulation;
  GraphConfig graph;
  FineTuningConfig fine_tuning;
};

struct WorkerConfig {
  WorkloadConfig workload;
  nlohmann::json optimizations;  ///< switch name to value, every switch
  std::uint64_t seed = 1;
  std::vector<std::string> meters;  ///< of the experiment; those that are inside probes act here
  std::filesystem::path trial_dir;
  std::filesystem::path data_dir;
  std::filesystem::path address_file;
  std::filesystem::path model_file;
  std::filesystem::path graph_file;  ///< graph: the run's file of graphs; others: empty
};

/// Throws Error(usage) naming file, JSON path, what was found and what was expected, Error(io) when
/// the file cannot be read.
WorkerConfig load_worker_config(const std::filesystem::path& path);

/// The same from JSON; `name` stands for the file in messages.
WorkerConfig parse_worker_config(const nlohmann::json& json, const std::string& name);

/// The switches of a worker, each of which somebody reads. Every error is of exit code usage.
class SwitchFields {
 public:
  /// Throws where `switches` is no object.
  explicit SwitchFields(const nlohmann::json& switches);

  /// Throws where the switch is missing or of another type.
  template <class T>
  T get(const std::string& name) {
    const nlohmann::json& value = required(name);
    try {
      return value.get<T>();
    } catch (const nlohmann::json::exception&) {
      refuse(name, "found " + value.dump() + " of another type than expected");
    }
  }

  /// Throws naming a switch that nobody read, and the nearest that was.
  void expect_no_more() const;

 private:
  const nlohmann::json& required(const std::string& name);
  [[noreturn]] static void refuse(const std::string& name, const std::string& what);

  const nlohmann::json& switches_;
  std::set<std::string> known_;
};

template <class Item>
struct Choice {
  std::string_view value;
  Item item;
};

/// The item of `value`. Throws Error(usage) naming the switch and its values.
template <class Item, std::size_t Count>
const Item& choose(std::string_view switch_name, const Choice<Item> (&choices)[Count],
                   std::string_view value) {
  std::string known;
  for (const Choice<Item>& choice : choices) {
    if (choice.value == value) return choice.item;
    known.append(known.empty() ? "" : ", ").append(choice.value);
  }
  throw Error(ExitCode::usage, fmt::format("expected {}, found \"{}\"", known, value),
              fmt::format("switches.{}", switch_name));
}

/// Of the switch that is called so.
template <class Item, std::size_t Count>
const Item& choose(SwitchFields& fields, const char* name, const Choice<Item> (&choices)[Count]) {
  return choose(name, choices, fields.get<std::string>(name));
}

template <class Item, std::size_t Count>
std::vector<std::string> values_of(const Choice<Item> (&choices)[Count]) {
  std::vector<std::string> values;
  for (const Choice<Item>& choice : choices) values.emplace_back(choice.value);
  return values;
}

/// Throws Error(usage) naming the switch for anything but a whole number from `least` to `most`.
inline int choose_whole_number(const char* switch_name, const nlohmann::json& value, int least,
                               int most) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < least ||
      value.get<std::int64_t>() > most)
    throw Error(ExitCode::usage, not_whole_number(value.dump(), least, most),
                fmt::format("switches.{}", switch_name));
  return value.get<int>();
}

/// Of the switch that is called so.
inline int choose_whole_number(SwitchFields& fields, const char* name, int least, int most) {
  return choose_whole_number(name, fields.get<nlohmann::json>(name), least, most);
}

}  // namespace memduel
