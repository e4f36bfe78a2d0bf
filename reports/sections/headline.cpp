// The answer in a word, the result in a sentence, and the exit code with what it came from.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "focus.h"
#include "model/metric_catalogue.h"
#include "reports/memory_tables.h"
#include "reports/run_line.h"
#include "sections/open_row.h"
#include "sections/result_rows.h"
#include "sections/sections.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/questions.h"
#include "words.h"

namespace memduel {
namespace {

/// What there is more or less of: "memory", "heap memory", else the metric's own words.
std::string noun_of(const Results& results, const Comparison& row) {
  if (row.metric == kPeakRssAboveIdle) return "memory above start-up";
  if (row.metric == kPeakRss || row.metric == kPeakPss) return "memory";
  if (row.metric == kPeakHeap || row.metric == kPeakHeapAndMapped) return "heap memory";
  return metric_words(results.job, row.metric);
}

/// "server"; empty where the job is one role.
std::string place_of(const Results& results, const Comparison& row) {
  return is_only_role(results.job, row.role) ? "" : role_words(results.job, row.role);
}

/// "heap memory (server)".
std::string noun_and_place(const Results& results, const Comparison& row) {
  const std::string place = place_of(results, row);
  return noun_of(results, row) + (place.empty() ? "" : " (" + place + ")");
}

/// Whether a change is a factor instead of a percentage.
bool is_factor(const Comparison& row) {
  return row.ratio && memduel::is_factor(shown_change(row).value_or(0));
}

/// In a list that ends in "than a": a factor is a percentage, too.
std::string share_words(const Comparison& row) {
  constexpr double kPercent = 100;
  return is_factor(row) ? fmt::format("{:.0f}% more", kPercent * (*shown_change(row) - 1))
                        : amount_words(row);
}

/// "+2%": the limit that the row's gate failed by; empty without one.
std::string exceeded_limit(const Results& results, const Comparison& row) {
  const GateResult* gate = gate_on(results, row, GateOutcome::failed);
  return gate == nullptr ? "" : limit_text(*gate);
}

/// " (server, limit +2%)": where, and by which limit its gate failed.
std::string place_and_limit(const Results& results, const Comparison& row) {
  std::vector<std::string> parts;
  if (std::string place = place_of(results, row); !place.empty()) parts.push_back(std::move(place));
  if (const std::string limit = exceeded_limit(results, row); !limit.empty())
    parts.push_back("limit " + limit);
  if (!row.is_change()) parts.emplace_back("inconclusive");
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

/// Whether no other memory of the candidate changed by more, decided or not.
bool is_largest_change(const Results& results, const Comparison& row) {
  return std::ranges::any_of(results.first_screen.rows, [&](const ShownRow& shown) {
    return shown.why == ShownFor::largest_change && shown.candidate == row.candidate &&
           shown.role == row.role && shown.metric == row.metric;
  });
}

/// A few pages, which no gate minds: the table has them.
bool is_too_small_to_tell(const Results& results, const Comparison& row) {
  constexpr double kLeast = 64 << 10;
  return metric_info(row.metric).unit == Unit::bytes &&
         std::abs(change_of_medians(row).value_or(kLeast)) < kLeast &&
         gate_on(results, row, GateOutcome::failed) == nullptr;
}

/// The changes of a candidate that its sentence is about: of each role the one that says most, with
/// those first whose gate failed.
std::vector<const Comparison*> told_changes(const ReportModel& model,
                                            const std::string& candidate) {
  constexpr std::size_t kMost = 3;
  const Results& results = model.results;
  std::vector<const Comparison*> rows;
  for (const ResultRow& row : result_rows(model).rows)
    for (const Comparison* one : row.comparisons)
      if (one != nullptr && one->candidate == candidate && one->metric != kRoundSeconds &&
          !one->is_of_dead() && (one->is_change() || is_largest_change(results, *one)) &&
          !is_too_small_to_tell(results, *one))
        rows.push_back(one);
  // Bytes allocated in total, page faults and the like are in the table.
  const auto is_held = [](const Comparison* row) {
    return metric_info(row->metric).unit == Unit::bytes && row->metric != kAllocatedBytes;
  };
  const bool any_memory = std::ranges::any_of(rows, is_held);
  // A gate asks about the rows that count; those of all processes follow.
  const auto is_asked = [&](const Comparison* row) {
    return std::ranges::any_of(results.comparisons, [&](const Comparison& other) {
      return other.is_asked() && other.candidate == candidate && other.role == row->role;
    });
  };
  std::ranges::stable_sort(
      rows, {}, [&](const Comparison* row) { return row->role == kTree && !is_asked(row); });
  // Peak RSS is what readers know: a part of it that changed otherwise is in the table.
  const auto is_part_of_unchanged = [&](const Comparison* row) {
    const Comparison* whole = results.row(candidate, row->role, kPeakRss);
    return row->metric != kPeakRss && is_resident_peak(row->metric) && whole != nullptr &&
           whole->verdict == Verdict::unchanged &&
           gate_on(results, *row, GateOutcome::failed) == nullptr;
  };
  std::erase_if(rows, is_part_of_unchanged);
  std::ranges::stable_sort(rows, {}, [&](const Comparison* row) {
    if (gate_on(results, *row, GateOutcome::failed) != nullptr) return 0;
    return row->metric == kPeakRss && row->is_change() ? 1 : 2;
  });
  std::vector<const Comparison*> told;
  std::set<std::string> roles;
  for (const Comparison* row : rows) {
    const bool failed = gate_on(results, *row, GateOutcome::failed) != nullptr;
    if (!failed && !is_held(row) && (any_memory || is_known_metric(row->metric))) continue;
    const std::string role = is_only_role(results.job, row->role) ? "" : row->role;
    if (told.size() < kMost && roles.insert(role).second) told.push_back(row);
  }
  return told;
}

/// "40% less time"; empty where the time did not change.
std::string time_words(const Results& results, const std::string& candidate) {
  const Comparison* row = time_row(results, candidate);
  if (row == nullptr || row->is_of_dead() || !row->is_change()) return {};
  return (is_factor(*row) ? amount_words(*row) : share_words(*row)) + " time";
}

/// " Output identical."
std::string output_words(const Results& results, const std::string& candidate) {
  const auto found = std::ranges::find(results.equivalence, candidate, &Equivalence::candidate);
  if (found == results.equivalence.end() || !found->bit_identical) return {};
  return fmt::format(" {} {}.", found->files.empty() ? "Final model" : "Output",
                     *found->bit_identical ? "identical" : "differs");
}

/// Of all candidates; empty where they are not alike.
std::string common_output_words(const Results& results) {
  std::set<std::string> words;
  for (const std::string& candidate : ranked_candidates(results))
    words.insert(output_words(results, candidate));
  return words.size() == 1 ? *words.begin() : "";
}

bool keeps_growing(const Results& results, const std::string& arm) {
  return std::ranges::any_of(results.growth, [&](const Growth& growth) {
    return growth.arm == arm && growth.metric != kHeapGrowth && is_notable_growth(results, growth);
  });
}

/// " Its memory keeps growing."
std::string growth_words(const Results& results, const std::string& candidate) {
  if (keeps_growing(results, candidate)) return " Its memory keeps growing.";
  const bool is_known = std::ranges::any_of(results.growth, [&](const Growth& growth) {
    return growth.arm == candidate && growth.verdict != GrowthVerdict::inconclusive;
  });
  return is_known && keeps_growing(results, results.baseline) ? " Its memory no longer grows." : "";
}

/// " (95% CI −3.0 to +2.0%)", with `more` behind it; empty where an end is open.
std::string interval_in_words(const Comparison& row, const std::string& more = {}) {
  if (!row.ci_low || !row.ci_high) return {};
  const std::string interval = interval_text(row);
  return fmt::format(" ({:.3g}% CI {}{})", 100 * overall_confidence(row),
                     interval.substr(0, interval.find(" (")), more);
}

/// " Wall time is inconclusive: +1.2% (95% CI −3.0 to +5.7%)."; beside an open or
/// failed gate without numbers.
std::string open_time_words(const Results& results, const std::string& candidate) {
  const Comparison* row = time_row(results, candidate);
  if (row == nullptr || row->is_of_dead() || row->verdict != Verdict::inconclusive) return {};
  const std::string time = capitalized(metric_words(results.job, row->metric));
  if (is_not_judged(results, *row))
    return fmt::format(" {} is not judged: the runs were not interleaved.", time);
  const Answer answer = answer_of(results);
  const bool is_beside_gate = answer == Answer::inconclusive || answer == Answer::fail;
  return fmt::format(" {} is inconclusive{}.", time,
                     is_beside_gate ? "" : ": " + change_text(*row) + interval_in_words(*row));
}

/// Whether gates passed and none of them asks about time: more of it is a price that PASS does not
/// cover.
bool is_passed_without_time(const Results& results) {
  return results.overall.outcome == OverallOutcome::passed && !results.gates.empty() &&
         std::ranges::none_of(results.gates, [](const GateResult& gate) {
           return metric_info(gate.metric).unit == Unit::seconds;
         });
}

/// Whether changes_of() states the limit of a failed gate.
bool states_a_limit(const ReportModel& model, const std::string& candidate) {
  return std::ranges::any_of(told_changes(model, candidate), [&](const Comparison* row) {
    return !exceeded_limit(model.results, *row).empty();
  });
}

/// Whether the peak RSS of all processes is shown to be the same.
bool has_same_peak_rss(const Results& results, const std::string& candidate) {
  const Comparison* peak = results.row(candidate, kTree, kPeakRss);
  return peak != nullptr && peak->verdict == Verdict::unchanged && is_only_role(results.job, kTree);
}

/// "b uses less memory than a: server −22%, all processes −13%."; empty for one role, for changes
/// of several kinds or directions, and for those that fail a gate.
std::string changes_by_role(const Results& results, const std::vector<const Comparison*>& told) {
  if (told.size() < 2) return {};
  const Comparison& first = *told.front();
  std::vector<std::string> parts;
  for (const Comparison* row : told) {
    if (noun_of(results, *row) != noun_of(results, first) || row->verdict != first.verdict ||
        row->verdict == Verdict::changed || !row->is_change() || !row->ratio ||
        !exceeded_limit(results, *row).empty())
      return {};
    // The table has the sum of all processes, too.
    constexpr std::size_t kEnough = 2;
    if (row->role == kTree && parts.size() >= kEnough) continue;
    parts.push_back(role_words(results.job, row->role) + " " + change_text(*row));
  }
  return fmt::format("{} uses {} {} than {}: {}", first.candidate,
                     *shown_change(first) > 1 ? "more" : "less", noun_of(results, first),
                     results.baseline, fmt::join(parts, ", "));
}

/// "b uses 83% less memory and 40% less time than a."; empty where nothing changed.
std::string changes_of(const ReportModel& model, const std::string& candidate) {
  const Results& results = model.results;
  std::vector<std::string> parts;
  const std::vector<const Comparison*> told = told_changes(model, candidate);
  const std::string time = time_words(results, candidate);
  const bool has_limit = std::ranges::any_of(
      told, [&](const Comparison* row) { return !exceeded_limit(results, *row).empty(); });
  // A limit beside the memory is none of the time's, and a factor is compared by "as".
  // More time is a price, whose interval a reader has to know.
  const Comparison* time_change = time_row(results, candidate);
  const bool is_time_apart =
      has_limit || (time_change != nullptr &&
                    (is_factor(*time_change) || time_change->verdict == Verdict::regressed));
  std::string time_apart = ".";
  if (!time.empty()) {
    const bool is_price = time_change->verdict == Verdict::regressed && !told.empty() &&
                          told.front()->verdict == Verdict::improved &&
                          !has_same_peak_rss(results, candidate);
    const std::string taker = results.job.is_one_round ? "it" : "each round";
    time_apart = fmt::format(
        "{} takes {}{}.", is_price ? ", but " + taker : ". " + capitalized(taker), time,
        interval_in_words(*time_change, is_passed_without_time(results) ? ", no gate" : ""));
  }
  if (has_same_peak_rss(results, candidate) && !has_limit) {
    const std::string same =
        fmt::format("{} uses as much memory as {}", candidate, results.baseline);
    if (told.empty()) return time.empty() ? "" : same + time_apart;
    return fmt::format("{}, but {} {}{}{}", same, share_words(*told.front()),
                       noun_of(results, *told.front()), place_and_limit(results, *told.front()),
                       time_apart);
  }
  if (told.size() == 1 && (is_factor(*told.front()) || has_limit)) {
    const Comparison& row = *told.front();
    return fmt::format("{} uses {} {} {} {}{}{}", candidate, amount_words(row),
                       noun_of(results, row), is_factor(row) ? "as" : "than", results.baseline,
                       place_and_limit(results, row), time_apart);
  }
  if (const std::string by_role = changes_by_role(results, told); !by_role.empty())
    return by_role + time_apart;
  std::string noun;
  for (const Comparison* row : told) {
    const bool is_repeated = noun_of(results, *row) == noun;
    noun = noun_of(results, *row);
    parts.push_back(share_words(*row) + (is_repeated ? "" : " " + noun) +
                    place_and_limit(results, *row));
  }
  const bool has_memory = !parts.empty();
  if (!has_memory && time.empty()) return {};
  if (!has_memory && is_time_apart)  // no memory has a limit
    return fmt::format("{} takes {} {} {}{}.", candidate, time,
                       is_factor(*time_change) ? "as" : "than", results.baseline,
                       interval_in_words(*time_change));
  if (!time.empty() && !is_time_apart) parts.push_back(time);
  return fmt::format("{} {} {} than {}{}", candidate, has_memory ? "uses" : "takes",
                     join_with_and(parts), results.baseline, is_time_apart ? time_apart : ".");
}

/// "peak RSS"; of a gate on all roles as it was written.
std::string name_of(const Results& results, const GateResult& gate) {
  return gate.role == "*" || gate.metric.empty() ? gate.name()
                                                 : quantity(results.job, gate.role, gate.metric);
}

/// Of the first gate that fails by a value of its own, or by memory that grows. failed_trials() is
/// about those that fail by failed trials.
std::string failure_of(const Results& results, const std::string& candidate) {
  const auto gate = std::ranges::find_if(results.gates, [&](const GateResult& one) {
    return one.candidate == candidate && one.fails() && !one.candidate_failed;
  });
  if (gate == results.gates.end()) return {};
  return fmt::format("{}: {}.", capitalized(name_of(results, *gate)), gate->reason);
}

const char* within_word(const Results& results, const GateResult& gate) {
  return asks_for_improvement(results.job, gate) ? "meets" : "is within";
}

const char* beyond_word(const Results& results, const GateResult& gate) {
  return asks_for_improvement(results.job, gate) ? "misses" : "is beyond";
}

/// "b uses between 5.0% less and 6.0% more memory than a (95% CI). 6 trials each cannot tell
/// whether that is within the limit of +3%.": a row that these trials do not decide.
std::string undecided_words(const Results& results, const Comparison& row) {
  const std::string trials =
      format_count(static_cast<std::size_t>(std::min(row.n_baseline, row.n_candidate)), "trial") +
      " each";
  const GateResult* gate = gate_on(results, row, GateOutcome::inconclusive);
  const bool has_limit =
      gate != nullptr && gate->evidence.limit && gate->evidence.quantity != GateQuantity::value;
  const std::string amount = amount_of_interval(row);
  const bool is_memory = metric_info(row.metric).unit == Unit::bytes;
  const std::string change =
      amount.empty() || !is_memory
          ? fmt::format("{} vs. {}: {} {}{}", row.candidate, row.baseline,
                        quantity(results.job, row.role, row.metric), change_text(row),
                        interval_in_words(row))
          : fmt::format("{} uses {} {} {} {} ({:.3g}% CI)", row.candidate, amount,
                        noun_and_place(results, row), amount.ends_with("as much") ? "as" : "than",
                        row.baseline, 100 * overall_confidence(row));
  const std::string question = has_limit
                                   ? fmt::format("whether that {} the limit of {}",
                                                 within_word(results, *gate), limit_text(*gate))
                               : is_some_change(row) ? "whether that is more than the margin"
                                                     : "it from no change";
  return fmt::format("{}. {} cannot tell {}.", change, capitalized(trials), question);
}

/// What the trials leave open of a candidate; empty where nothing is.
std::string open_question(const ReportModel& model, const std::string& candidate) {
  const Results& results = model.results;
  if (const Comparison* row = open_row(model, candidate); row != nullptr)
    return undecided_words(results, *row);
  const auto gate = std::ranges::find_if(results.gates, [&](const GateResult& one) {
    return one.candidate == candidate && !one.advisory && one.outcome == GateOutcome::inconclusive;
  });
  return gate == results.gates.end()
             ? ""
             : fmt::format("{}: {}.", name_of(results, *gate), gate->reason);
}

/// "b stays within the limit of +2%: peak RSS −1.0% (95% CI −3.0 to +2.0%). These trials do not
/// decide whether it changed."; empty where no gate passed on a row that is inconclusive.
std::string within_limit(const Results& results, const std::string& candidate) {
  for (const Comparison& row : results.comparisons) {
    if (row.candidate != candidate || row.verdict != Verdict::inconclusive) continue;
    const GateResult* gate = gate_on(results, row, GateOutcome::passed);
    if (gate == nullptr || !gate->evidence.limit) continue;
    return fmt::format(
        "{} {} the limit of {}: {} {}{}. These trials do not decide whether it changed.", candidate,
        asks_for_improvement(results.job, *gate) ? "meets" : "stays within", limit_text(*gate),
        quantity(results.job, row.role, row.metric), change_text(row), interval_in_words(row));
  }
  return {};
}

/// "b uses as much memory as a."
std::string sameness_of(const Results& results, const std::string& candidate) {
  if (has_same_peak_rss(results, candidate))
    return fmt::format("{} uses as much memory as {}.", candidate, results.baseline);
  for (const ShownRow& shown : results.first_screen.rows) {
    const Comparison* row = results.row(shown.candidate, shown.role, shown.metric);
    if (shown.candidate != candidate || row->verdict != Verdict::unchanged) continue;
    return fmt::format("{} uses as much {} as {}.", candidate, noun_and_place(results, *row),
                       results.baseline);
  }
  const std::string within = within_limit(results, candidate);
  return within.empty() ? fmt::format("No change of {} was found.", candidate) : within;
}

/// Of the run's only variant.
std::string alone_sentence(const Results& results) {
  std::optional<double> most;
  for (const TrialData& trial : results.trials) {
    const auto peak = trial.value(kTree, kPeakRss);
    if (trial.counts() && peak) most = std::max(most.value_or(0), *peak);
  }
  return most ? fmt::format("{} used at most {} of memory (peak RSS of all processes).",
                            results.baseline, format_bytes(*most))
              : fmt::format("{} was measured alone.", results.baseline);
}

/// Candidates with a failed gate, then those with one that was not measured.
std::vector<std::string> failed_in_order(const Results& results) {
  std::vector<std::string> names;
  for (const GateResult& gate : results.gates)
    if (gate.fails() && std::ranges::find(names, gate.candidate) == names.end())
      names.push_back(gate.candidate);
  return names;
}

std::string rest_of_failures(const std::vector<std::string>& failed) {
  if (failed.size() < 2) return {};
  return fmt::format(" {} failed, too.", join_with_and({failed.begin() + 1, failed.end()}));
}

/// "b failed in 2 of 6 trials. "
std::string failed_trials(const Results& results, const std::string& variant) {
  const auto found = std::ranges::find(results.arms, variant, &ArmSummary::name);
  if (found == results.arms.end() || found->trials_failed == 0) return {};
  return fmt::format(
      "{} failed in {} of {}. ", variant, found->trials_failed,
      format_count(static_cast<std::size_t>(found->trials_ok + found->trials_failed), "trial"));
}

/// " n-2 (peak RSS +89%) regressed." of the candidates that the sentence is not about.
std::string others_regressed(const ReportModel& model, const std::string& about) {
  std::vector<std::string> names;
  std::set<std::string> told;
  for (const ResultRow& row : result_rows(model).rows)
    for (const Comparison* one : row.comparisons)
      if (one != nullptr && one->candidate != about && one->metric != kRoundSeconds &&
          one->verdict == Verdict::regressed && told.insert(one->candidate).second)
        names.push_back(fmt::format("{} ({} {})", one->candidate,
                                    quantity(model.results.job, one->role, one->metric),
                                    change_text(*one)));
  return names.empty() ? "" : fmt::format(" {} regressed.", join_with_and(names));
}

/// "−34% (n-8) to −62% (n-1)": the smallest and the largest of several changes in one direction.
std::string range_of_changes(const std::vector<const Comparison*>& rows) {
  const auto change_of = [](const Comparison* one) { return shown_change(*one).value_or(0); };
  const auto [least, most] = std::ranges::minmax(rows, {}, change_of);
  const bool is_more = change_of(rows.front()) > (rows.front()->ratio ? 1 : 0);
  const auto change_and_name = [](const Comparison* one) {
    return fmt::format("{} ({})", change_text(*one), one->candidate);
  };
  return fmt::format("{} {} {}", change_and_name(is_more ? least : most),
                     rows.size() == 2 ? "and" : "to", change_and_name(is_more ? most : least));
}

/// " Time: n-8 −17%, n-4 −14%, 2 others inconclusive.": of several candidates, whose memory
/// `memory` compares; empty where the time of none changed or is open.
std::string times_of(const Results& results, const ResultRow& memory) {
  std::vector<const Comparison*> changed;
  std::vector<std::string> open;
  std::size_t all = 0;
  for (const Comparison* one : memory.comparisons) {
    const Comparison* time = time_row(results, one->candidate);
    if (time == nullptr || time->is_of_dead()) continue;
    ++all;
    if (time->is_change()) changed.push_back(time);
    if (time->verdict == Verdict::inconclusive) open.push_back(one->candidate);
  }
  if (!open.empty() && open.size() == all) return " Their time is inconclusive.";
  if (changed.empty()) return {};
  constexpr std::size_t kMostListed = 3;
  const bool are_alike = std::ranges::all_of(
      changed, [&](const Comparison* one) { return one->verdict == changed.front()->verdict; });
  if (changed.size() > kMostListed && changed.size() == all && are_alike)
    return fmt::format(" All take {} time: {}.",
                       changed.front()->verdict == Verdict::improved ? "less" : "more",
                       range_of_changes(changed));
  std::vector<std::string> parts;
  for (const Comparison* one : changed) parts.push_back(one->candidate + " " + change_text(*one));
  if (open.size() == 1) parts.push_back(open.front() + " inconclusive");
  if (open.size() > 1) parts.push_back(fmt::format("{} others inconclusive", open.size()));
  return fmt::format(" Time: {}.", fmt::join(parts, ", "));
}

/// "All 3 candidates use less memory than n-32: −34% (n-8) to −62% (n-1).", with their time;
/// empty where their first row of memory did not change in the same direction.
std::string all_changed(const ReportModel& model) {
  const ResultRows shown = result_rows(model);
  const auto row = std::ranges::find_if(
      shown.rows, [](const ResultRow& one) { return one.metric != kRoundSeconds; });
  if (row == shown.rows.end() || row->comparisons.size() < 2) return {};
  const Comparison* first = row->comparisons.front();
  if (first == nullptr || !first->is_change() || first->verdict == Verdict::changed) return {};
  const bool are_alike = std::ranges::all_of(row->comparisons, [&](const Comparison* one) {
    return one != nullptr && one->verdict == first->verdict && !one->is_of_dead();
  });
  if (!are_alike) return {};
  const std::size_t count = row->comparisons.size();
  return fmt::format("{} candidates use {} {} than {}: {}.{}",
                     count == 2 ? "Both" : fmt::format("All {}", count),
                     shown_change(*first).value_or(0) > (first->ratio ? 1 : 0) ? "more" : "less",
                     noun_and_place(model.results, *first), model.results.baseline,
                     range_of_changes(row->comparisons), times_of(model.results, *row));
}

/// "Peak RSS: no trial measured it.": of the first gate that was not measured.
std::string unmeasured_gate(const Results& results) {
  const auto gate = std::ranges::find_if(results.gates, &GateResult::not_measured);
  return gate == results.gates.end()
             ? "A gate could not be measured."
             : fmt::format("{}: {}.", capitalized(name_of(results, *gate)), gate->reason);
}

std::string sentence_of(const ReportModel& model, Answer answer) {
  const Results& results = model.results;
  const std::vector<std::string> candidates = ranked_candidates(results);
  if (answer == Answer::not_measured || (!results.overall.nothing.empty() && results.gates.empty()))
    return results.overall.nothing.empty() ? unmeasured_gate(results)
                                           : capitalized(results.overall.nothing) + ".";
  if (candidates.empty()) {
    std::string failure = failure_of(results, results.baseline);
    if (answer == Answer::inconclusive) failure = open_question(model, results.baseline);
    return failure.empty() ? alone_sentence(results) : failure + " " + alone_sentence(results);
  }
  const bool is_decided = answer == Answer::no_gates || answer == Answer::pass;
  if (std::string all = is_decided ? all_changed(model) : ""; !all.empty())
    return all + common_output_words(results);
  const std::vector<std::string> failed = failed_in_order(results);
  const std::string about = candidate_in_focus(results);
  std::string sentence = changes_of(model, about);
  const bool is_changed = !sentence.empty();
  if (answer == Answer::fail && !states_a_limit(model, about))
    sentence = failure_of(results, about) + (sentence.empty() ? "" : " " + sentence);
  if (answer == Answer::inconclusive || (answer == Answer::no_gates && sentence.empty()))
    sentence += (sentence.empty() ? "" : " ") + open_question(model, about);
  const bool is_same = sentence.empty();
  if (is_same) sentence = sameness_of(results, about);
  const Comparison* open = open_row(model, about);
  if (is_changed || is_same || (open != nullptr && open->metric != kRoundSeconds))
    sentence += open_time_words(results, about);
  if (candidates.size() > 1 && answer != Answer::fail && results.overall.best) {
    sentence +=
        uses_least(results, about)
            ? fmt::format(" It uses the least memory of the {} candidates.", candidates.size())
            : fmt::format(" It is the best of the {} candidates.", candidates.size());
  }
  return failed_trials(results, results.baseline) + failed_trials(results, about) + sentence +
         growth_words(results, about) + output_words(results, about) +
         (answer == Answer::fail ? rest_of_failures(failed) : others_regressed(model, about));
}

/// "peak RSS (limit +2%)".
std::string gate_words(const Results& results, const GateResult& gate) {
  if (!gate.evidence.limit) return gate.name();
  return fmt::format("{} (limit {})", quantity(results.job, gate.role, gate.metric),
                     limit_text(gate));
}

/// " on peak RSS (limit +1%)": of all deciding gates; empty if their metrics differ.
std::string common_metric_words(const Results& results) {
  std::set<std::string> metrics;
  std::set<std::string> limits;
  for (const GateResult& gate : results.gates) {
    if (gate.advisory) continue;
    metrics.insert(gate.metric);
    limits.insert(limit_text(gate));
  }
  if (metrics.size() != 1) return {};
  return fmt::format(" on {}{}", metric_words(results.job, *metrics.begin()),
                     limits.size() == 1 && !limits.begin()->empty()
                         ? fmt::format(" (limit {})", *limits.begin())
                         : "");
}

/// " (peak RSS, limit +5%; peak heap, limit +1%)": of the gates that failed; empty without one.
std::string failing_gates(const Results& results) {
  constexpr std::size_t kMost = 3;
  const bool are_several = results.arms.size() > 2;
  std::vector<std::string> names;
  for (const GateResult& gate : results.gates)
    if (gate.fails() && !gate.advisory)
      names.push_back(name_of(results, gate) + (are_several ? " of " + gate.candidate : "") +
                      (gate.evidence.limit ? ", limit " + limit_text(gate) : ""));
  if (names.empty()) return {};
  const std::size_t more = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - more);
  return fmt::format(" ({}{})", fmt::join(names, "; "),
                     more > 0 ? fmt::format("; {} more", more) : "");
}

/// "both default gates passed", "of 3 gates, 1 failed, 2 passed".
std::string gates_words(const Results& results, bool is_default) {
  const std::string kind = is_default ? "default gate" : "gate";
  std::size_t all = 0;
  std::vector<std::pair<std::size_t, std::string>> counts;
  for (const std::string word : {"failed", "not measured", "inconclusive", "passed"}) {
    const auto count =
        static_cast<std::size_t>(std::ranges::count_if(results.gates, [&](const GateResult& gate) {
          return gate.word() == word && !gate.advisory;
        }));
    all += count;
    if (count > 0) counts.emplace_back(count, word);
  }
  const auto phrase = [](std::size_t count, const std::string& word) {
    if (word == "inconclusive") return (count == 1 ? "is " : "are ") + word;
    return word == "not measured" ? (count == 1 ? "was " : "were ") + word : word;
  };
  if (all == 1) {
    const auto gate = std::ranges::find(results.gates, false, &GateResult::advisory);
    return fmt::format("the {} on {} {}", kind, gate_words(results, *gate),
                       phrase(1, counts.front().second));
  }
  if (counts.size() == 1) {
    const std::string common = common_metric_words(results);
    return fmt::format("{} {}s{} {}{}", all == 2 ? "both" : fmt::format("all {}", all), kind,
                       common, phrase(all, counts.front().second),
                       common.empty() ? failing_gates(results) : "");
  }
  std::vector<std::string> parts;
  for (const auto& [count, word] : counts)
    parts.push_back(fmt::format("{} {}{}", count, phrase(count, word),
                                word == "failed" ? failing_gates(results) : ""));
  return fmt::format("of {}, {}", format_count(all, kind), fmt::join(parts, ", "));
}

/// ": all gates are advisory, 1 failed.": they have no effect on the exit code.
std::string advisory_words(const Results& results) {
  const auto failed = std::ranges::count(results.gates, GateOutcome::failed, &GateResult::outcome);
  return fmt::format(": all gates are advisory{}.",
                     failed > 0 ? fmt::format(", {} failed", failed) : "");
}

/// Of a run without gates: how to set one.
std::string advice_on_gates(const Results& results) {
  const bool has_peak_rss = std::ranges::any_of(results.comparisons, [](const Comparison& row) {
    return row.role == kTree && row.metric == kPeakRss;
  });
  return has_peak_rss ? " Set one, for instance --gate 'peak_rss<=+5%'." : "";
}

/// Of a run with one inconclusive gate: whether and why that fails.
std::string open_gate_words(const Results& results) {
  constexpr int kInconclusive = static_cast<int>(ExitCode::inconclusive);
  const GateResult* open = nullptr;
  for (const GateResult& gate : results.gates) {
    if (gate.advisory || gate.outcome != GateOutcome::inconclusive) continue;
    if (open != nullptr) return {};
    open = &gate;
  }
  if (open == nullptr || !open->evidence.estimate ||
      results.overall.outcome != OverallOutcome::inconclusive)
    return {};
  const bool fails = results.overall.exit_code == kInconclusive;
  if (open->beyond_bound)
    return fails ? fmt::format(" Its estimate {} the limit.", beyond_word(results, *open)) : "";
  if (fails) return {};
  return fmt::format(
      " Its estimate {} the limit, so it fails only with --on-inconclusive fail (exit code {}).",
      within_word(results, *open), kInconclusive);
}

Text exit_of(const ReportModel& model) {
  const Results& results = model.results;
  if (!model.progress.empty() && model.blocks_done < model.blocks_planned.value_or(0))
    return {"The run is not complete, so its exit code can change.", Tone::muted};
  Text text(fmt::format("Exit code {}", results.overall.exit_code));
  const bool any_deciding =
      std::ranges::any_of(results.gates, [](const GateResult& gate) { return !gate.advisory; });
  if (!any_deciding && !results.overall.nothing.empty())
    return text.add(": " + results.overall.nothing + ".");
  if (!any_deciding)
    return text.add(model.has_named_gates && !results.gates.empty()
                        ? advisory_words(results)
                        : ": no gate was set." + advice_on_gates(results));
  const bool is_default = !model.has_named_gates;
  return text.add(": " + gates_words(results, is_default) + "." + open_gate_words(results));
}

}  // namespace

Headline headline_of(const ReportModel& model) {
  const Answer answer = answer_of(model.results);
  return {answer, sentence_of(model, answer), exit_of(model)};
}

}  // namespace memduel
