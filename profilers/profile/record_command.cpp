#include "profilers/profile/record_command.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_directory.h"
#include "profilers/profile/finish_profile.h"

namespace memduel {

namespace {

std::filesystem::path own_library() {
  std::error_code failure;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failure);
  return program.parent_path().parent_path() / "lib" / "libmemduel_recorder.so";
}

std::string mode_word(RecordMode mode) {
  switch (mode) {
    case RecordMode::count:
      return "count";
    case RecordMode::sampled:
      return "sampled";
    case RecordMode::exact:
      return "exact";
  }
  return "";
}

// As the shell finds it; empty when there is none.
std::filesystem::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* list = std::getenv("PATH");
  std::string rest = list == nullptr ? "/bin:/usr/bin" : list;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string directory = rest.substr(0, colon);
    const auto candidate = std::filesystem::path(directory.empty() ? "." : directory) / name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return {};
}

volatile sig_atomic_t signalled_child = 0;

// The command decides what a signal means, and its profile is finished after it. The terminal sends
// an interrupt to the command as well; a termination comes to us alone.
class SignalsForTheCommand {
 public:
  explicit SignalsForTheCommand(pid_t child) {
    signalled_child = child;
    old_interrupt_ = std::signal(SIGINT, SIG_IGN);
    old_terminate_ = std::signal(SIGTERM, [](int number) { kill(signalled_child, number); });
  }
  ~SignalsForTheCommand() {
    std::signal(SIGINT, old_interrupt_);
    std::signal(SIGTERM, old_terminate_);
  }
  SignalsForTheCommand(const SignalsForTheCommand&) = delete;
  SignalsForTheCommand& operator=(const SignalsForTheCommand&) = delete;
  SignalsForTheCommand(SignalsForTheCommand&&) = delete;
  SignalsForTheCommand& operator=(SignalsForTheCommand&&) = delete;

 private:
  void (*old_interrupt_)(int);
  void (*old_terminate_)(int);
};

