#include "support/memduel_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "util/file.h"

namespace memduel {

namespace fs = std::filesystem;

Workplace::Workplace() {
  std::string name = (fs::temp_directory_path() / "memduel-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "mkdtemp " << name;
  root_ = name;
  // Also for a memduel that another program of the test starts.
  ::setenv("XDG_STATE_HOME", path("state").c_str(), 1);
}

Workplace::~Workplace() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::string Workplace::file(const std::string& name, const std::string& text) const {
  write_file_atomically(path(name), text);
  return path(name).string();
}

Running::Running(const Workplace& place, const std::vector<std::string>& arguments,
                 const fs::path& directory)
    : Running(place, MEMDUEL_PROGRAM, arguments, directory) {}

Running::Running(const Workplace& place, const std::string& program,
                 const std::vector<std::string>& arguments, const fs::path& directory)
    : out_(place.path("stdout")), err_(place.path("stderr")) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> variables = {"XDG_CACHE_HOME=" + place.path("cache").string(),
                                        "XDG_STATE_HOME=" + place.path("state").string()};
  for (char** at = environ; *at != nullptr; ++at) variables.emplace_back(*at);
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out_.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err_.c_str(), kFlags, 0600);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&files, directory.c_str());
  if (::posix_spawn(&pid_, argv[0], &files, nullptr, argv.data(), environment.data()) != 0)
    ADD_FAILURE() << "cannot start " << argv[0];
  posix_spawn_file_actions_destroy(&files);
}

Running::~Running() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Running::signal(int number) const {
  ::kill(pid_, number);
}

Finished Running::wait() {
  int status = 0;
  rusage used{};
  ::wait4(pid_, &status, 0, &used);
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out_),
          read_file(err_), used.ru_maxrss * 1024};
}

std::string Running::err() const {
  return fs::exists(err_) ? read_file(err_) : "";
}

Finished memduel(const Workplace& place, const std::vector<std::string>& arguments,
                 const fs::path& directory) {
  return Running(place, arguments, directory).wait();
}

double bytes_in(const Workplace& place, const fs::path& profile, const std::string& kind,
                const std::string& function, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"export", profile.string(), "--format",
                                    "folded", "--kind",         kind};
  words.insert(words.end(), more.begin(), more.end());
  const Finished run = memduel(place, words);
  EXPECT_EQ(run.status, 0) << run.err;
  std::istringstream lines(run.out);
  double bytes = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.find(function) != std::string::npos) bytes += std::stod(line.substr(line.rfind(' ')));
  return bytes;
}

nlohmann::json profile_in(const Workplace& place, const fs::path& profile) {
  const fs::path program =
      fs::path(MEMDUEL_PROGRAM).parent_path() / "../tests/memduel-profile-json";
  const Finished printed = Running(place, program, {profile.string()}).wait();
  EXPECT_EQ(printed.status, 0) << printed.err;
  return nlohmann::json::parse(printed.out);
}

namespace {

void expect_peak_of_parts(const nlohmann::json& role) {
  const nlohmann::json& metrics = role.at("metrics");
  if (!metrics.contains("peak_rss_bytes")) return;
  const double peak = metrics.at("peak_rss_bytes");
  double largest = 0;
  for (const auto& round : role.at("rounds"))
    largest = std::max(largest, round.at("metrics").value("peak_rss_bytes", 0.0));
  for (const auto& part : role.value("outside_rounds", nlohmann::json::array()))
    largest = std::max(largest, part.at("peak_rss_bytes").get<double>());
  EXPECT_EQ(peak, largest) << role;
  if (!metrics.contains("idle_rss_bytes")) return;
  EXPECT_EQ(peak, metrics.at("idle_rss_bytes").get<double>() +
                      metrics.at("peak_rss_above_idle_bytes").get<double>())
      << role;
}

}  // namespace

nlohmann::json results_in(const fs::path& directory) {
  nlohmann::json results = nlohmann::json::parse(read_file(directory / "results.json"));
  for (const auto& trial : results.at("trials"))
    for (const auto& role : trial.at("roles")) expect_peak_of_parts(role);
  return results;
}

nlohmann::json comparison(const nlohmann::json& results, const std::string& role,
                          const std::string& metric) {
  for (const auto& row : results.at("comparisons"))
    if (row.at("role") == role && row.at("metric") == metric) return row;
  return nullptr;
}

std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t pid = std::stoi(name);
    if (pid == ::getpid()) continue;
    try {
      if (read_file(entry.path() / "cmdline").find(text) != std::string::npos) found.push_back(pid);
    } catch (const std::exception&) {  // it ended meanwhile
    }
  }
  return found;
}

bool within(std::chrono::seconds limit, const std::function<bool()>& holds) {
  const auto last = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > last) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace memduel
