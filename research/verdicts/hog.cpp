// Touches a given number of MiB, varied by a uniform percentage from run to run, and exits: a
// program whose peak is known.
//   hog MIB [PERCENT]
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

int main(int argc, char** argv) {
  char* end = nullptr;
  const double mib = argc > 1 ? std::strtod(argv[1], &end) : 0;
  const double percent = argc > 2 ? std::strtod(argv[2], nullptr) : 0;
  if (argc < 2 || *end != '\0' || mib <= 0) {
    std::fprintf(stderr, "usage: hog MIB [PERCENT]\n");
    return 2;
  }
  std::random_device seed;
  const double factor = 1 + std::uniform_real_distribution<>(-percent, percent)(seed) / 100;
  std::vector<char> block(static_cast<std::size_t>(mib * factor * 1024 * 1024));
  for (std::size_t i = 0; i < block.size(); i += 4096) block[i] = 1;
  ::usleep(20'000);                  // long enough for several samples at the peak
  return block.back() <= 1 ? 0 : 1;  // reads it, so that the compiler keeps the touches
}
