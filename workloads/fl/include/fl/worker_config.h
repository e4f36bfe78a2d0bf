// What a worker is told: worker.json as values, and the strict reading of its objects, of the named
// values of a switch and of numbers, which every workload's switches share.
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

struct DatasetConfig {
  std::string name;                          ///< mnist, cifar10, dummy-cifar10, none
  std::optional<std::size_t> train_samples;  ///< over all clients; dummy: of each client
  std::optional<std::size_t> test_samples;
  std::uint64_t seed = 42;
  std::string partition = "iid";  ///< iid, class_noniid, dirichlet
  double dirichlet_alpha = 0.5;
};

/// What only a simulation has.
struct SimulationConfig {
  int clients_per_round = 0;
  std::vector<std::string> methods;  ///< of selection, one after another
  int repeats = 1;                   ///< of each method
  int local_epochs = 1;
  bool fast_mode = false;    ///< an epoch ends after its third batch
  int parallel_clients = 0;  ///< at once; -1: as many as fit
};

/// What only a training on graphs has.
struct GraphConfig {
  std::size_t graphs = 0;            ///< of generated traffic
  std::string file;                  ///< a recording, below the data folder
  std::vector<std::string> attacks;  ///< injected into the recording, one after another
  std::string autoencoder;
  std::string teacher;
  int autoencoder_epochs = 0;
  int teacher_epochs = 0;
  int student_epochs = 0;
  std::optional<double> device_memory_bytes;  ///< absent: what is free
};

/// What only fine-tunings on EEG have.
struct FineTuningConfig {
  int trials = 0;                      ///< fine-tunings, one after the other
  int epochs = 0;                      ///< of each, at most
  int patience = 0;                    ///< epochs without a better score that end one
  std::vector<double> learning_rates;  ///< taken in turn
  double dropout = 0;
  std::string file;  ///< an EDF file with annotated stages, below the data folder; synthetic: empty
  int channels = 0;  ///< of a synthetic epoch
  int seconds = 0;   ///< of an epoch of EEG
};

struct WorkloadConfig {
  std::string kind;   ///< federated, state-dict, simulation, graph or eeg
  std::string model;  ///< graph: the student
  /// cpu, cuda or cuda:N; where there is a server, of the clients.
  std::string device = "cpu";
  std::string server_device = "cpu";
  int threads = 1;
  DatasetConfig dataset;
  int clients = 0;
  int rounds = 0;
  int local_steps = 0;
  int batch_size = 0;
  int validation_batch_size = 0;
  bool pre_validation = false;     ///< clients validate the global model before they train
  bool client_validation = false;  ///< clients validate their own model after they trained
  bool server_validation = true;   ///< the server validates each new global model
  bool send_gradient = false;      ///< clients send previous - new instead of new
  bool swarm = false;              ///< no server: clients average in turn
  std::string optimizer;           ///< adam or sgd
  double learning_rate = 0;
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

class JsonFields {
 public:
  /// @param file and path: where the object stands, for messages: "worker.json",
  /// "workload.dataset". Throws Error(usage) when `object` is not one.
  JsonFields(const nlohmann::json& object, std::string file, std::string path);

  template <class T>
  T get(const std::string& key) {
    return convert<T>(required(key), key);
  }

  template <class T>
  T get_or(const std::string& key, T fallback) {
    known_.insert(key);
    const auto found = object_.find(key);
    return found == object_.end() ? fallback : convert<T>(*found, key);
  }

  /// A whole number of at least `least`.
  std::int64_t integer(const std::string& key, std::int64_t least);
  std::int64_t integer_or(const std::string& key, std::int64_t least, std::int64_t fallback);
  double positive(const std::string& key);

  /// One of `choices`.
  std::string word(const std::string& key, const std::vector<std::string>& choices);
  std::string word_or(const std::string& key, const std::vector<std::string>& choices,
                      const std::string& fallback);

  JsonFields object(const std::string& key);
  [[nodiscard]] bool has(const std::string& key);

  /// Throws Error(usage) naming a key that nobody asked for, and the nearest that is known.
  void expect_no_more() const;

  [[noreturn]] void fail(const std::string& key, const std::string& what) const;

 private:
  const nlohmann::json& required(const std::string& key);
  [[nodiscard]] std::string place(const std::string& key) const;
  std::int64_t checked_integer(const nlohmann::json& value, const std::string& key,
                               std::int64_t least) const;

  template <class T>
  T convert(const nlohmann::json& value, const std::string& key) const {
    try {
      return value.get<T>();
    } catch (const nlohmann::json::exception&) {
      fail(key, "found " + value.dump() + " of another type than expected");
    }
  }

  const nlohmann::json& object_;
  std::string file_;
  std::string path_;
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
  throw Error(ExitCode::usage, fmt::format("found \"{}\", expected {}", value, known),
              fmt::format("switches.{}", switch_name));
}

template <class Item, std::size_t Count>
std::vector<std::string> values_of(const Choice<Item> (&choices)[Count]) {
  std::vector<std::string> values;
  for (const Choice<Item>& choice : choices) values.emplace_back(choice.value);
  return values;
}

/// As many as the schema allows of a run.
inline constexpr int kMostRounds = 1000000;

/// Throws Error(usage) naming the switch for anything but a whole number from `least` to `most`.
inline int choose_whole_number(const char* switch_name, const nlohmann::json& value, int least,
                               int most) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < least ||
      value.get<std::int64_t>() > most)
    throw Error(ExitCode::usage, not_whole_number(value.dump(), least, most),
                fmt::format("switches.{}", switch_name));
  return value.get<int>();
}

}  // namespace memduel
