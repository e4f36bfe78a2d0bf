// A resolved workload as the processes of memduel-worker: where its roles compute, its groups,
// default gates and lower bounds (docs/lower-bounds.md derives the bounds), and its job.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/job_facts.h"

namespace memduel {

/// cpu, cuda or cuda:N: the workload's one device, or what its object has for this role. @param
/// role as a job names it, without a number: server, client, simulator, trainer.
std::string device_of_role(const nlohmann::json& workload, const std::string& role);

/// Each once.
std::vector<std::string> devices_of(const nlohmann::json& workload);

/// The number of a GPU, 0 for cuda itself; only of a device that is one.
bool is_gpu(const std::string& device);
int gpu_number(const std::string& device);

/// @param workload resolved, of any kind but `command`.
JobFacts replay_facts(const nlohmann::json& workload);

/// What all arms of a replay share.
struct Replay {
  nlohmann::json workload;  ///< resolved
  nlohmann::json meters;
  std::string worker;  ///< program that runs an arm which names none
};

/// The job, a workload of kind command.
nlohmann::json job_of_replay(const Replay& replay);

/// What a resolved arm changes of the job: its worker.json, and its worker where it names one.
nlohmann::json arm_of_job(const Replay& replay, const nlohmann::json& arm);

/// worker.json: what every role of an arm's trial is told; placeholders stand for what only the
/// trial knows.
nlohmann::json worker_document(const Replay& replay, const nlohmann::json& optimizations);

/// Rounds, repetitions or epochs of a trial.
int rounds_of_replay(const nlohmann::json& workload);

}  // namespace memduel
