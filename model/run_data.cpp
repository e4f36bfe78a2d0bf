// The metrics of a round by name, and the directions that a run's config and programs declare.

#include "model/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

namespace memduel {
namespace {

/// The one copy of a name. Threads of meters and of the supervisor make metrics.
const std::string* kept(std::string_view name) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;
  const std::lock_guard lock(mutex);
  const auto found = names.find(name);
  return found != names.end() ? &*found : &*names.emplace(name).first;
}

}  // namespace

MetricName::MetricName(std::string_view name) : kept_(kept(name)) {}

Metrics::Metrics(std::initializer_list<std::pair<std::string_view, double>> values) {
  for (const auto& [name, value] : values) emplace(name, value);
}

Metrics::Metrics(const std::vector<MetricName>& names, const std::vector<double>& values) {
  entries_.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) entries_.push_back({names[i].kept_, values[i]});
}

std::size_t Metrics::place_of(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      entries_, name, {}, [](const Entry& entry) { return std::string_view(*entry.name); });
  return static_cast<std::size_t>(found - entries_.begin());
}

bool Metrics::is_at(std::size_t place, std::string_view name) const {
  return place < entries_.size() && *entries_[place].name == name;
}

Metrics::const_iterator Metrics::find(std::string_view name) const {
  const std::size_t place = place_of(name);
  return is_at(place, name) ? const_iterator(entries_.begin() + static_cast<std::ptrdiff_t>(place))
                            : end();
}

Metrics::iterator Metrics::find(std::string_view name) {
  const std::size_t place = place_of(name);
  return is_at(place, name) ? iterator(entries_.begin() + static_cast<std::ptrdiff_t>(place))
                            : end();
}

bool Metrics::contains(std::string_view name) const {
  return is_at(place_of(name), name);
}

std::optional<double> Metrics::value(std::string_view name) const {
  const std::size_t place = place_of(name);
  return is_at(place, name) ? std::optional(entries_[place].value) : std::nullopt;
}

std::optional<double> Metrics::value(MetricName name) const {
  const auto found = std::ranges::find(entries_, name.kept_, &Entry::name);
  return found == entries_.end() ? std::nullopt : std::optional(found->value);
}

double Metrics::at(std::string_view name) const {
  const std::size_t place = place_of(name);
  if (!is_at(place, name)) throw std::out_of_range("no metric " + std::string(name));
  return entries_[place].value;
}

double& Metrics::operator[](std::string_view name) {
  return emplace(name, 0).first->second;
}

void Metrics::assign(MetricName name, double value) {
  if (entries_.empty() || *entries_.back().name < *name.kept_)
    entries_.push_back({name.kept_, value});
  else
    (*this)[*name.kept_] = value;
}

std::pair<Metrics::iterator, bool> Metrics::emplace(std::string_view name, double value) {
  const std::size_t place = place_of(name);
  const bool is_new = !is_at(place, name);
  const auto at = static_cast<std::ptrdiff_t>(place);
  if (is_new) entries_.insert(entries_.begin() + at, {kept(name), value});
  return {iterator(entries_.begin() + at), is_new};
}

std::size_t Metrics::erase(std::string_view name) {
  const std::size_t place = place_of(name);
  if (!is_at(place, name)) return 0;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(place));
  return 1;
}

bool operator==(const Metrics& a, const Metrics& b) {
  return std::equal(a.entries_.begin(), a.entries_.end(), b.entries_.begin(), b.entries_.end(),
                    [](const Metrics::Entry& one, const Metrics::Entry& other) {
                      return one.name == other.name && one.value == other.value;
                    });
}

namespace {

using Declared = std::map<std::string, std::set<Direction>>;

Declared all_declarations(const RunData& run) {
  Declared all;
  for (const auto& [metric, better] : run.job.better)
    if (better != Direction::undeclared) all[metric].insert(better);
  for (const TrialData& trial : run.trials)
    for (const RoleData& role : trial.roles)
      for (const DeclaredDirection& one : role.declared) all[one.metric].insert(one.better);
  return all;
}

Note contradicts_the_table(const std::string& metric, Direction better) {
  return {"metric_direction_contradicts",
          fmt::format("the program declares that {} is better for {}, but {} is better for "
                      "memduel's metric of that name, which takes precedence",
                      better == Direction::lower ? "lower" : "higher", metric,
                      better == Direction::lower ? "higher" : "lower"),
          "rename the program's metric"};
}

Note contradict_each_other(const std::string& metric) {
  return {"metric_direction_contradicts",
          fmt::format("both \"higher\" and \"lower\" are declared as better for {}, so both "
                      "are ignored",
                      metric),
          "declare the same direction in the config, the log pattern and every program"};
}

}  // namespace

std::vector<Note> join_declarations(JobFacts& job, const JobFacts& other) {
  std::vector<Note> warnings;
  for (const auto& [metric, better] : other.better) {
    const auto [own, is_new] = job.better.emplace(metric, better);
    if (is_new || own->second == better || better == Direction::undeclared) continue;
    if (own->second != Direction::undeclared) warnings.push_back(contradict_each_other(metric));
    own->second = own->second == Direction::undeclared ? better : Direction::undeclared;
  }
  return warnings;
}

void join_declarations(RunData& run) {
  for (const auto& [metric, directions] : all_declarations(run)) {
    if (const Direction own = metric_info(metric).better; own != Direction::undeclared) {
      for (const Direction better : directions)
        if (better != own) run.warnings.push_back(contradicts_the_table(metric, better));
    } else if (directions.size() > 1) {
      run.warnings.push_back(contradict_each_other(metric));
      run.job.better[metric] = Direction::undeclared;
    } else {
      run.job.better[metric] = *directions.begin();
    }
  }
}

}  // namespace memduel
