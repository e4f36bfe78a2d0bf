#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "address_space.h"
#include "formats.h"
#include "memory/text_cursor.h"
#include "pprof_columns.h"
#include "profile/outputs.h"
#include "readers/plain_source.h"
#include "stack_builder.h"
#include "util/bytes.h"
#include "wire_message.h"

namespace memduel {

namespace {

constexpr std::uint64_t kLongestPeriod = std::uint64_t{1} << 40;
constexpr std::int64_t kLargestPprofValue = std::int64_t{1} << 50;
constexpr std::string_view kMappedBefore = "mapping";  ///< the heap in files of schema 1

/// What samples refer to: strings, functions, mapped files, and the locations that they make.
class PprofTables {
 public:
  PprofTables(const WireMessage& whole, AddressSpace& space, StackBuilder& builder)
      : whole_(whole), space_(space), builder_(builder) {}

  void add_string(std::string_view text) { strings_.push_back(text); }

  std::string_view string(std::uint64_t number, const WireMessage& where) const {
    if (number == 0) return {};
    if (number >= strings_.size()) where.fail("refers to a string that is not there");
    return strings_[number];
  }

  void read_mapping(const WireField& field) {
    WireMessage message = whole_.inside(field);
    std::uint64_t id = 0;
    MappedFile mapped;
    while (const auto inner = message.next()) {
      switch (inner->number) {
        case PprofMapping::id:
          id = inner->value;
          break;
        case PprofMapping::memory_start:
          mapped.begin = inner->value;
          break;
        case PprofMapping::memory_limit:
          mapped.end = inner->value;
          break;
        case PprofMapping::file_offset:
          mapped.offset = inner->value;
          break;
        case PprofMapping::filename:
          mapped.path = string(inner->value, message);
          break;
        case PprofMapping::build_id:
          mapped.build_id = string(inner->value, message);
          break;
        default:
          break;
      }
    }
    modules_[id] = mapped.path;
    if (mapped.begin < mapped.end) space_.add_mapped(mapped);
  }

  void read_function(const WireField& field) {
    WireMessage message = whole_.inside(field);
    std::uint64_t id = 0;
    Function function;
    std::string_view system_name;
    while (const auto inner = message.next()) {
      if (inner->number == PprofFunction::id) id = inner->value;
      if (inner->number == PprofFunction::name) function.name = string(inner->value, message);
      if (inner->number == PprofFunction::system_name) system_name = string(inner->value, message);
      if (inner->number == PprofFunction::filename) function.file = string(inner->value, message);
    }
    if (function.name.empty()) function.name = system_name;
    functions_by_id_[id] = function;
  }

  void read_location(const WireField& field) {
    WireMessage message = whole_.inside(field);
    std::uint64_t id = 0;
    std::uint64_t mapping = 0;
    std::uint64_t address = 0;
    std::vector<FrameName> names;
    while (const auto inner = message.next()) {
      if (inner->number == PprofLocation::id) id = inner->value;
      if (inner->number == PprofLocation::mapping_id) mapping = inner->value;
      if (inner->number == PprofLocation::address) address = inner->value;
      if (inner->number == PprofLocation::line && !inner->is_number) {
        names.push_back(read_line(message.inside(*inner)));
      }
    }
    std::erase_if(names, [](const FrameName& name) { return name.function.empty(); });
    if (!names.empty()) {
      ProfileLocation location;
      location.address = address;
      location.names = std::move(names);
      location.kind = kind_of_file(location.names[0].file);
      locations_by_id_[id] = builder_.add_location(std::move(location));
    } else if (address != 0) {
      locations_by_id_[id] = space_.location_at(address);
    } else {
      locations_by_id_[id] = builder_.unnamed_in(modules_[mapping]);
    }
  }

  /// Throws where the profile has none of that number.
  [[nodiscard]] std::uint32_t location(std::uint64_t id, const WireMessage& where) const {
    const auto found = locations_by_id_.find(id);
    if (found == locations_by_id_.end()) where.fail("refers to a location that is not there");
    return found->second;
  }

 private:
  struct Function {
    std::string_view name;
    std::string_view file;
  };

  FrameName read_line(WireMessage message) const {
    FrameName name;
    while (const auto field = message.next()) {
      if (field->number == PprofLine::function_id) {
        const auto function = functions_by_id_.find(field->value);
        if (function == functions_by_id_.end())
          message.fail("refers to a function that is not there");
        name.function = function->second.name;
        name.file = function->second.file;
      } else if (field->number == PprofLine::line) {
        constexpr std::uint64_t kMostLines = 1U << 30;
        name.line = field->value < kMostLines ? static_cast<int>(field->value) : 0;
      }
    }
    return name;
  }

