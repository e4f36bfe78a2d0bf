// Random trees: nothing that the rules keep is ever lost, nothing else stays.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "checkpoint_name.h"
#include "test_checkpoint_files.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// What the test itself wrote, so that it need not read names.
struct Written {
  std::string directory;
  double kappa = 0;
  double days = 0;
};

struct RandomTree {
  std::map<std::string, Written> checkpoints;  ///< by path
  std::set<std::string> others;                ///< links, unknown files, checkpoints without kappa
};

const std::vector<std::string>& directories() {
  static const std::vector<std::string> all = {"", "a/", "a/b/", "c/"};
  return all;
}

const std::vector<double>& kappas() {
  static const std::vector<double> all = {
      0, 0.125, 0.25, 0.375, -0.5, std::nan(""), std::numeric_limits<double>::infinity()};
  return all;
}

/// Few different values and ages, so that there are many ties.
void put_checkpoint(const fs::path& root, int number, RandomTree& tree) {
  const Written written{*rc::gen::elementOf(directories()), *rc::gen::elementOf(kappas()),
                        *rc::gen::inRange(0, 6) * 3.0};
  const bool in_sidecar = *rc::gen::arbitrary<bool>() && std::isfinite(written.kappa);
  const std::string name = in_sidecar ? "model" + std::to_string(number) + ".pth"
                                      : make_checkpoint_name({number, {{"kappa", written.kappa}}});
  put_aged(root / (written.directory + name), written.days);
  if (in_sidecar)
    write_file_atomically(root / (written.directory + name + ".json"),
                          "{\"kappa\": " + std::to_string(written.kappa) + "}");
  tree.checkpoints[written.directory + name] = written;
}

void put_other(const fs::path& root, const fs::path& outside, int number, RandomTree& tree) {
  const std::string directory = *rc::gen::elementOf(directories());
  const std::string name = "epoch" + std::to_string(1000 + number) + "_kappa_0.01.pth";
  const std::string path = directory + name;
  fs::create_directories((root / path).parent_path());
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      fs::create_symlink(outside / "epoch1_kappa_0.1.pth", root / path);
      tree.others.insert(path);
      break;
    case 1:
      fs::create_directory_symlink(outside, root / path);
      tree.others.insert(path);
      break;
    case 2:
      put_aged(root / (path + ".bak"), 100);
      tree.others.insert(path + ".bak");
      break;
    default: {
      const std::string lacking = directory + "epoch" + std::to_string(number) + "_acc_0.5.pth";
      put_aged(root / lacking, 100);
      tree.others.insert(lacking);
    }
  }
}

RandomTree make_tree(const fs::path& root, const fs::path& outside) {
  RandomTree tree;
  const int checkpoints = *rc::gen::inRange(1, 25);
  for (int i = 0; i < checkpoints; ++i) put_checkpoint(root, i, tree);
  const int others = *rc::gen::inRange(0, 6);
  for (int i = 0; i < others; ++i) put_other(root, outside, i, tree);
  return tree;
}

RetentionRules make_rules() {
  return {"kappa", *rc::gen::element(Better::highest, Better::lowest),
          *rc::gen::inRange<std::size_t>(1, 6), static_cast<double>(*rc::gen::inRange(0, 18)),
          *rc::gen::element(Ranking::by_metric, Ranking::by_age)};
}

/// The more the better; what is not finite is worse than all that is.
double worth(const Written& one, const RetentionRules& rules) {
  if (rules.ranking == Ranking::by_age) return -one.days;
  if (!std::isfinite(one.kappa)) return -std::numeric_limits<double>::infinity();
  return rules.better == Better::highest ? one.kappa : -one.kappa;
}

/// How many of the directory's checkpoints that are still there are at least as good.
std::size_t survivors_as_good(const RandomTree& tree, const std::set<std::string>& there,
                              const Written& than, const RetentionRules& rules) {
  std::size_t count = 0;
  for (const auto& [path, one] : tree.checkpoints)
    if (one.directory == than.directory && worth(one, rules) >= worth(than, rules) &&
        there.contains(path))
      ++count;
  return count;
}

bool newer_survives(const RandomTree& tree, const std::set<std::string>& there,
                    const Written& than) {
  for (const auto& [path, one] : tree.checkpoints)
    if (one.directory == than.directory && one.days <= than.days && there.contains(path))
      return true;
  return false;
}

/// By age the newest stay and nothing else does, however new.
bool is_too_new(const Written& one, const RetentionRules& rules) {
  return rules.ranking == Ranking::by_metric && one.days <= rules.older_than_days;
}

/// Whether a rule may be what keeps it; of ties, any of them.
bool may_stay(const RandomTree& tree, const Written& one, const RetentionRules& rules) {
  std::size_t better = 0;
  bool newest = true;
  for (const auto& [path, other] : tree.checkpoints) {
    if (other.directory != one.directory) continue;
    if (worth(other, rules) > worth(one, rules)) ++better;
    if (other.days < one.days) newest = false;
  }
  return better < rules.keep_best || newest || is_too_new(one, rules);
}

TEST(PruneProperty, RandomTreesNeverLoseWhatTheRulesKeep) {
  EXPECT_TRUE(rc::check([] {
    const ScratchDirectory inside(testing::TempDir(), "inside");
    const ScratchDirectory outside(testing::TempDir(), "outside");
    put_aged(outside.path() / "epoch1_kappa_0.1.pth", 100);
    put_aged(outside.path() / "epoch2_kappa_0.2.pth", 100);
    const RandomTree tree = make_tree(inside.path(), outside.path());
    const RetentionRules rules = make_rules();

    const Pruned pruned = prune_now(inside.path(), rules);

    RC_ASSERT(pruned.failures.empty());
    RC_ASSERT(files_below(outside.path()).size() == 2U);
    const std::vector<std::string> files = files_below(inside.path());
    const std::set<std::string> there(files.begin(), files.end());
    for (const std::string& path : tree.others) RC_ASSERT(there.contains(path));
    std::size_t gone = 0;
    for (const auto& [path, one] : tree.checkpoints) {
      if (there.contains(path)) {
        RC_ASSERT(may_stay(tree, one, rules));
        continue;
      }
      ++gone;
      RC_ASSERT(!is_too_new(one, rules));
      RC_ASSERT(survivors_as_good(tree, there, one, rules) >= rules.keep_best);
      RC_ASSERT(newer_survives(tree, there, one));
      RC_ASSERT(!there.contains(path + ".json"));
    }
    RC_ASSERT(gone == pruned.removed.size());
  }));
}

}  // namespace
}  // namespace memduel
