#include "profilers/profile/names/symbolize.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "base/cache_directory.h"
#include "profilers/profile/names/module_names.h"

// libiberty's; its header declares a basename() that C++ does not take.
extern "C" char* rust_demangle(const char* mangled, int options);

namespace memduel {

namespace {

void symbolize_module(Profile& profile, std::size_t index, const std::vector<std::size_t>& wanted,
                      const SymbolOptions& options) {
  ModuleNames names(profile.modules[index], options);
  for (const std::size_t number : wanted) {
    ProfileLocation& location = profile.locations[number];
    location.names = names.at(location.address);
  }
  if (!names.problem().empty()) {
    profile.notes.push_back(note_of_no_names(profile.modules[index].path, names.problem()));
  }
  names.keep();
}

}  // namespace

std::string demangle(const std::string& name) {
  using Text = std::unique_ptr<char, decltype(&std::free)>;
  if (!name.starts_with("_Z") && !name.starts_with("_R")) return name;
  // Rust's older names look like C++'s and end in a hash, which this leaves out.
  const Text rust(rust_demangle(name.c_str(), 0), &std::free);
  if (rust) return rust.get();
  int status = 0;
  const Text text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

std::optional<std::filesystem::path> default_symbol_cache() {
  const auto cache = cache_directory();
  return cache ? std::optional(*cache / "symbols") : std::nullopt;
}

void symbolize(Profile& profile, const SymbolOptions& options) {
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
