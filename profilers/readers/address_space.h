// Which file each address of a process came from, what an ELF file says about itself, and the
// locations of frames.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/function_names.h"
#include "profile/profile.h"
#include "stack_builder.h"

namespace memduel {

/// A part of a file that is mapped into memory.
struct ElfSegment {
  std::uint64_t offset = 0;   ///< in the file
  std::uint64_t address = 0;  ///< that the file asks for
  std::uint64_t bytes = 0;    ///< in memory

  friend bool operator==(const ElfSegment&, const ElfSegment&) = default;
};

struct ElfFile {
  std::string build_id;  ///< hexadecimal; empty when the file has none
  std::vector<ElfSegment> segments;
};

/// Absent when there is no such file, or it is not ELF.
std::optional<ElfFile> read_elf_file(const std::filesystem::path& file);

class PlainSource;

/// A part of a file and where it is in memory.
struct MappedFile {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::string path;
  std::string build_id;  ///< empty: whatever the file has today
};

class AddressSpace {
 public:
  /// `profile` and `stacks` must outlive the space.
  AddressSpace(Profile& profile, StackBuilder& stacks, SymbolOptions options)
      : profile_(profile), stacks_(stacks), options_(std::move(options)) {}

  /// Forgets what is mapped; locations stay.
  void clear();

  /// A file loaded as a whole: `bias` is its address minus the address in the file, `segments` what
  /// is mapped of it (only address and bytes are known).
  void add_loaded(const std::string& path, std::uint64_t bias,
                  const std::vector<ElfSegment>& segments);

  /// Takes a file that is not laid out like that any more for another one.
  void add_mapped(const MappedFile& mapped);
  /// A line of /proc/PID/maps; false when it is none.
  bool add_maps_line(std::string_view line);
  /// After the last such line: notes that the list may be cut off where it lacks [stack], which
  /// every process has, behind all of its files.
  void end_maps();

  /// The location of an address of an instruction (of a call: not the one it returns to), with its
  /// names; unnamed where the file has none, is gone, or is not the mapped one any more.
  std::uint32_t location_at(std::uint64_t address);

  /// Notes which files could not be asked, and keeps the names that were learned. Call it once.
  void finish();

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::size_t module = 0;
  };

  std::size_t module_number(const std::string& path, std::uint64_t bias);
  std::optional<std::size_t> module_at(std::uint64_t address);
  const std::optional<ElfFile>& elf_of(const std::string& path);
  void note_replaced(std::size_t module);

  std::uint32_t named_location(std::size_t module, std::uint64_t address);

  Profile& profile_;
  StackBuilder& stacks_;
  SymbolOptions options_;
  std::vector<Range> ranges_;
  bool sorted_ = true;
  bool has_stack_ = false;  ///< of the maps
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> modules_;
  std::map<std::string, std::optional<ElfFile>> elf_files_;
  std::set<std::size_t> replaced_;
  std::map<std::size_t, ModuleNames> names_;  ///< by module
  NumberMap<std::uint32_t> by_address_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint32_t> locations_;
};

/// The lines of /proc/PID/maps that end a dump. Throws Error(io) where one is none.
void read_maps(PlainSource& source, AddressSpace& space);
/// The same of what ends PlainSource::rest().
void read_maps(std::string_view text, const PlainSource& source, AddressSpace& space);

}  // namespace memduel
