#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "arm_words.h"
#include "confidential.h"
#include "model/metric_catalogue.h"
#include "reports/report_model.h"
#include "util/text.h"
#include "verdict/questions.h"
#include "verdict/results.h"
#include "words.h"

namespace memduel {
namespace {

using nlohmann::json;

/// A job that a provider makes from switches: those that differ from the baseline's.
std::string switches_of(const json& own, const json& baseline) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> changed;
  for (const auto& [name, value] : own.items())
    if (!baseline.contains(name) || baseline.at(name) != value)
      changed.push_back(name + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  const std::size_t more = changed.size() > kMost + 1 ? changed.size() - kMost : 0;
  if (more > 0) changed.resize(kMost);
  return fmt::format("{}{}", fmt::join(changed, ", "),
                     more > 0 ? fmt::format(" and {} more switches", more) : "");
}

/// Whether a headline answers a gate; where none does, all count.
bool is_check(const ReportModel& model, const Headline& headline) {
  return headline.is_of_gate() || std::ranges::none_of(model.headlines, &Headline::is_of_gate);
}

/// What a headline's candidate got, by verdict.
std::size_t count_of(const ReportModel& model, const std::string& candidate, Verdict verdict) {
  return static_cast<std::size_t>(
      std::ranges::count_if(model.headlines, [&](const Headline& headline) {
        return headline.candidate == candidate && headline.verdict == verdict &&
               is_check(model, headline);
      }));
}

/// "better on 2 of 3 checks, worse on 1".
std::string checks_of(const ReportModel& model, const std::string& candidate) {
  const auto all = static_cast<std::size_t>(
      std::ranges::count_if(model.headlines, [&](const Headline& headline) {
        return headline.candidate == candidate && is_check(model, headline);
      }));
  if (all == 0) return {};
  std::vector<std::string> parts;
  const auto add = [&](Verdict verdict, const char* words) {
    const std::size_t count = count_of(model, candidate, verdict);
    if (count == 0) return;
    parts.push_back(parts.empty()
                        ? fmt::format("{}{} of {}", words, count, format_count(all, "check"))
                        : fmt::format("{}{}", words, count));
  };
  add(Verdict::improved, "better on ");
  add(Verdict::regressed, "worse on ");
  add(Verdict::changed, "changed on ");
  add(Verdict::unchanged, "no different on ");
  add(Verdict::inconclusive, "not decided on ");
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "worse on 13 of 40 rows, better on 2": where no gate asks about a change.
std::string rows_of(const Results& results, const std::string& candidate) {
  std::size_t all = 0;
  std::map<Verdict, std::size_t> counts;
  for (const Comparison& row : results.comparisons) {
    if (row.candidate != candidate || !row.has_values()) continue;
    ++all;
    ++counts[row.verdict];
  }
  std::vector<std::string> parts;
  for (const auto& [verdict, words] :
       {std::pair(Verdict::regressed, "worse on"), std::pair(Verdict::improved, "better on"),
        std::pair(Verdict::changed, "changed on")})
    if (const std::size_t count = counts[verdict]; count > 0)
      parts.push_back(parts.empty()
                          ? fmt::format("{} {} of {}", words, count, format_count(all, "row"))
                          : fmt::format("{} {}", words, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "worker memory at the end 92% LESS (130.8 → 10.4 MiB)": larger than what any gate asks about.
std::string largest_change_of(const Results& results, const std::string& candidate) {
  for (const ShownRow& shown : results.first_screen.rows) {
    if (shown.candidate != candidate || shown.why != ShownFor::largest_change) continue;
    const Comparison* row = results.row(candidate, shown.role, shown.metric);
    if (row != nullptr && (row->ratio || row->difference))
      return change_in_words(results.job, *row);
  }
  return {};
}

std::string model_of(const Results& results, const std::string& candidate) {
  const auto found = std::ranges::find(results.equivalence, candidate, &Equivalence::candidate);
  if (found == results.equivalence.end() || !found->bit_identical) return {};
  const char* what = found->files.empty() ? "model" : "result";
  return fmt::format("{} {}", *found->bit_identical ? "the same" : "another", what);
}

std::string time_of(const Results& results, const std::string& candidate) {
  const Comparison* row = time_row(results, candidate);
  if (row == nullptr || row->is_of_dead()) return {};
  switch (row->verdict) {
    case Verdict::improved:
      return "faster";
    case Verdict::regressed:
      return "slower";
    case Verdict::unchanged:
      return "no slower";
    case Verdict::changed:  // times have a direction
    case Verdict::inconclusive:
      break;
  }
  return "whether it is slower is not decided";
}

bool keeps_growing(const Results& results, const std::string& arm) {
  return std::ranges::any_of(results.growth, [&](const Growth& growth) {
    return growth.arm == arm && growth.metric != kHeapGrowth && is_notable_growth(results, growth);
  });
}

/// Empty where growth is no news: neither arm is shown to grow.
std::string growth_of(const Results& results, const std::string& candidate) {
  if (keeps_growing(results, candidate)) return "its memory keeps growing";
  const bool known = std::ranges::any_of(results.growth, [&](const Growth& growth) {
    return growth.arm == candidate && growth.verdict != GrowthVerdict::inconclusive;
  });
  const bool ended = known && keeps_growing(results, results.baseline);
  return ended ? "its memory no longer grows" : "";
}

/// "2 gates failed; 1 gate passed": of the gates that decide; empty without one.
std::string gates_of(const Results& results, const std::string& candidate,
                     std::initializer_list<std::string_view> words) {
  std::vector<std::string> parts;
  for (const std::string_view word : words) {
    const auto count =
        static_cast<std::size_t>(std::ranges::count_if(results.gates, [&](const GateResult& gate) {
          return gate.candidate == candidate && gate.word() == word && !gate.advisory;
        }));
    if (count > 0) parts.push_back(fmt::format("{} {}", format_count(count, "gate"), word));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// "command: 1 gate failed. ": of a variant that stands alone; empty without a gate.
std::string with_gates(const Results& results, const std::string& variant) {
  const std::string gates =
      gates_of(results, variant, {"failed", "not measured", "inconclusive", "passed"});
  return gates.empty() ? "" : fmt::format("{}: {}. ", variant, gates);
}

/// " d: 1 gate failed.": of the candidates that the sentence is not about.
std::string open_gates_of_others(const Results& results, const std::string& candidate) {
  std::string text;
  for (const ArmSummary& arm : results.arms) {
    if (arm.name == candidate) continue;
    const std::string gates = gates_of(results, arm.name, {"failed", "not measured"});
    if (!gates.empty()) text += fmt::format(" {}: {}.", arm.name, gates);
  }
  return text;
}

std::vector<const ArmSummary*> judged_arms(const Results& results) {
  std::vector<const ArmSummary*> arms;
  for (const ArmSummary& arm : results.arms)
    if (!arm.ablation) arms.push_back(&arm);
  return arms;
}

/// The largest of all trials that count; nothing where none was measured.
std::optional<double> most_of_job(const Results& results) {
  std::optional<double> most;
  for (const TrialData& trial : results.trials) {
    const auto peak = trial.value(kTree, kPeakRss);
    if (trial.counts() && peak) most = std::max(most.value_or(0), *peak);
  }
  return most;
}

/// Why nothing was compared.
std::string without_verdict(const Results& results) {
  const std::vector<const ArmSummary*> arms = judged_arms(results);
  if (!results.overall.nothing.empty())
    return fmt::format("No verdict: {}.", results.overall.nothing);
  if (arms.size() == 1) {
    const std::optional<double> most = most_of_job(results);
    return fmt::format("{} alone was measured, so nothing is compared{}.", arms.front()->name,
                       most ? ": the whole job held at most " + format_bytes(*most) : "");
  }
  return "No verdict: no gate asks about a change, and none was found.";
}

/// "8 runs of each", or of each its own number.
std::string trials_words(const ReportModel& model) {
  const std::vector<const ArmSummary*> arms = judged_arms(model.results);
  const auto trials = [](const ArmSummary* arm) {
    return static_cast<std::size_t>(arm->trials_ok) + static_cast<std::size_t>(arm->trials_failed);
  };
  if (arms.size() == 1) return format_count(static_cast<std::size_t>(model.blocks_done), "run");
  const bool alike = std::ranges::all_of(
      arms, [&](const ArmSummary* arm) { return trials(arm) == trials(arms.front()); });
  if (arms.empty()) return "0 runs of each";
  if (alike) return format_count(trials(arms.front()), "run") + " of each";
  std::vector<std::string> each;
  for (const ArmSummary* arm : arms)
    each.push_back(fmt::format("{} of {}", format_count(trials(arm), "run"), arm->name));
  return fmt::format("{}", fmt::join(each, ", "));
}

}  // namespace

std::vector<ComparedArm> compared_arms(const ReportModel& model) {
  const std::string& baseline = model.results.baseline;
  std::vector<ComparedArm> arms;
  const Document& config = model.config;
  const Variant* base = config.variant(baseline);
  const json& environment = model.results.environment;
  const json subjects = environment.is_object() ? environment.value("subjects", json()) : json();
  const LeftOut left_out = model.confidential ? LeftOut::arguments : LeftOut::nothing;
  for (const ArmSummary* arm : judged_arms(model.results)) {
    const Variant* variant = config.variant(arm->name);
    const bool is_subject = subjects.is_object() && subjects.value(arm->name, json()).is_string();
    std::string words;
    std::string changed;
    if (variant != nullptr) {
      const bool is_gone = is_subject && !model.confidential;  // a worktree is, by now
      words = arm_words(config, *variant, is_gone ? LeftOut::directory : left_out);
      changed = switches_of(variant->switches, base == nullptr ? json::object() : base->switches);
    }
    if (is_subject)
      words = subjects.at(arm->name).get<std::string>() + (words.empty() ? "" : ": ") + words;
    if (model.confidential) changed = without_paths(changed);
    if (!changed.empty()) words += (words.empty() ? "" : ": ") + changed;
    arms.push_back({arm->name, std::move(words)});
  }
  const bool told = std::ranges::any_of(arms, [&](const ComparedArm& arm) {
    return (arm.name != baseline || arms.size() == 1) && !arm.words.empty();
  });
  if (!told) return {};
  for (ComparedArm& arm : arms)
    if (arm.words.empty() && arm.name == baseline) arm.words = baseline_words(config, left_out);
  std::ranges::stable_partition(arms, [&](const ComparedArm& arm) { return arm.name == baseline; });
  return arms;
}

std::string setting_words(const ReportModel& model) {
  const json& environment = model.results.environment;
  std::vector<std::string> parts = {trials_words(model)};
  const auto of_environment = [&](const char* key) {
    return environment.is_object() ? environment.value(key, json()) : json();
  };
  if (const json date = of_environment("date"); date.is_string())
    parts.push_back(date.get<std::string>());
  const json cores = of_environment("cores");
  if (cores.is_number_unsigned() || cores.is_number_integer())
    parts.push_back(format_count(cores.get<std::size_t>(), "core"));
  if (const json memory = of_environment("memory_bytes"); memory.is_number())
    parts.push_back(format_bytes(memory.get<double>()));
  return fmt::format("{}", fmt::join(parts, ", "));
}

const Comparison* time_row(const Results& results, const std::string& candidate) {
  const Comparison* found = nullptr;
  for (const Comparison& c : results.comparisons) {
    if (c.candidate != candidate || c.metric != kRoundSeconds) continue;
    if (found == nullptr || c.role == results.job.reference) found = &c;
  }
  return found;
}

std::string overall_sentence(const ReportModel& model) {
  const Results& results = model.results;
  const std::vector<std::string> candidates = ranked_candidates(results);
  if (candidates.empty()) return with_gates(results, results.baseline) + without_verdict(results);
  const bool is_empty = model.headlines.empty() && model.growth.empty() && results.gates.empty();
  const bool is_nothing =
      !results.overall.nothing.empty() && results.overall.outcome != OverallOutcome::failed;
  if (is_empty || is_nothing) return without_verdict(results);
  const std::string& first = candidates.front();
  const bool has_gate_headline = std::ranges::any_of(
      model.headlines, [](const Headline& headline) { return !headline.gate.empty(); });
  std::vector<std::string> parts;
  for (std::string& part :
       std::vector{gates_of(results, first, {"failed", "not measured", "inconclusive"}),
                   has_gate_headline ? "" : gates_of(results, first, {"passed"}),
                   largest_change_of(results, first),
                   has_gate_headline ? checks_of(model, first) : rows_of(results, first),
                   growth_of(results, first), model_of(results, first), time_of(results, first)})
    if (!part.empty()) parts.push_back(std::move(part));
  const std::string others = open_gates_of_others(results, first);
  if (parts.empty()) return others.empty() ? "" : others.substr(1);
  return fmt::format("{}: {}.{}", first, fmt::join(parts, "; "), others);
}

}  // namespace memduel
