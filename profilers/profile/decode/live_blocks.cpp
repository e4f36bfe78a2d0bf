#include "profilers/profile/decode/live_blocks.h"

#include <algorithm>
#include <cmath>

namespace memduel {
namespace {

Birth birth_at(std::uint32_t stack, const Moment& now) {
  Birth birth;
  birth.stack = stack;
  birth.round = now.round;
  birth.thread = now.thread;
  birth.phase = now.phase;
  return birth;
}

/// Whether what was born at `site` in `stretch` and ends now was temporary.
bool is_temporary(const LiveHeap& heap, std::uint32_t site, std::uint32_t stretch,
                  const Moment& now) {
  return stretch == now.stretch && heap.thread_of(site) == now.thread;
}

}  // namespace

// Horvitz and Thompson: a block of Z bytes is sampled with probability p = 1 - exp(-Z / interval),
// so each sample stands for 1 / p blocks. Weighed before summing, sums are unbiased too, and so is
// Z^2 (1 - p) / p^2 for their variance.
Estimate weigh(const LiveBlock& block) {
  const auto bytes = static_cast<double>(block.size);
  if (block.interval <= 0) return {bytes, 1, 0, 1};
  const double missed = std::exp(-bytes / block.interval);
  const double p = -std::expm1(-bytes / block.interval);
  if (p <= 0) return {0, 0, 0, 1};
  return {bytes / p, 1 / p, bytes * bytes * missed / (p * p), 1};
}

void LiveBlocks::remove(const LiveBlock& block, const Moment& now) {
  heap_.remove(block.site, weigh(block), is_temporary(heap_, block.site, block.stretch, now));
}

Estimate LiveBlocks::allocate(std::uint64_t address, const Request& request, std::uint32_t stack,
                              const Moment& now) {
  const LiveBlock block{request.size, request.interval, heap_.site_of(birth_at(stack, now)),
                        now.stretch, request.extra};
  const auto [known, inserted] = blocks_.try_emplace(address, block);
  if (!inserted) {  // its free went past the recorder
    ++reborn_;
    remove(known->second, now);
    known.value() = block;
  }
  const Estimate amount = weigh(block);
  heap_.add(block.site, amount);
  return amount;
}

std::optional<LiveBlock> LiveBlocks::free(std::uint64_t address, const Moment& now) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return std::nullopt;
  const LiveBlock block = found->second;
  remove(block, now);
  blocks_.erase(found);
  return block;
}

void LiveBlocks::revive(std::uint64_t address, const LiveBlock& block, const Moment& now) {
  if (!blocks_.try_emplace(address, block).second) return;
  heap_.put_back(block.site, weigh(block), is_temporary(heap_, block.site, block.stretch, now));
}

// A chunk begins with the word of its size; one with a mapping of its own has a word more, and
// begins with the page.
AddressRange range_of_block(std::uint64_t address, std::uint64_t bytes, bool glibc) {
  constexpr std::uint64_t kWord = 8;
  const bool mapped = address % kPageBytes == 2 * kWord && bytes % kPageBytes == 0;
  const std::uint64_t header = !glibc ? 0 : mapped ? 2 * kWord : kWord;
  const std::uint64_t begin = address - std::min(address, header);
  return {begin, begin + bytes};
}

std::vector<LiveRange> LiveBlocks::ranges(bool glibc) const {
  std::vector<LiveRange> ranges;
  ranges.reserve(blocks_.size());
  for (const auto& [address, block] : blocks_)
    ranges.push_back({range_of_block(address, block.size + block.extra, glibc), block.site});
  return ranges;
}

std::vector<LiveRange> LiveMappings::ranges() const {
  std::vector<LiveRange> ranges;
  ranges.reserve(mappings_.size());
  for (const auto& [begin, mapping] : mappings_)
    ranges.push_back({{begin, mapping.end}, mapping.site});
  return ranges;
}

void LiveMappings::map(std::uint64_t address, std::uint64_t size, std::uint32_t stack,
                       const Moment& now) {
  const std::uint32_t site = heap_.site_of(birth_at(stack, now));
  heap_.add(site, {static_cast<double>(size), 1, 0, 1});
  mappings_[address] = {address + size, site, now.stretch};
}

void LiveMappings::unmap(std::uint64_t from, std::uint64_t to, const Moment& now) {
  auto at = mappings_.upper_bound(from);
  if (at != mappings_.begin()) --at;
  while (at != mappings_.end() && at->first < to) {
    const auto [begin, mapping] = *at;
    if (mapping.end <= from) {
      ++at;
      continue;
    }
    const std::uint64_t cut_begin = std::max(begin, from);
    const std::uint64_t cut_end = std::min(mapping.end, to);
    at = mappings_.erase(at);
    int parts = 0;
    if (begin < cut_begin) {
      mappings_[begin] = {cut_begin, mapping.site, mapping.stretch};
      ++parts;
    }
    if (cut_end < mapping.end) {
      mappings_[cut_end] = {mapping.end, mapping.site, mapping.stretch};
      ++parts;
    }
    Estimate gone{static_cast<double>(cut_end - cut_begin), parts == 0 ? 1.0 : 0.0, 0, 1};
    // Each part is a sample of its own from here on.
    if (parts > 0) {
      heap_.put_back(mapping.site, {0, parts == 2 ? 1.0 : 0.0, 0, parts}, false);
    }
    heap_.remove(mapping.site, gone, is_temporary(heap_, mapping.site, mapping.stretch, now));
    at = mappings_.lower_bound(cut_end);
  }
}

}  // namespace memduel
