#include "experiment/plan/python_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <vector>

#include "experiment/plan/programs.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// The variable as the process will have it; "random" is Python's word for an unset hash seed.
bool is_pinned(const JobProcess& process, const std::string& variable) {
  const auto own = process.env.find(variable);
  const char* inherited = std::getenv(variable.c_str());
  const std::string value = own != process.env.end() ? own->second
                            : inherited == nullptr   ? std::string()
                                                     : std::string(inherited);
  return !value.empty() && value != "random";
}

}  // namespace

bool is_python(const fs::path& program) {
  if (program.filename().string().starts_with("python")) return true;
  std::ifstream file(program, std::ios::binary);
  std::string line(128, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  line.erase(std::min(line.find('\n'), line.size()));
  return line.starts_with("#!") && line.find("python") != std::string::npos;
}

std::optional<std::string> unpinned_python(const Experiment& experiment) {
  std::set<std::string> roles;
  std::set<std::string> variables;
  for (const Arm& arm : experiment.arms) {
    for (const JobProcess& process : arm.processes) {
      const auto program = program_of(arm, process);
      if (!program || !is_python(*program)) continue;
      for (const char* variable : {"PYTHONHASHSEED", "OMP_NUM_THREADS"}) {
        if (is_pinned(process, variable)) continue;
        roles.insert(process.role);
        variables.insert(variable);
      }
    }
  }
  if (roles.empty()) return std::nullopt;
  std::vector<std::string> effects;
  if (variables.contains("PYTHONHASHSEED"))
    effects.emplace_back("PYTHONHASHSEED (the order of sets differs from run to run)");
  if (variables.contains("OMP_NUM_THREADS"))
    effects.emplace_back("OMP_NUM_THREADS (sums depend on the number of threads)");
  return fmt::format("{} run{} Python without {}", fmt::join(roles, " and "),
                     roles.size() == 1 ? "s" : "", fmt::join(effects, " and "));
}

}  // namespace memduel
