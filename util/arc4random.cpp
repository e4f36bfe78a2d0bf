// What libstdc++ as an archive asks of glibc 2.36, from the kernel: older ones have none.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) std::abort();  // as glibc's own does
  return number;
}
