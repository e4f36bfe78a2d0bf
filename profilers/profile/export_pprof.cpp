#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "profilers/profile/export_profile.h"
#include "profilers/profile/trace_file.h"

namespace memduel {

namespace {

// A message of https://github.com/google/pprof/blob/main/proto/profile.proto, field by field.
class Message {
 public:
  void number(unsigned field, std::uint64_t value) {
    if (value == 0) return;
    put_number(bytes_, field << 3);
    put_number(bytes_, value);
  }
  void signed_number(unsigned field, std::int64_t value) {
    number(field, static_cast<std::uint64_t>(value));
  }
  void bytes(unsigned field, std::string_view value) {
    put_number(bytes_, (field << 3) | 2);
    put_text(bytes_, value);
  }
  void message(unsigned field, const Message& inner) { bytes(field, inner.bytes_); }
  template <class Numbers>
  void packed(unsigned field, const Numbers& numbers) {
    std::string inner;
    for (const auto value : numbers) put_number(inner, static_cast<std::uint64_t>(value));
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
    constexpr unsigned kStringTable = 6;
    for (const std::string& text : texts_) profile.bytes(kStringTable, text);
  }

 private:
  std::vector<std::string> texts_{""};
  std::unordered_map<std::string, std::uint64_t> numbers_{{"", 0}};
};

class PprofWriter {
 public:
  explicit PprofWriter(const Profile& profile) : profile_(profile) {}

  std::string write() {
    for (const char* type : {"alloc", "inuse", "peak", "temporary"}) {
      value_type(1, std::string(type) + "_objects", "count");
      value_type(1, std::string(type) + "_space", "bytes");
    }
    write_samples();
    write_mappings();
    write_locations();
    for (const auto& [key, value] : profile_.info) {
      out_.number(13, strings_.number_of(key + ": " + value));
    }
    for (const std::string& note : profile_.notes) out_.number(13, strings_.number_of(note));
    out_.number(14, strings_.number_of("peak_space"));
    strings_.write(out_);
    return out_.text();
  }

 private:
  void value_type(unsigned field, const std::string& type, const std::string& unit) {
    Message message;
    message.number(1, strings_.number_of(type));
    message.number(2, strings_.number_of(unit));
    out_.message(field, message);
  }

  void label(Message& sample, const std::string& key, const std::string& value) {
    Message message;
    message.number(1, strings_.number_of(key));
    message.number(2, strings_.number_of(value));
    sample.message(3, message);
  }

  void write_samples() {
    std::unordered_map<std::uint32_t, Estimate> at_peak;
    for (const auto& [site, amount] : profile_.peak.sites) at_peak[site] = amount;
    for (const auto& [site, amount] : profile_.mapping_peak.sites) at_peak[site] = amount;
    for (std::uint32_t i = 0; i < profile_.sites.size(); ++i) {
      const AllocationSite& site = profile_.sites[i];
      Message sample;
      std::vector<std::uint64_t> locations;
      for (std::uint32_t node = site.stack; node != 0; node = profile_.stacks[node].parent) {
        locations.push_back(profile_.stacks[node].location + 1U);
      }
      sample.packed(1, locations);
      std::vector<std::int64_t> values;
      const Estimate& peak = at_peak[i];
      for (const Estimate* amount : {&site.allocated, &site.live, &peak, &site.temporary}) {
        values.push_back(std::llround(amount->count));
        values.push_back(std::llround(amount->bytes));
      }
      sample.packed(2, values);
      if (site.round != 0) label(sample, "round", fmt::format("{}", site.round));
      if (site.phase != 0) label(sample, "phase", profile_.phases[site.phase]);
      label(sample, "heap", site.heap == Heap::malloc ? "malloc" : "mapping");
      out_.message(2, sample);
    }
  }

  void write_mappings() {
    for (std::size_t i = 0; i < profile_.modules.size(); ++i) {
      const ProfileModule& module = profile_.modules[i];
      Message message;
      message.number(1, i + 1);
      message.number(2, module.begin);
      message.number(3, module.end);
      message.number(5, strings_.number_of(module.path));
      message.number(6, strings_.number_of(module.build_id));
      for (const unsigned has_names : {7U, 8U, 9U, 10U}) message.number(has_names, 1);
      out_.message(3, message);
    }
  }

  std::uint64_t function_of(const FrameName& name) {
    const auto key = name.function + "\n" + name.file;
    const auto [entry, made] = functions_.emplace(key, functions_.size() + 1);
    if (made) {
      Message message;
      message.number(1, entry->second);
      message.number(2, strings_.number_of(name.function));
      message.number(3, strings_.number_of(name.function));
      message.number(4, strings_.number_of(name.file));
      out_.message(5, message);
    }
    return entry->second;
  }

  void write_locations() {
    for (std::size_t i = 0; i < profile_.locations.size(); ++i) {
      const ProfileLocation& location = profile_.locations[i];
      Message message;
      message.number(1, i + 1);
      if (location.module) {
        message.number(2, *location.module + 1);
        message.number(3, location.address + profile_.modules[*location.module].bias);
      }
      std::vector<FrameName> names = location.names;
      if (names.empty()) names.push_back({describe(profile_, location), {}, 0});
      for (const FrameName& name : names) {
        Message line;
        line.number(1, function_of(name));
        line.signed_number(2, name.line);
        message.message(4, line);
      }
      out_.message(4, message);
    }
  }

  const Profile& profile_;
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

}  // namespace memduel
