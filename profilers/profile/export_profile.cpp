#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <vector>

#include "profile/outputs.h"
#include "profile/recorded_files.h"
#include "util/bytes.h"
#include "util/error.h"

namespace memduel {

namespace {

// A protobuf message, field by field.
class Message {
 public:
  void number(unsigned field, std::uint64_t value) {
    if (value == 0) return;
    put_varint(bytes_, field << 3);
    put_varint(bytes_, value);
  }
  void signed_number(unsigned field, std::int64_t value) {
    number(field, static_cast<std::uint64_t>(value));
  }
  void bytes(unsigned field, std::string_view value) {
    put_varint(bytes_, (field << 3) | 2);
    put_text(bytes_, value);
  }
  void message(unsigned field, const Message& inner) { bytes(field, inner.bytes_); }
  template <class Numbers>
  void packed(unsigned field, const Numbers& numbers) {
    std::string inner;
    for (const auto value : numbers) put_varint(inner, static_cast<std::uint64_t>(value));
    bytes(field, inner);
  }
  [[nodiscard]] const std::string& text() const { return bytes_; }

 private:
  std::string bytes_;
};

class Strings {
 public:
  std::uint64_t number_of(const std::string& text) {
    const auto [entry, made] = numbers_.emplace(text, texts_.size());
    if (made) texts_.push_back(text);
    return entry->second;
  }
  void write(Message& profile) const {
    for (const std::string& text : texts_) profile.bytes(PprofProfile::string_table, text);
  }

 private:
  std::vector<std::string> texts_{""};
  std::unordered_map<std::string, std::uint64_t> numbers_{{"", 0}};
};

/// The modules of a profile as mappings: the program first, because profile.proto says that
/// mapping[0] "will be the main binary", then the others in the order in which they were met. That
/// order begins with the dynamic loader if a library allocates before main.
class Mappings {
 public:
  explicit Mappings(const Profile& profile) {
    for (std::size_t i = 0; i < profile.modules.size(); ++i) order_.push_back(i);
    if (const std::string program = profile.fact("program"); !program.empty())
      put_first(profile, program);
    ids_.resize(order_.size());
    const std::uint64_t first = program_without_frames_.empty() ? 1 : 2;
    for (std::size_t i = 0; i < order_.size(); ++i) ids_[order_[i]] = first + i;
  }

  /// Indices of Profile::modules.
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }
  /// No frame lies in it, so that it is no module; empty otherwise.
  [[nodiscard]] const std::string& program_without_frames() const {
    return program_without_frames_;
  }
  [[nodiscard]] std::uint64_t id_of(std::size_t module) const { return ids_[module]; }

 private:
  void put_first(const Profile& profile, const std::string& program) {
    const auto main = std::ranges::find(profile.modules, program, &ProfileModule::path);
    if (main == profile.modules.end()) {
      program_without_frames_ = program;
      return;
    }
    const auto place = order_.begin() + (main - profile.modules.begin());
    std::rotate(order_.begin(), place, place + 1);
  }

  std::vector<std::size_t> order_;
  std::vector<std::uint64_t> ids_;  ///< by module
  std::string program_without_frames_;
};

/// pprof takes a name that is its own system name for a mangled one, and removes what is in angle
/// brackets and parentheses: nothing is left of Python's <module>, and no namespace of ::f.
bool survives_demangling(std::string_view function) {
  if (function.starts_with('<')) return false;
  int depth = 0;  // an argument of a template may go
  for (std::size_t i = 0; i < function.size(); ++i) {
    if (function[i] == '<') ++depth;
    if (function[i] == '>') --depth;
    if (depth == 0 && function.substr(i).starts_with("(anonymous")) return false;
  }
  return true;
}

class PprofWriter {
 public:
  explicit PprofWriter(const Profile& profile) : profile_(profile), mappings_(profile) {}

  std::string write() {
    if (profile_.unit != ProfileUnit::bytes) {
      value_type("samples", "count");
      if (profile_.unit == ProfileUnit::nanoseconds) value_type("cpu", "nanoseconds");
    } else {
      write_heap_types();
    }
    write_samples();
    write_mappings();
    write_locations();
    write_comments();
    strings_.write(out_);
    return out_.text();
  }

 private:
  void write_heap_types() {
    std::vector<std::string> types{kPprofAllocated, kPprofLive, kPprofPeak, kPprofTemporary};
    if (profile_.resident) types.emplace_back(kPprofResident);
    for (const std::string& type : types) {
      value_type(type + "_objects", "count");
      value_type(type + "_space", "bytes");
    }
    out_.number(PprofProfile::default_sample_type, strings_.number_of("peak_space"));
  }