  const WireMessage& whole_;
  AddressSpace& space_;
  StackBuilder& builder_;
  std::vector<std::string_view> strings_;
  std::unordered_map<std::uint64_t, std::string_view> modules_;
  std::unordered_map<std::uint64_t, Function> functions_by_id_;
  std::unordered_map<std::uint64_t, std::uint32_t> locations_by_id_;
};

class PprofReader {
 public:
  PprofReader(PlainSource& source, const SymbolOptions& symbols)
      : source_(source),
        document_(source.rest()),
        whole_(source, document_, document_),
        space_(profile_, builder_, symbols) {}

  Profile read() {
    collect();
    read_types();
    for (const WireField& field : mappings_) tables_.read_mapping(field);
    for (const WireField& field : functions_) tables_.read_function(field);
    for (const WireField& field : locations_) tables_.read_location(field);
    choose_columns();
    for (const WireField& field : samples_) read_sample(field);
    space_.finish();
    read_comments();
    profile_.info.emplace("mode", period_ > 1 ? "sampled" : "exact");
    if (period_ > 1 && profile_.counted) estimate_variances();
    for (const auto& [site, amount] : peaks_) {
      ProfilePeak& peak =
          profile_.sites[site].heap == Heap::malloc ? profile_.peak : profile_.mapping_peak;
      for (ProfilePeak* of : {&peak, &profile_.together_peak}) {
        of->sites.emplace_back(site, amount);
        of->total += amount;
      }
    }
    if (profile_.mapping_peak.sites.empty()) profile_.together_peak = {};
    return std::move(profile_);
  }

 private:
  // Strings, to which all others refer, may come last.
  void collect() {
    std::map<unsigned, std::vector<WireField>*> kept{
        {PprofProfile::sample_type, &types_},  {PprofProfile::sample, &samples_},
        {PprofProfile::mapping, &mappings_},   {PprofProfile::location, &locations_},
        {PprofProfile::function, &functions_},
    };
    while (const auto field = whole_.next()) {
      const auto list = kept.find(field->number);
      if (list != kept.end()) {
        if (field->is_number) whole_.fail("a number where a message should be");
        list->second->push_back(*field);
      } else if (field->number == PprofProfile::string_table) {
        tables_.add_string(field->bytes);
      } else if (field->number == PprofProfile::comment) {
        whole_.numbers(*field, comments_);
      } else if (field->number == PprofProfile::default_sample_type) {
        default_type_ = field->value;
      } else if (field->number == PprofProfile::period) {
        period_ = static_cast<double>(std::min(field->value, kLongestPeriod));
      }
    }
    if (types_.empty()) source_.fail("a profile without types of values");
  }

  void read_types() {
    for (const WireField& field : types_) {
      WireMessage message = whole_.inside(field);
      PprofType type;
      while (const auto inner = message.next()) {
        if (inner->number == PprofValueType::type)
          type.type = tables_.string(inner->value, message);
        if (inner->number == PprofValueType::unit)
          type.unit = tables_.string(inner->value, message);
      }
      value_types_.push_back(type);
    }
  }

  void choose_columns() {
    const std::string_view preferred = tables_.string(default_type_, whole_);
    const PprofColumns chosen = choose_pprof_columns(value_types_, preferred);
    columns_ = chosen.columns;
    profile_.unit = chosen.unit;
    profile_.counted = chosen.counted;
    if (!chosen.amounts.empty()) profile_.info["amounts"] = chosen.amounts;
  }

  void read_sample(const WireField& field) {
    WireMessage message = whole_.inside(field);
    std::vector<std::uint64_t> locations;
    std::vector<std::uint64_t> values;
    AllocationSite site;
    while (const auto inner = message.next()) {
      if (inner->number == PprofSample::location_id) message.numbers(*inner, locations);
      if (inner->number == PprofSample::value) message.numbers(*inner, values);
      if (inner->number == PprofSample::label && !inner->is_number) {
        read_label(message.inside(*inner), site);
      }
    }
    if (values.size() != value_types_.size())
      message.fail("a sample has more or fewer values than types");
    for (auto id = locations.rbegin(); id != locations.rend(); ++id) {
      site.stack = builder_.stack(site.stack, tables_.location(*id, message));
    }
    const std::uint32_t number = site_number(site);
    for (const PprofColumn& column : columns_) add(number, column, values[column.value], message);
  }

  void read_label(WireMessage message, AllocationSite& site) {
    std::string_view key;
    std::string_view text;
    while (const auto field = message.next()) {
      if (field->number == PprofLabel::key) key = tables_.string(field->value, message);
      if (field->number == PprofLabel::str) text = tables_.string(field->value, message);
    }
    if (key == "heap" && (text == to_name(Heap::mapped) || text == kMappedBefore))
      site.heap = Heap::mapped;
    if (key == "phase" && !text.empty()) site.phase = phase_number(text);
    if (key == "round") {
      constexpr std::uint64_t kMostRounds = 1U << 30;
      const auto round = TextCursor(text).number();
      if (round && *round < kMostRounds) site.round = static_cast<int>(*round);
    }
  }

