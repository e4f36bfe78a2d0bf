#include "profilers/readers/massif.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profilers/profile/model/tracer_facts.h"
#include "profilers/readers/dumped_stacks.h"
#include "profilers/readers/plain_source.h"
#include "profilers/readers/stack_builder.h"
#include "profilers/readers/text_cursor.h"

namespace memduel {

namespace {

constexpr std::string_view kMassifRule = "#-----------";
constexpr std::string_view kMassifStart = "desc:";

class MassifReader {
 public:
  explicit MassifReader(PlainSource& source) : source_(source) {}

  Profile read() {
    profile_.info["massif_options"] = header("desc:");
    profile_.info["command"] = header("cmd:");
    profile_.moment_unit = unit_of(header("time_unit:"));
    while (const auto line = source_.line()) {
      if (*line != kMassifRule) source_.fail("expected a snapshot: " + std::string(kMassifRule));
      read_snapshot();
    }
    if (profile_.moments.empty()) source_.fail("the file ends before its first snapshot");
    return finish();
  }

 private:
  /// A line of the tree whose callers are not all read.
  struct Open {
    std::uint32_t location = 0;
    std::uint64_t bytes = 0;
    std::uint64_t callers_bytes = 0;
    std::uint64_t callers_left = 0;
  };

  std::string_view whole_line() {
    const auto line = source_.line();
    if (!line || !source_.line_ended()) source_.fail("the file ends inside a snapshot");
    return *line;
  }

  std::string header(std::string_view key) {
    TextCursor cursor(whole_line());
    if (!cursor.skip(key)) source_.fail(fmt::format("expected \"{}\"", key));
    cursor.skip_spaces();
    return std::string(cursor.rest());
  }

  std::string unit_of(const std::string& word) const {
    if (word == "ms") return word;
    if (word == "i") return "instructions";
    if (word == "B") return "bytes allocated";
    source_.fail("expected ms, i or B after time_unit:");
  }

  std::uint64_t field(std::string_view key) {
    TextCursor cursor(whole_line());
    const auto value = cursor.skip(key) ? cursor.number() : std::nullopt;
    if (!value || *value > kMostCounted || !cursor.at_end()) {
      source_.fail(fmt::format("expected {}NUMBER", key));
    }
    return *value;
  }

  void read_snapshot() {
    const std::uint64_t number = profile_.moments.size();
    if (field("snapshot=") != number) source_.fail(fmt::format("expected snapshot={}", number));
    if (whole_line() != kMassifRule) source_.fail("expected " + std::string(kMassifRule));
    ProfileMoment moment;
    moment.at = static_cast<double>(field("time="));
    moment.bytes = static_cast<double>(field("mem_heap_B="));
    moment.extra_bytes = static_cast<double>(field("mem_heap_extra_B="));
    field("mem_stacks_B=");
    const std::string_view tree = whole_line();
    if (tree == "heap_tree=peak") peak_ = profile_.moments.size();
    if (tree == "heap_tree=peak" || tree == "heap_tree=detailed") {
      moment.sites = read_tree();
    } else if (tree != "heap_tree=empty") {
      source_.fail("expected heap_tree=empty, detailed or peak");
    }
    profile_.moments.push_back(std::move(moment));
  }

  // The callers of each node follow it, one deeper. What its callers do not account for was
  // allocated with it as the outermost frame that massif kept.
  LiveSites read_tree() {
    std::map<std::uint32_t, Estimate> sites;
    std::vector<Open> path;
    do {
      const std::string_view line = whole_line();
      TextCursor cursor(line);
      std::size_t depth = 0;
      while (cursor.skip(" ")) ++depth;
      if (depth != path.size()) source_.fail("a node of another depth than the one before it says");
      const auto callers = cursor.skip("n") ? cursor.number() : std::nullopt;
      const auto bytes = cursor.skip(": ") ? cursor.number() : std::nullopt;
      if (!callers || !bytes || *bytes > kMostCounted) source_.fail("expected nCALLERS: BYTES");
      cursor.skip_spaces();
      if (!path.empty()) {
        --path.back().callers_left;
        path.back().callers_bytes += *bytes;
      }
      path.push_back({depth == 0 ? 0 : location_of(cursor.rest()), *bytes, 0, *callers});
      while (!path.empty() && path.back().callers_left == 0) {
        add_own(path, sites);
        path.pop_back();
      }
    } while (!path.empty());
    return {sites.begin(), sites.end()};
  }

