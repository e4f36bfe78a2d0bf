// A program and its own shared libraries inside the directory that they were built in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/builds/builds_file.h"

namespace memduel {

struct BuildProgram {
  std::filesystem::path directory;  ///< absolute
  std::filesystem::path program;    ///< absolute
  /// LD_LIBRARY_PATH with which it loads the libraries of its own build; empty when it needs none.
  std::string library_path;
  std::vector<BuildFile> files;  ///< the program, then the libraries of its build that it loads
};

/// Looks up `program` in `directory`: a path below it, or a name that one executable in it has.
/// Libraries of which the build has a copy are taken from the build, checked by asking the dynamic
/// linker. `other` is the other build, out of which nothing may be loaded. Throws Error(usage)
/// when there is no such program, when a library is nowhere to be found, and when the program
/// insists on a copy outside its build; Error(io) when a file cannot be read.
BuildProgram find_in_build(const std::filesystem::path& directory, const std::string& program,
                           const std::filesystem::path& other);

/// Whether there is such a program (or are several) in `directory`.
bool is_in_build(const std::filesystem::path& directory, const std::string& program);

/// Whether program and libraries of both are the same, file by file. Never true for a script,
/// whose code is in files that nobody names.
bool same_build(const BuildProgram& a, const BuildProgram& b);

/// How one of them is told: "bin/hog, build id 1a2b…, with lib/libload.so".
std::string describe_build(const BuildProgram& build);

}  // namespace memduel
