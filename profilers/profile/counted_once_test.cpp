// Made-up processes and when they ran; what they have together follows from their parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profile/difference.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::Pointer;

ResidentPart part_of(PageOwner owner, const std::string& name, const std::string& share,
                     double bytes) {
  return {owner, name, share, bytes};
}

/// Adds a part and the site of its owner's name.
void add_part(Profile& profile, const ResidentPart& part) {
  ResidentSnapshot& snapshot = *profile.resident;
  snapshot.parts.push_back(part);
  snapshot.kernel_bytes += part.bytes;
  std::uint32_t node = 0;
  const bool is_file = part.owner == PageOwner::file;
  const std::string root = is_file ? "file:" + part.name : std::string(to_name(part.owner));
  for (const std::string& name : {root, is_file ? std::string() : part.name, part.share}) {
    if (name.empty()) continue;
    ProfileLocation location;
    location.kind = ProfileLocation::Kind::owner;
    location.names.push_back({name, {}, 0});
    profile.locations.push_back(location);
    profile.stacks.push_back({node, static_cast<std::uint32_t>(profile.locations.size() - 1)});
    node = static_cast<std::uint32_t>(profile.stacks.size() - 1);
  }
  AllocationSite site;
  site.stack = node;
  snapshot.sites.emplace_back(static_cast<std::uint32_t>(profile.sites.size()),
                              Estimate{part.bytes, 0, 0, 1});
  profile.sites.push_back(site);
}

/// `end` 0: nothing says when it ended.
Profile process_of(int pid, int parent, int begin, int end,
                   const std::vector<ResidentPart>& parts) {
  Profile profile;
  profile.info = {{"pid", std::to_string(pid)},
                  {"parent_pid", std::to_string(parent)},
                  {"started_ns", std::to_string(begin)}};
  if (end != 0) profile.info["ended_ns"] = std::to_string(end);
  profile.stacks.push_back({});
  profile.resident.emplace();
  profile.resident->time_ns = begin + 1;
  for (const ResidentPart& part : parts) add_part(profile, part);
  return profile;
}

Profile child_of(int parent, int pid, int begin, int end, double copied, double shared) {
  return process_of(pid, parent, begin, end,
                    {part_of(PageOwner::inherited, kOwnCopy, "", copied),
                     part_of(PageOwner::inherited, kSharedWithOthers, "", shared),
                     part_of(PageOwner::file, "libc.so.6", kShared, 5)});
}

double sum_of(const std::vector<std::vector<ResidentPart>>& counted) {
  double sum = 0;
  for (const std::vector<ResidentPart>& parts : counted)
    for (const ResidentPart& part : parts) sum += part.bytes;
  return sum;
}

double sum_of(const std::vector<LiveSites>& counted) {
  double sum = 0;
  for (const LiveSites& sites : counted)
    for (const auto& entry : sites) sum += entry.second.bytes;
  return sum;
}

TEST(CountedOnce, OfAPreforkingServerIsItsParentAndWhatItsChildrenCopied) {
  std::vector<Profile> trial = {process_of(
      1, 0, 1, 100,
      {part_of(PageOwner::live, "", "", 70), part_of(PageOwner::file, "libc.so.6", kShared, 4)})};
  for (int i = 0; i < 8; ++i) trial.push_back(child_of(1, 10 + i, 10 + i, 90, 38, 32));
  const ProfileSide side = {trial};
  const std::vector<const Profile*> processes = snapshots_at_once(side);
  ASSERT_EQ(processes.size(), 9U);
  EXPECT_EQ(sum_of(parts_counted_once(processes)), 70 + 8 * 38 + 5);
  EXPECT_EQ(sum_of(sites_counted_once(processes)), 70 + 8 * 38 + 5);
}

TEST(CountedOnce, OfChildrenWhoseParentHasGoneTheLargestCountsWhatTheyShare) {
  const ProfileSide side = {{child_of(1, 10, 10, 90, 3, 20), child_of(1, 11, 11, 90, 3, 30),
                             child_of(2, 12, 12, 90, 3, 7)}};
  const std::vector<const Profile*> processes = snapshots_at_once(side);
  ASSERT_EQ(processes.size(), 3U);
  EXPECT_EQ(sum_of(parts_counted_once(processes)), 3 * 3 + 30 + 7 + 5);
}

TEST(CountedOnce, ProcessesThatRanInTurnAreNotTogether) {
  const auto part = [](double bytes) { return part_of(PageOwner::live, "", "", bytes); };
  const ProfileSide side = {{process_of(1, 0, 1, 100, {part(1)}),     // the driver
                             process_of(2, 1, 10, 50, {part(100)}),   // the compiler
                             process_of(3, 1, 50, 90, {part(60)})}};  // the assembler
  EXPECT_THAT(snapshots_at_once(side), ElementsAre(Pointer(&side[0][0]), Pointer(&side[0][1])));
}

TEST(CountedOnce, AProcessThatASignalEndedRanToTheEnd) {
  const auto part = [](double bytes) { return part_of(PageOwner::live, "", "", bytes); };
  ProfileSide side = {{process_of(1, 0, 1, 0, {part(10)}), process_of(2, 1, 50, 90, {part(6)})}};
  EXPECT_EQ(snapshots_at_once(side).size(), 1U) << "an earlier memduel's profile, without its end";
  side[0][0].info["end"] = "abruptly, by a signal";
  EXPECT_EQ(snapshots_at_once(side).size(), 2U);
}

TEST(CountedOnce, OfSeveralTrialsTheLargestCounts) {
  const auto part = [](double bytes) { return part_of(PageOwner::live, "", "", bytes); };
  const ProfileSide side = {
      {process_of(1, 0, 1, 9, {part(10)})}, {}, {process_of(1, 0, 1, 9, {part(12)})}};
  EXPECT_THAT(snapshots_at_once(side), ElementsAre(Pointer(&side[2][0])));
  EXPECT_TRUE(snapshots_at_once({{}}).empty());
}

}  // namespace
}  // namespace memduel
