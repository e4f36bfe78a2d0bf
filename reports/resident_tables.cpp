#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "model/metric_catalogue.h"
#include "profile/function_names.h"
#include "profile/profile.h"
#include "reports/memory_tables.h"
#include "stats/estimates.h"
#include "util/text.h"
#include "verdict/results.h"
#include "words.h"

namespace memduel {
namespace {

/// A bar of its own has at least this share of the larger arm.
constexpr double kLeastStep = 0.005;
/// A snapshot, which is of one process, is the whole role from this share of its measured peak on.
constexpr double kWholeRole = 0.9;

/// What a role's memory is measured by, which snapshots are held to.
enum class Measure {
  resident_sets,  ///< their sum, which has a shared page once for each process
  proportional,   ///< PSS
  each_page_once  ///< as its control group holds it, without page cache
};

struct Side {
  const ResidentMemory* memory = nullptr;
  Measure measure = Measure::resident_sets;
  std::optional<double> measured;  ///< the role's peak, median of the trials that count
  double elsewhere = 0;            ///< of that peak, in bytes: what the snapshots do not show

  [[nodiscard]] double counted_again() const {
    return measure == Measure::resident_sets ? memory->counted_again_bytes : 0;
  }
  [[nodiscard]] double left_out() const {
    return measure == Measure::each_page_once ? memory->page_cache_bytes : 0;
  }
  /// By the snapshots.
  [[nodiscard]] double shown() const { return memory->bytes + counted_again() - left_out(); }
  [[nodiscard]] double bytes() const { return shown() + elsewhere; }
  [[nodiscard]] bool shows_the_role() const {
    if (!measured) return true;
    const bool enough = shown() >= kWholeRole * *measured;
    return enough && (memory->processes == 1 || *measured >= kWholeRole * shown());
  }
  /// Peaks of several processes may be at different times, and their sum above the role's.
  void add_elsewhere() {
    elsewhere = measured.value_or(shown()) - shown();
    if (memory->processes == 1) elsewhere = std::max(0.0, elsewhere);
  }
};

struct Sides {
  Side baseline;
  Side candidate;

