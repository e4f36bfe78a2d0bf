// A worker of a data loader as a process, forked as PyTorch's are: it shares the samples with its
// parent until one of them writes, and makes batches that the parent reads.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace memduel {

class LoaderProcess {
 public:
  /// The bytes of the batch of these samples. Runs in the process alone.
  using Make = std::function<std::string(const std::vector<std::size_t>& samples)>;

  /// Forks: call while no other thread runs that the process would need. Throws
  /// Error(cannot_measure) where no process can be made.
  explicit LoaderProcess(const Make& make);
  LoaderProcess(LoaderProcess&& other) noexcept;
  LoaderProcess(const LoaderProcess&) = delete;
  LoaderProcess& operator=(const LoaderProcess&) = delete;
  LoaderProcess& operator=(LoaderProcess&&) = delete;
  /// Ends the process and waits for it.
  ~LoaderProcess();

  /// Asks for a batch; it is made while the parent does something else. One that is not read yet
  /// lives in the process.
  void ask(const std::vector<std::size_t>& samples) const;

  /// The bytes of the batch that was asked for first. Throws Error(cannot_measure) where the
  /// process has ended.
  [[nodiscard]] std::string answer() const;

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace memduel
