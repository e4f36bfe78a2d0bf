#include "address_space.h"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>

#include <algorithm>

#include "memory/proc_files.h"
#include "profile/elf_file.h"
#include "profile/function_names.h"
#include "readers/plain_source.h"
#include "util/bytes.h"

namespace memduel {

std::optional<ElfFile> read_elf_file(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
  const OpenElf opened = open_elf(file);
  std::size_t headers = 0;
  if (!opened.elf || elf_getphdrnum(opened.elf.get(), &headers) != 0) return std::nullopt;
  ElfFile found;
  for (std::size_t i = 0; i < headers; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(opened.elf.get(), static_cast<int>(i), &header) == nullptr) break;
    if (header.p_type == PT_LOAD) {
      found.segments.push_back({header.p_offset, header.p_vaddr, header.p_memsz});
    }
  }
  const void* bits = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(opened.elf.get(), &bits);
  for (ssize_t i = 0; i < size; ++i) {
    found.build_id += fmt::format("{:02x}", static_cast<const unsigned char*>(bits)[i]);
  }
  return found;
}

namespace {

// Where the file would have been loaded if `offset` of it is at `begin`; absent when no part of it
// is mapped like that.
std::optional<std::uint64_t> bias_of(const ElfFile& elf, std::uint64_t begin,
                                     std::uint64_t offset) {
  for (const ElfSegment& segment : elf.segments) {
    const std::uint64_t first_page = segment.offset & ~(kPageBytes - 1);
    const std::uint64_t last_byte = segment.offset + std::max<std::uint64_t>(segment.bytes, 1) - 1;
    if (first_page <= offset && offset <= last_byte) {
      return begin - (segment.address + (offset - segment.offset));
    }
  }
  return std::nullopt;
}

}  // namespace

void AddressSpace::clear() {
  ranges_.clear();
  sorted_ = true;
  by_address_.clear();
}

const std::optional<ElfFile>& AddressSpace::elf_of(const std::string& path) {
  const auto [entry, made] = elf_files_.emplace(path, std::nullopt);
  if (made && path.starts_with('/')) entry->second = read_elf_file(path);
  return entry->second;
}

std::size_t AddressSpace::module_number(const std::string& path, std::uint64_t bias) {
  const auto [entry, made] = modules_.emplace(std::pair(path, bias), profile_.modules.size());
  if (made) {
    ProfileModule module;
    module.path = path;
    module.bias = bias;
    module.begin = ~std::uint64_t{0};
    profile_.modules.push_back(std::move(module));
  }
  return entry->second;
}

void AddressSpace::note_replaced(std::size_t module) {
  if (!replaced_.insert(module).second) return;
  profile_.notes.push_back(
      fmt::format("{} was replaced since: it is laid out differently; its frames have no names",
                  profile_.modules[module].path));
}

void AddressSpace::add_loaded(const std::string& path, std::uint64_t bias,
                              const std::vector<ElfSegment>& segments) {
  const std::size_t number = module_number(path, bias);
  ProfileModule& module = profile_.modules[number];
  for (const ElfSegment& segment : segments) {
    const std::uint64_t begin = bias + segment.address;
    if (segment.bytes == 0 || begin + segment.bytes < begin) continue;
    ranges_.push_back({begin, begin + segment.bytes, number});
    module.begin = std::min(module.begin, begin);
    module.end = std::max(module.end, begin + segment.bytes);
  }
  sorted_ = false;
  by_address_.clear();
  const std::optional<ElfFile>& elf = elf_of(path);
  if (!elf) return;
  module.build_id = elf->build_id;
  const bool same = std::equal(
      segments.begin(), segments.end(), elf->segments.begin(), elf->segments.end(),
      [](const auto& a, const auto& b) { return a.address == b.address && a.bytes == b.bytes; });
  if (!same) note_replaced(number);
}

bool AddressSpace::add_maps_line(std::string_view line) {
  const auto range = parse_maps_line(line);
  if (!range) return false;
  has_stack_ = has_stack_ || range->path.starts_with("[stack");
  if (range->executable && (range->path.starts_with('/') || range->path.starts_with('['))) {
    add_mapped({range->begin, range->end, range->offset, std::string(range->path), {}});
  }
  return true;
}

void AddressSpace::end_maps() {
  if (has_stack_) return;
  profile_.notes.emplace_back(
      "its list of mapped files ends before [stack]: the file may be cut off there; frames of "
      "files that are missing have no names");
}

void AddressSpace::add_mapped(const MappedFile& mapped) {
  const std::optional<ElfFile>& elf = elf_of(mapped.path);
  std::optional<std::uint64_t> bias = mapped.begin - mapped.offset;
  if (elf) bias = bias_of(*elf, mapped.begin, mapped.offset);
  const bool replaced = !bias.has_value();
  const std::size_t number = module_number(mapped.path, bias.value_or(mapped.begin));
  ProfileModule& module = profile_.modules[number];
  module.begin = std::min(module.begin, mapped.begin);
  module.end = std::max(module.end, mapped.end);
  module.build_id = mapped.build_id;
  if (elf && mapped.build_id.empty()) module.build_id = elf->build_id;
  if (replaced) note_replaced(number);
  ranges_.push_back({mapped.begin, mapped.end, number});
  sorted_ = false;
  by_address_.clear();
}

std::optional<std::size_t> AddressSpace::module_at(std::uint64_t address) {
  if (!sorted_) {
    std::ranges::stable_sort(ranges_, {}, &Range::begin);
    sorted_ = true;
  }
  auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (after == ranges_.begin()) return std::nullopt;
  const Range& range = *std::prev(after);
  if (address >= range.end) return std::nullopt;
  return range.module;
}

std::uint32_t AddressSpace::named_location(std::size_t module, std::uint64_t address) {
  const ProfileModule& file = profile_.modules[module];
  if (replaced_.contains(module) || !file.path.starts_with('/')) {
    return stacks_.unnamed_in(file.path);
  }
  const std::vector<FrameName>& names =
      names_.try_emplace(module, file, options_).first->second.at(address);
  if (names.empty()) return stacks_.unnamed_in(file.path);
  return stacks_.add_location({ProfileLocation::Kind::native, module, address, names});
}

std::uint32_t AddressSpace::location_at(std::uint64_t address) {
  if (address == NumberMap<std::uint32_t>::kNoKey) return stacks_.unnamed_in({});
  const auto [known, made] = by_address_.emplace(address, 0);
  if (!made) return *known;
  const std::optional<std::size_t> module = module_at(address);
  if (!module) return *known = stacks_.unnamed_in({});
  const std::uint64_t in_file = address - profile_.modules[*module].bias;
  const auto [entry, first] = locations_.emplace(std::pair(*module, in_file), 0);
  if (first) entry->second = named_location(*module, in_file);
  return *known = entry->second;
}

void AddressSpace::finish() {
  for (const auto& [module, names] : names_) names.finish(profile_.notes);
}

void read_maps(PlainSource& source, AddressSpace& space) {
  const std::string text = source.rest();
  read_maps(text, source, space);
}

void read_maps(std::string_view text, const PlainSource& source, AddressSpace& space) {
  const std::size_t begin = source.consumed() - text.size() - source.offset();
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) {
      source.fail("the file ends inside its list of mapped files", begin + at);
    }
    const std::string_view line = text.substr(at, end - at);
    if (!line.empty() && !space.add_maps_line(line)) {
      source.fail("expected a line of /proc/PID/maps", begin + at);
    }
    at = end + 1;
  }
  space.end_maps();
}

}  // namespace memduel
