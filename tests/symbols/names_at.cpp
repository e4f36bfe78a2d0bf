// names_at FILE < ADDRESSES: of each address of the file (hexadecimal, one a line) the functions
// there as memduel names them, innermost first: `FUNCTION<tab>FILE<tab>LINE`, then a line with `.`.
#include <fmt/format.h>

#include <iostream>
#include <string>

#include "profile/function_names.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const memduel::ModuleSymbols symbols(argv[1], "");
  if (!symbols.problem().empty()) {
    std::cerr << symbols.problem() << '\n';
    return 1;
  }
  for (std::string address; std::getline(std::cin, address);) {
    for (const memduel::FrameName& name : symbols.names_at(std::stoull(address, nullptr, 16)))
      std::cout << fmt::format("{}\t{}\t{}\n", name.function, name.file, name.line);
    std::cout << ".\n";
  }
  return 0;
}