// The child tells through a pipe why it cannot execute the command.
int run(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  std::vector<char*> arguments;
  for (const std::string& word : argv) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int failure_pipe[2];
  if (pipe2(failure_pipe, O_CLOEXEC) != 0) {
    throw Error(ExitCode::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  const pid_t child = fork();
  if (child < 0) throw Error(ExitCode::io, fmt::format("cannot fork: {}", std::strerror(errno)));
  if (child == 0) {
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    execvp(arguments[0], arguments.data());
    const int reason = errno;
    const ssize_t wrote = write(failure_pipe[1], &reason, sizeof reason);
    _exit(wrote == sizeof reason ? 127 : 126);
  }
  close(failure_pipe[1]);
  int reason = 0;
  ssize_t got = 0;
  do {
    got = read(failure_pipe[0], &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  close(failure_pipe[0]);
  int status = 0;
  {
    const SignalsForTheCommand signals(child);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (got == sizeof reason) {
    throw Error(ExitCode::usage, fmt::format("cannot run it: {}", std::strerror(reason)), argv[0]);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::filesystem::path output_of(const RecordOptions& options, const HeapCounters& image,
                                std::size_t number) {
  const std::string name = std::filesystem::path(options.argv[0]).filename().string();
  std::filesystem::path first = options.output.value_or(fmt::format("{}.{}.mdp", name, image.pid));
  if (number == 1) return first;
  std::filesystem::path later = first;
  later.replace_extension(fmt::format(".{}{}", number, first.extension().string()));
  return later;
}

// What the program itself exports wins over every preloaded library.
bool defines_malloc(const std::filesystem::path& program) {
  elf_version(EV_CURRENT);
  const int fd = open(program.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  Elf* elf = elf_begin(fd, ELF_C_READ, nullptr);
  bool found = false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const std::size_t count = header.sh_entsize == 0 ? 0 : header.sh_size / header.sh_entsize;
    for (std::size_t i = 0; data != nullptr && i < count && !found; ++i) {
      GElf_Sym symbol{};
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      found = name != nullptr && std::strcmp(name, "malloc") == 0 && symbol.st_shndx != SHN_UNDEF;
    }
  }
  elf_end(elf);
  close(fd);
  return found;
}

std::string end_of(const HeapCounters& image) {
  return image.finished ? "the program's own" : "killed: what was not yet written is lost";
}

}  // namespace

std::vector<std::string> recorder_environment(const RecordOptions& options,
                                              const std::filesystem::path& directory) {
  const std::filesystem::path library = options.library ? *options.library : own_library();
  if (!std::filesystem::exists(library)) {
    throw Error(ExitCode::io, "the recorder library is missing", library.string(),
                "build the target memduel_recorder");
  }
  const char* preloaded = std::getenv("LD_PRELOAD");
  std::string preload = "LD_PRELOAD=" + library.string();
  if (preloaded != nullptr && *preloaded != '\0') preload += std::string(":") + preloaded;
  std::vector<std::string> environment{
      preload, "MEMDUEL_RECORDER_DIR=" + directory.string(),
      "MEMDUEL_RECORDER_MODE=" + mode_word(options.mode),
      fmt::format("MEMDUEL_RECORDER_FOLLOW={}", options.follow ? 1 : 0)};
  if (options.mode == RecordMode::sampled) {
    environment.push_back(fmt::format("MEMDUEL_RECORDER_INTERVAL={}", options.interval_bytes));
  }
  if (options.seed != 0) {
    environment.push_back(fmt::format("MEMDUEL_RECORDER_SEED={}", options.seed));
  }
  return environment;
}

std::string obstacle_to_recording(const std::filesystem::path& program) {
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
    if (at + sizeof segment > bytes.size()) break;
    std::memcpy(&segment, bytes.data() + at, sizeof segment);
    dynamic = dynamic || segment.p_type == PT_INTERP;
  }
  if (!dynamic) return "it is statically linked: nothing can be preloaded";
  if (bytes.find("__asan_init") != std::string::npos ||
      bytes.find("__tsan_init") != std::string::npos) {
    return "it is built with a sanitizer, whose own interposer must come first";
  }
  if (defines_malloc(program)) {
    return "it brings its own malloc, which comes before that of a preloaded library";
  }
  return {};
}

RecordResult record_command(const RecordOptions& options) {
  if (options.argv.empty()) throw Error(ExitCode::usage, "no command to record");
  const std::filesystem::path program = find_program(options.argv[0]);
  RecordResult result;
  const std::string obstacle = program.empty() ? "" : obstacle_to_recording(program);
  std::filesystem::path beside = options.output ? options.output->parent_path() : ".";
  if (beside.empty()) beside = ".";
  const ScratchDirectory workplace(beside, ".memduel-record");
  if (obstacle.empty()) {
    result.status = run(options.argv, recorder_environment(options, workplace.path()));
  } else {
    result.status = run(options.argv, {});
    result.notes.push_back(fmt::format("{} was not recorded: {}", program.string(), obstacle));
  }
  std::size_t number = 0;
  for (const HeapCounters& image : read_heap_directory(workplace.path())) {
    RecordedImage recorded{std::nullopt, image};
    const auto raw = workplace.path() / fmt::format("{}-{}.mdp", image.started_ns, image.pid);
    if (std::filesystem::exists(raw)) {
      recorded.file = output_of(options, image, ++number);
      const FinishedProfile finished =
          finish_profile(read_file(raw), raw.string(), options.symbols, {{"end", end_of(image)}});
      write_file_atomically(*recorded.file, finished.bytes);
    }
    result.images.push_back(std::move(recorded));
  }
  if (result.images.empty() && obstacle.empty()) {
    result.notes.push_back(fmt::format(
        "{} left no records: it never started a dynamically linked program, or its directory {} "
        "cannot be written by it",
        options.argv[0], beside.string()));
  }
  return result;
}

}  // namespace memduel
