#include "variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "config/experiment.h"
#include "config/read_document.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

/// Of a name in the document that is a variant's.
void expect_variant(const std::string& name, const std::vector<std::string>& names,
                    const Places& places, const JsonPath& path) {
  if (std::ranges::find(names, name) == names.end()) refuse_variant(name, names, places.at(path));
}

/// Of a name that an option or a suite gives.
void expect_variant(const std::string& name, const std::vector<std::string>& names,
                    const std::string& place) {
  if (std::ranges::find(names, name) == names.end()) refuse_variant(name, names, place);
}

void refuse_repeated_names(const std::vector<std::string>& names, const Places& places) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (seen.insert(names[i]).second) continue;
    throw Error(ExitCode::usage, fmt::format("found the variant name \"{}\" twice", names[i]),
                places.at(below(variant_path(i), "name")),
                "use a different name for every variant");
  }
}

void refuse_unknown_ablation_variants(const Document& document, const Places& places) {
  const AblationPlan& ablation = *document.ablation;
  const auto names = document.variant_names();
  expect_variant(ablation.candidate, names, places, {"ablation", "candidate"});
  for (std::size_t i = 0; i < ablation.switches.size(); ++i)
    for (const auto& [view, cell] : {std::pair{"added_alone", &ablation.switches[i].added_alone},
                                     {"removed_alone", &ablation.switches[i].removed_alone}})
      if (cell->variant)
        expect_variant(*cell->variant, names, places,
                       {"ablation", "switches", std::to_string(i), view, "variant"});
}

/// Of the variants of a document those that run, each with its place.
class VariantChoice {
 public:
  VariantChoice(Document& document, Places& places) : document_(document), places_(places) {
    for (std::size_t i = 0; i < document.variants.size(); ++i) from_.push_back(i);
    refuse_repeated_names(document.variant_names(), places);
    expect_variant(document.baseline, document.variant_names(), places, {"baseline"});
  }

  void select(const std::vector<std::string>& wanted, const std::string& place) {
    for (const std::string& name : wanted) expect_variant(name, document_.variant_names(), place);
    std::vector<Variant> selected;
    std::vector<std::size_t> from;
    for (const std::size_t i : from_)
      if (std::ranges::find(wanted, document_.variants[i].name) != wanted.end()) {
        selected.push_back(std::move(document_.variants[i]));
        from.push_back(i);
      }
    document_.variants = std::move(selected);
    from_ = std::move(from);
    expect_variant(document_.baseline, document_.variant_names(), place + ", baseline");
    document_.ablation.reset();  // it is about all its variants
  }

  void add_twin() {
    std::vector<Variant>& all = document_.variants;
    if (std::ranges::any_of(all, [](const Variant& one) { return one.twin_of.has_value(); }))
      return;
    const auto found = std::ranges::find(all, document_.baseline, &Variant::name);
    from_.push_back(from_[static_cast<std::size_t>(found - all.begin())]);
    Variant twin = *found;
    twin.name = twin_name(document_.baseline);
    twin.twin_of = document_.baseline;
    all.push_back(std::move(twin));
  }

  void finish(bool one_variant) && {
    places_.rearrange(variant_path(0).front(), from_);
    const auto names = document_.variant_names();
    refuse_repeated_names(names, places_);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Variant& variant = document_.variants[i];
      if (!variant.twin_of) continue;
      const JsonPath path = below(variant_path(i), "twin_of");
      expect_variant(*variant.twin_of, names, places_, path);
      if (*variant.twin_of == variant.name)
        throw Error(ExitCode::usage,
                    fmt::format("expected another variant, found \"{}\" itself", variant.name),
                    places_.at(path));
    }
    if (document_.ablation) refuse_unknown_ablation_variants(document_, places_);
    if (names.size() < 2 && !one_variant)
      throw Error(ExitCode::usage, "expected two or more variants, found one",
                  places_.at({variant_path(0).front()}), "add a variant");
  }

 private:
  Document& document_;
  Places& places_;
  std::vector<std::size_t> from_;  ///< of each variant: its index before
};

}  // namespace

void choose_variants(Document& document, Places& places, const Overrides& overrides) {
  VariantChoice choice(document, places);
  if (overrides.arms) choice.select(*overrides.arms, overrides.arms_place);
  if (overrides.calibrate) choice.add_twin();
  std::move(choice).finish(overrides.one_variant);
  for (std::size_t i = 0; i < document.variants.size(); ++i)
    refuse_bad_environment(document.variants[i].env, below(variant_path(i), "env"), places);
}

void refuse_bad_environment(const Environment& env, const JsonPath& path, const Places& places) {
  constexpr char kNul = '\0';
  for (const auto& [name, value] : env) {
    const bool bad_name = name.empty() || name.find('=') != std::string::npos;
    if (!bad_name && name.find(kNul) == std::string::npos && value.find(kNul) == std::string::npos)
      continue;
    const std::string shown = name.substr(0, name.find(kNul));
    throw Error(
        ExitCode::usage,
        fmt::format("found the variable \"{}\", which an environment cannot contain", shown),
        places.at(shown.empty() ? path : below(path, shown)),
        "names are not empty and have no '='; neither names nor values contain a NUL");
  }
}

void refuse_variant(const std::string& name, const std::vector<std::string>& names,
                    const std::string& place) {
  throw Error(ExitCode::usage,
              fmt::format("expected the name of a variant ({1}), found \"{0}\"", name,
                          fmt::join(names, ", ")),
              place, nearest_advice(name, names));
}

std::string twin_name(const std::string& baseline) {
  return baseline + "-twin";
}

}  // namespace memduel
