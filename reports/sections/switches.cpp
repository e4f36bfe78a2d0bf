// What makes variants different that are presets: the switches that differ from the baseline's.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "confidential.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {

namespace {

/// "in_place"; "–" where it is not set.
std::string value_of(const nlohmann::json& switches, const std::string& name) {
  if (!switches.contains(name)) return "–";
  const nlohmann::json& value = switches.at(name);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Of the config that the run was made from; empty where it was made from none.
std::string ablation_command(const std::string& reproduce) {
  constexpr std::string_view kRun = "memduel run ";
  if (!reproduce.starts_with(kRun)) return {};
  return "memduel ablate " + reproduce.substr(kRun.size());
}

}  // namespace

std::vector<std::string> differing_switches(const nlohmann::json& own,
                                            const nlohmann::json& baseline) {
  std::vector<std::string> differing;
  for (const auto& [name, value] : own.items())
    if (!baseline.contains(name) || baseline.at(name) != value)
      differing.push_back(name + "=" + value_of(own, name));
  return differing;
}

Section switches_section(const ReportModel& model) {
  Section section{"switches", "Differs", {}};
  const Variant* baseline = model.config.variant(model.results.baseline);
  if (baseline == nullptr) return section;
  const std::vector<const ArmSummary*> variants = judged_arms(model.results);
  const std::string ablation = ablation_command(model.reproduce);
  for (const ArmSummary* arm : variants) {
    const Variant* variant = model.config.variant(arm->name);
    if (variant == nullptr || variant == baseline) continue;
    const std::vector<std::string> differing =
        differing_switches(variant->switches, baseline->switches);
    if (differing.empty()) continue;
    const auto add = [&](const std::vector<std::string>& shown, Medium medium) {
      std::string list = fmt::format("{}", fmt::join(shown, ", "));
      if (model.confidential) list = without_paths(list);
      Text text(variants.size() > 2 ? arm->name + ": " : "", Tone::strong);
      text.add(fmt::format("{} of {}: ", differing.size(),
                           format_count(variant->switches.size(), "switch", "switches")));
      text.add(list, Tone::code).add(".");
      if (!ablation.empty()) text.add(" To measure each: ", Tone::muted).add(ablation, Tone::code);
      section.add(Paragraph{std::move(text)}, medium);
    };
    std::vector<std::string> names;
    std::vector<std::string> changes;
    for (const std::string& one : differing) {
      names.push_back(one.substr(0, one.find('=')));
      changes.push_back(fmt::format("{}: {} → {}", names.back(),
                                    value_of(baseline->switches, names.back()),
                                    value_of(variant->switches, names.back())));
    }
    add(changes, Medium::page);
    add(names, Medium::text);
  }
  return section;
}

}  // namespace memduel
