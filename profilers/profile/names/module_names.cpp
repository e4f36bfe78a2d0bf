#include "profilers/profile/names/module_names.h"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

#include "base/error.h"
#include "base/file.h"
#include "base/varint.h"
#include "profilers/profile/decode/trace_file.h"

namespace memduel {

namespace {

using Names = std::map<std::uint64_t, std::vector<FrameName>>;

constexpr std::string_view kCacheHeader = "memduel symbols 2\n";

// A cache that cannot be read or written only costs time.
Names read_cache(const std::filesystem::path& file) {
  Names names;
  std::string bytes;
  std::error_code absent;
  try {
    if (std::filesystem::exists(file, absent)) bytes = read_file(file);
  } catch (const Error&) {
    return names;
  }
  if (!bytes.starts_with(kCacheHeader)) return names;
  TraceCursor cursor(std::string_view(bytes).substr(kCacheHeader.size()));
  try {
    while (!cursor.at_end()) {
      std::vector<FrameName>& entry = names.try_emplace(names.end(), cursor.number())->second;
      entry.clear();
      for (std::uint64_t count = cursor.number(); count > 0; --count) {
        FrameName name;
        name.function = cursor.text();
        name.file = cursor.text();
        name.line = static_cast<int>(cursor.number());
        entry.push_back(std::move(name));
      }
    }
  } catch (const std::out_of_range&) {
    names.clear();
  }
  return names;
}

void write_cache(const std::filesystem::path& file, const Names& names) {
  std::string bytes(kCacheHeader);
  for (const auto& [address, entry] : names) {
    put_varint(bytes, address);
    put_names(bytes, entry);
  }
  try {
    std::filesystem::create_directories(file.parent_path());
    write_file_atomically(file, bytes);
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace

void put_names(std::string& bytes, const std::vector<FrameName>& names) {
  put_varint(bytes, names.size());
  for (const FrameName& name : names) {
    put_text(bytes, name.function);
    put_text(bytes, name.file);
    put_varint(bytes, static_cast<std::uint64_t>(name.line));
  }
}

std::string note_of_no_names(const std::string& path, const std::string& problem) {
  return fmt::format("{} {}; its frames have no names", path, problem);
}

ModuleNames::ModuleNames(const ProfileModule& module, const SymbolOptions& options)
    : file_(module.path), build_id_(module.build_id) {
  // elfutils asks these servers by itself where the variable is set.
  if (!options.debuginfod) unsetenv("DEBUGINFOD_URLS");
  if (!options.cache_directory || build_id_.empty()) return;
  cache_file_ = *options.cache_directory / build_id_;
  known_ = read_cache(cache_file_);
}

const std::vector<FrameName>& ModuleNames::at(std::uint64_t address) {
  static const std::vector<FrameName> none;
  const auto entry = known_.find(address);
  if (entry != known_.end()) return entry->second;
  if (!symbols_) {
    symbols_ = std::make_unique<ModuleSymbols>(file_, build_id_);
    problem_ = symbols_->problem();
  }
  if (!problem_.empty()) return none;
  learned_ = true;
  return known_.emplace(address, symbols_->names_at(address)).first->second;
}

void ModuleNames::keep() const {
  if (learned_ && !cache_file_.empty()) write_cache(cache_file_, known_);
}

}  // namespace memduel
