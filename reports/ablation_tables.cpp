#include "ablation_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

std::string interaction(const AblationTotal& total, const AblationSum& sum) {
  std::string text = signed_metric(total.metric, *sum.remainder);
  if (sum.ci_low && sum.ci_high)
    text += fmt::format(" ({})", format_interval(signed_metric(total.metric, *sum.ci_low),
                                                 signed_metric(total.metric, *sum.ci_high)));
  return text;
}

std::string missing_words(const AblationSum& sum) {
  if (sum.missing.empty()) return {};
  return fmt::format(", without {}, which gave no number", fmt::join(sum.missing, ", "));
}

std::string total_sentence(const JobFacts& job, const AblationTotal& total) {
  const AblationCell& whole = total.whole;
  std::string text =
      fmt::format("{}: {} differs from {} by ", quantity(job, total.role, total.metric), *whole.arm,
                  whole.reference);
  text += whole.difference ? signed_metric(total.metric, *whole.difference) : "an unknown amount";
  if (total.added_alone.remainder)
    text += fmt::format("; its switches, each added alone, sum to {}{}, so interaction is {}",
                        signed_metric(total.metric, *total.added_alone.sum),
                        missing_words(total.added_alone), interaction(total, total.added_alone));
  if (total.left_out.remainder)
    text += fmt::format("; each left out, they sum to {}{}, interaction {}",
                        signed_metric(total.metric, *total.left_out.sum),
                        missing_words(total.left_out), interaction(total, total.left_out));
  return text + ".";
}

bool is_peak_of_trials(const AblationRow& row) {
  return !row.phase && row.metric.ends_with("_bytes");
}

/// Switches of which every row about bytes over whole trials satisfies `holds`.
template <typename Holds>
std::vector<std::string> switches_where(const Results& results, Holds holds) {
  std::vector<std::string> names;
  std::vector<std::string> others;
  for (const AblationRow& row : results.ablation) {
    if (!is_peak_of_trials(row)) continue;
    std::vector<std::string>& into = holds(row) ? names : others;
    if (std::ranges::find(into, row.optimization) == into.end()) into.push_back(row.optimization);
  }
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::find(others, name) != others.end();
  });
  return names;
}

}  // namespace

bool is_ablation_arm(const Results& results, const std::string& name) {
  return std::ranges::any_of(
      results.arms, [&](const ArmSummary& arm) { return arm.ablation && arm.name == name; });
}

std::vector<AblationTable> ablation_tables(const Results& results) {
  std::vector<AblationTable> tables;
  const auto end = results.ablation.end();
  auto first = results.ablation.begin();
  for (const AblationTotal& total : results.ablation_totals) {
    const auto last = std::find_if(first, end, [&](const AblationRow& row) {
      return row.role != total.role || row.metric != total.metric || row.phase != total.phase;
    });
    tables.push_back({{first, last}, &total});
    first = last;
  }
  return tables;
}

std::string word(SwitchEffect effect) {
  constexpr std::array kWords = {"saves", "costs", "mixed", "changes", "nothing", "cannot tell"};
  return kWords.at(static_cast<size_t>(effect));
}

std::vector<std::string> ablation_sentences(const Results& results) {
  std::vector<std::string> sentences;
  for (const AblationTotal& total : results.ablation_totals)
    if (!total.phase && total.whole.arm) sentences.push_back(total_sentence(results.job, total));
  const auto nothing = switches_where(
      results, [](const AblationRow& row) { return row.effect == SwitchEffect::nothing; });
  const auto unclear = switches_where(results, [](const AblationRow& row) {
    return row.effect == SwitchEffect::nothing || row.effect == SwitchEffect::inconclusive;
  });
  std::vector<std::string> cannot_tell;
  for (const std::string& name : unclear)
    if (std::ranges::find(nothing, name) == nothing.end()) cannot_tell.push_back(name);
  if (!nothing.empty())
    sentences.push_back(fmt::format("These switches give NOTHING, added alone or left out: {}.",
                                    fmt::join(nothing, ", ")));
  if (!cannot_tell.empty())
    sentences.push_back(fmt::format("Cannot tell whether these switches give anything: {}.",
                                    fmt::join(cannot_tell, ", ")));
  return sentences;
}

std::vector<std::string> lower_bound_sentences(const Results& results) {
  std::vector<std::string> sentences;
  for (const LowerBound& bound : results.lower_bounds) {
    std::vector<std::string> arms;
    for (const ArmSummary& arm : results.arms) {
      const auto at = bound.multiples.find(arm.name);
      if (at != bound.multiples.end() && !is_ablation_arm(results, arm.name))
        arms.push_back(fmt::format("{} {:.2f} ×", arm.name, at->second));
    }
    sentences.push_back(fmt::format(
        "Lower bound of {}: {} ({}); {}.", quantity(results.job, bound.role, bound.metric),
        format_bytes(bound.bytes), bound.formula, fmt::join(arms, ", ")));
  }
  return sentences;
}

}  // namespace memduel
