// memduel-fl: the FL workloads as a provider of jobs, and the verbs that come with them. Called
// as memduel-VERB it is that verb.
#include <filesystem>
#include <vector>

#include "cli/program.h"
#include "fl_commands.h"
#include "util/process.h"

namespace memduel::cli {
namespace {

constexpr const char* kDescription =
    "commands of the package memduel-fl, which contains the FL workloads";
constexpr const char* kFooter =
    "Examples:\n"
    "  memduel budget --parallel-clients\n"
    "  memduel list models\n"
    "\n"
    "memduel-fl is the workload plug-in for the kinds federated, state-dict, simulation, graph and "
    "eeg: memduel run resolves their configs with it.";

/// The verb that a link to this program is called after; empty: none.
std::string verb_of_name(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename().string();
  const std::string start = "memduel-";
  const bool is_verb = name.starts_with(start) && name != "memduel-fl";
  return is_verb ? name.substr(start.size()) : "";
}

int run(int argc, char** argv, const std::string& word) {
  CLI::App app{kDescription, "memduel"};
  prepare(app, kFooter);
  Action action;
  add_budget(app, action);
  add_checkpoints(app, action);
  add_fl_list(app, action);
  add_answers(app, action);
  // argv[0] is what memduel was told: the verb itself where a link names it.
  std::string name = "memduel";
  std::string verb = word;
  std::vector<char*> words = {name.data()};
  if (!verb.empty()) words.push_back(verb.data());
  words.insert(words.end(), argv + 1, argv + argc);
  words.push_back(nullptr);
  return run_program(app, action, static_cast<int>(words.size()) - 1, words.data());
}

}  // namespace
}  // namespace memduel::cli

int main(int argc, char** argv) {
  memduel::undo_inherited_state();
  return memduel::cli::run(argc, argv, argc > 0 ? memduel::cli::verb_of_name(argv[0]) : "");
}