  void write_comments() {
    for (const auto& [key, value] : profile_.info) {
      out_.number(PprofProfile::comment, strings_.number_of(key + ": " + value));
    }
    for (const std::string& note : profile_.notes) {
      out_.number(PprofProfile::comment, strings_.number_of(note));
    }
  }

  void value_type(const std::string& type, const std::string& unit) {
    Message message;
    message.number(PprofValueType::type, strings_.number_of(type));
    message.number(PprofValueType::unit, strings_.number_of(unit));
    out_.message(PprofProfile::sample_type, message);
  }

  void label(Message& sample, const std::string& key, const std::string& value) {
    Message message;
    message.number(PprofLabel::key, strings_.number_of(key));
    message.number(PprofLabel::str, strings_.number_of(value));
    sample.message(PprofSample::label, message);
  }

  // In the order of their types: counts, then amounts, of which a count has none of its own.
  void write_values(Message& sample, const std::vector<const Estimate*>& amounts) {
    std::vector<std::int64_t> values;
    for (const Estimate* amount : amounts) {
      if (profile_.unit != ProfileUnit::samples) values.push_back(std::llround(amount->count));
      values.push_back(std::llround(amount->bytes));
    }
    sample.packed(PprofSample::value, values);
  }

  void write_samples() {
    std::unordered_map<std::uint32_t, Estimate> at_peak;
    for (const ProfilePeak* peak : peaks()) at_peak.insert(peak->sites.begin(), peak->sites.end());
    std::unordered_map<std::uint32_t, Estimate> resident;
    if (profile_.resident)
      resident.insert(profile_.resident->sites.begin(), profile_.resident->sites.end());
    for (std::uint32_t i = 0; i < profile_.sites.size(); ++i) {
      const AllocationSite& site = profile_.sites[i];
      Message sample;
      std::vector<std::uint64_t> locations;
      for (std::uint32_t node = site.stack; node != 0; node = profile_.stacks[node].parent) {
        locations.push_back(profile_.stacks[node].location + 1U);
      }
      sample.packed(PprofSample::location_id, locations);
      std::vector<const Estimate*> amounts{&site.allocated};
      if (profile_.unit == ProfileUnit::bytes)
        amounts.insert(amounts.end(), {&site.live, &at_peak[i], &site.temporary});
      if (profile_.resident) amounts.push_back(&resident[i]);
      write_values(sample, amounts);
      if (site.round != 0) label(sample, "round", fmt::format("{}", site.round));
      if (site.thread != 0) label(sample, "thread", fmt::format("{}", site.thread));
      if (site.phase != 0) label(sample, "phase", profile_.phases[site.phase]);
      if (profile_.unit == ProfileUnit::bytes)
        label(sample, "heap", std::string(to_name(site.heap)));
      out_.message(PprofProfile::sample, sample);
    }
  }

  /// One moment for all samples, where the profile knows it.
  [[nodiscard]] std::vector<const ProfilePeak*> peaks() const {
    if (!profile_.together_peak.sites.empty()) return {&profile_.together_peak};
    return {&profile_.peak, &profile_.mapping_peak};
  }

  void write_mappings() {
    if (const std::string& program = mappings_.program_without_frames(); !program.empty())
      write_mapping(1, {program, {}, 0, 0, 0});
    for (const std::size_t module : mappings_.order())
      write_mapping(mappings_.id_of(module), profile_.modules[module]);
  }

  void write_mapping(std::uint64_t id, const ProfileModule& module) {
    Message message;
    message.number(PprofMapping::id, id);
    message.number(PprofMapping::memory_start, module.begin);
    message.number(PprofMapping::memory_limit, module.end);
    message.number(PprofMapping::filename, strings_.number_of(module.path));
    message.number(PprofMapping::build_id, strings_.number_of(module.build_id));
    for (const unsigned has_names :
         {PprofMapping::has_functions, PprofMapping::has_filenames, PprofMapping::has_line_numbers,
          PprofMapping::has_inline_frames}) {
      message.number(has_names, 1);
    }
    out_.message(PprofProfile::mapping, message);
  }

