#include "profilers/profile/decode/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "memduel/annotate.h"

namespace memduel {

namespace {

using recorder::Event;

// More than any program has; a damaged file must not make us reserve the machine's memory.
constexpr std::uint64_t kMostNodes = 1U << 26;
constexpr std::uint64_t kMostLostNodes =
    1U << 18;  ///< several blocks are lost: nothing is worth reading
constexpr std::uint64_t kMostSize = std::uint64_t{1} << 48;

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

template <class Number>
Number checked(std::uint64_t value, const char* what) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<Number>::max())) {
    throw std::out_of_range(fmt::format("{} {} is too large", what, value));
  }
  return static_cast<Number>(value);
}

}  // namespace

void Replay::info_block(const std::string& bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::string line = bytes.substr(at, end - at);
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) {
      profile_.info[line.substr(0, space)] = line.substr(space + 1);
    }
    at = end + 1;
  }
  const auto interval = profile_.info.find("interval_bytes");
  interval_ = interval == profile_.info.end() ? 0 : std::strtod(interval->second.c_str(), nullptr);
}

void Replay::events_block(const std::string& bytes, int number) {
  TraceCursor cursor(bytes);
  last_address_ = 0;
  std::size_t begin = 0;
  try {
    while (!cursor.at_end()) {
      begin = cursor.position();
      event(cursor);
    }
  } catch (const std::out_of_range& problem) {
    profile_.notes.push_back(
        fmt::format("block {}: the event at byte {} makes no sense ({}); the "
                    "rest of the block is lost",
                    number, begin, problem.what()));
  }
}

void Replay::event(TraceCursor& cursor) {
  const std::uint8_t kind = cursor.byte();
  switch (static_cast<Event>(kind)) {
    case Event::counters:
      return read_counters(cursor);
    case Event::module:
      return read_module(cursor);
    case Event::node:
      return read_node(cursor);
    case Event::code:
      return read_code(cursor);
    case Event::python:
      return read_python(cursor);
    case Event::thread:
      thread_ = checked<std::uint32_t>(cursor.number(), "thread");
      running_ = &threads_[thread_];
      return;
    case Event::allocation:
      return read_allocation(cursor);
    case Event::free:
      return read_free(cursor);
    case Event::revive:
      return read_revival(cursor);
    case Event::mapping:
      return read_mapping(cursor);
    case Event::unmapping:
      return read_unmapping(cursor);
    case Event::mark:
      return read_mark(cursor);
    case Event::interval:
      interval_ = static_cast<double>(cursor.number());
      return;
    case Event::thread_phase:
      running_->phase = phase_number(cursor.text());
      return;
  }
  throw std::out_of_range(fmt::format("unknown kind {}", kind));
}

void Replay::read_counters(TraceCursor& cursor) {
  cursor.number();  // time
  const std::uint64_t next_node = cursor.number();
  ProfileCounters counters;
  counters.live_bytes = cursor.signed_number();
  counters.peak_bytes = static_cast<std::int64_t>(cursor.number());
  counters.allocated_bytes = static_cast<std::int64_t>(cursor.number());
  counters.allocations = static_cast<std::int64_t>(cursor.number());
  counters.mapping_bytes = cursor.signed_number();
  counters.mapping_peak_bytes = static_cast<std::int64_t>(cursor.number());
  counters.lost = static_cast<std::int64_t>(cursor.number());
  counters.threads = static_cast<std::int64_t>(cursor.number());
  profile_.counters = counters;
  if (next_node > kMostNodes) throw std::out_of_range("too many stacks");
  // A block before this one is missing, and with it these nodes.
  if (next_node > profile_.stacks.size() + kMostLostNodes - lost_nodes_)
    throw std::out_of_range(
        fmt::format("node {} after {}: too many are missing", next_node, profile_.stacks.size()));
  while (profile_.stacks.size() < next_node) {
    if (lost_nodes_++ == 0) {
      profile_.locations.push_back({ProfileLocation::Kind::lost, {}, 0, {}});
      locations_[{~std::uint64_t{0}, 0}] =
          static_cast<std::uint32_t>(profile_.locations.size() - 1);
    }
    profile_.stacks.push_back({0, locations_[{~std::uint64_t{0}, 0}]});
  }
}

