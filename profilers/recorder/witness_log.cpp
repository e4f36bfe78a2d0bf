#include "recorder/witness_log.h"

#include <algorithm>
#include <charconv>

namespace memduel {
namespace {

/// What a process is after the lines read so far.
struct State {
  std::optional<std::size_t> image;    ///< index of the witnessed image that it is
  std::optional<SilentImage> becomes;  ///< what it has executed since; a start takes it back
};

class WitnessReader {
 public:
  void take(std::string_view line) {
    if (!understand(line)) ++log_.garbage_lines;
  }

  WitnessLog finish() {
    for (const auto& [pid, state] : states_)
      if (state.becomes) log_.silent.push_back(*state.becomes);
    return std::move(log_);
  }

 private:
  bool understand(std::string_view line) {
    const std::string_view word = cut(line, ' ');
    const std::string_view number = line.substr(0, line.find(' '));
    pid_t pid = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), pid);
    if (number.empty() || read.ec != std::errc() || read.ptr != number.data() + number.size() ||
        pid <= 0)
      return false;
    line.remove_prefix(std::min(line.size(), number.size() + 1));
    if (word == "stayed") {
      states_[pid].becomes.reset();
      return line.empty();
    }
    if (word == "start") return start(pid, line);
    if (word == "exec" || word == "spawn") return leave(pid, word == "spawn", line);
    return false;
  }

  bool start(pid_t pid, std::string_view line) {
    if (line.find('\t') == std::string_view::npos) return false;
    const std::string_view provider = cut(line, '\t');
    log_.images.push_back({pid, std::string(provider), std::string(line)});
    states_[pid] = {log_.images.size() - 1, {}};
    return true;
  }

  bool leave(pid_t pid, bool spawned, std::string_view line) {
    const std::string_view fate = cut(line, ' ');
    if (line.empty() || (fate != "kept" && fate != "cleaned")) return false;
    // The child may have spoken before its parent.
    if (spawned && states_.contains(pid)) return true;
    states_[pid].becomes = SilentImage{pid, std::string(line), fate == "cleaned"};
    return true;
  }

  /// What stands before the first `separator`, which goes too.
  static std::string_view cut(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view first = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    return first;
  }

  WitnessLog log_;
  std::map<pid_t, State> states_;
};

}  // namespace

const WitnessedImage* WitnessLog::last_of(pid_t pid) const {
  if (silent_of(pid) != nullptr) return nullptr;
  const auto found = std::find_if(images.rbegin(), images.rend(),
                                  [&](const WitnessedImage& image) { return image.pid == pid; });
  return found == images.rend() ? nullptr : &*found;
}

const SilentImage* WitnessLog::silent_of(pid_t pid) const {
  const auto found = std::find_if(silent.begin(), silent.end(),
                                  [&](const SilentImage& image) { return image.pid == pid; });
  return found == silent.end() ? nullptr : &*found;
}

WitnessLog read_witness_log(std::string_view text) {
  WitnessReader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.take(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return reader.finish();
}

}  // namespace memduel
