#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "experiment/config_command.h"
#include "experiment/config_text_marks.h"
#include "experiment/plan_workloads.h"

namespace memduel {
namespace {

using nlohmann::json;

/// A TCP port of the loopback interface that is free now.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound =
      fd >= 0 && ::bind(fd, generic, length) == 0 && ::getsockname(fd, generic, &length) == 0;
  const int reason = errno;
  if (fd >= 0) ::close(fd);
  if (!bound) {
    throw Error(ExitCode::cannot_measure,
                fmt::format("no free port on loopback: {}", std::strerror(reason)));
  }
  return ntohs(address.sin_port);
}

/// Replaces placeholders; ports are chosen at their first mention.
class Placeholders {
 public:
  Placeholders(const std::filesystem::path& trial_dir, std::uint64_t seed)
      : values_{{"trial_dir", trial_dir.string()}, {"seed", std::to_string(seed)}} {}

  void set_index(int index) { values_["index"] = std::to_string(index); }

  int port(const std::string& name) {
    const auto found = ports_.find(name);
    return found != ports_.end() ? found->second : ports_[name] = free_port();
  }

  /// Text in braces that is no placeholder stays: it may be JSON.
  std::string fill(const std::string& text) {
    std::string result;
    std::size_t at = 0;
    while (at < text.size()) {
      const auto end = text[at] == '{' ? text.find('}', at) : std::string::npos;
      const auto value =
          end == std::string::npos ? std::nullopt : value_of(text.substr(at + 1, end - at - 1));
      if (value) {
        result += *value;
        at = end + 1;
      } else {
        result += text[at++];
      }
    }
    return result;
  }

 private:
  std::optional<std::string> value_of(const std::string& name) {
    if (name.starts_with("port:") && name.size() > 5) return std::to_string(port(name.substr(5)));
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

  std::map<std::string, std::string> values_;
  std::map<std::string, int> ports_;
};

Ready ready_from_json(const json& source, Placeholders& placeholders) {
  Ready ready;
  if (source.contains("port")) {
    const json& port = source.at("port");
    ready.port = port.is_string() ? placeholders.port(port.get<std::string>()) : port.get<int>();
  }
  if (source.contains("log")) ready.log_pattern = source.at("log").get<std::string>();
  if (source.contains("file")) ready.file = placeholders.fill(source.at("file"));
  ready.delay_seconds = source.at("delay_seconds");
  ready.within_seconds = source.at("within_seconds");
  return ready;
}

ProcessSpec process_from_json(const json& source, const std::string& role,
                              Placeholders& placeholders) {
  ProcessSpec process;
  process.role = role;
  for (const json& argument : source.at("argv")) {
    process.argv.push_back(placeholders.fill(argument.get<std::string>()));
  }
  process.cwd = placeholders.fill(source.at("cwd"));
  for (const auto& item : source.at("env").items()) {
    process.env[item.key()] = placeholders.fill(item.value().get<std::string>());
  }
  if (source.contains("ready")) process.ready = ready_from_json(source.at("ready"), placeholders);
  process.end = source.at("end") == "stop" ? End::stop : End::wait;
  process.exit_statuses = source.at("exit_statuses").get<std::vector<int>>();
  return process;
}

}  // namespace

PlannedTrial plan_command(const Experiment& experiment, const Arm& arm,
                          const std::filesystem::path& trial_dir) {
  PlannedTrial planned;
  planned.plan.deadline_seconds = experiment.workload.at("deadline_seconds");
  Placeholders placeholders(trial_dir, experiment.measure.seed);
  std::map<std::string, std::vector<std::string>> roles;
  for (const json& source : arm.processes) {
    const std::string name = source.at("role");
    roles[name] = roles_of_process(source);
    for (std::size_t i = 0; i < roles[name].size(); ++i) {
      placeholders.set_index(static_cast<int>(i) + 1);
      ProcessSpec process = process_from_json(source, roles[name][i], placeholders);
      for (const std::string after : source.at("after")) {
        process.after.insert(process.after.end(), roles[after].begin(), roles[after].end());
      }
      planned.plan.processes.push_back(std::move(process));
    }
  }
  planned.plan.text_marks =
      planned_text_marks(experiment.workload, [&](const std::string& path, int index) {
        placeholders.set_index(index);
        return placeholders.fill(path);
      });
  return planned;
}

}  // namespace memduel
