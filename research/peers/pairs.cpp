// malloc and free, as often as asked: instructions per pair are the difference of two runs.
#include <cstdlib>

int main(int argc, char** argv) {
  for (long left = argc > 1 ? std::atol(argv[1]) : 0; left > 0; --left) {
    void* volatile block = std::malloc(static_cast<std::size_t>(16 + left % 100));
    std::free(block);
  }
}
