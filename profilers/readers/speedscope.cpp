#include "profilers/readers/speedscope.h"

#include "profilers/readers/foreign_frames.h"
#include "profilers/readers/json_document.h"
#include "profilers/readers/stack_builder.h"
#include "profilers/readers/unit_names.h"

namespace memduel {

namespace {

using nlohmann::json;

NamedUnit unit_of(const json& profile) {
  return unit_named(profile.at("unit").get<std::string>());
}

const json& chosen_profile(const json& profiles) {
  for (const json& profile : profiles) {
    if (unit_of(profile).unit != ProfileUnit::samples) return profile;
  }
  return profiles.at(0);
}

class SpeedscopeReader {
 public:
  SpeedscopeReader(const PlainSource& source, const json& document)
      : source_(source), document_(document) {}

  Profile read() {
    read_frames();
    const json& profiles = document_.at("profiles");
    const json& chosen = chosen_profile(profiles);
    const NamedUnit unit = unit_of(chosen);
    profile_.unit = unit.unit;
    const std::string exporter = document_.value("exporter", "");
    const bool memray = exporter.starts_with("memray");
    profile_.counted = memray && profiles.size() > 1;
    if (!exporter.empty()) profile_.info["tracer"] = exporter + " (speedscope)";
    if (document_.contains("name") && document_["name"].is_string()) {
      profile_.info["command"] = document_["name"];
    }
    profile_.info["mode"] = "exact";
    std::map<std::uint32_t, Estimate> sites;
    add(chosen, unit.each, &Estimate::bytes, sites);
    if (profile_.counted) add(profiles.at(1), 1, &Estimate::count, sites);
    for (const auto& [site, amount] : sites) {
      if (memray) {
        profile_.peak.sites.emplace_back(site, amount);
        profile_.peak.total += amount;
      } else {
        profile_.sites[site].allocated = amount;
      }
    }
    return std::move(profile_);
  }

 private:
  void read_frames() {
    for (const json& frame : document_.at("shared").at("frames")) {
      frames_.push_back(foreign_location(
          builder_, {frame.at("name"), frame.value("file", ""), json_line(frame)}));
    }
  }

  void add(const json& profile, double each, double Estimate::* amount,
           std::map<std::uint32_t, Estimate>& sites) {
    if (profile.at("type") != "sampled") {
      source_.fail("a profile of events; only sampled ones can be read");
    }
    const json& samples = profile.at("samples");
    const json& weights = profile.at("weights");
    if (samples.size() != weights.size()) source_.fail("samples and weights differ in number");
    for (std::size_t i = 0; i < samples.size(); ++i) {
      std::uint32_t node = 0;
      for (const json& frame : samples[i]) {
        node = builder_.stack(node, frames_[json_index(frame, frames_.size(), source_)]);
      }
      Estimate& site = sites[builder_.site_number(node)];
      site.*amount += each * json_amount(weights[i], source_);
      site.samples = 1;
    }
  }

  const PlainSource& source_;
  const json& document_;
  Profile profile_;
  StackBuilder builder_{profile_};
  std::vector<std::uint32_t> frames_;
};

}  // namespace

bool is_speedscope(std::string_view head) {
  return head.starts_with('{') &&
         (head.find("speedscope.app/file-format-schema") != std::string_view::npos ||
          (head.find("\"shared\"") != std::string_view::npos &&
           head.find("\"frames\"") != std::string_view::npos));
}

Profile read_speedscope(PlainSource& source, const SymbolOptions& /*symbols*/) {
  return read_json_profile(
      source, [&](const json& document) { return SpeedscopeReader(source, document).read(); });
}

}  // namespace memduel
