// The witness: preloaded into the processes of an arm that names its allocator. It says from inside
// where malloc comes from, in the shortest process too, and which programs are executed from here,
// so that one which is not witnessed itself is noticed. It allocates nothing and stands in front of
// no function but those that start programs.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "hooks/exec_family.h"
#include "recorder/witness_format.h"
#include "system.h"

/// Of the recorder, where it is preloaded too: the file of the malloc that it passes calls on to.
extern "C" const char* memduel_recorder_provider() __attribute__((weak));

namespace memduel::witness {
namespace {

using recorder::KeepErrno;
using recorder::raw_syscall;

char log_path[1024];  // empty: nobody asked

// Looked up before main: the dynamic linker's lock may be held by a thread that a forked child
// lost.
struct Next {
  decltype(&::execve) execve;
  decltype(&::execvpe) execvpe;
  decltype(&::fexecve) fexecve;
  decltype(&::posix_spawn) posix_spawn;
  decltype(&::posix_spawnp) posix_spawnp;
};
Next next;

template <class Function>
void find(Function& function, const char* name) {
  if (function == nullptr) function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void find_next() {
  find(next.execve, "execve");
  find(next.execvpe, "execvpe");
  find(next.fexecve, "fexecve");
  find(next.posix_spawn, "posix_spawn");
  find(next.posix_spawnp, "posix_spawnp");
}

/// Text that is cut where it does not fit.
template <int kBytes>
class Text {
 public:
  Text& add(char byte) {
    if (length_ + 1 < kBytes) text_[length_++] = byte;
    return *this;
  }
  Text& add(const char* text) {
    for (; text != nullptr && *text != '\0'; ++text) {
      const bool control = static_cast<unsigned char>(*text) < ' ' || *text == 127;
      add(control ? '?' : *text);
    }
    return *this;
  }
  Text& add(long number) {
    if (number >= 10) add(number / 10);
    return add(static_cast<char>('0' + number % 10));
  }
  /// With `last` at its end, for which there is always room.
  const char* ended_by(char last) {
    text_[length_] = last;
    return text_;
  }
  [[nodiscard]] int length() const { return length_; }

 private:
  char text_[kBytes];
  int length_ = 0;
};
using Line = Text<kWitnessLine>;

/// Appends the line whole, whoever else writes.
void write_line(Line& line) {
  if (log_path[0] == '\0') return;
  const long file = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(log_path),
                                O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  recorder::write_all(static_cast<int>(file), line.ended_by('\n'),
                      static_cast<std::size_t>(line.length()) + 1);
  raw_syscall(SYS_close, file);
}

struct Path {
  char text[1024] = {};
};

/// What a link of /proc points to; empty when that cannot be read.
Path target_of(const char* link) {
  Path path;
  const long length = raw_syscall(SYS_readlink, reinterpret_cast<long>(link),
                                  reinterpret_cast<long>(path.text), sizeof path.text - 1);
  if (length < 0) path.text[0] = '\0';
  return path;
}

long own_pid() {
  return raw_syscall(SYS_getpid);
}

bool begins(const char* text, const char* with) {
  return strncmp(text, with, strlen(with)) == 0;
}

const char* fate_in(char* const* environment) {
  bool preloaded = false;
  bool asked = false;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    preloaded = preloaded || (begins(*environment, "LD_PRELOAD=") &&
                              strstr(*environment, kWitnessLibrary) != nullptr);
    asked = asked || (begins(*environment, kWitnessVariable) &&
                      (*environment)[sizeof kWitnessVariable - 1] == '=');
  }
  return preloaded && asked ? "kept" : "cleaned";
}

void say_program(const char* word, long pid, const char* program, char* const* environment) {
  const KeepErrno keep;
  Line line;
  write_line(
      line.add(word).add(' ').add(pid).add(' ').add(fate_in(environment)).add(' ').add(program));
}

/// After an exec that returned.
int stayed(int result) {
  const KeepErrno keep;
  Line line;
  write_line(line.add("stayed ").add(own_pid()));
  return result;
}

/// The file whose malloc the program calls.
const char* provider_of_malloc() {
  Dl_info about{};
  ElfW(Sym)* symbol = nullptr;
  void* at = dlsym(RTLD_DEFAULT, "malloc");
  if (dladdr1(at, &about, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) == 0) return "?";
  // A program at a fixed address has a stub for a function whose address it takes.
  if (symbol != nullptr && symbol->st_shndx == SHN_UNDEF)
    dladdr(dlsym(RTLD_NEXT, "malloc"), &about);
  const bool passed_on = memduel_recorder_provider != nullptr && about.dli_fname != nullptr &&
                         strstr(about.dli_fname, "libmemduel_recorder.so") != nullptr;
  return passed_on ? memduel_recorder_provider() : about.dli_fname;
}

__attribute__((constructor)) void begin() {
  find_next();
  const char* path = getenv(kWitnessVariable);
  if (path == nullptr || path[0] != '/' || strlen(path) >= sizeof log_path) return;
  strcpy(log_path, path);
  Line line;
  line.add("start ").add(own_pid()).add(' ').add(provider_of_malloc());
  write_line(line.add('\t').add(target_of("/proc/self/exe").text));
}

int spawned(decltype(Next::posix_spawn) spawn, pid_t* pid, const char* program,
            const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
            char* const* argv, char* const* environment) {
  pid_t child = 0;
  const int error = spawn(&child, program, actions, attributes, argv, environment);
  if (pid != nullptr) *pid = child;
  if (error == 0) say_program("spawn", child, program, environment);
  return error;
}

}  // namespace
}  // namespace memduel::witness

using namespace memduel::witness;

MEMDUEL_EXPORT int execve(const char* path, char* const* argv, char* const* environment) noexcept {
  find_next();
  say_program("exec", own_pid(), path, environment);
  return stayed(next.execve(path, argv, environment));
}

MEMDUEL_EXPORT int execvpe(const char* file, char* const* argv, char* const* environment) noexcept {
  find_next();
  say_program("exec", own_pid(), file, environment);
  return stayed(next.execvpe(file, argv, environment));
}

MEMDUEL_EXPORT int fexecve(int descriptor, char* const* argv, char* const* environment) noexcept {
  find_next();
  Text<40> link;
  link.add("/proc/self/fd/").add(static_cast<long>(descriptor < 0 ? 0 : descriptor));
  say_program("exec", own_pid(), target_of(link.ended_by('\0')).text, environment);
  return stayed(next.fexecve(descriptor, argv, environment));
}

MEMDUEL_EXPORT int posix_spawn(pid_t* pid, const char* path,
                               const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const* argv,
                               char* const* environment) {
  find_next();
  return spawned(next.posix_spawn, pid, path, actions, attributes, argv, environment);
}

MEMDUEL_EXPORT int posix_spawnp(pid_t* pid, const char* file,
                                const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const* argv,
                                char* const* environment) {
  find_next();
  return spawned(next.posix_spawnp, pid, file, actions, attributes, argv, environment);
}
