/* Does what its arguments say, one after the other: a target that behaves well or badly on demand.
 *
 *   rounds N                            N whole rounds of two phases, as fast as it can
 *   idle | round N | end N | phase NAME | nophase | gauge NAME VALUE      marks
 *   touch MIB | free                    map and write pages; unmap the last block touched
 *   sleep MS | burn MS                  wait idle; use a CPU
 *   print TEXT | complain TEXT          a line on stdout; on stderr
 *   clock                               CLOCK_MONOTONIC in nanoseconds, a line on stdout
 *   flood MIB                           that much log on stdout
 *   file PATH | listen PORT             make a file; listen on 127.0.0.1
 *   exit N | raise N | ignore N         end with a status; a signal to itself; ignore a signal
 *   daemonise PIDFILE                   leave a process behind that forked twice and called setsid
 *   background PIDFILE                  go on in a process of its own session and end with status 0
 *   child N VERB…                       fork a child that does the next N words, and go on
 *   wait                                for all children
 *   garbage TEXT                        a line on the marks socket that is no mark
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "memduel/annotate.h"

#define MAX_BLOCKS 64

static void* blocks[MAX_BLOCKS];
static size_t sizes[MAX_BLOCKS];
static int block_count;

static void die(const char* what) {
  perror(what);
  exit(99);
}

static void touch(size_t mib) {
  const size_t bytes = mib << 20;
  /* A file mapping of /dev/zero is MAP_ANONYMOUS in POSIX words. */
  const int zero = open("/dev/zero", O_RDWR);
  unsigned char* block =
      (unsigned char*)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
  size_t at;
  if (block == MAP_FAILED || block_count == MAX_BLOCKS) die("touch");
  close(zero);
  for (at = 0; at < bytes; at += 4096) block[at] = 1;
  blocks[block_count] = block;
  sizes[block_count++] = bytes;
}

static void free_last(void) {
  if (block_count == 0) die("free without touch");
  --block_count;
  munmap(blocks[block_count], sizes[block_count]);
}

static void pause_ms(long ms) {
  struct timespec time;
  time.tv_sec = ms / 1000;
  time.tv_nsec = ms % 1000 * 1000000;
  while (nanosleep(&time, &time) != 0 && errno == EINTR) {
  }
}

static long cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void burn(long ms) {
  const long end = cpu_ms() + ms;
  while (cpu_ms() < end) {
  }
}

static void flood(long mib) {
  static char line[1024];
  long count;
  memset(line, 'x', sizeof line);
  line[sizeof line - 1] = '\n';
  for (count = 0; count < mib * 1024; ++count) {
    if (write(1, line, sizeof line) != (ssize_t)sizeof line) die("flood");
  }
}

static void listen_on(int port) {
  struct sockaddr_in address;
  const int on = 1;
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_port = htons((uint16_t)port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(server, (struct sockaddr*)&address, sizeof address) != 0) die("bind");
  if (listen(server, 4) != 0) die("listen");
}

static void print_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
  fflush(stdout);
}

/* Whole when it is there: others wait for it. */
static void write_file(const char* path, long number) {
  char part[4096];
  snprintf(part, sizeof part, "%s.part", path);
  FILE* file = fopen(part, "w");
  if (file == NULL) die(part);
  fprintf(file, "%ld\n", number);
  fclose(file);
  if (rename(part, path) != 0) die(path);
}

static void daemonise(const char* pid_file) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      write_file(pid_file, (long)getpid());
      for (;;) pause();
    }
    _exit(0);
  }
  while (access(pid_file, F_OK) != 0) pause_ms(1);
}

static void go_into_background(const char* pid_file) {
  if (fork() != 0) {
    while (access(pid_file, F_OK) != 0) pause_ms(1);
    _exit(0);
  }
  setsid();
  write_file(pid_file, (long)getpid());
}

/* As daemons do it: what goes on is a grandchild that its parent leaves at once. */
static void fork_twice(const char* pid_file) {
  if (fork() != 0) _exit(0);
  setsid();
  pause_ms(30);
  if (fork() != 0) _exit(0);
  write_file(pid_file, (long)getpid());
}

