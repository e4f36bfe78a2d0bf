/* Tell memduel where rounds and phases begin and end, from any C99 or C++ program on Linux.
 *
 *   memduel_idle();                    libraries loaded, model not yet built: the level to subtract
 *   for (int n = 1; n <= rounds; ++n) {
 *     memduel_round_begin(n);
 *     memduel_phase("train");          process-wide; the next call ends it, NULL ends it too
 *     memduel_gauge_better("loss", 0.3, MEMDUEL_LOWER_IS_BETTER);
 *     memduel_round_end(n);
 *   }
 *
 * Nothing to link, nothing to initialise. When nobody listens a call costs a load and a branch.
 * When memduel listens, a process-wide mark costs about 20 microseconds: it reads VmHWM and then
 * resets it (5 to /proc/self/clear_refs), so that each stretch between two marks has a peak of its
 * own.
 *
 * All functions may be called from any thread (not from signal handlers), keep errno, never raise
 * SIGPIPE and allocate nothing. State is shared by all translation units and by the shared
 * libraries that the program is linked with. A forked child of a process that has sent marks is
 * silent until it calls exec.
 *
 * The wire: MEMDUEL_MARKS_FD names an inherited AF_UNIX stream socket (MEMDUEL_MARKS_INODE, when
 * set, its inode: a number that was closed and reused is left alone). One text line per mark:
 *
 *   start PID [no_reset]               first line of a process; no_reset: VmHWM cannot be reset
 *   idle T HWM RSS ANON FILE
 *   round_begin T N HWM RSS ANON FILE
 *   round_end T N HWM RSS ANON FILE
 *   phase T NAME HWM RSS ANON FILE     NAME "-" ends the phase
 *   gauge T NAME VALUE [higher|lower]  which values of the metric are better, where declared
 *
 * T is CLOCK_MONOTONIC in nanoseconds, sizes are bytes ("-" where the kernel does not say), HWM is
 * VmHWM of the stretch that this mark ends, VALUE is a decimal integer or a hexadecimal float.
 */
#ifndef MEMDUEL_ANNOTATE_H
#define MEMDUEL_ANNOTATE_H

/* -std=c99 hides POSIX; asking for it adds names and takes none away. */
#if defined(__STRICT_ANSI__) && !defined(_GNU_SOURCE) && !defined(_POSIX_C_SOURCE) && \
    !defined(_XOPEN_SOURCE) && !defined(_DEFAULT_SOURCE) && !defined(_FEATURES_H)
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#if !defined(CLOCK_MONOTONIC) || !defined(MSG_NOSIGNAL) || !defined(O_CLOEXEC)
#error "memduel/annotate.h needs POSIX.1-2008: include it first, or define _POSIX_C_SOURCE=200809L"
#endif

/* The words of the wire, and the variables that name it. */
#define MEMDUEL_WIRE_FD "MEMDUEL_MARKS_FD"
#define MEMDUEL_WIRE_INODE "MEMDUEL_MARKS_INODE"
#define MEMDUEL_WIRE_START "start"
#define MEMDUEL_WIRE_NO_RESET "no_reset"
#define MEMDUEL_WIRE_IDLE "idle"
#define MEMDUEL_WIRE_ROUND_BEGIN "round_begin"
#define MEMDUEL_WIRE_ROUND_END "round_end"
#define MEMDUEL_WIRE_PHASE "phase"
#define MEMDUEL_WIRE_GAUGE "gauge"
#define MEMDUEL_WIRE_LOWER "lower"
#define MEMDUEL_WIRE_HIGHER "higher"
#define MEMDUEL_WIRE_NONE "-"