void Replay::read_module(TraceCursor& cursor) {
  ProfileModule module;
  module.begin = cursor.number();
  module.end = cursor.number();
  module.bias = cursor.number();
  module.build_id = hexadecimal(cursor.text());
  module.path = cursor.text();
  if (module.end <= module.begin) throw std::out_of_range("an empty module");
  // What was mapped there before is gone.
  auto overlap = modules_by_begin_.lower_bound(module.begin);
  if (overlap != modules_by_begin_.begin()) {
    auto before = std::prev(overlap);
    if (profile_.modules[before->second].end > module.begin) modules_by_begin_.erase(before);
  }
  while (overlap != modules_by_begin_.end() && overlap->first < module.end) {
    overlap = modules_by_begin_.erase(overlap);
  }
  // A library that was closed and opened again is the same module when it came back to its place.
  const auto same = std::find_if(profile_.modules.begin(), profile_.modules.end(),
                                 [&module](const ProfileModule& known) {
                                   return known.begin == module.begin && known.end == module.end &&
                                          known.bias == module.bias && known.path == module.path &&
                                          known.build_id == module.build_id;
                                 });
  modules_by_begin_[module.begin] = static_cast<std::size_t>(same - profile_.modules.begin());
  if (same == profile_.modules.end()) profile_.modules.push_back(std::move(module));
}

std::uint32_t Replay::native_location(std::uint64_t ip) {
  std::optional<std::size_t> module;
  auto after = modules_by_begin_.upper_bound(ip);
  if (after != modules_by_begin_.begin()) {
    const std::size_t candidate = std::prev(after)->second;
    if (ip < profile_.modules[candidate].end) module = candidate;
  }
  const std::uint64_t address = module ? ip - profile_.modules[*module].bias : ip;
  const auto key = std::make_pair(module ? *module + 1 : 0, address);
  const auto [entry, made] =
      locations_.emplace(key, static_cast<std::uint32_t>(profile_.locations.size()));
  if (made) {
    profile_.locations.push_back({ProfileLocation::Kind::native, module, address, {}});
  }
  return entry->second;
}

std::uint32_t Replay::known_node(std::uint64_t node) const {
  if (node >= profile_.stacks.size()) {
    throw std::out_of_range(fmt::format("node {} of {}", node, profile_.stacks.size()));
  }
  return static_cast<std::uint32_t>(node);
}

void Replay::add_node(std::uint32_t parent, std::uint32_t location) {
  if (profile_.stacks.size() >= kMostNodes) throw std::out_of_range("too many stacks");
  profile_.stacks.push_back({parent, location});
}

void Replay::read_node(TraceCursor& cursor) {
  const std::uint32_t parent = known_node(cursor.number());
  last_ip_ += static_cast<std::uint64_t>(cursor.signed_number());
  add_node(parent, native_location(last_ip_));
}

void Replay::read_code(TraceCursor& cursor) {
  std::string name(cursor.text());
  codes_.emplace_back(std::move(name), std::string(cursor.text()));
}

void Replay::read_python(TraceCursor& cursor) {
  const std::uint32_t parent = known_node(cursor.number());
  const std::uint64_t code = cursor.number();
  const std::uint64_t line = cursor.number();
  if (code >= codes_.size()) {
    throw std::out_of_range(fmt::format("code object {} of {}", code, codes_.size()));
  }
  const auto [entry, made] = python_locations_.emplace(
      std::make_pair(code, line), static_cast<std::uint32_t>(profile_.locations.size()));
  if (made) {
    ProfileLocation location;
    location.kind = ProfileLocation::Kind::python;
    location.names.push_back({codes_[code].first, codes_[code].second, checked<int>(line, "line")});
    profile_.locations.push_back(std::move(location));
  }
  add_node(parent, entry->second);
}

std::uint64_t Replay::address(TraceCursor& cursor) {
  last_address_ += static_cast<std::uint64_t>(cursor.signed_number());
  return last_address_ << 3;
}