  void add_own(const std::vector<Open>& path, std::map<std::uint32_t, Estimate>& sites) {
    const Open& last = path.back();
    if (last.bytes <= last.callers_bytes) return;
    std::uint32_t node = 0;
    for (std::size_t i = path.size(); i-- > 1;) node = builder_.stack(node, path[i].location);
    sites[builder_.site_number(node)] +=
        {static_cast<double>(last.bytes - last.callers_bytes), 0, 0, 1};
  }

  // "0x1091C1: allocate(unsigned long) (shapes.cpp:10)", "0x49017B9: ??? (in /lib/libc.so.6)" or
  // "in 3 places, all below massif's threshold (1.00%)".
  std::uint32_t location_of(std::string_view text) {
    TextCursor cursor(text);
    if (!cursor.skip("0x") || !cursor.number(16) || !cursor.skip(": ")) {
      return builder_.named({kBelowThresholdFrame, {}, 0});
    }
    std::string_view function = cursor.rest();
    std::string_view place;
    const std::size_t bracket = function.rfind(" (");
    if (function.ends_with(')') && bracket != std::string_view::npos) {
      place = function.substr(bracket + 2, function.size() - bracket - 3);
      function = function.substr(0, bracket);
    }
    const bool in_module = place.starts_with("in ");
    if (in_module) place.remove_prefix(3);
    if (function == "???") return builder_.unnamed_in(in_module ? place : "");
    FrameName name{std::string(function), {}, 0};
    const std::size_t colon = place.rfind(':');
    if (!in_module && colon != std::string_view::npos) {
      name.file = place.substr(0, colon);
      name.line =
          static_cast<int>(TextCursor(place.substr(colon + 1)).number().value_or(0) % kMostLines);
    }
    return builder_.named(std::move(name));
  }

  Profile finish() {
    if (!peak_) {
      for (std::size_t i = 0; i < profile_.moments.size(); ++i) {
        const ProfileMoment& moment = profile_.moments[i];
        const bool larger = !peak_ || moment.bytes > profile_.moments[*peak_].bytes;
        if (!moment.sites.empty() && larger) peak_ = i;
      }
      if (peak_) {
        profile_.info["peak_unmarked"] = "its largest snapshot with stacks";
        profile_.notes.emplace_back(
            "massif marked no peak: the largest snapshot with stacks stands for it (else the file "
            "may be cut off before the peak)");
      } else {
        profile_.notes.emplace_back(
            "no snapshot has stacks: the run was short, or the file may be cut off");
      }
    }
    if (peak_) {
      profile_.peak.sites = profile_.moments[*peak_].sites;
      for (const auto& entry : profile_.peak.sites) profile_.peak.total += entry.second;
    }
    for (const auto& [site, amount] : profile_.moments.back().sites) {
      profile_.sites[site].live = amount;
    }
    profile_.counted = false;
    profile_.info["mode"] = "exact";
    profile_.info["amounts"] =
        profile_.info["massif_options"].find("--pages-as-heap=yes") != std::string::npos
            ? kBytesOfPages
            : "requested bytes";
    return std::move(profile_);
  }

  static constexpr std::uint64_t kMostLines = 1U << 30;

  PlainSource& source_;
  Profile profile_;
  StackBuilder builder_{profile_};
  std::optional<std::size_t> peak_;  ///< of the moments
};

}  // namespace

bool is_massif(std::string_view head) {
  return head.starts_with(kMassifStart) && head.find("\ncmd:") != std::string_view::npos;
}

Profile read_massif(PlainSource& source, const SymbolOptions& /*symbols*/) {
  return MassifReader(source).read();
}

}  // namespace memduel
