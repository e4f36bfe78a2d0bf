#include "debug_info.h"

#include <gtest/gtest.h>

#include <string>

namespace memduel {
namespace {

using Binding = Symbol::Binding;

std::string name_at(const SymbolTable& table, std::uint64_t address) {
  const Symbol* symbol = table.at(address);
  return symbol == nullptr ? "" : symbol->name;
}

TEST(SymbolTable, NamesOnlyWhatLiesInsideASymbol) {
  const SymbolTable table({{0x200, 0x10, Binding::global, "second"},
                           {0x100, 0x10, Binding::global, "first"},
                           {0x300, 0, Binding::global, "without a size"}});
  EXPECT_EQ(name_at(table, 0xff), "");
  EXPECT_EQ(name_at(table, 0x100), "first");
  EXPECT_EQ(name_at(table, 0x10f), "first");
  EXPECT_EQ(name_at(table, 0x110), "");
  EXPECT_EQ(name_at(table, 0x20f), "second");
  EXPECT_EQ(name_at(table, 0x300), "");
  EXPECT_EQ(name_at(SymbolTable({}), 1), "");
}

TEST(SymbolTable, FindsTheSymbolAroundOthersThatHaveEnded) {
  const SymbolTable table({{0x100, 0x1000, Binding::local, "around"},
                           {0x200, 0x10, Binding::local, "inside"},
                           {0x400, 0x10, Binding::local, "inside too"}});
  EXPECT_EQ(name_at(table, 0x205), "inside");
  EXPECT_EQ(name_at(table, 0x300), "around");
  EXPECT_EQ(name_at(table, 0x10ff), "around");
  EXPECT_EQ(name_at(table, 0x1100), "");
}

TEST(SymbolTable, PrefersTheStrongestOfSeveralNamesForOnePlace) {
  const SymbolTable table({{0x100, 0x10, Binding::global, "strong"},
                           {0x100, 0x10, Binding::weak, "weak"},
                           {0x100, 0x10, Binding::local, "local"}});
  EXPECT_EQ(name_at(table, 0x108), "strong");
}

}  // namespace
}  // namespace memduel
