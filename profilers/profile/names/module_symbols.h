// The symbols of one file on disk (libdwfl).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "profilers/profile/model/profile.h"

namespace memduel {

class ModuleSymbols {
 public:
  /// Opens the file and its debug information. `problem()` says why when there is nothing to ask.
  ModuleSymbols(const std::filesystem::path& file, const std::string& expected_build_id);
  ~ModuleSymbols();
  ModuleSymbols(ModuleSymbols&&) = delete;
  ModuleSymbols& operator=(ModuleSymbols&&) = delete;
  ModuleSymbols(const ModuleSymbols&) = delete;
  ModuleSymbols& operator=(const ModuleSymbols&) = delete;

  /// Empty when the file can be asked.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// The functions at an address of the file, innermost first; empty when unknown.
  [[nodiscard]] std::vector<FrameName> names_at(std::uint64_t address) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
  std::string problem_;
};

}  // namespace memduel
