#include "profilers/profile/symbolize.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>

#include "base/error.h"
#include "base/file.h"
#include "profilers/profile/module_symbols.h"
#include "profilers/profile/trace_file.h"

namespace memduel {

namespace {

using Names = std::map<std::uint64_t, std::vector<FrameName>>;

constexpr std::string_view kCacheHeader = "memduel symbols 1\n";

void put_names(std::string& bytes, const std::vector<FrameName>& names) {
  put_number(bytes, names.size());
  for (const FrameName& name : names) {
    put_text(bytes, name.function);
    put_text(bytes, name.file);
    put_number(bytes, static_cast<std::uint64_t>(name.line));
  }
}

// A cache that cannot be read or written only costs time.
Names read_cache(const std::filesystem::path& file) {
  Names names;
  std::string bytes;
  try {
    if (std::filesystem::exists(file)) bytes = read_file(file);
  } catch (const Error&) {
    return names;
  }
  if (!bytes.starts_with(kCacheHeader)) return names;
  TraceCursor cursor(std::string_view(bytes).substr(kCacheHeader.size()));
  try {
    while (!cursor.at_end()) {
      std::vector<FrameName>& entry = names[cursor.number()];
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
    put_number(bytes, address);
    put_names(bytes, entry);
  }
  try {
    std::filesystem::create_directories(file.parent_path());
    write_file_atomically(file, bytes);
  } catch (const std::exception&) {
    return;
  }
}

void symbolize_module(Profile& profile, std::size_t index, const std::vector<std::size_t>& wanted,
                      const SymbolOptions& options) {
  const ProfileModule& module = profile.modules[index];
  const bool cached = options.cache_directory && !module.build_id.empty();
  const std::filesystem::path cache_file =
      cached ? *options.cache_directory / module.build_id : std::filesystem::path();
  Names known = cached ? read_cache(cache_file) : Names{};
  std::unique_ptr<ModuleSymbols> symbols;
  bool learned = false;
  for (const std::size_t number : wanted) {
    ProfileLocation& location = profile.locations[number];
    auto entry = known.find(location.address);
    if (entry == known.end()) {
      if (!symbols) {
        symbols = std::make_unique<ModuleSymbols>(module.path, module.build_id);
        if (!symbols->problem().empty()) {
          profile.notes.push_back(
              fmt::format("{} {}; its frames have no names", module.path, symbols->problem()));
        }
      }
      if (!symbols->problem().empty()) continue;
      entry = known.emplace(location.address, symbols->names_at(location.address)).first;
      learned = true;
    }
    location.names = entry->second;
  }
  if (cached && learned) write_cache(cache_file, known);
}

}  // namespace

std::string demangle(const std::string& name) {
  if (!name.starts_with("_Z") && !name.starts_with("_R")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

std::optional<std::filesystem::path> default_symbol_cache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') {
    return std::filesystem::path(cache) / "memduel" / "symbols";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return std::nullopt;
  return std::filesystem::path(home) / ".cache" / "memduel" / "symbols";
}

void symbolize(Profile& profile, const SymbolOptions& options) {
  // elfutils asks these servers by itself where the variable is set.
  if (!options.debuginfod) unsetenv("DEBUGINFOD_URLS");
  std::map<std::size_t, std::vector<std::size_t>> wanted;
  for (std::size_t i = 0; i < profile.locations.size(); ++i) {
    const ProfileLocation& location = profile.locations[i];
    if (location.kind == ProfileLocation::Kind::native && location.module &&
        location.names.empty()) {
      wanted[*location.module].push_back(i);
    }
  }
  for (const auto& [module, locations] : wanted) {
    if (profile.modules[module].path.starts_with("/")) {
      symbolize_module(profile, module, locations, options);
    }
  }
}

}  // namespace memduel
