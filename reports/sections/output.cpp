// Whether the variants compute the same, and under which allocators they did.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/metric_catalogue.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

bool is_of_ablation(const Results& results, const std::string& variant) {
  return std::ranges::any_of(
      results.arms, [&](const ArmSummary& arm) { return arm.ablation && arm.name == variant; });
}

/// One sentence for all variants of the ablation, which are many.
std::string ablation_sentence(const Results& results) {
  int same = 0;
  int compared = 0;
  std::string others;
  std::string baseline;
  const char* what = "final models";
  for (const Equivalence& one : results.equivalence) {
    if (!is_of_ablation(results, one.candidate) || !one.bit_identical) continue;
    baseline = one.baseline;
    if (!one.files.empty()) what = "results";
    ++compared;
    if (*one.bit_identical) {
      ++same;
      continue;
    }
    const std::string size =
        one.max_abs_diff ? fmt::format(" (by at most {:.3g})", *one.max_abs_diff) : "";
    others += (others.empty() ? "" : ", ") + one.candidate + size;
  }
  if (compared == 0) return {};
  std::string text =
      fmt::format("The {} of {} of the ablation's {} variants and {} are bit-identical", what, same,
                  compared, baseline);
  if (!others.empty()) text += "; different are those of " + others;
  return text + ".";
}

void add_models(List& list, const std::vector<const Equivalence*>& all) {
  const bool are_same = all.size() > 1 && std::ranges::all_of(all, [](const Equivalence* one) {
                          return one->files.empty() && one->bit_identical.value_or(false);
                        });
  if (are_same) {
    list.items.emplace_back(
        fmt::format("The final models of all {} variants are bit-identical.", all.size() + 1));
    return;
  }
  for (const Equivalence* one : all)
    if (std::string sentence = model_sentence(*one); !sentence.empty())
      list.items.emplace_back(std::move(sentence));
}

/// "Validation accuracy: 91.25% (optimized), 91.25% (original)."
std::string metric_sentence(const Equivalence& one, const std::string& metric, double baseline,
                            double candidate) {
  if (metric == kValidationAccuracy)
    return fmt::format("Validation accuracy: {:.2f}% ({}), {:.2f}% ({}).", baseline * 100,
                       one.baseline, candidate * 100, one.candidate);
  return fmt::format("{}: {:.6g} ({}), {:.6g} ({}).", metric, baseline, one.baseline, candidate,
                     one.candidate);
}

/// One line where every variant reaches the same, else one per candidate.
void add_accuracy(List& list, const std::vector<const Equivalence*>& all) {
  std::set<double> values;
  std::vector<std::string> each;
  for (const Equivalence* one : all) {
    const auto accuracy = one->metrics.find(kValidationAccuracy);
    if (accuracy == one->metrics.end()) continue;
    const auto [baseline, candidate] = accuracy->second;
    values.insert({baseline, candidate});
    each.push_back(metric_sentence(*one, kValidationAccuracy, baseline, candidate));
  }
  if (each.size() > 1 && each.size() == all.size() && values.size() == 1)
    each = {fmt::format("Validation accuracy: {:.2f}% in every variant.", *values.begin() * 100)};
  for (std::string& sentence : each) list.items.emplace_back(std::move(sentence));
}

}  // namespace

Section output_section(const ReportModel& model) {
  const Results& results = model.results;
  Section section{"output", "Output", {}};
  List list;
  if (std::string sentence = ablation_sentence(results); !sentence.empty())
    list.items.emplace_back(std::move(sentence));
  std::vector<const Equivalence*> candidates;
  for (const Equivalence& one : results.equivalence)
    if (!is_of_ablation(results, one.candidate)) candidates.push_back(&one);
  add_models(list, candidates);
  for (const Equivalence* one : candidates)
    for (const FileEquivalence& file : one->files)
      list.items.emplace_back(file_sentence(*one, file));
  for (const Equivalence* one : candidates)
    for (const auto& [metric, values] : one->metrics)
      if (!is_known_metric(metric))
        list.items.emplace_back(metric_sentence(*one, metric, values.first, values.second));
  add_accuracy(list, candidates);
  if (std::string sentence = allocator_sentence(results.arms); !sentence.empty())
    list.items.emplace_back(std::move(sentence));
  if (!list.items.empty()) section.add(std::move(list));
  return section;
}

}  // namespace memduel
