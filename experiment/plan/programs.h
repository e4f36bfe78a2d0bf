// The programs that the trials of an experiment execute, and what their files hold.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/run_data.h"
#include "experiment/config/config.h"

namespace memduel {

/// The file that starting `name` in `cwd` with this PATH would execute; absent when there is none.
std::optional<std::filesystem::path> resolve_program(const std::string& name,
                                                     const std::filesystem::path& cwd,
                                                     const std::string& path);

/// The same for a process of an arm; also absent for a program that only a trial's placeholders
/// name, and that the job itself makes.
std::optional<std::filesystem::path> program_of(const Arm& arm, const JobProcess& process);

/// The script that a shell or Python is told to run: its first argument that is a file.
std::optional<std::filesystem::path> script_of(const Arm& arm, const JobProcess& process);

/// Path to SHA-256 of every program and script that an arm names, of the commands of prepare and
/// cleanup, of templates and of allocators. Throws
/// Error(cannot_measure) for an allocator that is not installed, Error(usage) naming the
/// arm and role of a program that is not there, that a virtualenv lacks and the system has, and for
/// two arms that run the same, and for a template with an unknown placeholder, Error(io) for a
/// template that cannot be read.
std::map<std::string, std::string> program_hashes(const Experiment& experiment);

/// The part of them that no arm names: commands of prepare and cleanup, those that compare what
/// trials leave, and templates. Throws likewise.
std::map<std::string, std::string> step_hashes(const Experiment& experiment);

/// A warning of two arms whose programs or scripts are different files with equal contents while
/// all else is the same; nothing when there are none.
std::optional<Note> warning_of_equal_contents(const Experiment& experiment);

/// A warning of programs that have theirs run by a daemon or another machine (docker, ssh, …): only
/// they themselves are measured. Nothing when there are none.
std::optional<Note> warning_of_programs_elsewhere(const Experiment& experiment);

}  // namespace memduel
