// Allocates and frees at random (first argument: seed) from eight functions, and prints what a
// bookkeeper saw: per function `allocated live_at_peak leaked`, requested bytes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kSites = 8;
constexpr int kSlots = 512;

struct Slot {
  void* block;
  int site;
  long size;
};

Slot slots[kSlots];
long allocated[kSites];
long live[kSites];
long at_peak[kSites];
long total = 0;
long peak = 0;
std::uint64_t state;

unsigned draw(unsigned below) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<unsigned>(state >> 33) % below;
}

void add(int site, long size) {
  live[site] += size;
  total += size;
  if (total <= peak) return;
  peak = total;
  for (int i = 0; i < kSites; ++i) at_peak[i] = live[i];
}

template <int kSite>
[[gnu::noinline]] void* make(std::size_t size) {
  void* block = malloc(size);
  asm volatile("" ::: "memory");  // keeps the call from becoming a jump, and the frame in the stack
  return block;
}

template <int kSite>
[[gnu::noinline]] void* remake(void* block, std::size_t size) {
  void* moved = realloc(block, size);
  asm volatile("" ::: "memory");
  return moved;
}

void* make_at(int site, std::size_t size) {
  switch (site) {
    case 0:
      return make<0>(size);
    case 1:
      return make<1>(size);
    case 2:
      return make<2>(size);
    case 3:
      return make<3>(size);
    case 4:
      return make<4>(size);
    case 5:
      return make<5>(size);
    default:
      return make<6>(size);
  }
}

void give_back(Slot& slot) {
  live[slot.site] -= slot.size;
  total -= slot.size;
  free(slot.block);
  slot.block = nullptr;
}

void born(Slot& slot, int site, long size) {
  slot.site = site;
  slot.size = size;
  allocated[site] += size;
  add(site, size);
}

}  // namespace

int main(int argc, char** argv) {
  state = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  for (int step = 0; step < 20'000; ++step) {
    Slot& slot = slots[draw(kSlots)];
    const long size = 1 + static_cast<long>(draw(step % 100 == 0 ? 200'000 : 2'000));
    if (slot.block == nullptr) {
      const int site = static_cast<int>(draw(kSites - 1));
      slot.block = make_at(site, static_cast<std::size_t>(size));
      born(slot, site, size);
    } else if (draw(4) == 0) {
      live[slot.site] -= slot.size;
      total -= slot.size;
      slot.block = remake<7>(slot.block, static_cast<std::size_t>(size));
      born(slot, 7, size);
    } else {
      give_back(slot);
    }
  }
  for (int i = 0; i < kSites; ++i) std::printf("%ld %ld %ld\n", allocated[i], at_peak[i], live[i]);
}
