#include "profilers/profile/names/module_symbols.h"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "profilers/profile/names/debug_functions.h"
#include "profilers/profile/names/symbol_table.h"
#include "profilers/profile/names/symbolize.h"

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

}  // namespace memduel
