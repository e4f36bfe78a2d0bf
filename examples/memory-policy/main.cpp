// Rounds that allocate 128 MiB and free all but 16 KiB of it. malloc keeps what is free; the policy
// has the system get it back. `memory-policy off` shows the same rounds without it.
#include <memduel/memory.h>

#include <cstdio>
#include <string_view>

using Update = std::unique_ptr<std::vector<char>>;

/// The last update stays, and keeps malloc from giving back what lies below it.
Update train() {
  std::vector<Update> updates;
  for (int i = 0; i < 8192; ++i) updates.push_back(std::make_unique<std::vector<char>>(16384, 'u'));
  return std::move(updates.back());
}

double rss_mebibytes() {
  const memduel::MemoryInfo info = memduel::memory_info({.pss = false});
  return static_cast<double>(info.rss_bytes.value_or(0)) / (1 << 20);
}

int main(int count, char** arguments) {
  const bool off = count > 1 && std::string_view(arguments[1]) == "off";
  const auto print = [](const auto& event) { std::puts(to_string(event).c_str()); };
  memduel::limit_arenas(memduel::kClientArenas);
  memduel::CleanupPolicy policy({.light_every = off ? 0 : 2,
                                 .heavy_every = off ? 0 : 4,
                                 .pressure = std::make_shared<memduel::MemoryPressure>(),
                                 .cleaned = print,
                                 .warned = print});
  const double before = rss_mebibytes();
  std::vector<Update> kept;
  for (int round = 1; round <= 4; ++round) {
    kept.push_back(train());
    policy.round_ended(round);
  }
  std::printf("%s: grew by %.1f MiB in 4 rounds\n", name_of(memduel::allocator_type()),
              rss_mebibytes() - before);
}
