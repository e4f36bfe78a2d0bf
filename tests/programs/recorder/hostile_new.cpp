// Jumps and throws out of operator new, with an operator new of its own for one class and new
// handlers that throw; afterwards 100 blocks of 1,000 bytes are allocated in round 1.
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "memduel/annotate.h"

namespace {

std::jmp_buf back;

void jump_out() {
  std::longjmp(back, 1);
}
void throw_out() {
  throw std::runtime_error("from the new handler");
}

void* volatile sink;
const volatile std::size_t kTooMuch = PTRDIFF_MAX - 100;

}  // namespace

int main() {
  std::set_new_handler(jump_out);
  if (setjmp(back) == 0) {
    sink = ::operator new(kTooMuch);
    return 1;
  }
  std::set_new_handler(throw_out);
  int caught = 0;
  try {
    sink = ::operator new(kTooMuch);
  } catch (const std::runtime_error&) {
    ++caught;
  }
  std::set_new_handler(nullptr);
  try {
    sink = ::operator new[](kTooMuch);
  } catch (const std::bad_alloc&) {
    ++caught;
  }
  if (::operator new(kTooMuch, std::nothrow) == nullptr) ++caught;
  memduel_round_begin(1);
  for (int i = 0; i < 100; ++i) sink = ::operator new(1000);
  memduel_round_end(1);
  return caught == 3 ? 0 : 1;
}
