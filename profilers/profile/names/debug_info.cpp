#include "debug_info.h"

#include <dwarf.h>

#include <algorithm>
#include <tuple>

#include "profile/function_names.h"

namespace memduel {

SymbolTable::SymbolTable(std::vector<Symbol> symbols) : symbols_(std::move(symbols)) {
  std::ranges::stable_sort(symbols_, [](const Symbol& a, const Symbol& b) {
    return std::tie(a.begin, a.binding) < std::tie(b.begin, b.binding);
  });
  furthest_.reserve(symbols_.size());
  std::uint64_t furthest = 0;
  for (const Symbol& symbol : symbols_) {
    furthest = std::max(furthest, symbol.begin + symbol.size);
    furthest_.push_back(furthest);
  }
}

const Symbol* SymbolTable::at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(symbols_, address, {}, &Symbol::begin);
  for (auto i = static_cast<std::size_t>(after - symbols_.begin()); i-- > 0;) {
    if (furthest_[i] <= address) return nullptr;
    if (address - symbols_[i].begin < symbols_[i].size) return &symbols_[i];
  }
  return nullptr;
}

namespace {

/// Deeper entries are left out: no compiler nests them so, a broken file may.
constexpr std::uint32_t kMostDepth = 400;

const char* linkage_name(Dwarf_Die* entry) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute value;
    if (dwarf_attr_integrate(entry, attribute, &value) != nullptr) return dwarf_formstring(&value);
  }
  return nullptr;
}

std::string function_name(Dwarf_Die* entry) {
  if (const char* name = linkage_name(entry)) return demangle(name);
  const char* name = dwarf_diename(entry);
  return name == nullptr ? "" : name;
}

/// Rust's files are named from where they were compiled.
std::string from_compilation(const char* file, Dwarf_Die* unit) {
  if (file == nullptr) return {};
  Dwarf_Attribute attribute;
  const char* directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  return file[0] == '/' || directory == nullptr ? file : std::string(directory) + "/" + file;
}

// Where an inlined call was made, in the function around it.
SourcePlace call_place(Dwarf_Die* entry, Dwarf_Die* unit) {
  SourcePlace place;
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(entry, DW_AT_call_line, &attribute), &value) == 0)
    place.line = static_cast<int>(value);
  Dwarf_Files* files = nullptr;
  if (dwarf_formudata(dwarf_attr(entry, DW_AT_call_file, &attribute), &value) == 0 &&
      dwarf_getsrcfiles(unit, &files, nullptr) == 0)
    place.file = from_compilation(dwarf_filesrc(files, value, nullptr, nullptr), unit);
  return place;
}

SourcePlace source_place(Dwarf_Die* unit, Dwarf_Addr address) {
  SourcePlace place;
  Dwarf_Line* line = dwarf_getsrc_die(unit, address);
  if (line == nullptr) return place;
  dwarf_lineno(line, &place.line);
  place.file = from_compilation(dwarf_linesrc(line, nullptr, nullptr), unit);
  return place;
}

bool is_function(int tag) {
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point;
}

/// Entries that hold no code of their own and may hold functions.
bool may_hold_functions(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type:  // Rust's have methods
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
      return true;
    default:
      return false;
  }
}

/// A linker gives ranges of code that it dropped the address 0.
template <class Use>
void each_range(Dwarf_Die* entry, Use use) {
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (ptrdiff_t at = 0; (at = dwarf_ranges(entry, at, &base, &begin, &end)) > 0;)
    if (begin != 0 && begin < end) use(begin, end);
}

}  // namespace

void NestedRanges::add(std::uint64_t begin, std::uint64_t end, std::uint32_t what,
                       std::uint32_t depth) {
  ranges_.push_back({begin, end, what, depth, 0});
}

void NestedRanges::sort() {
  std::ranges::stable_sort(ranges_, [](const Range& a, const Range& b) {
    return std::tie(a.begin, a.depth) < std::tie(b.begin, b.depth);
  });
  std::uint64_t furthest = 0;
  for (Range& range : ranges_) range.furthest = furthest = std::max(furthest, range.end);
}

std::optional<std::uint32_t> NestedRanges::at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  const Range* deepest = nullptr;
  for (auto range = after; range != ranges_.begin();) {
    --range;
    if (range->furthest <= address) break;
    if (address < range->end && (deepest == nullptr || range->depth > deepest->depth))
      deepest = &*range;
  }
  return deepest == nullptr ? std::nullopt : std::optional(deepest->what);
}

DebugFunctions::DebugFunctions(Dwarf* dwarf) {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die entry;
  Dwarf_Die split;
  std::uint8_t type = 0;
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &entry, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    Unit known;
    known.lines = entry;
    known.owner = split.addr != nullptr ? split : entry;
    const auto number = static_cast<std::uint32_t>(units_.size());
    bool ranged = false;
    each_range(&entry, [&](Dwarf_Addr begin, Dwarf_Addr end) {
      ranges_.add(begin, end, number, 0);
      ranged = true;
    });
    if (!ranged) unranged_.push_back(number);
    units_.push_back(std::move(known));
  }
  ranges_.sort();
}

void DebugFunctions::read(Unit& unit) {
  if (unit.read) return;
  unit.read = true;
  read_entries(unit, &unit.owner, std::nullopt, 0);
  unit.ranges.sort();
}

void DebugFunctions::read_entries(Unit& unit, Dwarf_Die* parent,
                                  std::optional<std::uint32_t> around, std::uint32_t depth) {
  Dwarf_Die entry;
  if (depth > kMostDepth || dwarf_child(parent, &entry) != 0) return;
  do {
    const int tag = dwarf_tag(&entry);
    if (is_function(tag)) {
      const auto number = static_cast<std::uint32_t>(unit.functions.size());
      unit.functions.push_back({entry, tag == DW_TAG_inlined_subroutine ? around : std::nullopt});
      each_range(&entry, [&](Dwarf_Addr begin, Dwarf_Addr end) {
        unit.ranges.add(begin, end, number, depth);
      });
      read_entries(unit, &entry, number, depth + 1);
    } else if (may_hold_functions(tag)) {
      read_entries(unit, &entry, around, depth + 1);
    }
  } while (dwarf_siblingof(&entry, &entry) == 0);
}

void DebugFunctions::read_units_without_ranges() {
  for (const std::uint32_t number : unranged_) {
    read(units_[number]);
    for (Function& function : units_[number].functions)
      each_range(&function.entry,
                 [&](Dwarf_Addr begin, Dwarf_Addr end) { ranges_.add(begin, end, number, 0); });
  }
  unranged_.clear();
  ranges_.sort();
}

DebugNames DebugFunctions::names_in(const Unit& unit, Dwarf_Addr address) {
  // libdw fills its caches through pointers that are not const.
  Dwarf_Die lines = unit.lines;
  Dwarf_Die owner = unit.owner;
  DebugNames found;
  found.place = source_place(&lines, address);
  SourcePlace place = found.place;
  for (auto number = unit.ranges.at(address); number;) {
    const Function& function = unit.functions[*number];
    Dwarf_Die entry = function.entry;
    found.names.push_back({function_name(&entry), place.file, place.line});
    found.linkage = linkage_name(&entry) != nullptr;
    place = call_place(&entry, &owner);
    number = function.around;
  }
  return found;
}

DebugNames DebugFunctions::at(Dwarf_Addr address) {
  auto number = ranges_.at(address);
  if (!number && !unranged_.empty()) {
    read_units_without_ranges();
    number = ranges_.at(address);
  }
  if (!number) return {};
  read(units_[*number]);
  return names_in(units_[*number], address);
}

}  // namespace memduel
