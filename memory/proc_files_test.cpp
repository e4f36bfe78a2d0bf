#include "memory/proc_files.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "util/file.h"

namespace memduel {
namespace {

std::string corpus(const std::string& name) {
  return read_file(MEMDUEL_PROC_CORPUS "/" + name);
}

/// What a command prints, without the newline at its end.
std::string printed_by(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  for (int byte = 0; (byte = std::fgetc(pipe)) != EOF;) text.push_back(static_cast<char>(byte));
  pclose(pipe);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// A forked child that waits until it is told to end, and is a zombie then until it is reaped.
class WaitingChild {
 public:
  explicit WaitingChild(const char* name = "waiting") {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    pid = fork();
    if (pid == 0) {
      prctl(PR_SET_NAME, name);
      if (write(ends[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char ready = 0;
    if (read(ends[0], &ready, 1) != 1) std::abort();
    close(ends[0]);
    close(ends[1]);
  }
  ~WaitingChild() { reap(); }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;

  /// Nothing about it changes from now on.
  void stop() const {
    kill(pid, SIGSTOP);
    waitpid(pid, nullptr, WUNTRACED);
  }
  void become_zombie() const {
    siginfo_t info{};
    kill(pid, SIGKILL);
    waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  }
  void reap() {
    if (reaped_) return;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    reaped_ = true;
  }

  pid_t pid = 0;

 private:
  bool reaped_ = false;
};

TEST(ParseProcessLine, TakesNamesWithSpacesParenthesesAndNewlines) {
  for (const char* name : {"(a) S) b)", "(a\nb) Z)", "()", "( ) R 1 )"}) {
    const auto line = parse_process_line(std::string("4711 ") + name + " R 12 4711 0 0 -1");
    ASSERT_TRUE(line.has_value()) << name;
    EXPECT_EQ(line->pid, 4711);
    EXPECT_EQ(line->state, 'R');
    EXPECT_EQ(line->parent, 12);
    EXPECT_FALSE(line->started.has_value());
    EXPECT_FALSE(line->faults.has_value());
  }
  for (const char* text : {"", "4711", "4711 (x)", "4711 (x) ", "4711 (x) S", "x (x) S 1",
                           "4711 (cut", "4711 (x) SS 1 2"}) {
    EXPECT_FALSE(parse_process_line(text).has_value()) << text;
  }
}

TEST(ParseProcessLine, HasStartFlagsAndFaults) {
  const auto line = parse_process_line(
      "7 (a b) S 1 7 7 0 -1 4194560 100 200 3 4 50 60 70 80 20 0 1 0 987654 1000 2000");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->started, 987654U);
  EXPECT_EQ(line->flags, 4194560U);
  ASSERT_TRUE(line->faults.has_value());
  EXPECT_EQ(line->faults->minor, 100);
  EXPECT_EQ(line->faults->major, 3);
}

/// As proc_pid_stat(5) has it: arg_start is field 48, arg_end field 49.
TEST(ParseProcessLine, HasThePlaceOfTheArguments) {
  std::string stat = "7 (a b) S";
  for (int field = 4; field <= 52; ++field) stat += " " + std::to_string(1000 + field);
  EXPECT_EQ(parse_process_line(stat)->arguments, (AddressSpan{1048, 1049}));
  EXPECT_FALSE(parse_process_line("7 (a b) S 1 7 7 0 -1 4194560")->arguments.has_value());
}

TEST(RunsSameProgram, UntilTheProcessExecutesAnother) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    static_cast<void>(read(ends[0], &byte, 1));
    execl("/bin/sleep", "sleep", "60", nullptr);
    _exit(1);
  }
  const auto forked = process_line(child);
  const auto still_forked = process_line(child);
  ASSERT_TRUE(forked && still_forked);
  EXPECT_TRUE(runs_same_program(*forked, *still_forked));
  ASSERT_EQ(write(ends[1], "", 1), 1);
  while (command_of(child, 100) != "sleep 60") usleep(1000);
  const auto executed = process_line(child);
  ASSERT_TRUE(executed.has_value());
  EXPECT_FALSE(runs_same_program(*forked, *executed));
  EXPECT_TRUE(runs_same_program(*executed, *process_line(child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
}

TEST(IsOnlyForked, ReadsTheFlagThatExecTakesAway) {
  const auto asked = [](const char* stat) { return is_only_forked(*parse_process_line(stat)); };
  EXPECT_TRUE(asked("7 (a) b) S 1 7 7 0 -1 4194368 10 0 0 0\n"));   // 0x400040
  EXPECT_FALSE(asked("7 (a) b) S 1 7 7 0 -1 4194304 10 0 0 0\n"));  // 0x400000
  EXPECT_FALSE(asked("7 (a) b) S 1"));
}

TEST(ParseStatm, HasPages) {
  const auto pages = parse_statm("5412 1310 921 210 0 320 0\n");
  ASSERT_TRUE(pages.has_value());
  EXPECT_EQ(pages->total, 5412);
  EXPECT_EQ(pages->resident, 1310);
  EXPECT_EQ(pages->anonymous(), 1310 - 921);
  EXPECT_EQ(parse_statm("9 3 4 0 0 0 0")->anonymous(), 0);
  for (const char* text : {"", "5412", "5412 x 1", "5412 1310", "5412 -1 0"})
    EXPECT_FALSE(parse_statm(text).has_value()) << text;
}

TEST(ParseStatus, HasMemoryInBytesOrNone) {
  const auto memory = parse_status(
      "Name:\tVmRSS: 1 kB\nVmHWM:\t    1234 kB\nVmRSS:\t     512 kB\nRssAnon:\t 300 kB\n"
      "RssShmem:\t 2 kB\nVmSwap:\t       0 kB\n");
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->peak_rss, 1234 * 1024);
  EXPECT_EQ(memory->rss, 512 * 1024);
  EXPECT_EQ(memory->rss_anon, 300 * 1024);
  EXPECT_FALSE(memory->rss_file.has_value());
  EXPECT_EQ(memory->rss_shmem, 2 * 1024);
  EXPECT_EQ(memory->swapped, 0);
  EXPECT_FALSE(parse_status("VmRSS:\t12").has_value()) << "cut off";
}

TEST(ParseStatus, FindsNoMemoryInAZombieAndAThreadOfTheKernel) {
  for (const char* name : {"zombie", "kernel_thread"}) {
    EXPECT_FALSE(parse_status(corpus(std::string(name) + ".status")).has_value());
    const auto pages = parse_statm(corpus(std::string(name) + ".statm"));
    ASSERT_TRUE(pages.has_value());
    EXPECT_EQ(pages->total, 0);
    EXPECT_EQ(pages->resident, 0);
  }
  EXPECT_TRUE(is_dead(*parse_process_line(corpus("zombie.stat"))));
  EXPECT_FALSE(is_dead(*parse_process_line(corpus("kernel_thread.stat"))));
}

TEST(ParseMapsLine, HasTheFileAndItsPlace) {
  const auto range =
      parse_maps_line("7f01-7f12 r-xp 00001000 08:01 42     /a dir/lib.so (deleted)");
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->begin, 0x7f01U);
  EXPECT_EQ(range->end, 0x7f12U);
  EXPECT_EQ(range->offset, 0x1000U);
  EXPECT_TRUE(range->executable);
  EXPECT_EQ(range->path, "/a dir/lib.so (deleted)");
  EXPECT_EQ(parse_maps_line("1-2 rw-p 0 00:00 0")->path, "");
  for (const char* line : {"", "7f01", "2-1 rw-p 0 00:00 0 /x", "1-2 rw-p", "1-2 rw-p z 0 0"})
    EXPECT_FALSE(parse_maps_line(line).has_value()) << line;
}

TEST(ParseVariable, IsTheFirstOfTheWholeName) {
  using namespace std::string_view_literals;
  constexpr auto kEnviron = "XROLE=0\0ROLES=1\0EMPTY=\0ROLE=a=b\0ROLE=c\0"sv;
  EXPECT_EQ(parse_variable(kEnviron, "ROLE"), "a=b");
  EXPECT_EQ(parse_variable(kEnviron, "EMPTY"), "");
  EXPECT_FALSE(parse_variable(kEnviron, "NONE").has_value());
  EXPECT_EQ(parse_variable("ROLE=cut"sv, "ROLE"), "cut");
}

TEST(ParseArguments, KeepsEmptyOnesButAtTheEnd) {
  using namespace std::string_view_literals;
  EXPECT_THAT(parse_arguments("a\0\0b c\0\0\0"sv), testing::ElementsAre("a", "", "b c"));
  EXPECT_THAT(parse_arguments("redis *:1  \0\0"sv), testing::ElementsAre("redis *:1  "));
  EXPECT_THAT(parse_arguments("\0\0"sv), testing::IsEmpty());
}

TEST(ParsePids, EndsAtWhatIsNone) {
  EXPECT_THAT(parse_pids("12 13 \n0\n14\n"), testing::ElementsAre(12, 13, 14));
  EXPECT_THAT(parse_pids("12 x 13"), testing::ElementsAre(12));
  EXPECT_THAT(parse_pids("99999999999 1"), testing::IsEmpty());
  EXPECT_EQ(parse_last_pid("2.50 2.45 2.63 2/97 27716\n"), 27716);
  EXPECT_FALSE(parse_last_pid("").has_value());
}

TEST(ParseCaughtSignals, HasTheMaskOfHandlers) {
  // proc_pid_status(5): bit 9 is signal 10, SIGUSR1.
  EXPECT_EQ(parse_caught_signals("SigIgn:\t0000000000000001\nSigCgt:\t0000000000000200\nCapInh:"),
            0x200U);
  EXPECT_FALSE(parse_caught_signals("SigIgn:\t0000000000000001\n").has_value());
  EXPECT_FALSE(parse_caught_signals("x\nSigCgt:\t").has_value());
  EXPECT_FALSE(parse_caught_signals("x\nSigCgt:\t00000200").has_value()) << "cut off";
  EXPECT_FALSE(parse_caught_signals("x\nSigCgt:\tg\n").has_value());
}

TEST(ProcFiles, KnowTheSignalsThatAProcessHasAHandlerFor) {
  EXPECT_FALSE(catches_signal(getpid(), SIGUSR2));
  const auto before = ::signal(SIGUSR2, [](int) {});
  EXPECT_TRUE(catches_signal(getpid(), SIGUSR2));
  EXPECT_FALSE(catches_signal(getpid(), SIGUSR1));
  ::signal(SIGUSR2, before);
  EXPECT_FALSE(catches_signal(getpid(), SIGUSR2));
  EXPECT_FALSE(catches_signal(1 << 30, SIGUSR2)) << "nobody";
}

/// A name that every reader that splits at spaces, parentheses or newlines takes for fields.
TEST(ProcFiles, SayOfAProcessWhatPsSays) {
  const WaitingChild child("a) Z 1\n(b");
  child.stop();
  const auto asked = [&](const std::string& field) {
    return std::stoll(printed_by("ps -o " + field + "= -p " + std::to_string(child.pid)));
  };
  const auto line = process_line(child.pid);
  ASSERT_TRUE(line.has_value()) << line.error;
  EXPECT_EQ(line->pid, child.pid);
  EXPECT_EQ(line->parent, getpid());
  EXPECT_EQ(line->state, 'T');
  ASSERT_TRUE(line->faults.has_value());
  EXPECT_EQ(line->faults->minor, asked("min_flt"));
  EXPECT_EQ(line->faults->major, asked("maj_flt"));
  EXPECT_TRUE(is_only_forked(*line));
  const auto memory = process_memory(child.pid);
  ASSERT_TRUE(memory.has_value()) << memory.error;
  EXPECT_EQ(memory->rss, asked("rss") * 1024);
  EXPECT_EQ(process_pages(child.pid)->resident * sysconf(_SC_PAGESIZE), asked("rss") * 1024);
  EXPECT_EQ(process_pages(child.pid)->total * sysconf(_SC_PAGESIZE), asked("vsz") * 1024);
  EXPECT_EQ(arguments_of(child.pid), arguments_of(getpid()));
}

TEST(ProcFiles, TellWhyThereIsNoValue) {
  WaitingChild child;
  child.become_zombie();
  const auto of_zombie = process_memory(child.pid);
  EXPECT_FALSE(of_zombie.has_value());
  EXPECT_EQ(of_zombie.error, 0);
  EXPECT_TRUE(is_dead(*process_line(child.pid)));
  EXPECT_EQ(process_pages(child.pid)->resident, 0);
  ProcFile kept(child.pid, "statm");
  EXPECT_TRUE(kept.read(parse_statm).has_value());
  child.reap();
  EXPECT_EQ(kept.read(parse_statm).error, ESRCH);
  EXPECT_TRUE(kept.read(parse_statm).is_gone());
  const auto of_ended = process_line(child.pid);
  EXPECT_EQ(of_ended.error, ENOENT);
  EXPECT_TRUE(of_ended.is_gone());
  EXPECT_EQ(describe_proc_error(of_ended.error), "No such file or directory");
  EXPECT_TRUE(arguments_of(child.pid).empty());
}

TEST(ProcFiles, TellThatAFileMayNotBeRead) {
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
    const auto environment = environment_of(getppid(), "PATH");
    const auto pss = ProcFile(getppid(), "smaps_rollup").read(parse_pss);
    const bool refused = !environment && environment.error == EACCES && !environment.is_gone() &&
                         !pss && pss.error == EACCES;
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (getuid() != 0) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(status, 0);
}

TEST(ProcFiles, FindThisProcessItsThreadsAndItsChildren) {
  const WaitingChild child;
  EXPECT_EQ(process_line(kSelf)->pid, getpid());
  EXPECT_THAT(threads_of(kSelf), testing::ElementsAre(getpid()));
  const auto is_child = testing::Field(&ProcessLine::pid, child.pid);
  EXPECT_THAT(all_processes(), testing::Contains(is_child));
  if (access("/proc/thread-self/children", R_OK) != 0) return;
  EXPECT_THAT(children_of(getpid()), testing::ElementsAre(is_child));
}

TEST(ProcFiles, AreReadWholeHoweverLongTheyAre) {
  const std::string value(20'000, 'x');
  const pid_t child = fork();
  if (child == 0) {
    setenv("MEMDUEL_LONG", value.c_str(), 1);
    execlp("sleep", "sleep", "30", nullptr);
    _exit(1);
  }
  while (command_of(child) != "sleep 30") usleep(1000);
  EXPECT_EQ(environment_of(child, "MEMDUEL_LONG"), value);
  EXPECT_EQ(command_of(child, 7), "sleep 3");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace memduel
