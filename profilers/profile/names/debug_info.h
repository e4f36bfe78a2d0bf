// The functions of one file by address. SymbolTable: which symbol an address lies in; libdwfl's own
// look-up reads the whole table for each address, a millisecond in libtorch, and this one sorts it
// once. DebugFunctions: what the file's debug information knows, with the calls that were inlined;
// libdw's own look-up needs .debug_aranges, which clang and Rust leave out, and finds no function
// inside a namespace or a class (elfutils 0.188).
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace memduel {

struct Symbol {
  /// Of several at one address the strongest names it.
  enum class Binding { local, weak, global };

  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  Binding binding = Binding::local;
  const char* name = "";
};

class SymbolTable {
 public:
  explicit SymbolTable(std::vector<Symbol> symbols);

  /// The symbol that begins last among those that `address` lies in; null where it lies in none:
  /// the nearest name before an address is a neighbour's.
  [[nodiscard]] const Symbol* at(std::uint64_t address) const;

 private:
  std::vector<Symbol> symbols_;          ///< by begin; the best of equal begins last
  std::vector<std::uint64_t> furthest_;  ///< largest end of the symbols up to this one
};

/// A line of a source file; empty and 0 where unknown.
struct SourcePlace {
  std::string file;
  int line = 0;
};

struct DebugNames {
  std::vector<FrameName> names;  ///< innermost first; empty where no function covers the address
  SourcePlace place;             ///< of the address, from the unit that covers it
  bool linkage = false;          ///< the outermost name is the linker's, which is unambiguous
};

/// Ranges that lie in one another, asked which of them an address lies in.
class NestedRanges {
 public:
  /// `depth`: of ranges that hold an address, the deepest answers.
  void add(std::uint64_t begin, std::uint64_t end, std::uint32_t what, std::uint32_t depth);
  /// To be called after the last add() and before at().
  void sort();
  /// What lies deepest there.
  [[nodiscard]] std::optional<std::uint32_t> at(std::uint64_t address) const;
  [[nodiscard]] bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint32_t what = 0;
    std::uint32_t depth = 0;
    std::uint64_t furthest = 0;  ///< largest end of the ranges up to this one
  };
  std::vector<Range> ranges_;
};

class DebugFunctions {
 public:
  /// `dwarf` must outlive this. Split units are opened from where they were compiled.
  explicit DebugFunctions(Dwarf* dwarf);

  [[nodiscard]] DebugNames at(Dwarf_Addr address);

 private:
  struct Function {
    Dwarf_Die entry{};
    std::optional<std::uint32_t> around;  ///< of an inlined call, the function it was inlined into
  };
  struct Unit {
    Dwarf_Die lines{};  ///< has the line table
    Dwarf_Die owner{};  ///< has the functions: the same, or the split unit that belongs to it
    bool read = false;
    std::vector<Function> functions;
    NestedRanges ranges;
  };

  void read(Unit& unit);
  void read_entries(Unit& unit, Dwarf_Die* parent, std::optional<std::uint32_t> around,
                    std::uint32_t depth);
  void read_units_without_ranges();
  [[nodiscard]] static DebugNames names_in(const Unit& unit, Dwarf_Addr address);

  std::vector<Unit> units_;
  NestedRanges ranges_;                  ///< of units
  std::vector<std::uint32_t> unranged_;  ///< units that do not say what they cover
};

}  // namespace memduel
