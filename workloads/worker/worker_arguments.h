// The command line of memduel-worker. Few words, so that a worker needs no library to read them.
#pragma once

#include <string>
#include <vector>

namespace memduel {

enum class WorkerTask { role, compare_models, describe, probe, help };

struct WorkerArguments {
  WorkerTask task = WorkerTask::role;
  std::string role;  ///< server, client, simulator, trainer or graphs
  int index = 0;     ///< of a client, from 1
  std::string config;
  std::string model_a;
  std::string model_b;
  std::string workload;  ///< JSON to describe; empty: none
  std::string request;   ///< JSON of a probe
};

inline constexpr const char* kWorkerHelp = R"(memduel-worker: one role of a replayed trial

  memduel-worker --role server|client|simulator|trainer|graphs [--index N] --config FILE
      N counts clients from 1; FILE is worker.json, the same for every role of a trial;
      graphs makes the file that a trainer on graphs reads, where it is not there
  memduel-worker compare-models A B
      the largest difference of two final models, as JSON
  memduel-worker describe [--workload JSON]
      versions of the libraries, the models and what this build can do, as JSON; of a workload
      its model's sizes, too
  memduel-worker probe --request JSON
      what a training takes, and its largest batch that fits, as JSON; the request is
      {"config": a worker.json, "budget": {...}}, which memduel budget makes

example: memduel-worker --role client --index 1 --config trial/worker.json
)";

/// @param words without the program's name. Throws Error(usage) naming the word that is wrong.
WorkerArguments parse_worker_arguments(const std::vector<std::string>& words);

}  // namespace memduel
