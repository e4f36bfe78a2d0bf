// Inserts N (default 5 million) small strings into a map that holds at most 50,000 of them: one
// allocation and one free of a string and of a node for each, with little work around them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5'000'000;
  constexpr std::uint64_t kKept = 50'000;
  std::map<std::uint64_t, std::string> words;
  std::uint64_t state = 1;
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::string& word = words[(state >> 33) % kKept];
    word = std::string(16 + (state >> 59), 'x');
    total += word.size();
    if (words.size() == kKept) words.erase(words.begin());
  }
  std::printf("%llu\n", static_cast<unsigned long long>(total));
}