static void send_garbage(const char* text) {
  const int marks = atoi(getenv("MEMDUEL_MARKS_FD"));
  if (write(marks, text, strlen(text)) < 0 || write(marks, "\n", 1) < 0) die("garbage");
}

/* Returns how many words it used, 0 when it knows no such verb. */
static int act_without_word(const char* verb) {
  if (strcmp(verb, "idle") == 0) {
    memduel_idle();
  } else if (strcmp(verb, "nophase") == 0) {
    memduel_phase(NULL);
  } else if (strcmp(verb, "clock") == 0) {
    print_clock();
  } else if (strcmp(verb, "free") == 0) {
    free_last();
  } else if (strcmp(verb, "wait") == 0) {
    while (wait(NULL) > 0) {
    }
  } else {
    return 0;
  }
  return 1;
}

static void play_rounds(int count) {
  int round;
  for (round = 1; round <= count; ++round) {
    memduel_round_begin(round);
    memduel_phase("train");
    memduel_phase("upload");
    memduel_round_end(round);
  }
}

static int act_with_number(const char* verb, long number) {
  if (strcmp(verb, "round") == 0) {
    memduel_round_begin((int)number);
  } else if (strcmp(verb, "end") == 0) {
    memduel_round_end((int)number);
  } else if (strcmp(verb, "rounds") == 0) {
    play_rounds((int)number);
  } else if (strcmp(verb, "touch") == 0) {
    touch((size_t)number);
  } else if (strcmp(verb, "sleep") == 0) {
    pause_ms(number);
  } else if (strcmp(verb, "burn") == 0) {
    burn(number);
  } else if (strcmp(verb, "flood") == 0) {
    flood(number);
  } else if (strcmp(verb, "listen") == 0) {
    listen_on((int)number);
  } else if (strcmp(verb, "exit") == 0) {
    exit((int)number);
  } else if (strcmp(verb, "raise") == 0) {
    raise((int)number);
  } else if (strcmp(verb, "ignore") == 0) {
    signal((int)number, SIG_IGN);
  } else {
    return 0;
  }
  return 2;
}

static int act_with_word(const char* verb, const char* word) {
  if (strcmp(verb, "phase") == 0) {
    memduel_phase(word);
  } else if (strcmp(verb, "print") == 0) {
    puts(word);
    fflush(stdout);
  } else if (strcmp(verb, "complain") == 0) {
    fprintf(stderr, "%s\n", word);
  } else if (strcmp(verb, "file") == 0) {
    write_file(word, 1);
  } else if (strcmp(verb, "daemonise") == 0) {
    daemonise(word);
  } else if (strcmp(verb, "background") == 0) {
    go_into_background(word);
  } else if (strcmp(verb, "forktwice") == 0) {
    fork_twice(word);
  } else if (strcmp(verb, "garbage") == 0) {
    send_garbage(word);
  } else {
    return 0;
  }
  return 2;
}

static int act(int count, char** words) {
  int used = act_without_word(words[0]);
  if (used == 0 && count > 1) used = act_with_number(words[0], strtol(words[1], NULL, 10));
  if (used == 0 && count > 1) used = act_with_word(words[0], words[1]);
  if (used == 0 && count > 2 && strcmp(words[0], "gauge") == 0) {
    memduel_gauge(words[1], strtod(words[2], NULL));
    used = 3;
  }
  if (used == 0) {
    fprintf(stderr, "act: \"%s\" is no verb or lacks its words\n", words[0]);
    exit(98);
  }
  return used;
}

int main(int argc, char** argv) {
  int at = 1;
  while (at < argc) {
    if (strcmp(argv[at], "child") == 0 && at + 1 < argc) {
      const int words = atoi(argv[at + 1]);
      at += 2;
      if (fork() == 0) {
        argc = at + words; /* the child does these and ends */
      } else {
        at += words;
      }
      continue;
    }
    at += act(argc - at, argv + at);
  }
  return 0;
}
