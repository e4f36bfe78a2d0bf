#include "profilers/readers/gperftools_cpu.h"

#include <fmt/format.h>

#include <cstring>

#include "profilers/readers/dumped_stacks.h"
#include "profilers/readers/plain_source.h"

namespace memduel {

namespace {

constexpr std::size_t kCpuWord = 8;
constexpr std::size_t kCpuHeader = 5;
constexpr std::uint64_t kDeepestCpuStack = 1U << 16;
constexpr std::uint64_t kMostCpuSamples = std::uint64_t{1} << 40;
constexpr std::uint64_t kLongestCpuPeriod = 3'600'000'000;  // an hour

class CpuWords {
 public:
  CpuWords(const PlainSource& source, std::string_view bytes) : source_(source), bytes_(bytes) {}

  std::uint64_t next() {
    if (bytes_.size() - at_ < kCpuWord) {
      at_ = bytes_.size();
      fail("the file ends before the end of its samples");
    }
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + at_, kCpuWord);
    at_ += kCpuWord;
    return word;
  }

  [[nodiscard]] std::string_view rest() const { return bytes_.substr(at_); }
  [[noreturn]] void fail(const std::string& problem) const { source_.fail(problem, at_); }

 private:
  const PlainSource& source_;
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// The leaf stands there twice where both the signal and the unwinder gave it.
void drop_second_leaf(std::vector<std::uint64_t>& addresses) {
  if (addresses.size() > 1 && addresses[0] == addresses[1]) addresses.erase(addresses.begin());
}

}  // namespace

bool is_gperftools_cpu(std::string_view head) {
  std::uint64_t words[kCpuHeader];
  if (head.size() < sizeof words) return false;
  std::memcpy(words, head.data(), sizeof words);
  return words[0] == 0 && words[1] == 3 && words[2] == 0 && words[3] > 0 && words[4] == 0;
}

Profile read_gperftools_cpu(PlainSource& source, const SymbolOptions& symbols) {
  const std::string bytes = source.rest();
  CpuWords words(source, bytes);
  for (int i = 0; i < 3; ++i) words.next();
  const std::uint64_t period_us = words.next();
  if (period_us > kLongestCpuPeriod) words.fail("an impossible sampling period");
  words.next();

  Profile profile;
  profile.unit = ProfileUnit::nanoseconds;
  StackBuilder builder(profile);
  AddressSpace space(profile, builder, symbols);
  const double period = static_cast<double>(period_us) * 1e3;
  std::vector<DumpedStack> stacks;
  for (;;) {
    const std::uint64_t samples = words.next();
    const std::uint64_t depth = words.next();
    if (depth == 0 || depth > kDeepestCpuStack) words.fail("an impossible depth of a stack");
    if (samples > kMostCpuSamples) words.fail("an impossible count of samples");
    DumpedStack stack;
    for (std::uint64_t i = 0; i < depth; ++i) stack.calls.push_back(words.next());
    if (samples == 0 && depth == 1 && stack.calls[0] == 0) break;
    drop_second_leaf(stack.calls);
    // The leaf was running; the others are where calls return to.
    for (std::size_t i = 1; i < stack.calls.size(); ++i) --stack.calls[i];
    const auto n = static_cast<double>(samples);
    // Samples of a fixed rate are close to Poisson where a stack has few of all.
    stack.allocated = {n * period, n, n * period * period, static_cast<std::int64_t>(samples)};
    stacks.push_back(std::move(stack));
  }
  read_maps(words.rest(), source, space);
  add_stacks(profile, builder, space, stacks);
  profile.info["mode"] = "sampled";
  profile.info["amounts"] = "CPU time";
  profile.info["period_seconds"] = fmt::format("{}", static_cast<double>(period_us) * 1e-6);
  return profile;
}

}  // namespace memduel
