// Which symbol of a file an address lies in. libdwfl's own look-up reads the whole table for each
// address, a millisecond in libtorch; this one sorts it once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

}  // namespace memduel
