// What a process says that reads of a mapped file what is no longer there.
#pragma once

#include <signal.h>

#include <cstddef>
#include <span>
#include <string>

namespace memduel {

/// While it lives, SIGBUS for an address in the mapping ends the process with a line on standard
/// error and status ExitCode::io; any other has the effect that it had before. One at a time, for
/// signals are the process's.
class BusErrorLine {
 public:
  BusErrorLine(std::span<const std::byte> mapping, std::string line);
  BusErrorLine(const BusErrorLine&) = delete;
  BusErrorLine& operator=(const BusErrorLine&) = delete;
  ~BusErrorLine();

 private:
  static void say(int signal, siginfo_t* info, void* context);

  static inline const BusErrorLine* current = nullptr;

  std::span<const std::byte> mapping_;
  std::string line_;
  struct sigaction before_{};
};

}  // namespace memduel
