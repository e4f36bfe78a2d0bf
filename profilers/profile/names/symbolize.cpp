#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "debug_info.h"
#include "decode/checked_number.h"
#include "profile/function_names.h"
#include "profile/recorded_files.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {

namespace {

char* debuginfo_path = nullptr;  // the default: /usr/lib/debug and beside the file
const Dwfl_Callbacks kCallbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                   dwfl_offline_section_address, &debuginfo_path};

std::string build_id_of(Dwfl_Module* module) {
  const unsigned char* bits = nullptr;
  GElf_Addr ignored = 0;
  const int size = dwfl_module_build_id(module, &bits, &ignored);
  std::string text;
  for (int i = 0; i < size; ++i) text += fmt::format("{:02x}", bits[i]);
  return text;
}

Symbol::Binding binding_of(const GElf_Sym& symbol) {
  switch (GELF_ST_BIND(symbol.st_info)) {
    case STB_LOCAL:
      return Symbol::Binding::local;
    case STB_WEAK:
      return Symbol::Binding::weak;
    default:
      return Symbol::Binding::global;
  }
}

// The code of a module, whose strings are the module's. A symbol without a size cannot say whether
// an address lies in it.
SymbolTable read_symbols(Dwfl_Module* module) {
  std::vector<Symbol> symbols;
  const int count = dwfl_module_getsymtab(module);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol{};
    GElf_Addr address = 0;
    GElf_Word section = 0;
    const char* name =
        dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
    const int type = GELF_ST_TYPE(symbol.st_info);
    const bool code = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
    if (name == nullptr || *name == '\0' || !code || symbol.st_size == 0) continue;
    if (section == SHN_UNDEF) continue;
    symbols.push_back({address, symbol.st_size, binding_of(symbol), name});
  }
  return SymbolTable(std::move(symbols));
}

bool is_mangled(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("_R");
}

}  // namespace

struct ModuleSymbols::Handle {
  Dwfl* dwfl = nullptr;
  Dwfl_Module* module = nullptr;
  Dwarf_Addr bias = 0;
  Dwarf_Addr debug_bias = 0;
  std::optional<DebugFunctions> functions;  ///< read when first asked, absent without any
  std::optional<SymbolTable> table;         ///< likewise

  Handle() = default;
  Handle(Handle&&) = delete;
  Handle& operator=(Handle&&) = delete;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { dwfl_end(dwfl); }
};

ModuleSymbols::ModuleSymbols(const std::filesystem::path& file,
                             const std::string& expected_build_id)
    : handle_(std::make_unique<Handle>()) {
  std::error_code unreachable;
  const auto type = std::filesystem::status(file, unreachable).type();
  if (type != std::filesystem::file_type::regular) {
    problem_ = type == std::filesystem::file_type::none ? "cannot be read: " + unreachable.message()
                                                        : "its file is gone";
    return;
  }
  handle_->dwfl = dwfl_begin(&kCallbacks);
  handle_->module = dwfl_report_offline(handle_->dwfl, "", file.c_str(), -1);
  dwfl_report_end(handle_->dwfl, nullptr, nullptr);
  if (handle_->module == nullptr ||
      dwfl_module_getelf(handle_->module, &handle_->bias) == nullptr) {
    problem_ = fmt::format("cannot be read: {}", dwfl_errmsg(-1));
    return;
  }
  const std::string found = build_id_of(handle_->module);
  if (!expected_build_id.empty() && found != expected_build_id) {
    problem_ =
        fmt::format("was replaced since: build id {}, recorded {}", found, expected_build_id);
  }
}

ModuleSymbols::~ModuleSymbols() = default;

std::vector<FrameName> ModuleSymbols::names_at(std::uint64_t address) const {
  const Dwarf_Addr at = address + handle_->bias;
  if (!handle_->table) {
    handle_->table = read_symbols(handle_->module);
    Dwarf* dwarf = dwfl_module_getdwarf(handle_->module, &handle_->debug_bias);
    if (dwarf != nullptr) handle_->functions.emplace(dwarf);
  }
  DebugNames found;
  if (handle_->functions) found = handle_->functions->at(at - handle_->debug_bias);
  if (found.linkage) return found.names;
  const Symbol* symbol = handle_->table->at(at);
  if (!found.names.empty()) {
    // Where a compiler left linkage names out, the linker's own says which function it is.
    std::string& outermost = found.names.back().function;
    if (symbol != nullptr && (outermost.empty() || is_mangled(symbol->name)))
      outermost = demangle(symbol->name);
    if (!outermost.empty()) return found.names;
  }
  if (symbol == nullptr) return {};
  return {{demangle(symbol->name), found.place.file, found.place.line}};
}

namespace {

using Names = std::map<std::uint64_t, std::vector<FrameName>>;

constexpr std::string_view kCacheHeader = "memduel symbols 2\n";

// A cache that cannot be read or written only costs time.
Names read_cache(const std::filesystem::path& file) {
  Names names;
  std::string bytes;
  try {
    if (is_there(file)) bytes = read_file(file);
  } catch (const Error&) {
    return names;
  }
  if (!bytes.starts_with(kCacheHeader)) return names;
  TraceCursor cursor(std::string_view(bytes).substr(kCacheHeader.size()));
  try {
    while (!cursor.at_end()) {
      std::vector<FrameName>& entry = names.try_emplace(names.end(), cursor.number())->second;
      entry = read_names(cursor);
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

std::vector<FrameName> read_names(TraceCursor& cursor) {
  std::vector<FrameName> names;
  for (std::uint64_t count = cursor.number(); count > 0; --count) {
    FrameName name;
    name.function = cursor.text();
    name.file = cursor.text();
    name.line = checked_number<int>(cursor.number(), "line");
    names.push_back(std::move(name));
  }
  return names;
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

void ModuleNames::finish(std::vector<std::string>& notes) const {
  if (!problem_.empty())
    notes.push_back(fmt::format("{} {}; its frames have no names", file_.string(), problem_));
  if (learned_ && !cache_file_.empty()) write_cache(cache_file_, known_);
}

}  // namespace memduel

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
  names.finish(profile.notes);
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