  std::uint64_t function_of(const FrameName& name) {
    const auto key = name.function + "\n" + name.file;
    const auto [entry, made] = functions_.emplace(key, functions_.size() + 1);
    if (made) {
      Message message;
      message.number(PprofFunction::id, entry->second);
      message.number(PprofFunction::name, strings_.number_of(name.function));
      if (survives_demangling(name.function))
        message.number(PprofFunction::system_name, strings_.number_of(name.function));
      message.number(PprofFunction::filename, strings_.number_of(name.file));
      out_.message(PprofProfile::function, message);
    }
    return entry->second;
  }

  void write_locations() {
    for (std::size_t i = 0; i < profile_.locations.size(); ++i) {
      const ProfileLocation& location = profile_.locations[i];
      Message message;
      message.number(PprofLocation::id, i + 1);
      if (location.module) {
        message.number(PprofLocation::mapping_id, mappings_.id_of(*location.module));
        message.number(PprofLocation::address,
                       location.address + profile_.modules[*location.module].bias);
      }
      std::vector<FrameName> names = location.names;
      if (names.empty()) names.push_back({describe(profile_, location), {}, 0});
      for (const FrameName& name : names) {
        Message line;
        line.number(PprofLine::function_id, function_of(name));
        line.signed_number(PprofLine::line, name.line);
        message.message(PprofLocation::line, line);
      }
      out_.message(PprofProfile::location, message);
    }
  }

  const Profile& profile_;
  Mappings mappings_;
  Message out_;
  Strings strings_;
  std::map<std::string, std::uint64_t> functions_;
};

std::string gzip(const std::string& bytes) {
  constexpr int kGzipHeader = 16;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzipHeader, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw Error(ExitCode::io, "zlib cannot start");
  }
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw Error(ExitCode::io, "zlib cannot pack the profile");
  return packed;
}

}  // namespace

std::string export_pprof(const Profile& profile) {
  return gzip(PprofWriter(profile).write());
}

namespace {

std::int64_t rounded(double value) {
  return static_cast<std::int64_t>(std::llround(value));
}

/// What may have kept the amounts out of the profile.
std::string advice_for_none(const Profile& profile, const std::string& kind) {
  if (kind.starts_with(to_name(ProfileKind::resident)))
    return "record it with --snapshot-at rss=97%";
  if (!profile.notes.empty()) return {};
  if (profile.unit != ProfileUnit::bytes) {
    return "a program that ran for less than a sampling period has none: let it run longer or "
           "sample more often";
  }
  if (!profile.sampled()) return {};
  return "a sampled run of a small program may have none: record every allocation (memduel record "
         "--exact)";
}

[[noreturn]] void fail_without(const Profile& profile, const std::string& kind,
                               const std::string& file) {
  const char* const amounts = profile.unit == ProfileUnit::bytes ? "allocations" : "samples";
  std::string problem = fmt::format("the profile has no {}{}", kind, amounts);
  for (const std::string& note : profile.notes) problem += "; " + note;
  throw Error(ExitCode::io, problem, file, advice_for_none(profile, kind));
}

/// Of a program that maps all of its memory itself the peak has mappings alone.
LiveSites exported_sites(const Profile& profile, ProfileKind kind) {
  LiveSites sites = sites_of(profile, kind);
  if (sites.empty() && kind == ProfileKind::peak) return profile.together_peak.sites;
  return sites;
}

}  // namespace

ProfileKind choose_kind(const Profile& profile, std::optional<ProfileKind> wanted,
                        const std::string& file) {
  if (wanted) {
    if (!exported_sites(profile, *wanted).empty()) return *wanted;
    fail_without(profile, to_string(*wanted) + " ", file);
  }
  for (const ProfileKind kind : {ProfileKind::peak, ProfileKind::live, ProfileKind::allocated}) {
    if (!exported_sites(profile, kind).empty()) return kind;
  }
  fail_without(profile, "", file);
}

std::string export_folded(const Profile& profile, ProfileKind kind) {
  std::map<std::string, double> lines;  // different addresses of one function are one stack
  for (const auto& [stack, amount] : stacks_of(profile, exported_sites(profile, kind))) {
    std::string line;
    for (const FrameName& frame : frames_of(profile, stack)) {
      if (!line.empty()) line += ';';
      std::string name = frame.function;
      std::ranges::replace(name, ';', ':');
      std::ranges::replace(name, '\n', ' ');
      line += name;
    }
    lines[line.empty() ? "[no stack]" : line] += amount.bytes;
  }
  std::string text;
  for (const auto& [line, bytes] : lines) text += fmt::format("{} {}\n", line, rounded(bytes));
  return text;
}

}  // namespace memduel