  std::uint32_t phase_number(std::string_view name) {
    const auto [entry, made] =
        phases_.emplace(name, static_cast<std::uint32_t>(profile_.phases.size()));
    if (made) profile_.phases.emplace_back(name);
    return entry->second;
  }

  std::uint32_t site_number(const AllocationSite& site) {
    const auto [entry, made] =
        sites_.emplace(std::tuple(site.stack, site.round, site.phase, site.heap),
                       static_cast<std::uint32_t>(profile_.sites.size()));
    if (made) profile_.sites.push_back(site);
    return entry->second;
  }

  void add(std::uint32_t number, const PprofColumn& column, std::uint64_t bits,
           const WireMessage& where) {
    const auto value = static_cast<std::int64_t>(bits);
    if (value < 0) where.fail("a negative amount: a difference of profiles; give both instead");
    if (value > kLargestPprofValue) where.fail("an impossible amount");
    if (value == 0) return;
    Estimate& amount = amount_of(number, column.kind);
    amount.*column.amount += static_cast<double>(value) * column.each;
    if (column.amount == &Estimate::count) {
      amount.samples += value;
    } else if (amount.samples == 0) {
      amount.samples = 1;
    }
  }

  Estimate& amount_of(std::uint32_t number, ProfileKind kind) {
    AllocationSite& site = profile_.sites[number];
    switch (kind) {
      case ProfileKind::live:
        return site.live;
      case ProfileKind::temporary:
        return site.temporary;
      case ProfileKind::peak:
        return peaks_[number];
      case ProfileKind::allocated:
      case ProfileKind::resident:  // no column is of it
        break;
    }
    return site.allocated;
  }

  void estimate_variances() {
    for (AllocationSite& site : profile_.sites) {
      for (Estimate* amount : {&site.allocated, &site.live, &site.temporary}) {
        estimate_pprof_variance(*amount, profile_.unit, period_);
      }
    }
    for (auto& entry : peaks_) estimate_pprof_variance(entry.second, profile_.unit, period_);
  }

  // "key: value" is what memduel export makes of Profile::info.
  void read_comments() {
    for (const std::uint64_t number : comments_) {
      const std::string_view text = tables_.string(number, whole_);
      const std::size_t colon = text.find(": ");
      const bool is_fact = colon != std::string_view::npos &&
                           text.substr(0, colon).find_first_not_of("abcdefghijklmnopqrstuvwxyz_") ==
                               std::string::npos;
      if (is_fact) {
        profile_.info.emplace(text.substr(0, colon), text.substr(colon + 2));
      } else if (!text.empty()) {
        profile_.notes.emplace_back(text);
      }
    }
  }

  PlainSource& source_;
  std::string document_;
  WireMessage whole_;
  Profile profile_;
  StackBuilder builder_{profile_};
  AddressSpace space_;
  PprofTables tables_{whole_, space_, builder_};
  std::vector<WireField> types_, samples_, mappings_, locations_, functions_;
  std::vector<std::uint64_t> comments_;
  std::uint64_t default_type_ = 0;
  double period_ = 0;  ///< bytes or nanoseconds from one sample to the next; 0 or 1: all were taken
  std::vector<PprofType> value_types_;
  std::vector<PprofColumn> columns_;
  std::map<std::string, std::uint32_t, std::less<>> phases_;
  std::map<std::tuple<std::uint32_t, int, std::uint32_t, Heap>, std::uint32_t> sites_;
  std::map<std::uint32_t, Estimate> peaks_;
};

constexpr std::uint64_t kLastPprofField = 15;

/// Taken off the front of `bytes`; absent where there is none.
std::optional<std::uint64_t> short_varint(std::string_view& bytes) {
  bool ended = false;
  const auto value = read_varint([&] {
    ended = bytes.empty();
    if (ended) return static_cast<unsigned char>(0);
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    return byte;
  });
  return ended ? std::nullopt : value;
}

bool is_value_type(std::string_view message) {
  for (const std::uint64_t field : {PprofValueType::type, PprofValueType::unit}) {
    if (short_varint(message) != field << 3 || !short_varint(message)) return false;
  }
  return message.empty();
}

}  // namespace

// A message has no magic. Its fields come in any order (Go's first one is the type of its period or
// its time), but what stands before the first type of values, {type, unit}, must be fields that a
// profile has.
bool is_pprof(std::string_view head) {
  while (!head.empty()) {
    const auto tag = short_varint(head);
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > kLastPprofField) return false;
    const bool is_bytes = (*tag & 7) == 2;
    if (!is_bytes && (*tag & 7) != 0) return false;
    const auto value = short_varint(head);
    if (!value) return false;
    if (!is_bytes) continue;
    if (*value > head.size()) return false;
    if (*tag >> 3 == PprofProfile::sample_type) return is_value_type(head.substr(0, *value));
    head.remove_prefix(*value);
  }
  return false;
}

Profile read_pprof(PlainSource& source, const SymbolOptions& symbols) {
  return PprofReader(source, symbols).read();
}

}  // namespace memduel
