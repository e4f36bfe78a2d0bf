// memduel budget: the largest batch that fits, by an estimate from shapes, or by training steps
// that memduel-worker runs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "budget/budget_report.h"
#include "cli/option_checks.h"
#include "cli/print.h"
#include "cli/program.h"
#include "config/experiment.h"
#include "config/placeholders.h"
#include "fl_commands.h"
#include "kdgat/graph_models.h"
#include "memory/memory_limit.h"
#include "provider/datasets.h"
#include "provider/expand.h"
#include "provider/worker_program.h"
#include "replay_job.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel::cli {

/// What is trained: an arm of a config's workload, or a model on a data set.
struct ProbedWorkload {
  std::string config;
  std::string arm;                     ///< empty: the baseline
  std::vector<std::string> set;        ///< path=value
  std::optional<std::string> network;  ///< of a training on graphs
  std::string model;
  std::string teacher;
  std::string dataset;
  std::string optimizer;
  std::string device;
  int threads = 1;
  std::optional<std::string> data_dir;
};

/// Prints the breakdown. Returns 1 where the recommended batch was tried and its peak is above the
/// budget.
int measured_budget(const ProbedWorkload& workload, const BudgetRequest& request);

namespace {

namespace fs = std::filesystem;

/// Of the three networks of a training on graphs that which is asked for, or as what the model is
/// trained.
std::string network_of(const ProbedWorkload& asked) {
  if (asked.network) return *asked.network;
  if (asked.model.starts_with("vgae")) return "autoencoder";
  return asked.teacher.empty() ? "teacher" : "student";
}

nlohmann::json graph_workload(const ProbedWorkload& asked) {
  const std::string network = network_of(asked);
  nlohmann::json workload = {{"kind", "graph"}};
  if (!asked.teacher.empty()) workload["teacher"] = asked.teacher;
  workload[network == "student" ? "model" : network] = asked.model;
  return workload;
}

bool is_graph_model(const std::string& model) {
  return std::ranges::any_of(graph_models(),
                             [&](const GraphModel& one) { return one.name == model; });
}

/// The workload that trains the model, and the presets of its system.
std::pair<nlohmann::json, std::string> workload_of(const ProbedWorkload& asked) {
  if (is_graph_model(asked.model)) return {graph_workload(asked), "kdgat"};
  if (asked.model.starts_with("cbramod"))
    return {{{"kind", "eeg"}, {"model", asked.model}}, "cbramod"};
  // One client; presets and rounds do not matter for one step of it.
  return {{{"kind", "federated"},
           {"model", asked.model},
           {"clients", 1},
           {"optimizer", {{"name", asked.optimizer}}}},
          "appfl"};
}

Experiment experiment_of(const ProbedWorkload& asked, const Overrides& overrides) {
  if (asked.model.empty() || asked.dataset.empty())
    throw Error(ExitCode::usage, "found no model or no data set", "budget --measured",
                "add --model csfl-cnn --dataset mnist, or a CONFIG");
  if (!is_graph_model(asked.model) && !asked.teacher.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no teacher", asked.model), "--teacher",
                "gat-small has one on the data set can-generated");
  auto [workload, system] = workload_of(asked);
  if (workload["kind"] != "federated" && asked.optimizer != "adam")
    throw Error(ExitCode::usage,
                fmt::format("expected adam for {1}, found {0}", asked.optimizer, asked.model),
                "--optimizer");
  workload["device"] = asked.device;
  workload["threads"] = asked.threads;
  workload["dataset"] = {{"name", asked.dataset}};
  Document document;
  document.name = "budget";
  document.workload.own = std::move(workload);
  for (const char* name : {"original", "optimized"}) {
    Variant& variant = document.variants.emplace_back();
    variant.name = name;
    variant.preset = fmt::format("{}-{}", system, name);
  }
  document.baseline = "original";
  return make_experiment(document, "budget --measured", fs::current_path(), overrides, ask_fl);
}

/// What is asked, with the network that a model alone says.
BudgetRequest completed(BudgetRequest request, const ProbedWorkload& asked) {
  request.network = asked.network;
  if (is_graph_model(asked.model)) request.network = network_of(asked);
  return request;
}

const Variant& arm_of(const Experiment& experiment, const std::string& name) {
  const std::string& wanted = name.empty() ? experiment.config.baseline : name;
  std::vector<std::string> names;
  for (const Variant& arm : experiment.variants) {
    if (arm.name == wanted) return arm;
    names.push_back(arm.name);
  }
  throw Error(ExitCode::usage, fmt::format("found no variant \"{}\"", wanted), "--variant",
              fmt::format("expected one of: {}", fmt::join(names, ", ")));
}

/// The worker of this build, else the arm's own.
fs::path worker_of(const Variant& arm) {
  if (const auto worker = find_worker()) return *worker;
  if (const auto named = arm.env.find(kWorkerVariable); named != arm.env.end())
    return named->second;
  throw Error(ExitCode::cannot_measure, kNoWorker, "", "build preset release");
}

/// worker.json of the arm, as a trial in `directory` would have it.
nlohmann::json config_of(const Experiment& experiment, const Variant& arm, const fs::path& data_dir,
                         const fs::path& directory) {
  nlohmann::json workload = experiment.config.workload.own;
  workload.erase("seed");  // the worker's document has it beside the workload
  nlohmann::json document =
      worker_document({std::move(workload), *experiment.config.measure.meters, ""}, arm.switches);
  if (document.contains("graph_file")) document["graph_file"] = "{trial_dir}/graphs.bin";
  PlaceholderValues values;
  values.trial_dir = directory;
  values.seed = *experiment.config.workload.job.seed;
  values.deadline_seconds = experiment.config.workload.job.deadline_seconds;
  values.site["data_dir"] = data_dir.string();
  return nlohmann::json::parse(TrialPlaceholders(values).fill_json(document, "worker.json"));
}

}  // namespace

