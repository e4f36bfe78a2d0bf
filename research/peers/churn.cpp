// Five million small strings through a map: what an allocation-heavy program asks of a profiler.
#include <cstdlib>
#include <map>
#include <string>

int main(int argc, char** argv) {
  const long strings = argc > 1 ? std::atol(argv[1]) : 5'000'000;
  std::map<long, std::string> kept;
  unsigned long state = 1;
  for (long i = 0; i < strings; ++i) {
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    kept[static_cast<long>(state >> 48)].assign(16 + (state >> 33) % 48, 'x');
    if (kept.size() > 20'000) kept.erase(kept.begin());
  }
  return kept.empty() ? 1 : 0;
}
