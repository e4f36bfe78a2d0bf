#include "profilers/profile/names/symbol_table.h"

#include <algorithm>
#include <tuple>

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

}  // namespace memduel
