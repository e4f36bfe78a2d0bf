#include "arm_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <vector>

#include "confidential.h"
#include "util/command_line.h"

namespace memduel {
namespace {

/// A program below a directory, as it is called there.
std::string seen_from(const std::string& place, const std::string& program) {
  const std::string below = place + "/";
  return below.size() > 1 && program.starts_with(below) ? program.substr(below.size()) : program;
}

/// What an arm changes of its job, part by part.
class ArmWords {
 public:
  ArmWords(const Document& config, const Variant& arm, LeftOut left_out)
      : arm_(arm), left_out_(left_out) {
    if (config.workload.own.is_null()) processes_ = config.workload.job.processes;
  }

  std::string all() {
    if (arm_.preset) parts_.push_back("preset " + *arm_.preset);
    add_environment();
    if (processes_.size() == 1)
      add_command(processes_.front());
    else
      add_roles(arm_.argv, "");
    add_roles(arm_.append, processes_.size() == 1 ? "" : "adds ");
    if (arm_.allocator) parts_.push_back("under " + std::string(to_name(*arm_.allocator)));
    if (arm_.cwd && left_out_ != LeftOut::directory)
      parts_.push_back("in " + (hides_arguments() ? kLeftOut : *arm_.cwd));
    return fmt::format("{}", fmt::join(parts_, " "));
  }

 private:
  [[nodiscard]] bool hides_arguments() const { return left_out_ == LeftOut::arguments; }

  void add_environment() {
    if (hides_arguments()) return;
    for (const auto& [name, value] : arm_.env) parts_.push_back(name + "=" + value);
  }

  /// Of the arm, else of the job.
  void add_command(const JobProcess& process) {
    Argv words = process.argv;
    if (const auto own = arm_.argv.find(process.role); own != arm_.argv.end())
      words = own->second;
    else if (arm_.argv.size() == 1)  // another run's only process
      words = arm_.argv.begin()->second;
    if (words.empty()) return;
    if (left_out_ == LeftOut::directory)
      words[0] = seen_from(arm_.cwd.value_or(process.cwd), words[0]);
    parts_.push_back(hides_arguments() ? kLeftOut : quoted_command_line(words));
  }

  void add_roles(const std::map<std::string, Argv>& roles, const std::string& verb) {
    if (hides_arguments()) return;
    std::vector<std::string> each;
    for (const auto& [role, words] : roles)
      each.push_back((processes_.size() == 1 ? "" : role + ": ") + verb +
                     quoted_command_line(words));
    if (!each.empty()) parts_.push_back(fmt::format("{}", fmt::join(each, "; ")));
  }

  const Variant& arm_;
  std::vector<JobProcess> processes_;  ///< that the config names: a provider makes its own
  LeftOut left_out_;
  std::vector<std::string> parts_;
};

}  // namespace

std::string arm_words(const Document& config, const Variant& arm, LeftOut left_out) {
  return ArmWords(config, arm, left_out).all();
}

std::string unchanged_words(const Document& config, LeftOut left_out) {
  if (left_out == LeftOut::arguments) return {};
  std::set<std::string> changed;
  for (const Variant& arm : config.variants)
    for (const auto& roles : {arm.argv, arm.append})
      for (const auto& [role, words] : roles) changed.insert(role);
  std::vector<std::string> parts;
  for (const JobProcess& process : config.workload.job.processes)
    if (changed.contains(process.role))
      parts.push_back(fmt::format("{}: {}", process.role, quoted_command_line(process.argv)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace memduel
