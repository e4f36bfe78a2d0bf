// ledger LINES: writes so many lines into a store and prints what it holds.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "store.h"

int main(int argc, char** argv) {
  const int lines = argc > 1 ? std::atoi(argv[1]) : 1000;
  ledger::Store store;
  std::vector<std::string> seen;
  std::size_t used = 0;
  for (int i = 0; i < lines; ++i) {
    seen.push_back("entry number " + std::to_string(i));
    used = store.add(seen.back().c_str());
  }
  std::printf("%zu bytes in %zu lines\n", used, seen.size());
  return 0;
}
