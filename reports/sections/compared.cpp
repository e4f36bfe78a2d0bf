// What was compared: the variants with what makes them different, and how they were measured.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "arm_words.h"
#include "confidential.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

using nlohmann::json;

/// ", 15 of 28 switches differ"; empty if none does. switches_section() lists them.
std::string switches_words(const json& own, const json& baseline) {
  const std::size_t differing = differing_switches(own, baseline).size();
  if (differing == 0) return {};
  return fmt::format(", {} of {}", differing,
                     format_count(own.size(), "switch differs", "switches differ"));
}

/// "preset csfl-original: no cleanup", "the new parser: ./parse big.json"; of a long command, as of
/// several roles, the description alone.
std::string described(const Variant& variant, const std::string& words) {
  constexpr std::size_t kLongest = 100;
  if (words.empty() || (!variant.preset && words.size() > kLongest)) return *variant.description;
  return variant.preset ? fmt::format("{}: {}", words, *variant.description)
                        : fmt::format("{}: {}", *variant.description, words);
}

json environment_value(const Results& results, const char* key) {
  return results.environment.is_object() ? results.environment.value(key, json()) : json();
}

/// "federated workload: mnist-cnn on mnist, 2 clients, 5 rounds" of a built-in workload, whose keys
/// the schema has.
std::string workload_words(const json& own) {
  if (!own.is_object()) return {};
  std::vector<std::string> parts;
  if (own.contains("model") && own.at("model").is_string())
    parts.push_back(own.at("model").get<std::string>());
  if (const json dataset = own.value("dataset", json()); dataset.is_object() && !parts.empty())
    if (const json name = dataset.value("name", json()); name.is_string())
      parts.front() += " on " + name.get<std::string>();
  if (const json kind = own.value("kind", json()); kind.is_string() && !parts.empty())
    parts.front() = fmt::format("{} workload: {}", kind.get<std::string>(), parts.front());
  for (const char* key : {"clients", "rounds"})
    if (const json count = own.value(key, json()); count.is_number_integer())
      parts.push_back(
          format_count(count.get<std::size_t>(), std::string(key, std::strlen(key) - 1)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "medians of 8 trials each", or of each variant its own number.
std::string trials_words(const ReportModel& model) {
  const std::vector<const ArmSummary*> variants = judged_arms(model.results);
  const auto trials = [](const ArmSummary* arm) {
    return static_cast<std::size_t>(arm->trials_ok) + static_cast<std::size_t>(arm->trials_failed);
  };
  if (variants.size() == 1)
    return format_count(static_cast<std::size_t>(model.blocks_done), "trial");
  if (variants.empty()) return "0 trials each";
  const bool alike = std::ranges::all_of(
      variants, [&](const ArmSummary* arm) { return trials(arm) == trials(variants.front()); });
  if (alike) {
    const std::size_t count = trials(variants.front());
    return (count > 1 ? "medians of " : "") + format_count(count, "trial") + " each";
  }
  std::vector<std::string> each;
  for (const ArmSummary* arm : variants)
    each.push_back(fmt::format("{} of {}", format_count(trials(arm), "trial"), arm->name));
  return fmt::format("{}", fmt::join(each, ", "));
}

}  // namespace

std::vector<ComparedVariant> compared_variants(const ReportModel& model) {
  const Results& results = model.results;
  const Document& config = model.config;
  const Variant* base = config.variant(results.baseline);
  const json subjects = environment_value(results, "subjects");
  const LeftOut left_out = model.confidential ? LeftOut::arguments : LeftOut::nothing;
  std::vector<ComparedVariant> variants;
  for (const ArmSummary* arm : judged_arms(results)) {
    const Variant* variant = config.variant(arm->name);
    const bool is_subject = subjects.is_object() && subjects.value(arm->name, json()).is_string();
    std::string words;
    if (variant != nullptr) {
      const bool is_gone = is_subject && !model.confidential;  // a worktree is, by now
      words = arm_words(config, *variant, is_gone ? LeftOut::directory : left_out);
      if (base != nullptr) words += switches_words(variant->switches, base->switches);
      if (variant->description && !model.confidential) words = described(*variant, words);
    }
    if (is_subject)
      words = subjects.at(arm->name).get<std::string>() + (words.empty() ? "" : ": ") + words;
    variants.push_back({arm->name, std::move(words), arm->name == results.baseline});
  }
  for (ComparedVariant& variant : variants)
    if (variant.words.empty() && variants.size() > 1)
      variant.words = unchanged_words(config, left_out);
  return variants;
}

std::string setting_words(const ReportModel& model) {
  std::vector<std::string> parts;
  if (std::string workload = workload_words(model.config.workload.own); !workload.empty())
    parts.push_back(std::move(workload));
  parts.push_back(trials_words(model));
  if (const json date = environment_value(model.results, "date"); date.is_string())
    parts.push_back(date.get<std::string>());
  const json cores = environment_value(model.results, "cores");
  if (cores.is_number_unsigned() || cores.is_number_integer())
    parts.push_back(format_count(cores.get<std::size_t>(), "core"));
  if (const json memory = environment_value(model.results, "memory_bytes"); memory.is_number())
    parts.push_back(format_bytes(memory.get<double>()) + " RAM");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace memduel