Birth Replay::birth_at(std::uint32_t node) const {
  Birth birth;
  birth.stack = node;
  birth.round = round_;
  birth.thread = thread_;
  birth.phase = running_->phase != 0 ? running_->phase : phase_;
  return birth;
}

// Horvitz and Thompson: a block of Z bytes is sampled with probability p = 1 - exp(-Z / interval),
// so each sample stands for 1 / p blocks. Weighed before summing, sums are unbiased too, and so is
// Z^2 (1 - p) / p^2 for their variance.
Estimate Replay::weigh(const Block& block) {
  const auto bytes = static_cast<double>(block.size);
  if (block.interval <= 0) return {bytes, 1, 0, 1};
  const double missed = std::exp(-bytes / block.interval);
  const double p = -std::expm1(-bytes / block.interval);
  if (p <= 0) return {0, 0, 0, 1};
  return {bytes / p, 1 / p, bytes * bytes * missed / (p * p), 1};
}

void Replay::count_size(std::uint64_t size, const Estimate& amount) {
  const auto bin = static_cast<std::size_t>(size < 2 ? 0 : std::bit_width(size) - 1);
  while (profile_.sizes.size() <= bin) {
    profile_.sizes.push_back({std::int64_t{1} << profile_.sizes.size(), {}});
  }
  profile_.sizes[bin].allocated += amount;
}

void Replay::kill(const Block& block) {
  malloc_.remove(block.site, weigh(block), temporary(malloc_, block.site, block.stretch));
}

void Replay::read_allocation(TraceCursor& cursor) {
  const std::uint32_t node = known_node(cursor.number());
  const std::uint64_t size = cursor.number();
  cursor.signed_number();  // the allocator's extra
  const std::uint64_t at = address(cursor);
  if (size > kMostSize) throw std::out_of_range("an impossible size");
  const Block block{size, interval_, malloc_.site_of(birth_at(node)), stretch_};
  const auto [known, inserted] = blocks_.try_emplace(at, block);
  if (!inserted) {  // its free went past the recorder
    ++reborn_;
    kill(known->second);
    known.value() = block;
  }
  const Estimate amount = weigh(block);
  malloc_.add(block.site, amount);
  count_size(size, amount);
}

// A free of a block that the trace does not know is normal: it was born before the recorder.
void Replay::read_free(TraceCursor& cursor) {
  const std::uint64_t at = address(cursor);
  const auto found = blocks_.find(at);
  if (found == blocks_.end()) return;
  running_->freed_address = at;
  running_->freed = found->second;
  kill(found->second);
  blocks_.erase(found);
}

void Replay::read_revival(TraceCursor& cursor) {
  const std::uint64_t at = address(cursor);
  if (!running_->freed || running_->freed_address != at) return;
  const Block block = *std::exchange(running_->freed, std::nullopt);
  if (!blocks_.try_emplace(at, block).second) return;
  malloc_.put_back(block.site, weigh(block), temporary(malloc_, block.site, block.stretch));
}

void Replay::read_mapping(TraceCursor& cursor) {
  const std::uint32_t node = known_node(cursor.number());
  const std::uint64_t size = cursor.number();
  const std::uint64_t at = address(cursor);
  if (size == 0 || size > kMostSize) throw std::out_of_range("an impossible mapping");
  const std::uint32_t site = mapping_.site_of(birth_at(node));
  mapping_.add(site, {static_cast<double>(size), 1, 0, 1});
  mappings_[at] = {at + size, site, stretch_};
}

// Cuts [from, to) out of the mappings. A part that goes takes its bytes with it; the mapping counts
// as gone with its last part.
void Replay::read_unmapping(TraceCursor& cursor) {
  const std::uint64_t size = cursor.number();
  const std::uint64_t from = address(cursor);
  if (size > kMostSize) throw std::out_of_range("an impossible mapping");
  const std::uint64_t to = from + size;
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
      mapping_.put_back(mapping.site, {0, parts == 2 ? 1.0 : 0.0, 0, parts}, false);
    }
    mapping_.remove(mapping.site, gone, temporary(mapping_, mapping.site, mapping.stretch));
    at = mappings_.lower_bound(cut_end);
  }
}

