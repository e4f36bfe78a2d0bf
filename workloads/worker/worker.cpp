// memduel-worker: one role of a trial, and small services around models.
#include <fmt/format.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cbramod/study.h"
#include "csfl/simulation_switches.h"
#include "csfl/simulator.h"
#include "fl/models.h"
#include "fl/probes.h"
#include "fl/roles.h"
#include "fl/transport.h"
#include "fl/worker_config.h"
#include "kdgat/graph_trainer.h"
#include "memduel/memory.h"
#include "probe.h"
#include "util/error.h"
#include "util/json.h"
#include "worker_arguments.h"

namespace memduel {
namespace {

void bound_arenas(std::optional<int> most) {
  if (most) limit_arenas(*most);
}

void run_role(const WorkerArguments& arguments) {
  const WorkerConfig config = load_worker_config(arguments.config);
  if (arguments.role == "simulator") {
    bound_arenas(make_simulation_switches(config.optimizations).arenas);
    run_simulator(config);
    return;
  }
  if (arguments.role == "graphs") {
    run_graphs(config);
    return;
  }
  if (arguments.role == "trainer") {
    config.workload.kind == "graph" ? run_graph_trainer(config) : run_study(config);
    return;
  }
  if (arguments.role == "server") {
    bound_arenas(server_arenas(config));
    run_server(config);
  } else {
    bound_arenas(client_arenas(config));
    run_client(config, arguments.index);
  }
}

void compare_models(const std::string& a, const std::string& b) {
  const StateDifference difference = compare_states(read_model_file(a), read_model_file(b));
  nlohmann::json json = {{"bit_identical", difference.bit_identical}, {"max_abs_diff", nullptr}};
  if (difference.max_abs_diff) json["max_abs_diff"] = *difference.max_abs_diff;
  std::cout << json.dump() << '\n';
}

/// Of the model that a workload's roles hold; a table of shapes is not built, it may be large.
nlohmann::json describe_model(const nlohmann::json& workload) {
  const std::string name = workload.at("model");
  std::int64_t parameters = 0;
  std::int64_t bytes = 0;
  if (name == kLlamaTable || name == kCustomTable) {
    const std::vector<NamedShape> whole =
        name == kCustomTable ? read_table(workload.value("tensors", nlohmann::json::object()))
                             : llama_3_1_8b();
    for (const NamedShape& one :
         scale_table(whole, workload.value("state_bytes", std::int64_t{0}))) {
      const std::int64_t elements = c10::multiply_integers(one.shape);
      if (one.trained) parameters += elements;
      bytes +=
          elements * static_cast<std::int64_t>(one.counts ? sizeof(std::int64_t) : sizeof(float));
    }
  } else {
    const Model model = make_model(name, 1);
    parameters = parameter_count(model);
    bytes = static_cast<std::int64_t>(state_bytes(model.state));
  }
  return {{"name", name}, {"parameters", parameters}, {"state_bytes", bytes}};
}

void describe(const std::string& workload) {
  const std::string no_cuda = why_no_cuda();
  nlohmann::json json = {
      {"torch", TORCH_VERSION}, {"cuda", no_cuda.empty()}, {"compression", has_compressors()}};
  if (no_cuda.empty())
    json["gpus"] = gpu_count();
  else
    json["no_cuda"] = no_cuda;
#ifdef MEMDUEL_HAVE_GRPC
  json["grpc"] = grpc_version();
#else
  json["grpc"] = nullptr;
#endif
  for (const std::string& name : model_names()) {
    const Model model = make_model(name, 1);
    json["models"].push_back({{"name", name},
                              {"parameters", parameter_count(model)},
                              {"state_bytes", state_bytes(model.state)}});
  }
  if (!workload.empty()) {
    const auto parsed = nlohmann::json::parse(workload);
    // The networks of a training on graphs are as large as its file has identifiers.
    if (parsed.value("kind", "") != "graph") json["model"] = describe_model(parsed);
  }
  std::cout << json.dump() << '\n';
}

void probe(const std::string& text) {
  const auto request = parse_foreign_json(text);
  if (!request.is_object() || !request.contains("config") || !request.contains("budget"))
    throw Error(ExitCode::usage, "expected a JSON object with config and budget", "--request");
  const WorkerConfig config = parse_worker_config(request.at("config"), "--request");
  const nlohmann::json report = probe_budget(config, request.at("budget").get<BudgetRequest>());
  std::cout << report.dump() << '\n';
}

void run(const WorkerArguments& arguments) {
  switch (arguments.task) {
    case WorkerTask::role:
      run_role(arguments);
      break;
    case WorkerTask::compare_models:
      compare_models(arguments.model_a, arguments.model_b);
      break;
    case WorkerTask::describe:
      describe(arguments.workload);
      break;
    case WorkerTask::probe:
      probe(arguments.request);
      break;
    case WorkerTask::help:
      std::cout << kWorkerHelp;
      break;
  }
}

}  // namespace
}  // namespace memduel

int main(int argc, char** argv) {
  try {
    memduel::run(memduel::parse_worker_arguments({argv + 1, argv + argc}));
    return 0;
  } catch (const memduel::Error& error) {
    fmt::print(stderr, "memduel-worker: {}\n", error.message());
    return static_cast<int>(error.code());
  } catch (const c10::Error& error) {
    fmt::print(stderr, "memduel-worker: LibTorch: {}\n", error.what_without_backtrace());
    return static_cast<int>(memduel::ExitCode::cannot_measure);
  } catch (const std::exception& error) {
    fmt::print(stderr, "memduel-worker: {}\n", error.what());
    return static_cast<int>(memduel::ExitCode::cannot_measure);
  }
}
