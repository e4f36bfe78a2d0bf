// A C++ plugin for a C host: its operator new is whatever the host's process offers.
#include <cstdint>
#include <new>
#include <string>
#include <vector>

extern "C" int plugin_run() {
  std::vector<std::string> words;
  for (int i = 0; i < 100; ++i) words.emplace_back(200, 'x');
  try {
    const volatile std::size_t too_much = PTRDIFF_MAX - 100;
    void* volatile block = ::operator new(too_much);
    ::operator delete(block);
    return 1;
  } catch (const std::bad_alloc&) {
    return words.size() == 100 ? 0 : 2;
  }
}
