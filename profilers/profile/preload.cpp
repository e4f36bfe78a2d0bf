#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "profile/elf_file.h"
#include "profile/function_names.h"
#include "profile/recording.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/text.h"

namespace memduel {
namespace {

[[noreturn]] void refuse_rule(const std::string& word) {
  throw Error(ExitCode::usage,
              fmt::format("expected rss=P%, rss=BYTES, mark=ROUND, mark=ROUND/PHASE or signal, "
                          "found \"{}\"",
                          word),
              "--snapshot-at", "for example rss=97%, rss=900MiB or mark=3/aggregate");
}

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || stopped != end) return std::nullopt;
  return number;
}

std::string mark_rule(std::string_view place, const std::string& word) {
  const std::size_t slash = place.find('/');
  const auto round = whole_number(place.substr(0, slash));
  if (!round || *round < 0) refuse_rule(word);
  const std::string_view phase =
      slash == std::string_view::npos ? std::string_view() : place.substr(slash + 1);
  if (slash != std::string_view::npos && phase.empty()) refuse_rule(word);
  return fmt::format("{} {} {}", recorder::kSnapshotAtMark, *round, phase);
}

}  // namespace

SnapshotRule snapshot_at_peak(int percent, double from_bytes) {
  return {fmt::format("{} {} {:.0f}", recorder::kSnapshotAtPeak, percent,
                      std::floor(from_bytes * percent / 100)),
          percent};
}

SnapshotRule snapshot_rule_from(const std::string& word, double peak_bytes) {
  const std::string_view text = word;
  if (text == recorder::kSnapshotOnSignal) return {word};
  if (text.starts_with("mark=")) return {mark_rule(text.substr(5), word)};
  if (!text.starts_with("rss=")) refuse_rule(word);
  const std::string_view amount = text.substr(4);
  if (amount.ends_with('%')) {
    const auto percent = whole_number(amount.substr(0, amount.size() - 1));
    if (!percent || *percent < 1 || *percent > 100) refuse_rule(word);
    return snapshot_at_peak(*percent, peak_bytes);
  }
  const auto bytes = parse_bytes(amount);
  if (!bytes || *bytes < 1) refuse_rule(word);
  return {fmt::format("{} {:.0f}", recorder::kSnapshotAtSize, *bytes)};
}

namespace {

// What the program itself exports wins over every preloaded library. A sanitizer's runtime is
// called by name, whether it is a library or part of the program.
struct DynamicSymbols {
  bool own_malloc = false;
  bool sanitizer = false;
};

DynamicSymbols dynamic_symbols_of(const std::filesystem::path& program) {
  DynamicSymbols found;
  const OpenElf opened = open_elf(program);
  for_each_section(opened.elf, [&](Elf_Scn* section, const GElf_Shdr& header) {
    if (header.sh_type != SHT_DYNSYM) return;
    Elf_Data* data = elf_getdata(section, nullptr);
    const std::size_t count = header.sh_entsize == 0 ? 0 : header.sh_size / header.sh_entsize;
    for (std::size_t i = 0; data != nullptr && i < count; ++i) {
      GElf_Sym symbol{};
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
      const char* text = elf_strptr(opened.elf.get(), header.sh_link, symbol.st_name);
      const std::string_view name = text == nullptr ? "" : text;
      found.own_malloc = found.own_malloc || (name == "malloc" && symbol.st_shndx != SHN_UNDEF);
      found.sanitizer = found.sanitizer || name == "__asan_init" || name == "__tsan_init";
    }
  });
  return found;
}

bool has_section(const std::filesystem::path& program, std::string_view name) {
  const OpenElf opened = open_elf(program);
  std::size_t names = 0;
  if (elf_getshdrstrndx(opened.elf.get(), &names) != 0) return false;
  bool found = false;
  for_each_section(opened.elf, [&](Elf_Scn* /*section*/, const GElf_Shdr& header) {
    const char* text = elf_strptr(opened.elf.get(), names, header.sh_name);
    found = found || (text != nullptr && name == text);
  });
  return found;
}

}  // namespace

std::filesystem::path recorder_library() {
  return library_beside_programs("libmemduel_recorder.so");
}

Availability recorder_works() {
  const std::string library = recorder_library().string();
  if (std::filesystem::exists(library)) return {true, {}};
  return {false, library + " is missing; build the target memduel_recorder"};
}

std::string to_see_go_heap() {
  return std::string(runtime_memory(kGoHeap)->advice);
}

std::map<std::string, std::string> recording_environment(const Preload& preload,
                                                         const std::filesystem::path& directory,
                                                         const std::string& other_preloads) {
  const std::filesystem::path library = preload.library ? *preload.library : recorder_library();
  if (!std::filesystem::exists(library)) {
    throw Error(ExitCode::io, "the recorder library is missing", library.string(),
                "build the target memduel_recorder");
  }
  std::map<std::string, std::string> environment = {
      {"LD_PRELOAD", library.string() + (other_preloads.empty() ? "" : ":" + other_preloads)},
      {recorder::kDirectoryVariable, directory.string()},
      {recorder::kModeVariable, recorder::mode_word(preload.mode)},
      {recorder::kFollowVariable, preload.follow ? "1" : "0"}};
  if (preload.mode == RecordMode::sampled) {
    environment[recorder::kIntervalVariable] = std::to_string(preload.interval_bytes);
    environment[recorder::kFirstIntervalVariable] = std::to_string(preload.first_interval_bytes);
  }
  // Empty: not the rule of a recording around this one.
  environment[recorder::kSnapshotVariable] = preload.snapshot ? preload.snapshot->text : "";
  if (preload.seed != 0) environment[recorder::kSeedVariable] = std::to_string(preload.seed);
  return environment;
}

void admit_other_users(const std::filesystem::path& directory) {
  constexpr mode_t kAddOnly = 01733;
  if (geteuid() == 0) ::chmod(directory.c_str(), kAddOnly);
}

std::string obstacle_to_recording(const std::filesystem::path& program) {
  const std::string library = recorder_library().string();
  if (library.find_first_of(" :") != std::string::npos)
    return "the recorder's path " + library + " has a space or a colon, which LD_PRELOAD splits at";
  struct stat about{};
  if (stat(program.c_str(), &about) != 0) return {};
  if ((about.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return "it is a setuid or setgid program: the dynamic linker ignores preloaded libraries";
  }
  if (getxattr(program.c_str(), "security.capability", nullptr, 0) > 0) {
    return "it has file capabilities: the dynamic linker ignores preloaded libraries";
  }
  const std::string bytes = read_file(program);
  if (!bytes.starts_with(ELFMAG)) return {};
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof header) return {};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return "it is a 32-bit program";
  bool dynamic = false;
  for (int i = 0; i < header.e_phnum; ++i) {
    const std::size_t at = header.e_phoff + static_cast<std::size_t>(i) * sizeof(Elf64_Phdr);
    Elf64_Phdr segment{};
    if (at > bytes.size() - sizeof segment) break;
    std::memcpy(&segment, bytes.data() + at, sizeof segment);
    dynamic = dynamic || segment.p_type == PT_INTERP;
  }
  if (!dynamic && has_section(program, ".go.buildinfo")) return kStaticGo;
  if (!dynamic) return "it is statically linked: nothing can be preloaded";
  const DynamicSymbols symbols = dynamic_symbols_of(program);
  if (symbols.sanitizer) {
    return "it is built with a sanitizer, whose own interposer must come first";
  }
  if (symbols.own_malloc) {
    return "it brings its own malloc, which comes before that of a preloaded library";
  }
  return {};
}

}  // namespace memduel
