// Names for the addresses of one module: from the cache of what earlier runs learned, else from its
// file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profilers/profile/names/module_symbols.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

/// What a profile notes of a module whose ModuleNames have a problem.
std::string note_of_no_names(const std::string& path, const std::string& problem);

/// Appends the names of one place, as a finished profile and the cache hold them.
void put_names(std::string& bytes, const std::vector<FrameName>& names);

class ModuleNames {
 public:
  ModuleNames(const ProfileModule& module, const SymbolOptions& options);

  /// Innermost (inlined) first; empty where nothing is known. Addresses are those of the file.
  const std::vector<FrameName>& at(std::uint64_t address);

  /// Why the file could not be asked, once it was needed; else empty.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// Writes what was learned to the cache.
  void keep() const;

 private:
  std::filesystem::path file_;
  std::string build_id_;
  std::filesystem::path cache_file_;  ///< empty: none
  std::map<std::uint64_t, std::vector<FrameName>> known_;
  std::unique_ptr<ModuleSymbols> symbols_;
  std::string problem_;
  bool learned_ = false;
};

}  // namespace memduel