int measured_budget(const ProbedWorkload& asked, const BudgetRequest& request) {
  if (!asked.config.empty() && !(asked.model + asked.teacher + asked.dataset).empty())
    throw Error(ExitCode::usage, "expected CONFIG or --model, --teacher and --dataset, found both",
                "budget", "--set workload.model=NAME changes a CONFIG's");
  Overrides overrides;
  overrides.set = asked.set;
  const Experiment experiment = asked.config.empty()
                                    ? experiment_of(asked, overrides)
                                    : load_experiment(asked.config, overrides, ask_fl);
  const Variant& arm = arm_of(experiment, asked.arm);
  if (!experiment.expansion || !experiment.expansion->provider.is_default())
    throw Error(ExitCode::usage, "a workload of kind command trains no built-in model",
                asked.config, "a budget is for workloads that memduel-worker trains");
  const nlohmann::json& workload = experiment.config.workload.own;
  const fs::path data_dir = find_data_dir(workload, data_directories(asked.data_dir));
  const ScratchDirectory scratch(fs::temp_directory_path(), "memduel-budget");
  const nlohmann::json answer =
      probe_worker(worker_of(arm),
                   {{"config", config_of(experiment, arm, data_dir, scratch.path())},
                    {"budget", completed(request, asked)}},
                   experiment.config.workload.job.deadline_seconds);
  const auto report = answer.get<BudgetReport>();
  print_fitted(describe_measured_budget(report));
  return report.is_exceeded() || !report.found.fits ? static_cast<int>(ExitCode::gate_failed) : 0;
}

