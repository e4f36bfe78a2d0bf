#include "live_blocks.h"

#include <algorithm>
#include <cmath>

#include "recorder/layout.h"

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
  const Estimate amount = weigh(block);
  heap_.remove(block.site, amount, is_temporary(heap_, block.site, block.stretch, now));
  together_.change(Heap::malloc, block.site, amount, true);
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
  together_.change(Heap::malloc, block.site, amount, false);
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
  const Estimate amount = weigh(block);
  heap_.put_back(block.site, amount, is_temporary(heap_, block.site, block.stretch, now));
  together_.change(Heap::malloc, block.site, amount, false);
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

void LiveMappings::count(Mapping& mapping, double bytes) {
  if (bytes == mapping.counted) return;
  const bool falling = bytes < mapping.counted;
  // The mapping is one sample while any of it counts.
  const bool begins = mapping.counted == 0;
  const bool ends = bytes == 0;
  const double one = begins || ends ? 1 : 0;
  together_.change(Heap::mapped, mapping.site,
                   {std::abs(bytes - mapping.counted), one, 0, static_cast<std::int64_t>(one)},
                   falling);
  mapping.counted = bytes;
}

void LiveMappings::map(std::uint64_t address, std::uint64_t size, std::uint32_t stack,
                       const Moment& now) {
  const std::uint32_t site = heap_.site_of(birth_at(stack, now));
  heap_.add(site, {static_cast<double>(size), 1, 0, 1});
  Mapping& mapping = mappings_[address];
  mapping = {.end = address + size, .site = site, .stretch = now.stretch};
  mapping.is_dense = size < recorder::kSparseBytes;
  mapping.is_unknown = !mapping.is_dense;
  mapping.born = together_.changes();
  if (mapping.is_dense) count(mapping, static_cast<double>(size));
}

void LiveMappings::touch(std::uint64_t from, std::uint64_t to, std::uint64_t touched) {
  auto at = mappings_.upper_bound(from);
  if (at == mappings_.begin()) return;
  --at;
  Mapping& mapping = at->second;
  if (mapping.end < to) return;
  if (mapping.is_dense) {
    ++mapping.looks;
    mapping.looked_at = {from, to};
    mapping.untouched = static_cast<double>(to - from - touched);
    return;
  }
  mapping.is_unknown = false;
  count(mapping, static_cast<double>(touched));
}

// A page that is untouched when its mapping goes was so at the peak, unless pages were given back
// in between. A look before that, or at another part, says that they were: then the mapping counts
// whole.
void LiveMappings::leave_out_untouched(Mapping& mapping, const AddressRange& part) {
  if (mapping.looks != 1 || mapping.looked_at.begin != part.begin ||
      mapping.looked_at.end != part.end)
    return;
  if (mapping.born < together_.peak_change()) together_.leave_out(mapping.site, mapping.untouched);
  mapping.looks = 0;  // at the other parts there was none
}

void LiveMappings::finish() {
  for (auto& [begin, mapping] : mappings_) leave_out_untouched(mapping, {begin, mapping.end});
}

double LiveMappings::unknown_bytes() const {
  double bytes = 0;
  for (const auto& [begin, mapping] : mappings_)
    if (mapping.is_unknown) bytes += static_cast<double>(mapping.end - begin);
  return bytes;
}

void LiveMappings::unmap(std::uint64_t from, std::uint64_t to, const Moment& now) {
  auto at = mappings_.upper_bound(from);
  if (at != mappings_.begin()) --at;
  while (at != mappings_.end() && at->first < to) {
    auto [begin, mapping] = *at;
    if (mapping.end <= from) {
      ++at;
      continue;
    }
    const std::uint64_t cut_begin = std::max(begin, from);
    const std::uint64_t cut_end = std::min(mapping.end, to);
    const double size = static_cast<double>(mapping.end - begin);
    const double density = mapping.counted / size;  // of its touched pages nobody knows which
    leave_out_untouched(mapping, {cut_begin, cut_end});
    count(mapping, 0);
    at = mappings_.erase(at);
    int parts = 0;
    const auto keep = [&](std::uint64_t part_begin, std::uint64_t part_end) {
      Mapping& part = mappings_[part_begin];
      part = mapping;
      part.end = part_end;
      count(part, density * static_cast<double>(part_end - part_begin));
      ++parts;
    };
    if (begin < cut_begin) keep(begin, cut_begin);
    if (cut_end < mapping.end) keep(cut_end, mapping.end);
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
