// ledger LINES: writes so many lines into a store, prints what it holds and when it was built.
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
  std::printf("%zu bytes in %zu lines, built %s %s\n", used, seen.size(), __DATE__, __TIME__);
  return 0;
}
