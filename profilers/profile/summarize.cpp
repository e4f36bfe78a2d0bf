#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "profile/function_names.h"
#include "profile/outputs.h"
#include "util/text.h"

namespace memduel {

namespace {

/// Of whole bytes, as the flame graph's page has them: both round to the same text.
std::string amount_text(const Profile& profile, const Estimate& amount) {
  const double size = std::round(amount.bytes);
  const double half_width = amount.variance > 0 ? std::round(amount.half_width()) : 0;
  if (profile.unit == ProfileUnit::bytes) return format_bytes_with_interval(size, half_width);
  const std::string text = format_amount(profile.unit, size);
  if (amount.variance <= 0) return text;
  return fmt::format("{} ± {}", text, format_amount(profile.unit, half_width));
}

// " in 3 allocations", " in 3 samples", or nothing where nobody counted.
std::string count_text(const Profile& profile, const Estimate& amount) {
  if (!profile.counted || profile.unit == ProfileUnit::samples || std::round(amount.count) == 0)
    return {};
  return " in " + format_estimated_count(
                      amount.count, profile.unit == ProfileUnit::bytes ? "allocation" : "sample");
}

void add_estimates(std::string& text, const Profile& profile) {
  text += fmt::format("\n{} ({})\n",
                      profile.sampled()                    ? "Estimated from samples, 95% CI"
                      : profile.unit == ProfileUnit::bytes ? "From every allocation"
                                                           : "From every sample",
                      profile.fact("amounts", "requested bytes"));
  const Estimate allocated = total_of(sites_of(profile, ProfileKind::allocated));
  if (allocated.samples == 0 && profile.fact("end").starts_with("abruptly")) {
    text += "  none: the program ended before it wrote its stacks\n";
    return;
  }
  if (profile.unit != ProfileUnit::bytes) {
    text += fmt::format("  total         {}{}\n", amount_text(profile, allocated),
                        count_text(profile, allocated));
    return;
  }
  const auto add = [&](const char* name, const Estimate& total, const std::string& more) {
    // A kind that another tool does not have is not told as none.
    if (total.samples == 0 && profile.info.contains("profiler")) return;
    text += fmt::format("  {:<14}{}{}\n", name, amount_text(profile, total), more);
  };
  add("live at peak", profile.peak.total, "");
  add("live at end", total_of(sites_of(profile, ProfileKind::live)), "");
  add("allocated", allocated, count_text(profile, allocated));
  constexpr double kVague = 0.5;  // of the estimate
  if (profile.sampled() && profile.peak.total.half_width() >= kVague * profile.peak.total.bytes)
    text +=
        "  too few samples for a precise estimate; memduel record --exact records every "
        "allocation\n";
  if (allocated.bytes <= 0) return;
  const Estimate temporary = total_of(sites_of(profile, ProfileKind::temporary));
  add("temporary", temporary,
      fmt::format(" ({:.1f}%: {})", 100 * temporary.bytes / allocated.bytes,
                  profile.fact("temporary", profile.phases.size() > 1
                                                ? "freed by their thread in their phase"
                                                : "freed by their thread; no phase was marked")));
}

/// The recorder's first samples are denser.
std::string first_interval(const Profile& profile, std::string_view key) {
  const std::string first = profile.fact("first_interval_bytes");
  if (key != "interval_bytes" || first.empty()) return {};
  return fmt::format(" (the first samples: {})", first);
}

/// Of a forked process, whose counters begin with what was live and mapped at the fork.
void add_inherited(std::string& text, const Profile& profile, const char* key,
                   std::int64_t peak_bytes) {
  const std::string fact = profile.fact(key);
  if (fact.empty()) return;
  const double inherited = std::strtod(fact.c_str(), nullptr);
  text += fmt::format("    inherited   {:>12}   from its parent at the fork\n",
                      format_bytes(inherited));
  text += fmt::format("    its own     {:>12}   the rest of the peak\n",
                      format_bytes(std::max(0.0, static_cast<double>(peak_bytes) - inherited)));
}

void add_totals(std::string& text, const Profile& profile) {
  for (const char* key : {"program", "command", "image", "largest_image", "profiler", "mode",
                          "interval_bytes", "period_seconds", "allocator", "end"}) {
    const auto entry = profile.info.find(key);
    if (entry == profile.info.end()) continue;
    std::string words = key;
    if (const std::size_t image = words.find("image"); image != std::string::npos)
      words.replace(image, words.size(), "process");
    std::ranges::replace(words, '_', ' ');
    text += fmt::format("{:<16}{}{}\n", words, entry->second, first_interval(profile, key));
  }
  if (profile.counters) {
    const HeapTotals& counters = *profile.counters;
    const std::string within = profile.fact("counters_within");
    text +=
        within.empty()
            ? "\nExact counters\n"
            : fmt::format("\nCounters; peak and live bytes are exact within {}{}\n", within,
                          profile.sampled() ? "" : ", those of every allocation below to the byte");
    text += fmt::format("  peak          {:>12}   with malloc's overhead\n",
                        format_bytes(static_cast<double>(counters.peak_bytes)));
    add_inherited(text, profile, "inherited_bytes", counters.peak_bytes);
    text += fmt::format("  live at end   {:>12}   with malloc's overhead\n",
                        format_bytes(static_cast<double>(counters.live_bytes)));
    text += fmt::format("  allocated     {:>12}   requested, in {}\n",
                        format_bytes(static_cast<double>(counters.allocated_bytes)),
                        format_count(counters.allocations, "allocation"));
    text += fmt::format("  mapping peak  {:>12}   the program's own anonymous mappings\n",
                        format_bytes(static_cast<double>(counters.mapping_peak_bytes)));
    add_inherited(text, profile, "inherited_mapping_bytes", counters.mapping_peak_bytes);
    if (counters.together_peak_bytes > 0)
      text += fmt::format("  heap + mapped {:>12}   the peak of both{}\n",
                          format_bytes(static_cast<double>(counters.together_peak_bytes)),
                          profile.info.contains(kTogetherSampledFact)
                              ? "; the touched part of large mappings is sampled"
                              : "");
  }
  add_estimates(text, profile);
}

std::vector<std::pair<std::uint32_t, Estimate>> shown_stacks(const Profile& profile,
                                                             const LiveSites& sites,
                                                             const SummaryOptions& options) {
  auto stacks = stacks_of(profile, sites);
  return options.all_frames ? stacks : without_runtimes(profile, stacks);
}

// From the frame that tells most outwards; those between that every program has are left out.
std::vector<std::string> lines_of(const Profile& profile, std::uint32_t stack,
                                  const SummaryOptions& options) {
  const std::vector<ToldFrame> frames = told_frames(profile, stack);
  const std::size_t lead = options.all_frames ? 0 : leading_frame(profile, stack);
  std::vector<std::string> lines;
  std::string last;
  for (std::size_t i = lead; i < frames.size(); ++i) {
    if (!options.all_frames && i != lead && !frames[i].own) continue;
    const FrameName& frame = frames[i].name;
    const std::string said = options.all_frames ? frame.function : short_name(frame.function);
    if (!options.all_frames && said == last) continue;
    last = said;
    lines.push_back(said);
    if (!frame.file.empty()) lines.back() += fmt::format("  {}:{}", frame.file, frame.line);
  }
  return lines;
}

void add_frames(std::string& text, const Profile& profile, std::uint32_t stack,
                const SummaryOptions& options) {
  const std::vector<std::string> lines = lines_of(profile, stack, options);
  const std::size_t frames = told_frames(profile, stack).size();
  const std::size_t shown = std::min(lines.size(), options.frames);
  for (std::size_t i = 0; i < shown; ++i) text += "        " + lines[i] + '\n';
  if (frames > shown) text += fmt::format("        … {} more\n", frames - shown);
}

/// Stacks that people are shown as one are one: a Python function's blocks of malloc, and the
/// arenas that were mapped for its objects. The largest stands for all; largest first.
std::vector<std::pair<std::uint32_t, Estimate>> stacks_as_told(const Profile& profile,
                                                               const LiveSites& sites,
                                                               const SummaryOptions& options) {
  constexpr std::size_t kMostMerged = 1000;  // of very many: the others are too small to be first
  auto stacks = shown_stacks(profile, sites, options);
  if (stacks.size() > std::max(kMostMerged, options.stacks))
    stacks.resize(std::max(kMostMerged, options.stacks));
  std::map<std::vector<std::string>, std::size_t> places;
  std::vector<std::pair<std::uint32_t, Estimate>> told;
  for (const auto& [stack, amount] : stacks) {
    std::vector<std::string> lines = lines_of(profile, stack, options);
    if (lines.size() > 1 && runtime_memory(lines.front()) != nullptr) lines.erase(lines.begin());
    const auto [place, first] = places.try_emplace(std::move(lines), told.size());
    if (first)
      told.emplace_back(stack, amount);
    else
      told[place->second].second += amount;
  }
  std::ranges::stable_sort(told, std::ranges::greater(),
                           [](const auto& entry) { return entry.second.bytes; });
  return told;
}

std::string_view words_of(const Profile& profile, ProfileKind kind, Heap heap) {
  if (profile.unit == ProfileUnit::nanoseconds) return "time";
  if (profile.unit == ProfileUnit::samples) return "samples";
  if (heap == Heap::mapped) return "mappings, peak";
  return heap == Heap::both ? "peak of heap and mappings" : to_name(kind);
}

void add_stacks(std::string& text, const Profile& profile, ProfileKind kind,
                const SummaryOptions& options, Heap heap = Heap::malloc) {
  const LiveSites sites = sites_of(profile, kind, heap);
  if (sites.empty()) return;
  const double total = total_of(sites).bytes;
  text += fmt::format("\nTop stacks: {}{}\n", words_of(profile, kind, heap),
                      heap == Heap::both ? ", " + amount_text(profile, total_of(sites)) : "");
  std::size_t number = 0;
  for (const auto& [stack, amount] : stacks_as_told(profile, sites, options)) {
    if (++number > options.stacks) break;
    text += fmt::format("{:>4}. {} ({:.1f}%){}\n", number, amount_text(profile, amount),
                        total > 0 ? 100 * amount.bytes / total : 0, count_text(profile, amount));
    add_frames(text, profile, stack, options);
  }
}

/// One ranking, where the profile knows both heaps at one moment.
void add_peak(std::string& text, const Profile& profile, const SummaryOptions& options) {
  if (!profile.together_peak.sites.empty())
    return add_stacks(text, profile, ProfileKind::peak, options, Heap::both);
  add_stacks(text, profile, ProfileKind::peak, options);
  add_stacks(text, profile, ProfileKind::peak, options, Heap::mapped);
}

std::string place_of(const ResidentSnapshot& snapshot) {
  std::string place = snapshot.round == 0 ? "" : fmt::format(", in round {}", snapshot.round);
  if (!snapshot.phase.empty()) place += ", phase " + snapshot.phase;
  return place;
}

void add_untouched(std::string& text, const Profile& profile, const SummaryOptions& options) {
  const LiveSites& sites = profile.resident->untouched;
  if (sites.empty()) return;
  text += fmt::format("\nAllocated but never touched, which costs no memory: {}\n",
                      format_bytes(total_of(sites).bytes));
  std::size_t number = 0;
  for (const auto& [stack, amount] : shown_stacks(profile, sites, options)) {
    if (++number > options.stacks) break;
    text += fmt::format("{:>4}. {}\n", number, amount_text(profile, amount));
    add_frames(text, profile, stack, options);
  }
}

/// Of a recording that was to take one.
void add_absent_snapshot(std::string& text, const Profile& profile) {
  const auto peak = peak_resident_bytes(profile);
  if (!peak) return;
  text += fmt::format("\nNo snapshot of resident memory: it was never due; peak RSS was {}\n",
                      format_bytes(*peak));
}

void add_resident(std::string& text, const Profile& profile, const SummaryOptions& options) {
  if (!profile.resident) return add_absent_snapshot(text, profile);
  const ResidentSnapshot& snapshot = *profile.resident;
  const double whole = snapshot.program_bytes();
  text += fmt::format("\nResident memory: a snapshot at {}", format_bytes(whole));
  // VmHWM would be of moments in which the recorder copies its tables.
  if (const double seen = peak_resident_bytes(profile).value_or(0); seen > 0) {
    const double peak = std::max(seen, whole);
    text += fmt::format(", {:.1f}% of the peak RSS of {}", 100 * whole / peak, format_bytes(peak));
  }
  text += fmt::format("{}; it took {}\n", place_of(snapshot), format_seconds(snapshot.seconds));
  const auto add = [&](std::string_view name, double bytes, std::string_view words) {
    text += fmt::format("  {:<14}{:>11} {:>6.1f}%  {}\n", name, format_bytes(bytes),
                        whole > 0 ? 100 * bytes / whole : 0, words);
  };
  for (const auto& [owner, name] : kNameTable<PageOwner>) {
    const double bytes = snapshot.bytes_of(owner);
    if (bytes > 0 && owner != PageOwner::other && owner != PageOwner::recorder)
      add(name, bytes, in_words(owner));
  }
  add("other", snapshot.unexplained_bytes(), in_words(PageOwner::other));
  text += fmt::format("  {:<14}{:>11}            {}\n", "recorder",
                      format_bytes(snapshot.bytes_of(PageOwner::recorder)),
                      in_words(PageOwner::recorder));
  add_stacks(text, profile, ProfileKind::resident, options);
  add_untouched(text, profile, options);
}

void add_sizes(std::string& text, const Profile& profile) {
  double most = 0;
  for (const SizeBin& bin : profile.sizes) most = std::max(most, bin.allocated.count);
  if (most <= 0) return;
  text += "\nSizes of allocations\n";
  constexpr double kColumns = 40;
  for (const SizeBin& bin : profile.sizes) {
    if (bin.allocated.samples == 0) continue;
    const auto columns = static_cast<std::size_t>(std::ceil(kColumns * bin.allocated.count / most));
    text += fmt::format("  from {:>9} {:>12.0f} {:>11} {}\n",
                        format_bytes(static_cast<double>(bin.at_least)), bin.allocated.count,
                        format_bytes(bin.allocated.bytes), std::string(columns, '#'));
  }
}

// At most a screen of them; of neighbours the one with most bytes.
void add_moments(std::string& text, const Profile& profile) {
  constexpr std::size_t kMostRows = 24;
  constexpr double kColumns = 40;
  if (profile.moments.empty()) return;
  double most = 0;
  for (const ProfileMoment& moment : profile.moments) most = std::max(most, moment.bytes);
  if (most <= 0) return;
  text += "\nLive over time (ms)\n";
  const std::size_t rows = std::min(kMostRows, profile.moments.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin =
        profile.moments.begin() + static_cast<std::ptrdiff_t>(row * profile.moments.size() / rows);
    const auto end = profile.moments.begin() +
                     static_cast<std::ptrdiff_t>((row + 1) * profile.moments.size() / rows);
    const auto largest = std::max_element(
        begin, end, [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
    text += fmt::format(
        "  {:>14.0f} {:>11} {}\n", largest->at, format_bytes(largest->bytes),
        std::string(static_cast<std::size_t>(std::ceil(kColumns * largest->bytes / most)), '#'));
  }
}

void add_rounds(std::string& text, const Profile& profile) {
  if (profile.round_peaks.empty()) return;
  text += "\nPeaks by round\n";
  for (const ProfilePeak& peak : profile.round_peaks) {
    text += fmt::format("  round {:>4}  {}\n", peak.round, amount_text(profile, peak.total));
  }
}

// The function that most of what was live was for.
std::string top_function(const Profile& profile, const LiveSites& sites) {
  std::map<std::string, double> bytes;
  for (const auto& [stack, amount] : stacks_of(profile, sites)) {
    const std::vector<ToldFrame> frames = told_frames(profile, stack);
    if (!frames.empty())
      bytes[short_name(frames[leading_frame(profile, stack)].name.function)] += amount.bytes;
  }
  const auto top = std::ranges::max_element(
      bytes, [](const auto& a, const auto& b) { return a.second < b.second; });
  return top == bytes.end() ? "" : top->first;
}

// Of each phase the stretch with most.
void add_phases(std::string& text, const Profile& profile) {
  std::map<std::uint32_t, const ProfilePeak*> largest;
  for (const ProfilePeak& peak : profile.phase_peaks) {
    const ProfilePeak*& known = largest[peak.phase];
    if (known == nullptr || known->total.bytes < peak.total.bytes) known = &peak;
  }
  if (largest.empty()) return;
  text += "\nPeaks by phase, each with its largest function\n";
  for (const auto& [phase, peak] : largest) {
    text += fmt::format("  {:<14}{:<22}round {:>4}  {}\n", profile.phases[phase],
                        amount_text(profile, peak->total), peak->round,
                        top_function(profile, peak->sites));
  }
}

// A column that stays constant down the rounds is healthy; a row that grows leaks.
void add_retention(std::string& text, const Profile& profile) {
  std::set<int> births;
  std::set<int> ends;
  std::map<std::pair<int, int>, Estimate> cells;
  for (const RetentionCell& cell : profile.retention) {
    births.insert(cell.born);
    ends.insert(cell.end);
    cells[{cell.born, cell.end}] = cell.total;
  }
  constexpr std::size_t kMostColumns = 10;
  if (births.empty() || ends.size() > kMostColumns * 1000) return;
  // Of many rounds the last ones tell.
  while (ends.size() > kMostColumns) ends.erase(ends.begin());
  while (births.size() > kMostColumns + 1) births.erase(std::next(births.begin()));
  text +=
      "\nRetention: bytes allocated in a round (down) and live at the end of a round (across)\n";
  text += " allocated \\ end";
  for (const int end : ends) text += fmt::format("{:>11}", end);
  text += '\n';
  for (const int born : births) {
    text += born == 0 ? fmt::format("{:>16}", "before") : fmt::format("{:>16}", born);
    for (const int end : ends) {
      const auto cell = cells.find({born, end});
      text += fmt::format("{:>11}", cell == cells.end() ? "-" : format_bytes(cell->second.bytes));
    }
    text += '\n';
  }
}

// Born in more than one round and still there: by stack and phase, the leaks first.
void add_retained(std::string& text, const Profile& profile, const SummaryOptions& options) {
  struct Retained {
    Estimate amount;
    std::set<int> births;
  };
  int last = 0;
  for (const RetentionCell& cell : profile.retention) last = std::max(last, cell.end);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Retained> by_stack;
  for (const RetentionCell& cell : profile.retention) {
    if (cell.end != last || cell.born == 0) continue;
    for (const auto& [number, amount] : cell.sites) {
      const AllocationSite& site = profile.sites[number];
      Retained& retained = by_stack[{site.stack, site.phase}];
      retained.amount += amount;
      retained.births.insert(cell.born);
    }
  }
  std::erase_if(by_stack, [](const auto& entry) { return entry.second.births.size() < 2; });
  if (by_stack.empty()) return;
  std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, Retained>> order(by_stack.begin(),
                                                                                  by_stack.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return a.second.amount.bytes > b.second.amount.bytes;
  });
  text += fmt::format("\nAllocated in several rounds and live at the end of round {}\n", last);
  std::size_t number = 0;
  for (const auto& [where, retained] : order) {
    if (++number > options.stacks) break;
    const auto births = static_cast<double>(retained.births.size());
    const std::string& phase = profile.phases[where.second];
    text += fmt::format("{:>4}. {} allocated in {} rounds, {} per round, {}\n", number,
                        amount_text(profile, retained.amount), retained.births.size(),
                        format_bytes(retained.amount.bytes / births),
                        phase.empty() ? "outside phases" : "phase " + phase);
    add_frames(text, profile, where.first, options);
  }
}

}  // namespace

std::string summarize(const Profile& profile, const SummaryOptions& options) {
  std::string text;
  add_totals(text, profile);
  add_peak(text, profile, options);
  add_stacks(text, profile, ProfileKind::live, options);
  const bool only_allocated =
      sites_of(profile, ProfileKind::peak).empty() && sites_of(profile, ProfileKind::live).empty();
  if (only_allocated) add_stacks(text, profile, ProfileKind::allocated, options);
  add_resident(text, profile, options);
  add_moments(text, profile);
  add_sizes(text, profile);
  add_rounds(text, profile);
  add_phases(text, profile);
  add_retention(text, profile);
  add_retained(text, profile, options);
  for (const std::string& note : profile.notes) text += fmt::format("\nNote: {}\n", note);
  return text;
}

ProfileLine profile_line(const std::string& name, const Profile& profile) {
  ProfileLine line;
  line.name = name;
  if (profile.counters) {
    const HeapTotals& counters = *profile.counters;
    line.peak_bytes = static_cast<double>(counters.peak_bytes);
    line.together_peak_bytes = static_cast<double>(
        counters.together_peak_bytes > 0 ? counters.together_peak_bytes
                                         : counters.peak_bytes + counters.mapping_peak_bytes);
    line.live_bytes = static_cast<double>(counters.live_bytes);
    line.allocated_bytes = static_cast<double>(counters.allocated_bytes);
    line.allocations = static_cast<double>(counters.allocations);
  } else if (profile.unit == ProfileUnit::bytes) {
    const auto known = [](const Estimate& total) {
      return total.samples == 0 ? std::nullopt : std::optional(std::round(total.bytes));
    };
    const Estimate allocated = total_of(sites_of(profile, ProfileKind::allocated));
    line.peak_bytes = known(profile.peak.total);
    Estimate both = profile.peak.total;
    both += profile.mapping_peak.total;
    line.together_peak_bytes =
        known(profile.together_peak.sites.empty() ? both : profile.together_peak.total);
    line.live_bytes = known(total_of(sites_of(profile, ProfileKind::live)));
    line.allocated_bytes = known(allocated);
    if (profile.counted && allocated.samples > 0) line.allocations = std::round(allocated.count);
  }
  line.top = top_function(profile, profile.together_peak.sites);
  for (const ProfileKind kind : {ProfileKind::peak, ProfileKind::live, ProfileKind::allocated}) {
    if (!line.top.empty()) break;
    line.top = top_function(profile, sites_of(profile, kind));
  }
  return line;
}

std::string profile_table(std::vector<ProfileLine> lines) {
  std::ranges::stable_sort(lines, std::ranges::greater(), &ProfileLine::together_peak_bytes);
  const auto bytes = [](std::optional<double> value) {
    return value ? format_bytes(*value) : std::string("-");
  };
  std::size_t width = 7;
  for (const ProfileLine& line : lines) width = std::max(width, line.name.size());
  std::string text =
      fmt::format("{:<{}} {:>10} {:>11} {:>11} {:>10} {:>11}  top\n", "profile", width, "peak heap",
                  "heap+mapped", "live at end", "allocated", "allocations");
  for (const ProfileLine& line : lines)
    text += fmt::format(
        "{:<{}} {:>10} {:>11} {:>11} {:>10} {:>11}  {}\n", line.name, width, bytes(line.peak_bytes),
        bytes(line.together_peak_bytes), bytes(line.live_bytes), bytes(line.allocated_bytes),
        line.allocations ? fmt::format("{:.0f}", *line.allocations) : "-", line.top);
  return text;
}

}  // namespace memduel
