// A resolved workload of the laboratory as the processes of memduel-worker.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace memduel {

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