namespace {

struct BudgetArguments {
  std::string model;
  std::string teacher;
  std::string optimizer = "adam";
  double nodes = 100;
  double edges = 500;
  int identifiers = kPublishedIdentifiers;
  int precision = 32;
  std::optional<std::uint64_t> device_bytes;
  std::optional<double> target_utilization;
  std::int64_t least_batch = 8;
  std::int64_t most_batch = 8192;
  bool parallel_clients = false;
  bool measured = false;
  ProbedWorkload probed;
  bool verify = false;
};

/// What this process may still take of the machine's memory, or of its control group's.
std::optional<double> free_memory() {
  const std::optional<MemoryLimit> limit = memory_limit_of(std::nullopt);
  if (!limit) return std::nullopt;
  return static_cast<double>(limit->bytes - used_bytes_of(*limit).value_or(0));
}

BudgetInput input_of(const BudgetArguments& arguments) {
  const GraphModel& model = find_graph_model(arguments.model);
  const auto bytes = [](std::int64_t count) { return static_cast<double>(count) * sizeof(float); };
  BudgetInput input;
  if (arguments.device_bytes) {
    input.device_bytes = static_cast<double>(*arguments.device_bytes);
  } else {
    input.device_bytes = free_memory();
    input.context_bytes = 0;
  }
  input.parameter_bytes = bytes(parameter_count(model, arguments.identifiers));
  input.embedding_bytes = bytes(embedding_count(model, arguments.identifiers));
  if (!arguments.teacher.empty())
    input.teacher_bytes =
        bytes(parameter_count(find_graph_model(arguments.teacher), arguments.identifiers));
  input.optimizer_states = arguments.optimizer == "adam" ? 2 : 0;
  input.sample_bytes = graph_sample_bytes(arguments.nodes, arguments.edges);
  input.activation_bytes = graph_activation_bytes(
      network_of(model, arguments.nodes, arguments.edges), arguments.precision / 8.0);
  if (arguments.target_utilization)
    input.target_utilization = *arguments.target_utilization;
  else if (model.safety_factor)
    input.target_utilization = utilization_for(*model.safety_factor);
  input.least_batch = arguments.least_batch;
  input.most_batch = arguments.most_batch;
  return input;
}

ProbedWorkload probed_workload(const BudgetArguments& arguments) {
  ProbedWorkload workload = arguments.probed;
  workload.model = arguments.model;
  workload.teacher = arguments.teacher;
  workload.optimizer = arguments.optimizer;
  return workload;
}

BudgetRequest request_of(const BudgetArguments& arguments) {
  BudgetRequest request;
  if (arguments.device_bytes) request.device_bytes = static_cast<double>(*arguments.device_bytes);
  request.target_utilization = arguments.target_utilization;
  request.bounds = {arguments.least_batch, arguments.most_batch};
  request.verify = arguments.verify;
  return request;
}

void refuse_options(const CLI::App& verb, std::initializer_list<const char*> options,
                    const char* why) {
  for (const char* option : options)
    if (verb.count(option) > 0) throw Error(ExitCode::usage, why, option);
}

/// What another of the verb's ways takes.
void refuse_what_is_not_read(const CLI::App& verb, bool parallel_clients, bool measured) {
  if (parallel_clients || !measured)
    refuse_options(verb,
                   {"--verify", "--dataset", "--device", "--threads", "--network", "--variant",
                    "--set", "--data-dir"},
                   "this option needs a measured budget: add --measured or a CONFIG");
  if (parallel_clients || measured)
    refuse_options(verb, {"--nodes", "--edges", "--identifiers", "--precision"},
                   "this option needs a budget from shapes: remove --measured and CONFIG");
  if (parallel_clients)
    refuse_options(verb,
                   {"--measured", "--model", "--teacher", "--optimizer", "--device-memory",
                    "--target-utilization", "--least-batch", "--most-batch", "CONFIG"},
                   "this option cannot be combined with --parallel-clients");
}

int budget(const CLI::App& verb, const BudgetArguments& arguments) {
  const bool measured = arguments.measured || !arguments.probed.config.empty();
  refuse_what_is_not_read(verb, arguments.parallel_clients, measured);
  if (arguments.parallel_clients) {
    print_fitted(describe_parallel_clients(parallel_clients()));
    return 0;
  }
  if (arguments.least_batch > arguments.most_batch)
    throw Error(ExitCode::usage, "--least-batch is larger than --most-batch", "budget");
  if (measured) return measured_budget(probed_workload(arguments), request_of(arguments));
  if (arguments.model.empty())
    throw Error(ExitCode::usage, "found no model", "budget", "add --model gat-large, or --help");
  const BudgetInput input = input_of(arguments);
  print_fitted(describe_budget(input, plan_budget(input)));
  return 0;
}

}  // namespace