std::uint32_t Replay::phase_number(std::string_view name) {
  if (name.empty()) return 0;
  const auto known = phases_.find(name);
  if (known != phases_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(profile_.phases.size());
  profile_.phases.emplace_back(name);
  phases_.emplace(name, number);
  return number;
}

void Replay::end_phase(std::int64_t now) {
  if (phase_ == 0) return;
  ProfilePeak peak = malloc_.phase_peak();
  peak.round = round_;
  peak.phase = phase_;
  peak.begin_ns = phase_begin_ns_;
  peak.end_ns = now;
  profile_.phase_peaks.push_back(std::move(peak));
  phase_ = 0;
}

void Replay::end_round(std::int64_t now) {
  end_phase(now);
  if (round_ == 0) return;
  ProfilePeak peak = malloc_.round_peak();
  peak.round = round_;
  peak.begin_ns = round_begin_ns_;
  peak.end_ns = now;
  profile_.round_peaks.push_back(std::move(peak));
  if (now != 0) {
    for (RetentionCell& cell : malloc_.survivors(round_)) {
      profile_.retention.push_back(std::move(cell));
    }
  }
  round_ = 0;
}

void Replay::read_mark(TraceCursor& cursor) {
  const auto now = checked<std::int64_t>(cursor.number(), "time");
  const std::uint64_t kind = cursor.number();
  const std::int64_t round = cursor.signed_number();
  const std::string_view phase = cursor.text();
  ++stretch_;
  if (kind == MEMDUEL_MARK_ROUND_BEGIN) {
    if (round < 1 || round > std::numeric_limits<int>::max()) {
      throw std::out_of_range(fmt::format("round {}", round));
    }
    end_round(now);
    round_ = static_cast<int>(round);
    round_begin_ns_ = now;
    malloc_.begin_round();
  } else if (kind == MEMDUEL_MARK_ROUND_END) {
    end_round(now);
  } else if (kind == MEMDUEL_MARK_PHASE) {
    end_phase(now);
    phase_ = phase_number(phase);
    phase_begin_ns_ = now;
    malloc_.begin_phase();
  }
}

// Per location: module, address, then its names. Locations that the trace does not have are
// skipped.
void Replay::symbols_block(const std::string& bytes) {
  TraceCursor cursor(bytes);
  try {
    while (!cursor.at_end()) {
      const std::uint64_t module = cursor.number();
      const std::uint64_t at = cursor.number();
      std::vector<FrameName> names;
      for (std::uint64_t count = cursor.number(); count > 0; --count) {
        FrameName name;
        name.function = cursor.text();
        name.file = cursor.text();
        name.line = checked<int>(cursor.number(), "line");
        names.push_back(std::move(name));
      }
      const auto location = locations_.find({module, at});
      if (location != locations_.end()) {
        profile_.locations[location->second].names = std::move(names);
      }
    }
  } catch (const std::out_of_range& problem) {
    profile_.notes.push_back(fmt::format("the symbols end early: {}", problem.what()));
  }
}

Profile Replay::finish() {
  profile_.peak = malloc_.run_peak();
  profile_.mapping_peak = mapping_.run_peak();
  end_round(0);
  profile_.sites = malloc_.finish();
  const auto offset = static_cast<std::uint32_t>(profile_.sites.size());
  for (AllocationSite& site : mapping_.finish()) profile_.sites.push_back(site);
  for (auto& entry : profile_.mapping_peak.sites) entry.first += offset;
  if (lost_nodes_ > 0) {
    profile_.notes.push_back(
        fmt::format("{} frames of stacks are lost with damaged blocks", lost_nodes_));
  }
  if (reborn_ > 0) {
    profile_.notes.push_back(
        fmt::format("{} frees went past the recorder; their blocks were taken "
                    "as freed when their address returned",
                    reborn_));
  }
  return std::move(profile_);
}

}  // namespace memduel