#ifdef __cplusplus
extern "C" {
#endif

/* What a recorder that shares the process is told; see memduel_recorder_mark. */
enum memduel_mark_kind {
  MEMDUEL_MARK_IDLE = 1,
  MEMDUEL_MARK_ROUND_BEGIN = 2,
  MEMDUEL_MARK_ROUND_END = 3,
  MEMDUEL_MARK_PHASE = 4,
  MEMDUEL_MARK_THREAD_PHASE = 5
};

/* Which values of a metric are better. memduel never guesses it from a name: without a declaration
 * a change of the metric is reported as a change, neither better nor worse. */
enum memduel_better {
  MEMDUEL_UNDECLARED = 0,
  MEMDUEL_LOWER_IS_BETTER = 1,
  MEMDUEL_HIGHER_IS_BETTER = 2
};

/* Defined by memduel's preloaded recorder, absent otherwise. `phase` is NULL where a phase ends. */
__attribute__((weak)) void memduel_recorder_mark(int kind, int round, const char* phase);

/* ---- internal: nothing below up to the API is for callers ---------------------------------- */

enum memduel_annotate_mode {
  MEMDUEL_ANNOTATE_UNKNOWN = 0, /* the environment has not been looked at */
  MEMDUEL_ANNOTATE_OFF = 1,
  MEMDUEL_ANNOTATE_ON = 2
};

struct memduel_annotate_state_v1 {
  int mode;
  int lock_owner; /* pid of the process whose thread holds the lock, 0 when free */
  int pid;        /* the process that sent `start` */
  int marks_fd;
  int status_fd;
  int clear_refs_fd;
  char status[8192];
};

/* Weak, so that every translation unit may define it and one copy remains. */
__attribute__((weak, visibility("default"))) struct memduel_annotate_state_v1 memduel_annotate_v1;

struct memduel_annotate_line {
  char text[256];
  size_t length;
};

static inline void memduel_annotate_put_text(struct memduel_annotate_line* line, const char* text) {
  while (*text != '\0' && line->length + 1 < sizeof line->text) {
    line->text[line->length++] = *text++;
  }
}

static inline void memduel_annotate_put_number(struct memduel_annotate_line* line, uint64_t value,
                                               unsigned base) {
  char digits[24];
  size_t at = sizeof digits - 1;
  digits[at] = '\0';
  do {
    digits[--at] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  memduel_annotate_put_text(line, digits + at);
}

static inline void memduel_annotate_put_signed(struct memduel_annotate_line* line, int64_t value) {
  if (value < 0) memduel_annotate_put_text(line, "-");
  memduel_annotate_put_number(line, value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value,
                              10);
}

/* Looks at the bits, because -ffast-math makes comparisons with infinity and NaN constant. */
static inline int memduel_annotate_is_finite(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return ((bits >> 52) & 0x7ff) != 0x7ff;
}

/* Exact: whole numbers up to 2^53 in decimal, all others as hexadecimal mantissa and exponent.
 * Neither stdio nor a locale is involved. */
static inline void memduel_annotate_put_double(struct memduel_annotate_line* line, double value) {
  uint64_t bits, mantissa;
  int exponent;
  if (value >= -9007199254740992.0 && value <= 9007199254740992.0 &&
      !((double)(int64_t)value < value) && !((double)(int64_t)value > value)) {
    memduel_annotate_put_signed(line, (int64_t)value);
    return;
  }
  memcpy(&bits, &value, sizeof bits);
  mantissa = bits & ((UINT64_C(1) << 52) - 1);
  exponent = (int)((bits >> 52) & 0x7ff);
  if (exponent == 0) {
    exponent = 1;
  } else {
    mantissa |= UINT64_C(1) << 52;
  }
  memduel_annotate_put_text(line, (bits >> 63) ? "-0x" : "0x");
  memduel_annotate_put_number(line, mantissa, 16);
  memduel_annotate_put_text(line, "p");
  memduel_annotate_put_signed(line, exponent - 1075);
}

/* A name of at most 64 bytes in which white space and control bytes become '_'. */
static inline void memduel_annotate_put_name(struct memduel_annotate_line* line, const char* name) {
  size_t count;
  memduel_annotate_put_text(line, " ");
  if (strcmp(name, MEMDUEL_WIRE_NONE) == 0 || *name == '\0') name = "_";
  for (count = 0; name[count] != '\0' && count < 64; ++count) {
    const unsigned char byte = (unsigned char)name[count];
    line->text[line->length++] = byte <= 0x20 || byte == 0x7f ? '_' : name[count];
  }
}

static inline void memduel_annotate_put_time(struct memduel_annotate_line* line, const char* kind) {
  struct timespec now;
  now.tv_sec = 0;
  now.tv_nsec = 0;
  clock_gettime(CLOCK_MONOTONIC, &now);
  memduel_annotate_put_text(line, kind);
  memduel_annotate_put_text(line, " ");
  memduel_annotate_put_number(line, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, 10);
}

/* One "VmHWM:  1234 kB" line of /proc/self/status in bytes, "-" where it is missing. */
static inline void memduel_annotate_put_size(struct memduel_annotate_line* line, const char* status,
                                             const char* field) {
  const char* at = strstr(status, field);
  uint64_t kib = 0;
  memduel_annotate_put_text(line, " ");
  if (at != NULL) at += strlen(field);
  while (at != NULL && (*at == ' ' || *at == '\t')) ++at;
  if (at == NULL || *at < '0' || *at > '9') {
    memduel_annotate_put_text(line, MEMDUEL_WIRE_NONE);
    return;
  }
  for (; *at >= '0' && *at <= '9'; ++at) kib = kib * 10 + (uint64_t)(*at - '0');
  memduel_annotate_put_number(line, kib * 1024, 10);
}

static inline int memduel_annotate_reset_peak(struct memduel_annotate_state_v1* state) {
  ssize_t written;
  do {
    written = write(state->clear_refs_fd, "5", 1);
  } while (written < 0 && errno == EINTR);
  return written == 1;
}

static inline void memduel_annotate_read_and_reset(struct memduel_annotate_state_v1* state,
                                                   struct memduel_annotate_line* line) {
  ssize_t got;
  do {
    got = pread(state->status_fd, state->status, sizeof state->status - 1, 0);
  } while (got < 0 && errno == EINTR);
  state->status[got > 0 ? got : 0] = '\0';
  memduel_annotate_put_size(line, state->status, "\nVmHWM:");
  memduel_annotate_put_size(line, state->status, "\nVmRSS:");
  memduel_annotate_put_size(line, state->status, "\nRssAnon:");
  memduel_annotate_put_size(line, state->status, "\nRssFile:");
  memduel_annotate_reset_peak(state);
}

/* Sends the whole line; a listener that is gone ends the sending for good. */
static inline void memduel_annotate_send(struct memduel_annotate_state_v1* state,
                                         struct memduel_annotate_line* line) {
  size_t sent = 0;
  line->text[line->length++] = '\n';
  while (sent < line->length) {
    const ssize_t count =
        send(state->marks_fd, line->text + sent, line->length - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      __atomic_store_n(&state->mode, MEMDUEL_ANNOTATE_OFF, __ATOMIC_RELEASE);
      return;
    }
    sent += (size_t)count;
  }
}

/* The inherited socket, or -1 when there is none, or its number means something else by now. */
static inline int memduel_annotate_find_socket(void) {
  const char* fd_text = getenv(MEMDUEL_WIRE_FD);
  const char* inode_text = getenv(MEMDUEL_WIRE_INODE);
  char* end = NULL;
  struct stat about;
  long fd;
  if (fd_text == NULL || *fd_text < '0' || *fd_text > '9') return -1;
  fd = strtol(fd_text, &end, 10);
  if (*end != '\0' || fd > 1 << 20) return -1;
  if (fstat((int)fd, &about) != 0 || !S_ISSOCK(about.st_mode)) return -1;
  if (inode_text != NULL && strtoull(inode_text, NULL, 10) != (unsigned long long)about.st_ino) {
    return -1;
  }
  return (int)fd;
}

static inline void memduel_annotate_start(struct memduel_annotate_state_v1* state) {
  struct memduel_annotate_line line;
  line.length = 0;
  state->marks_fd = memduel_annotate_find_socket();
  if (state->marks_fd < 0) {
    __atomic_store_n(&state->mode, MEMDUEL_ANNOTATE_OFF, __ATOMIC_RELEASE);
    return;
  }
  state->pid = (int)getpid();
  state->status_fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  state->clear_refs_fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  __atomic_store_n(&state->mode, MEMDUEL_ANNOTATE_ON, __ATOMIC_RELEASE);
  memduel_annotate_put_text(&line, MEMDUEL_WIRE_START " ");
  memduel_annotate_put_signed(&line, state->pid);
  /* Asks with a byte that means nothing (EINVAL), because a real reset would lose the peak so far:
   * only a kernel that refuses every write answers something else. */
  {
    const ssize_t written = write(state->clear_refs_fd, "0", 1);
    if (written < 0 && errno != EINVAL) memduel_annotate_put_text(&line, " " MEMDUEL_WIRE_NO_RESET);
  }
  memduel_annotate_send(state, &line);
}

/* Returns 0 when this process has nothing to send; otherwise the lock is held. */
static inline int memduel_annotate_enter(struct memduel_annotate_state_v1* state) {
  const int pid = (int)getpid();
  int owner = 0;
  /* Compared with our own pid, so that a child forked while the lock was held can take it over. */
  while (!__atomic_compare_exchange_n(&state->lock_owner, &owner, pid, 0, __ATOMIC_ACQUIRE,
                                      __ATOMIC_RELAXED)) {
    if (owner == pid) {
      sched_yield();
      owner = 0;
    }
  }
  if (state->mode == MEMDUEL_ANNOTATE_UNKNOWN) memduel_annotate_start(state);
  if (state->mode == MEMDUEL_ANNOTATE_ON && state->pid == pid) return 1;
  __atomic_store_n(&state->lock_owner, 0, __ATOMIC_RELEASE);
  return 0;
}

static inline void memduel_annotate_leave(struct memduel_annotate_state_v1* state) {
  __atomic_store_n(&state->lock_owner, 0, __ATOMIC_RELEASE);
}

static inline int memduel_annotate_is_off(void) {
  return __atomic_load_n(&memduel_annotate_v1.mode, __ATOMIC_ACQUIRE) == MEMDUEL_ANNOTATE_OFF;
}

/* `round` is sent when it is not negative, `name` when it is not NULL. */
static inline void memduel_annotate_mark(const char* kind, int round, const char* name) {
  struct memduel_annotate_state_v1* state = &memduel_annotate_v1;
  struct memduel_annotate_line line;
  const int saved_errno = errno;
  if (memduel_annotate_enter(state)) {
    line.length = 0;
    memduel_annotate_put_time(&line, kind);
    if (round >= 0) {
      memduel_annotate_put_text(&line, " ");
      memduel_annotate_put_signed(&line, round);
    }
    if (name != NULL) memduel_annotate_put_text(&line, name);
    memduel_annotate_read_and_reset(state, &line);
    memduel_annotate_send(state, &line);
    memduel_annotate_leave(state);
  }
  errno = saved_errno;
}

static inline void memduel_annotate_tell_recorder(int kind, int round, const char* phase) {
  if (memduel_recorder_mark != NULL) memduel_recorder_mark(kind, round, phase);
}

/* ---- API ------------------------------------------------------------------------------------ */

/* The process is set up and has not built its model yet: RSS here is the idle level. */
static inline void memduel_idle(void) {
  memduel_annotate_tell_recorder(MEMDUEL_MARK_IDLE, 0, NULL);
  if (!memduel_annotate_is_off()) memduel_annotate_mark(MEMDUEL_WIRE_IDLE, -1, NULL);
}

/* Round `n` (from 1) begins; one that still runs ends here. */
static inline void memduel_round_begin(int n) {
  memduel_annotate_tell_recorder(MEMDUEL_MARK_ROUND_BEGIN, n, NULL);
  if (!memduel_annotate_is_off()) memduel_annotate_mark(MEMDUEL_WIRE_ROUND_BEGIN, n, NULL);
}

/* Round `n` ends, and with it the running phase. */
static inline void memduel_round_end(int n) {
  memduel_annotate_tell_recorder(MEMDUEL_MARK_ROUND_END, n, NULL);
  if (!memduel_annotate_is_off()) memduel_annotate_mark(MEMDUEL_WIRE_ROUND_END, n, NULL);
}

/* The whole process enters phase `name` (kept to 64 bytes), or none with NULL. */
static inline void memduel_phase(const char* name) {
  memduel_annotate_tell_recorder(MEMDUEL_MARK_PHASE, 0, name);
  if (!memduel_annotate_is_off()) {
    struct memduel_annotate_line field;
    field.length = 0;
    if (name == NULL) {
      memduel_annotate_put_text(&field, " " MEMDUEL_WIRE_NONE);
    } else {
      memduel_annotate_put_name(&field, name);
    }
    field.text[field.length] = '\0';
    memduel_annotate_mark(MEMDUEL_WIRE_PHASE, -1, field.text);
  }
}

/* The calling thread alone enters phase `name` (NULL: back to the process-wide one): its
 * allocations are the recorder's to attribute; no peak of RSS belongs to one thread. */
static inline void memduel_thread_phase(const char* name) {
  memduel_annotate_tell_recorder(MEMDUEL_MARK_THREAD_PHASE, 0, name);
}

/* A number that the program knows: it belongs to the running round, outside rounds to the trial.
 * `metric` carries its unit (heap_in_use_bytes); a value that is not finite is
 * not sent. `better` declares which values are better. */
static inline void memduel_gauge_better(const char* metric, double value,
                                        enum memduel_better better) {
  struct memduel_annotate_state_v1* state = &memduel_annotate_v1;
  struct memduel_annotate_line line;
  const int saved_errno = errno;
  if (memduel_annotate_is_off() || metric == NULL || !memduel_annotate_is_finite(value)) return;
  if (memduel_annotate_enter(state)) {
    line.length = 0;
    memduel_annotate_put_time(&line, MEMDUEL_WIRE_GAUGE);
    memduel_annotate_put_name(&line, metric);
    memduel_annotate_put_text(&line, " ");
    memduel_annotate_put_double(&line, value);
    if (better == MEMDUEL_LOWER_IS_BETTER) memduel_annotate_put_text(&line, " " MEMDUEL_WIRE_LOWER);
    if (better == MEMDUEL_HIGHER_IS_BETTER)
      memduel_annotate_put_text(&line, " " MEMDUEL_WIRE_HIGHER);
    memduel_annotate_send(state, &line);
    memduel_annotate_leave(state);
  }
  errno = saved_errno;
}

/* The same without a declaration. */
static inline void memduel_gauge(const char* metric, double value) {
  memduel_gauge_better(metric, value, MEMDUEL_UNDECLARED);
}

#ifdef __cplusplus
}
#endif

#endif /* MEMDUEL_ANNOTATE_H */
