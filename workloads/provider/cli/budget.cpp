// memduel budget: the largest batch that fits, by an estimate from shapes or by training steps.
#include <initializer_list>
#include <memory>

#include "base/error.h"
#include "cli/finite_range.h"
#include "cli/print.h"
#include "laboratory/cli/budget_measured.h"
#include "laboratory/cli/verbs.h"
#include "memory/memory_limit.h"
#include "training/budget_text.h"
#include "training/graph_models.h"

namespace memduel::cli {
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
                   {"--verify", "--dataset", "--device", "--threads", "--network", "--arm", "--set",
                    "--data-dir"},
                   "only a measured budget takes it: add --measured, or name a CONFIG");
  if (parallel_clients || measured)
    refuse_options(verb, {"--nodes", "--edges", "--identifiers", "--precision"},
                   "only a budget from shapes takes it");
  if (parallel_clients)
    refuse_options(verb,
                   {"--measured", "--model", "--teacher", "--optimizer", "--device-memory",
                    "--target-utilization", "--least-batch", "--most-batch", "CONFIG"},
                   "--parallel-clients takes no other option");
}

int budget(const CLI::App& verb, const BudgetArguments& arguments) {
  const bool measured = arguments.measured || !arguments.probed.config.empty();
  refuse_what_is_not_read(verb, arguments.parallel_clients, measured);
  if (arguments.parallel_clients) {
    print_fitted(describe_parallel_clients(parallel_clients()));
    return 0;
  }
  if (arguments.least_batch > arguments.most_batch)
    throw Error(ExitCode::usage, "the least batch is larger than the most", "budget");
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
  CLI::App* verb = app.add_subcommand("budget", "the largest batch that fits a device");
  verb->group("Replay");
  verb->footer(
      "Examples:\n"
      "  memduel budget --model gat-small --teacher gat-large --device-memory 16GiB\n"
      "  memduel budget --measured --model csfl-cnn --dataset mnist --verify\n"
      "  memduel budget --measured --model gat-large --dataset can-generated\n"
      "  memduel budget configs/resnet-dummy.json --device-memory 4GiB\n"
      "  memduel budget configs/kdgat.json --network teacher --verify\n"
      "  memduel budget --parallel-clients\n"
      "From shapes nothing is run: it is KD-GAT's estimate for its graph models. "
      "Measured, memduel-worker trains for a few steps.");
  verb->add_option("CONFIG", arguments->probed.config,
                   "measured: an experiment whose workload trains a model");
  verb->add_option("--model", arguments->model,
                   "gat-large, gat-small, gat-old-teacher, vgae-large, vgae-small or "
                   "vgae-old-teacher; measured: one of list models, too");
  verb->add_option("--teacher", arguments->teacher, "a model that stays on the device beside it");
  verb->add_option("--optimizer", arguments->optimizer, "adam keeps two states of every parameter")
      ->capture_default_str()
      ->check(CLI::IsMember({"adam", "sgd"}));
  verb->add_option("--nodes", arguments->nodes, "of a graph")
      ->capture_default_str()
      ->check(finite_range(1, 1e9));
  verb->add_option("--edges", arguments->edges, "of a graph")
      ->capture_default_str()
      ->check(finite_range(0, 1e9));
  verb->add_option("--identifiers", arguments->identifiers, "that the model has embeddings for")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  verb->add_option("--precision", arguments->precision, "bits of an activation")
      ->capture_default_str()
      ->check(CLI::IsMember({16, 32}));
  verb->add_option("--device-memory", arguments->device_bytes,
                   "of the device; without it CONFIG's device_memory_bytes, or what is free here, "
                   "from shapes of the CPU")
      ->type_name("SIZE")
      ->transform(CLI::AsSizeValue(true))
      ->transform(no_sign())
      ->check(finite_range(1, 1e18));
  verb->add_option("--target-utilization", arguments->target_utilization,
                   "share of the device (default: the model's safety factor + 0.15, else 0.7)")
      ->check(finite_range(0.01, 1));
  verb->add_option("--least-batch", arguments->least_batch, "never less")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000000));
  verb->add_option("--most-batch", arguments->most_batch, "never more")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000000));
  verb->add_flag("--parallel-clients", arguments->parallel_clients,
                 "CSFL's clients at once by device memory: published, as coded, estimated");
  verb->add_flag("--measured", arguments->measured, "train for a few steps and measure");
  verb->add_option("--dataset", arguments->probed.dataset, "measured: one of list datasets");
  verb->add_option("--device", arguments->probed.device, "measured: where it trains")
      ->default_val("cpu")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  verb->add_option("--threads", arguments->probed.threads, "measured: of the training")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  verb->add_option("--network", arguments->probed.network,
                   "measured: which of a training on graphs (default: a CONFIG's student, a "
                   "--model as what it can be)")
      ->check(CLI::IsMember({"autoencoder", "teacher", "student"}));
  verb->add_option("--arm", arguments->probed.arm, "of CONFIG (default: its baseline)");
  verb->add_option("--set", arguments->probed.set, "override a value of CONFIG")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--data-dir", arguments->probed.data_dir, "measured: where data sets are")
      ->type_name("DIR");
  verb->add_flag("--verify", arguments->verify,
                 "measured: run the batch; exit 1 if its peak is above the budget");
  verb->callback([arguments, verb, &action] {
    action = [arguments, verb] { return budget(*verb, *arguments); };
  });
}

}  // namespace memduel::cli
