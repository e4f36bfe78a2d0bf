// The order of a report: what its first screen shows, and the details below it.

#include <array>

#include "reports/report_document.h"
#include "sections/sections.h"

namespace memduel {
namespace {

using BuildSection = Section (*)(const ReportModel&);

constexpr std::array<BuildSection, 7> kFirstScreen = {
    results_section,       trend_section,          why_section,     next_step_section,
    growth_notice_section, caveats_notice_section, switches_section};

constexpr std::array<BuildSection, 17> kDetails = {
    owners_section, balance_section,       stacks_section,  rounds_section,   growth_section,
    flames_section, output_section,        gates_section,   ablation_section, lower_bounds_section,
    parts_section,  switch_values_section, metrics_section, caveats_section,  profiles_section,
    method_section, reproduce_section};

template <std::size_t N>
std::vector<Section> built(const std::array<BuildSection, N>& builders, const ReportModel& model) {
  std::vector<Section> sections;
  for (const BuildSection build : builders)
    if (Section section = build(model); !section.empty()) sections.push_back(std::move(section));
  return sections;
}

/// "Peak memory: b vs. a (baseline)".
std::string title_of(const ReportModel& model, const std::vector<ComparedVariant>& compared) {
  if (compared.empty()) return model.name;
  if (compared.size() == 1) return "Peak memory: " + compared.front().name;
  constexpr std::size_t kMostNamed = 4;
  std::string candidates;
  for (std::size_t i = 1; i < compared.size() && i <= kMostNamed; ++i)
    candidates += (i == 1 ? "" : ", ") + compared[i].name;
  if (compared.size() > kMostNamed + 1) candidates += ", …";
  return "Peak memory: " + candidates + " vs. " + compared.front().name + " (baseline)";
}

}  // namespace

Tone tone_of(Answer answer) {
  switch (answer) {
    case Answer::pass:
      return Tone::good;
    case Answer::fail:
    case Answer::not_measured:
      return Tone::bad;
    case Answer::inconclusive:
    case Answer::no_gates:
      break;
  }
  return Tone::strong;
}

ReportDocument document_of(const ReportModel& model) {
  Headline headline = headline_of(model);
  ReportDocument document;
  document.compared = compared_variants(model);
  document.title = title_of(model, document.compared);
  document.name = model.name;
  document.setting = setting_words(model);
  document.notice = model.progress;
  document.answer = headline.answer;
  document.sentence = std::move(headline.sentence);
  document.exit = std::move(headline.exit);
  document.first_screen = built(kFirstScreen, model);
  document.details = built(kDetails, model);
  document.checks = checks_of(model);
  document.reproduce = model.reproduce;
  return document;
}

}  // namespace memduel
