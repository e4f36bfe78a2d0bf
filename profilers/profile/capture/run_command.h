// Runs a command in the foreground, as a shell does: what `record` does to the command it records.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace memduel {

/// The name of the directories in which commands are recorded, beside what they leave.
inline constexpr const char* kRecordScratch = ".memduel-record";

/// As the shell finds it in PATH; empty when there is none.
std::filesystem::path find_program(const std::string& name);

/// Waits for the command, with `environment` added to ours; SIGINT, SIGTERM and SIGHUP are the
/// command's to handle. Returns its exit status, or 128 + signal. Throws Error when it cannot be
/// started.
int run_command(const std::vector<std::string>& argv,
                const std::map<std::string, std::string>& environment);

}  // namespace memduel
