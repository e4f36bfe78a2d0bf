// Runs the built memduel as a user would, in a directory of its own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace memduel {

/// A directory that goes with the test.
class Workplace {
 public:
  Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace();

  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return root_ / name; }
  /// Writes a file and returns its path.
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path root_;
};

struct Finished {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out;
  std::string err;
  long peak_rss_bytes = 0;  ///< of it, or of the largest process that it waited for
};

/// A memduel that is running; killed with its trials when the test forgets it.
class Running {
 public:
  /// `directory`: where it runs; empty: where the test does.
  Running(const Workplace& place, const std::vector<std::string>& arguments,
          const std::filesystem::path& directory = {});
  /// Another program than memduel, likewise.
  Running(const Workplace& place, const std::string& program,
          const std::vector<std::string>& arguments, const std::filesystem::path& directory = {});
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();

  void signal(int number) const;
  Finished wait();
  /// What it has said so far.
  [[nodiscard]] std::string err() const;

 private:
  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_ = -1;
};

/// memduel with these arguments, its cache inside `place`.
Finished memduel(const Workplace& place, const std::vector<std::string>& arguments,
                 const std::filesystem::path& directory = {});

/// All that memduel reads from a profile, see tests/programs/profile_json.cpp.
nlohmann::json profile_in(const Workplace& place, const std::filesystem::path& profile);

/// Bytes of a kind in stacks of a profile that have `function`, as `export` says with these options
/// more.
double bytes_in(const Workplace& place, const std::filesystem::path& profile,
                const std::string& kind, const std::string& function,
                const std::vector<std::string>& more = {});

/// DIR/results.json. Expects of every role of every trial what the definitions of its metrics say:
/// its peak is the largest of its rounds and of what is outside them, and idle plus what is above.
nlohmann::json results_in(const std::filesystem::path& directory);

/// The row of results.comparisons for one role and metric; null when there is none.
nlohmann::json comparison(const nlohmann::json& results, const std::string& role,
                          const std::string& metric);

/// Whether `holds` comes true before the limit.
bool within(std::chrono::seconds limit, const std::function<bool()>& holds);

/// Processes whose command line holds `text`, without this one.
std::vector<pid_t> processes_with(const std::string& text);

}  // namespace memduel
