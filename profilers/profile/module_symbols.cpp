#include "profilers/profile/module_symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "profilers/profile/symbol_table.h"
#include "profilers/profile/symbolize.h"

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

std::string function_name(Dwarf_Die* die) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute value;
    if (dwarf_attr_integrate(die, attribute, &value) != nullptr) {
      const char* name = dwarf_formstring(&value);
      if (name != nullptr) return demangle(name);
    }
  }
  const char* name = dwarf_diename(die);
  return name == nullptr ? "" : name;
}

bool is_function(Dwarf_Die* die) {
  const int tag = dwarf_tag(die);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point;
}

struct Place {
  std::string file;
  int line = 0;
};

// Where an inlined call was made, in the function around it.
Place call_place(Dwarf_Die* die, Dwarf_Die* unit) {
  Place place;
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &value) == 0) {
    place.line = static_cast<int>(value);
  }
  Dwarf_Files* files = nullptr;
  if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &value) == 0 &&
      dwarf_getsrcfiles(unit, &files, nullptr) == 0) {
    const char* name = dwarf_filesrc(files, value, nullptr, nullptr);
    if (name != nullptr) place.file = name;
  }
  return place;
}

Place source_place(Dwarf_Die* unit, Dwarf_Addr address) {
  Place place;
  Dwarf_Line* line = dwarf_getsrc_die(unit, address);
  if (line == nullptr) return place;
  dwarf_lineno(line, &place.line);
  const char* file = dwarf_linesrc(line, nullptr, nullptr);
  if (file != nullptr) place.file = file;
  return place;
}

// libdw hands out arrays that are ours to free.
struct Scopes {
  Dwarf_Die* entries = nullptr;
  int count = 0;
  Scopes() = default;
  Scopes(Scopes&&) = delete;
  Scopes& operator=(Scopes&&) = delete;
  Scopes(const Scopes&) = delete;
  Scopes& operator=(const Scopes&) = delete;
  ~Scopes() { std::free(entries); }
};

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

// The innermost function, then those it was inlined into (as eu-addr2line does).
std::vector<FrameName> names_from_dwarf(Dwarf_Die* unit, Dwarf_Addr address) {
  Scopes around;
  around.count = dwarf_getscopes(unit, address, &around.entries);
  int innermost = 0;
  while (innermost < around.count && !is_function(&around.entries[innermost])) ++innermost;
  if (innermost >= around.count) return {};
  Scopes chain;
  chain.count = dwarf_getscopes_die(&around.entries[innermost], &chain.entries);
  std::vector<FrameName> names;
  Place place = source_place(unit, address);
  for (int i = 0; i < chain.count; ++i) {
    Dwarf_Die* die = &chain.entries[i];
    if (!is_function(die)) continue;
    names.push_back({function_name(die), place.file, place.line});
    if (dwarf_tag(die) != DW_TAG_inlined_subroutine) break;
    place = call_place(die, unit);
  }
  return names;
}

}  // namespace

struct ModuleSymbols::Handle {
  Dwfl* dwfl = nullptr;
  Dwfl_Module* module = nullptr;
  Dwarf_Addr bias = 0;
  std::optional<SymbolTable> table;  ///< read when first asked

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
  if (!std::filesystem::is_regular_file(file)) {
    problem_ = "its file is gone";
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
  Dwarf_Addr debug_bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(handle_->module, at, &debug_bias);
  std::vector<FrameName> names;
  if (unit != nullptr) names = names_from_dwarf(unit, at - debug_bias);
  if (!names.empty() && !names.back().function.empty()) return names;
  if (!handle_->table) handle_->table = read_symbols(handle_->module);
  const Symbol* symbol = handle_->table->at(at);
  if (symbol == nullptr) return {};
  FrameName found{demangle(symbol->name), {}, 0};
  if (unit != nullptr) {
    const Place place = source_place(unit, at - debug_bias);
    found.file = place.file;
    found.line = place.line;
  }
  return {found};
}

}  // namespace memduel