  [[nodiscard]] const std::string& arm() const { return candidate.memory->arm; }
  [[nodiscard]] const std::string& role() const { return candidate.memory->role; }
  /// Of a comparison or a difference.
  [[nodiscard]] bool has(const auto& row) const {
    return row.candidate == arm() && row.role == role();
  }
  [[nodiscard]] double change() const { return candidate.bytes() - baseline.bytes(); }
  [[nodiscard]] double larger() const { return std::max(baseline.bytes(), candidate.bytes()); }
};

const ResidentMemory* find_memory(const Results& results, const std::string& arm,
                                  const std::string& role) {
  const auto found = std::ranges::find_if(results.resident, [&](const ResidentMemory& memory) {
    return memory.arm == arm && memory.role == role;
  });
  return found == results.resident.end() ? nullptr : &*found;
}

struct MeasuredBy {
  Measure measure = Measure::resident_sets;
  const Comparison* row = nullptr;
};

bool is_asked(const Comparison* row) {
  return row != nullptr && row->is_asked();
}

/// By the metric that a gate asks about. Pages that roles share are in no row of a single role but
/// by their proportional share.
MeasuredBy measured_by(const Results& results, const std::string& arm, const std::string& role) {
  const bool is_whole_job = results.job.roles == std::vector{role};
  const Comparison* once = results.row(arm, kTree, kPeakSharedOnce);
  const Comparison* pss = results.row(arm, is_whole_job ? kTree : role, kPeakPss);
  if (is_asked(once) && is_whole_job) return {Measure::each_page_once, once};
  if (pss != nullptr && (is_asked(once) || is_asked(pss))) return {Measure::proportional, pss};
  return {Measure::resident_sets, results.row(arm, role, kPeakRss)};
}

/// Of a run's only variant, which is compared with nothing.
Sides sides_of_only_variant(const Results& results, const ResidentMemory& memory) {
  static const ResidentMemory kNothing;
  Sides sides;
  sides.baseline.memory = &kNothing;
  sides.candidate.memory = &memory;
  std::vector<double> peaks = values_in_trials(results, memory.arm, memory.role, kPeakRss);
  if (peaks.empty()) return sides;
  sides.candidate.measured = median(std::move(peaks));
  if (!sides.candidate.shows_the_role()) sides.candidate.add_elsewhere();
  return sides;
}

/// The baseline's is null where it has no snapshot of the role.
Sides sides_of(const Results& results, const ResidentMemory& candidate) {
  if (results.is_alone()) return sides_of_only_variant(results, candidate);
  Sides sides;
  sides.baseline.memory = find_memory(results, results.baseline, candidate.role);
  sides.candidate.memory = &candidate;
  const auto [measure, row] = measured_by(results, sides.arm(), sides.role());
  sides.baseline.measure = measure;
  sides.candidate.measure = measure;
  if (sides.baseline.memory == nullptr || row == nullptr) return sides;
  sides.baseline.measured = row->baseline_median;
  sides.candidate.measured = row->candidate_median;
  if (sides.baseline.shows_the_role() && sides.candidate.shows_the_role()) return sides;
  for (Side* side : {&sides.baseline, &sides.candidate}) side->add_elsewhere();
  return sides;
}

double bytes_of(const Side& side, std::string_view owner) {
  double sum = 0;
  for (const ResidentOwner& part : side.memory->owners)
    if (part.owner == owner) sum += part.bytes;
  return owner == to_name(PageOwner::file) ? sum - side.left_out() : sum;
}

/// What a measure without page cache leaves out.
bool is_left_out(const Difference& row, const Sides& sides) {
  if (sides.baseline.measure != Measure::each_page_once || row.stack.size() < 2) return false;
  constexpr std::string_view kFile = "file:";
  const std::string& file = row.stack.front();
  return file.starts_with(kFile) && is_page_cache(file.substr(kFile.size()), row.stack[1]);
}

/// "file:libtorch.so" is of the owner file.
std::string owner_of(const std::string& root) {
  return root.starts_with("file:") ? std::string(to_name(PageOwner::file)) : root;
}

WaterfallStep rest_of(const std::string& owner, double bytes) {
  return {owner, "", "", "", "", {}, bytes, signed_metric(std::string(kPeakRss), bytes)};
}

WaterfallStep step_of(const Difference& row) {
  WaterfallStep step = rest_of(owner_of(row.stack.front()), row.bytes);
  step.stack = row.stack;
  const std::vector<std::string> below(row.stack.begin() + 1, row.stack.end());
  if (step.owner != row.stack.front()) {
    step.function = row.stack.front().substr(5);
    step.caller = below.empty() ? "" : below.front();
  } else if (!below.empty()) {
    step.function = short_name(below[telling_frame(below)]);
    step.location = row.location;
    step.caller = short_name(telling_caller(below));
  }
  return step;
}

/// Stacks that are told by the same names are one step, which has the stack of the first: the one
/// that differs most.
void add_step(std::vector<WaterfallStep>& steps, WaterfallStep step) {
  const auto same = std::ranges::find_if(steps, [&](const WaterfallStep& other) {
    return other.owner == step.owner && other.function == step.function &&
           other.caller == step.caller;
  });
  if (same == steps.end()) {
    steps.push_back(std::move(step));
    return;
  }
  same->size += step.size;
  same->amount = signed_metric(std::string(kPeakRss), same->size);
}

constexpr const char* kCountedAgainWords = "double-counted shared memory";

std::string words_for_elsewhere(const std::string& role) {
  return fmt::format("in other processes of {}, or at another time", role);
}

std::string plain_words(const WaterfallStep& step, const std::string& role) {
  struct Place {
    PageOwner owner;
    std::string_view name;
    const char* words;
  };
  static constexpr Place kPlaces[] = {
      {PageOwner::free, kProgramBreak, "held by malloc after free (main arena)"},
      {PageOwner::free, kFurtherArenas, "held by malloc after free (thread arenas)"},
      {PageOwner::free, kAllocatorMappings, "retained by the allocator after free"},
      {PageOwner::free, "", "other memory retained by the allocator after free"},
      {PageOwner::stack, kMainThread, "stack of the main thread"},
      {PageOwner::stack, kOtherThreads, "stacks of other threads"},
      {PageOwner::inherited, kOwnCopy, "pages of the parent that forked children copied on write"},
      {PageOwner::inherited, kSharedWithOthers,
       "inherited from the parent process, still shared with it"},
      {PageOwner::mapped, kMappedBeforeFork, "mapped before the fork, first written after it"},
      {PageOwner::file, kSharedMemory, "shared memory"},
      {PageOwner::live, "", "all other live allocations"},
      {PageOwner::mapped, "", "all other mappings"},
      {PageOwner::file, "", "all other files"},
      {PageOwner::fragmentation, "", "all other fragmentation"},
      {PageOwner::other, "", "other: no owner was found"},
  };
  if (step.owner.empty()) return "all smaller differences";
  if (step.owner == kCountedAgain) return kCountedAgainWords;
  if (step.owner == kElsewhere) return words_for_elsewhere(role);
  const auto is = [&](PageOwner owner) { return step.owner == to_name(owner); };
  const auto* const place = std::ranges::find_if(
      kPlaces, [&](const Place& one) { return is(one.owner) && one.name == step.function; });
  if (place != std::end(kPlaces)) return place->words;
  std::string who = called_from(step.function, step.caller, step.location);
  if (is(PageOwner::live)) return who;
  if (is(PageOwner::fragmentation)) return who + " (fragmentation)";
  if (is(PageOwner::other) || runtime_memory(step.function) != nullptr) return who;
  if (is(PageOwner::mapped)) return "mmap in " + who;
  if (is(PageOwner::file))
    return step.function + (step.caller == kPrivateCopy             ? " (private copy of a file)"
                            : is_page_cache(step.function, kShared) ? " (mapped file, reclaimable)"
                                                                    : " (shared memory)");
  return step.owner + " " + who;
}

std::vector<WaterfallStep> steps_of(const Results& results, const Sides& sides) {
  const double least = kLeastStep * sides.larger();
  std::map<std::string, double> rest;
  for (const auto& entry : kNameTable<PageOwner>) {
    const std::string owner(entry.second);
    rest[owner] = bytes_of(sides.candidate, owner) - bytes_of(sides.baseline, owner);
  }
  rest[kCountedAgain] = sides.candidate.counted_again() - sides.baseline.counted_again();
  rest[kElsewhere] = sides.candidate.elsewhere - sides.baseline.elsewhere;
  std::vector<WaterfallStep> steps;
  for (const Difference& row : results.differences) {
    if (row.kind != "resident" || !sides.has(row) || row.stack.empty()) continue;
    if (is_left_out(row, sides)) continue;
    WaterfallStep step = step_of(row);
    rest[step.owner] -= step.size;
    add_step(steps, std::move(step));
  }
  std::erase_if(steps, [&](const WaterfallStep& step) {
    const bool small = std::abs(step.size) < least;
    if (small) rest[step.owner] += step.size;
    return small;
  });
  double others = 0;
  for (const auto& [owner, bytes] : rest) {
    const bool named = owner == to_name(PageOwner::other) ? bytes != 0 : std::abs(bytes) >= least;
    if (named) {
      steps.push_back(rest_of(owner, bytes));
    } else {
      others += bytes;
    }
  }
  if (others != 0) steps.push_back(rest_of("", others));
  for (WaterfallStep& step : steps) step.words = plain_words(step, sides.role());
  std::ranges::stable_sort(steps, {}, &WaterfallStep::size);
  return steps;
}

std::string place_of(const ResidentMemory& memory) {
  std::string place = memory.round == 0 ? "" : fmt::format(" in round {}", memory.round);
  if (memory.phase) place += ", phase " + *memory.phase;
  return place;
}

std::string_view words_for(Measure measure) {
  switch (measure) {
    case Measure::resident_sets:
      return "peak RSS";
    case Measure::proportional:
      return "peak PSS";
    case Measure::each_page_once:
      break;
  }
  return "peak with each page once";
}

std::string taken_at(const Side& side) {
  std::string text =
      side.memory->processes == 1
          ? "the snapshot was taken at " + format_bytes(side.shown())
          : fmt::format("the snapshots of {} processes that ran at once add up to {}",
                        side.memory->processes, format_bytes(side.shown()));
  if (side.left_out() > 0)
    text += fmt::format(" beside {} of page cache", format_bytes(side.left_out()));
  return text + place_of(*side.memory);
}

/// Beside the peak of the measured trials, in which nothing was recorded.
std::string remark_on(const Side& side) {
  std::string text = fmt::format("{}: {}", side.memory->arm, taken_at(side));
  if (side.measured && *side.measured > 0)
    text +=
        side.shown() > *side.measured
            ? fmt::format(", with what recording adds; {} of the measured trials is {}",
                          words_for(side.measure), format_bytes(*side.measured))
            : fmt::format(", {:.1f}% of the measured {} of {}", 100 * side.shown() / *side.measured,
                          words_for(side.measure), format_bytes(*side.measured));
  return text;
}

/// Gauges of the role, which are medians of the measured trials.
std::vector<OwnerRow> told_rows(const Results& results, const Sides& sides) {
  std::vector<OwnerRow> rows;
  for (const Comparison& row : results.comparisons) {
    if (!sides.has(row) || is_known_metric(row.metric) ||
        metric_info(row.metric).unit != Unit::bytes)
      continue;
    if (row.baseline_median && row.candidate_median)
      rows.push_back(
          {row.metric, "told by the program", *row.baseline_median, *row.candidate_median});
  }
  return rows;
}

ResidentTable table_for(const Results& results, const Sides& sides) {
  ResidentTable table;
  table.candidate = sides.arm();
  table.role = sides.role();
  table.baseline_bytes = sides.baseline.bytes();
  table.candidate_bytes = sides.candidate.bytes();
  table.title =
      fmt::format("{}: {} with {}, {} with {}", table.role, format_bytes(table.baseline_bytes),
                  results.baseline, format_bytes(table.candidate_bytes), table.candidate);
  const auto add = [&](std::string_view owner, std::string_view words, double before,
                       double after) {
    if (before != 0 || after != 0)
      table.owners.push_back({std::string(owner), std::string(words), before, after});
  };
  for (const auto& [owner, name] : kNameTable<PageOwner>)
    add(name, in_words(owner), bytes_of(sides.baseline, name), bytes_of(sides.candidate, name));
  add(kCountedAgain, kCountedAgainWords, sides.baseline.counted_again(),
      sides.candidate.counted_again());
  add(kElsewhere, words_for_elsewhere(table.role), sides.baseline.elsewhere,
      sides.candidate.elsewhere);
  table.told = told_rows(results, sides);
  table.steps = steps_of(results, sides);
  for (const Side* side : {&sides.baseline, &sides.candidate}) {
    table.remarks.push_back(remark_on(*side));
    if (side->memory->swapped_bytes > 0)
      table.remarks.push_back(fmt::format("{}: {} were swapped out, and so are in no row",
                                          side->memory->arm,
                                          format_bytes(side->memory->swapped_bytes)));
  }
  return table;
}

bool is_asked(const Results& results, const Sides& sides) {
  return std::ranges::any_of(results.gates, [&](const GateResult& gate) {
    return gate.candidate == sides.arm() &&
           (gate.role == "*" || is_about(results.job, gate.role, sides.role()));
  });
}

}  // namespace

std::optional<ResidentTable> resident_table_for(const Results& results,
                                                const std::string& candidate,
                                                const std::string& role) {
  std::optional<Sides> most;
  for (const ResidentMemory& memory : results.resident) {
    if (memory.arm != candidate || !is_about(results.job, role, memory.role)) continue;
    const Sides sides = sides_of(results, memory);
    if (sides.baseline.memory == nullptr) continue;
    if (!most || std::abs(sides.change()) > std::abs(most->change())) most = sides;
  }
  if (!most) return std::nullopt;
  return table_for(results, *most);
}

std::vector<ResidentTable> resident_tables(const Results& results) {
  std::vector<Sides> all;
  for (const ResidentMemory& memory : results.resident) {
    if (memory.arm == results.baseline) continue;
    const Sides sides = sides_of(results, memory);
    if (sides.baseline.memory != nullptr && is_asked(results, sides)) all.push_back(sides);
  }
  std::ranges::stable_sort(all, [](const Sides& a, const Sides& b) {
    return std::abs(a.change()) > std::abs(b.change());
  });
  const CandidateOrder order(results);
  std::ranges::stable_sort(all, [&](const Sides& a, const Sides& b) {
    return order.rank(a.arm()) < order.rank(b.arm());
  });
  std::vector<ResidentTable> tables;
  std::map<std::string, std::size_t> roles;  // of each candidate
  for (const Sides& sides : all)
    if (roles[sides.arm()]++ < kMostRoles) tables.push_back(table_for(results, sides));
  return tables;
}

}  // namespace memduel