void add_budget(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<BudgetArguments>();
  CLI::App* verb = app.add_subcommand("budget", "find the largest batch that fits a device");
  verb->group(kFlGroup);
  set_usage(*verb, {"--model MODEL [OPTIONS]", "--measured --model MODEL --dataset NAME [OPTIONS]",
                    "CONFIG [OPTIONS]", "--parallel-clients"});
  verb->footer(
      "Examples:\n"
      "  memduel budget --model gat-small --teacher gat-large --device-memory 16GiB\n"
      "  memduel budget --measured --model csfl-cnn --dataset mnist --verify\n"
      "  memduel budget configs/kdgat.json --network teacher --verify\n"
      "  memduel budget --parallel-clients\n"
      "\n"
      "Without --measured, nothing runs: the budget is KD-GAT's estimate from the shapes of its "
      "graph models, gat-large, gat-small, gat-old-teacher, vgae-large, vgae-small and "
      "vgae-old-teacher. With --measured or CONFIG, memduel-worker trains for a few steps any "
      "MODEL of memduel list models.\n"
      "The device's memory is that of --device-memory, else CONFIG's device_memory_bytes, else "
      "what is free here; without --measured, of the CPU.\n"
      "NETWORK: autoencoder, teacher or student; the default is the student of a CONFIG, else what "
      "MODEL can be.");
  const auto add = [&](const char* group, const char* name, auto& value, const char* type,
                       const char* help) {
    return verb->add_option(name, value, help)->type_name(type)->group(group);
  };
  constexpr const char* kModel = "Model";
  constexpr const char* kShapes = "Shapes (without --measured)";
  constexpr const char* kDevice = "Device and batch";
  constexpr const char* kMeasuredGroup = "With --measured or CONFIG";
  verb->add_option("CONFIG", arguments->probed.config, "config whose workload trains a model");
  add(kModel, "--model", arguments->model, "MODEL", "budget for this model");
  add(kModel, "--teacher", arguments->teacher, "MODEL", "keep this model on the device, too");
  add(kModel, "--optimizer", arguments->optimizer, "NAME", "train with adam or sgd")
      ->capture_default_str()
      ->check(CLI::IsMember({"adam", "sgd"}));
  add(kShapes, "--nodes", arguments->nodes, "N", "count N nodes in a graph")
      ->capture_default_str()
      ->check(finite_range(1, 1e9));
  add(kShapes, "--edges", arguments->edges, "N", "count N edges in a graph")
      ->capture_default_str()
      ->check(finite_range(0, 1e9));
  add(kShapes, "--identifiers", arguments->identifiers, "N", "count N embedded identifiers")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  add(kShapes, "--precision", arguments->precision, "BITS", "use 16 or 32 bits per activation")
      ->capture_default_str()
      ->check(CLI::IsMember({16, 32}));
  add(kDevice, "--device-memory", arguments->device_bytes, "SIZE",
      "budget for a device of this memory, as 16GiB")
      ->transform(CLI::AsSizeValue(true))
      ->transform(no_sign())
      ->check(finite_range(1, 1e18));
  add(kDevice, "--target-utilization", arguments->target_utilization, "R",
      "use this share of it (default: by model, or 0.7)")
      ->check(finite_range(0.01, 1));
  add(kDevice, "--least-batch", arguments->least_batch, "N", "never recommend less than N")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000000));
  add(kDevice, "--most-batch", arguments->most_batch, "N", "never recommend more than N")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000000));
  verb->add_flag("--parallel-clients", arguments->parallel_clients,
                 "print how many CSFL clients fit devices at once")
      ->group(kDevice);
  verb->add_flag("--measured", arguments->measured, "train for a few steps and measure")
      ->group(kMeasuredGroup);
  add(kMeasuredGroup, "--dataset", arguments->probed.dataset, "NAME",
      "train on this one of memduel list datasets");
  add(kMeasuredGroup, "--device", arguments->probed.device, "NAME", "train on cpu or cuda")
      ->default_val("cpu")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  add(kMeasuredGroup, "--threads", arguments->probed.threads, "N", "train in N threads")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  add(kMeasuredGroup, "--network", arguments->probed.network, "NETWORK",
      "train this network of a graph workload")
      ->check(CLI::IsMember({"autoencoder", "teacher", "student"}));
  add(kMeasuredGroup, "--variant", arguments->probed.arm, "NAME",
      "train this variant of CONFIG (default: baseline)");
  add(kMeasuredGroup, "--set", arguments->probed.set, "PATH=VALUE",
      "override a key of CONFIG (repeatable)")
      ->allow_extra_args(false);
  add(kMeasuredGroup, "--data-dir", arguments->probed.data_dir, "DIR",
      "find data sets in DIR (default: MEMDUEL_DATA_DIR)");
  verb->add_flag("--verify", arguments->verify, "run the batch, exit 1 if it exceeds the budget")
      ->group(kMeasuredGroup);
  verb->callback([arguments, verb, &action] {
    action = [arguments, verb] { return budget(*verb, *arguments); };
  });
}

}  // namespace memduel::cli
