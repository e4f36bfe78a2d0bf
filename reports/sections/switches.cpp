// What makes variants different that are presets: the switches that differ from the baseline's.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>

#include "confidential.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {

namespace {

/// Where lines are few: how many differ is stated beside their variants.
constexpr int kDispensable = 3;

/// "in_place"; "–" where it is not set.
std::string value_of(const nlohmann::json& switches, const std::string& name) {
  if (!switches.contains(name)) return "–";
  const nlohmann::json& value = switches.at(name);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::string ablation_command(const std::string& reproduce) {
  constexpr std::string_view kRun = "memduel run ";
  if (!reproduce.starts_with(kRun)) return {};
  return "memduel ablate " + reproduce.substr(kRun.size());
}

std::vector<std::string> differing_switches(const nlohmann::json& own,
                                            const nlohmann::json& baseline) {
  std::vector<std::string> differing;
  for (const auto& [name, value] : own.items())
    if (!baseline.contains(name) || baseline.at(name) != value) differing.push_back(name);
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
    Text text(variants.size() > 2 ? arm->name + ": " : "", Tone::strong);
    text.add(fmt::format("{} of {}: ", differing.size(),
                         format_count(variant->switches.size(), "switch", "switches")));
    text.add(fmt::format("{}", fmt::join(differing, ", ")), Tone::code).add(".");
    section.add(Paragraph{std::move(text)}, Medium::all, kDispensable);
  }
  const std::optional<Suggestion>& next = model.results.first_screen.next_step;
  if (section.empty() || ablation.empty() || (next && next->command == ablation)) return section;
  return section.add(Paragraph{"To measure the effect of each switch:"}, Medium::all, kDispensable)
      .add(Command{ablation}, Medium::all, kDispensable);
}

Section switch_values_section(const ReportModel& model) {
  Section section{"switch-values", "Switches", {}};
  const Variant* baseline = model.config.variant(model.results.baseline);
  if (baseline == nullptr) return section;
  std::vector<const Variant*> variants;
  std::set<std::string> names;
  for (const ArmSummary* arm : judged_arms(model.results))
    if (const Variant* variant = model.config.variant(arm->name); variant != nullptr) {
      variants.push_back(variant);
      for (std::string& name : differing_switches(variant->switches, baseline->switches))
        names.insert(std::move(name));
    }
  if (names.empty()) return section;
  Table table;
  table.columns.push_back({"switch"});
  for (const Variant* variant : variants) table.columns.push_back({variant->name});
  for (const std::string& name : names) {
    Row row;
    row.cells.emplace_back(name);
    for (const Variant* variant : variants) {
      const std::string value = value_of(variant->switches, name);
      row.cells.emplace_back(Text(model.confidential ? without_paths(value) : value, Tone::code));
    }
    table.rows.push_back(std::move(row));
  }
  return section.add(std::move(table));
}

}  // namespace memduel
