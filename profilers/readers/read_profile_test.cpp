// What every format has in common: recognised by content, and a clear word for what is none.
#include "readers/read_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "exact_heap.h"
#include "profile/outputs.h"
#include "stack_builder.h"
#include "test_golden_files.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace testing_golden;

struct Golden {
  const char* file;
  const char* format;
};

constexpr Golden kGolden[] = {
    {"heaptrack.gz", "heaptrack"},
    {"heaptrack.raw.zst", "heaptrack"},
    {"heaptrack.folded", "folded stacks"},
    {"gperftools.heap", "gperftools heap"},
    {"gperftools-cut.heap.gz", "gperftools heap"},
    {"sampled.heap", "gperftools heap"},
    {"jemalloc.heap", "jemalloc"},
    {"go_heap.pb.gz", "pprof"},
    {"go_cpu.pb.gz", "pprof"},
    {"memray-capture.json", "memray"},
    {"memray-gprof2dot.json", "memray gprof2dot"},
    {"memray-stats.json", "memray stats"},
};

class EveryFormat : public testing::TestWithParam<Golden> {};

TEST_P(EveryFormat, IsRecognisedByItsContentAlone) {
  const PlainSource source(golden_file(GetParam().file));
  std::vector<std::string_view> names;
  for (const ProfileFormat& format : profile_formats()) {
    if (format.recognises(source.head())) names.push_back(format.name);
  }
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.front(), GetParam().format);
}

TEST_P(EveryFormat, CutInHalfIsOneLineWithTheOffset) {
  const std::string bytes = read_file(golden_file(GetParam().file));
  const std::string problem = problem_of(std::string_view(bytes).substr(0, bytes.size() / 2));
  EXPECT_THAT(problem, AllOf(StartsWith("text: byte "), Not(HasSubstr("\n"))));
}

TEST_P(EveryFormat, MakesAPage) {
  const Profile profile = read_golden(GetParam().file);
  EXPECT_NO_THROW(choose_kind(profile, std::nullopt));
  EXPECT_FALSE(profile.info.at("profiler").empty());
}

INSTANTIATE_TEST_SUITE_P(Golden, EveryFormat, testing::ValuesIn(kGolden), [](const auto& entry) {
  std::string name = entry.param.file;
  std::erase_if(name, [](char letter) { return std::isalnum(letter) == 0; });
  return name;
});

TEST(Registry, AnEmptyFileIsOneLineWithTheOffset) {
  EXPECT_EQ(problem_of(""), "text: byte 0: the file is empty");
}

TEST(Registry, AFileOfAnotherKindIsOneLineWithTheOffset) {
  for (const std::string_view text :
       {"Dear reader,\nthis is a letter.\n", "{\"a\": 1}", "\n\n\n"}) {
    EXPECT_THAT(
        problem_of(text),
        AllOf(StartsWith("text: byte 0: no profile of a known format (memduel record, heaptrack"),
              Not(HasSubstr("\n"))));
  }
}

TEST(ProfileTable, HasTheLargestPeakFirstAndADashForWhatATracerDoesNotSay) {
  Profile counted;
  counted.counters = HeapTotals{};
  counted.counters->peak_bytes = 3 << 20;
  counted.counters->live_bytes = 1 << 20;
  counted.counters->allocated_bytes = 8 << 20;
  counted.counters->allocations = 12;
  Profile larger = counted;
  larger.counters->peak_bytes = 5 << 20;
  const std::string table = profile_table(
      {profile_line("small", counted), profile_line("large", larger), profile_line("none", {})});
  const std::vector<std::string> rows = [&] {
    std::vector<std::string> all;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
  }();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_THAT(rows[1], testing::AllOf(testing::StartsWith("large"), HasSubstr("5.00 MiB")));
  EXPECT_THAT(rows[2],
              testing::AllOf(testing::StartsWith("small"), HasSubstr("3.00 MiB"),
                             HasSubstr("1.00 MiB"), HasSubstr("8.00 MiB"), HasSubstr(" 12 ")));
  EXPECT_THAT(rows[3], testing::AllOf(testing::StartsWith("none"), HasSubstr(" - ")));
}

/// What flamegraph and export say of a file without amounts.
std::string nothing_in(const Profile& profile, std::optional<ProfileKind> kind = std::nullopt) {
  try {
    choose_kind(profile, kind, "file");
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

TEST(Recorded, CutIsSaidWithTheFileAndTheByte) {
  const ScratchDirectory place(testing::TempDir(), "cut-mdp");
  const std::string whole = read_file(golden_file("shapes.mdp"));
  const std::filesystem::path file = place.path() / "cut.mdp";
  write_file_atomically(file, whole.substr(0, whole.size() / 2));
  EXPECT_EQ(nothing_in(read_profile(file)),
            "file: the profile has no allocations; recovered 1 of 2 blocks; the file ends inside a "
            "block at byte " +
                std::to_string(whole.size() / 2));
  // After the header and the first block, whose stored size is the third word of its own header.
  std::uint32_t stored = 0;
  std::memcpy(&stored, whole.data() + 16 + 8, sizeof stored);
  write_file_atomically(file, whole.substr(0, 16 + 20 + stored));
  EXPECT_THAT(nothing_in(read_profile(file)), HasSubstr("memduel record did not finish this file"));
  // Without the index, whose header and bytes are the last block.
  write_file_atomically(file, whole.substr(0, whole.rfind(std::string("\x04\0\0\0", 4))));
  EXPECT_THAT(read_profile(file).notes, testing::Contains(HasSubstr("without its index")));
  write_file_atomically(file, "");
  EXPECT_THROW(read_profile(file), Error);
  write_file_atomically(file, whole);
  EXPECT_THAT(read_profile(file).notes, testing::Each(Not(HasSubstr("cut off"))));
}

constexpr const char* kStackOnly = "7ffd0000-7ffe0000 rw-p 00000000 00:00 0 [stack]\n";

TEST(Nothing, IsExplainedByWhatTheProfileIs) {
  const Profile sampled =
      read_text(std::string("heap_v2/16384\n  t*: 0: 0 [0: 0]\nMAPPED_LIBRARIES:\n") + kStackOnly);
  EXPECT_THAT(nothing_in(sampled), AllOf(StartsWith("file: the profile has no allocations\n"),
                                         HasSubstr("memduel record --exact")));
  const Profile exact = read_text(
      std::string("heap profile: 0: 0 [0: 0] @ heapprofile\nMAPPED_LIBRARIES:\n") + kStackOnly);
  EXPECT_EQ(nothing_in(exact, ProfileKind::peak), "file: the profile has no peak allocations");
  Profile time = read_golden("go_cpu.pb.gz");
  time.sites.clear();
  EXPECT_THAT(nothing_in(time), AllOf(StartsWith("file: the profile has no samples\n"),
                                      Not(HasSubstr("--exact")), HasSubstr("run longer")));
}

TEST(Folded, HasWhatHeaptrackPrintWrote) {
  const Profile profile = read_golden("heaptrack.folded");
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).bytes, 72704 + 10000 + 1048576 + 128);
  EXPECT_EQ(bytes_below(profile, ProfileKind::allocated, "leak()"), 10000);
  EXPECT_EQ(problem_of("a;b 1\na;b\n"), "text: byte 6: line 2: expected FRAME;FRAME… NUMBER");
}

std::string many_lines() {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "main;f" + std::to_string(i % 7) + " 1\n";
  return text;
}

TEST(PlainSource, ReadsTheSameLinesFromEveryPacking) {
  const std::string text = many_lines();
  std::string gzipped(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(gzipped.data());
  stream.avail_out = static_cast<uInt>(gzipped.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  gzipped.resize(stream.total_out);
  deflateEnd(&stream);
  std::string zstd(ZSTD_compressBound(text.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 1));
  // Two frames one after the other are one text.
  for (const std::string& bytes : {text + text, gzipped + gzipped, zstd + zstd}) {
    const Profile profile = read_text(bytes);
    EXPECT_EQ(total_of(profile, ProfileKind::allocated).bytes, 400000);
    EXPECT_EQ(profile.sites.size(), 7U);
  }
  EXPECT_THAT(problem_of(zstd.substr(0, zstd.size() - 9)), HasSubstr("the zstd data end early"));
  EXPECT_THAT(problem_of(gzipped.substr(0, gzipped.size() - 1)),
              HasSubstr("the gzip data end early"));
  zstd[zstd.size() / 2] = static_cast<char>(zstd[zstd.size() / 2] ^ 0x55);
  EXPECT_THAT(problem_of(zstd.substr(0, zstd.size() / 4) + std::string(1000, '\xff')),
              HasSubstr("the zstd data"));
}

TEST(NumberMap, FindsWhatStaysWhenOthersAreTaken) {
  NumberMap<std::uint32_t> map;
  for (std::uint64_t key = 0; key < 10000; ++key)
    map.emplace(key * 16, static_cast<std::uint32_t>(key));
  for (std::uint64_t key = 0; key < 10000; key += 2) EXPECT_EQ(map.take(key * 16), key);
  EXPECT_EQ(map.size(), 5000U);
  for (std::uint64_t key = 0; key < 10000; ++key) {
    const auto taken = map.take(key * 16);
    if (key % 2 == 0) {
      EXPECT_FALSE(taken);
    } else {
      EXPECT_EQ(taken, key);
    }
  }
  EXPECT_EQ(map.size(), 0U);
}

TEST(Timeline, KeepsThePeakAndABoundedNumberOfMoments) {
  Timeline timeline;
  for (int i = 0; i < 100000; ++i) {
    ProfileMoment moment;
    moment.at = i;
    moment.bytes = i == 54321 ? 1000 : i % 10;
    timeline.add(moment);
  }
  EXPECT_LE(timeline.moments().size(), 1000U);
  EXPECT_GE(timeline.moments().size(), 500U);
  double most = 0;
  double last = -1;
  for (const ProfileMoment& moment : timeline.moments()) {
    EXPECT_GT(moment.at, last);
    last = moment.at;
    most = std::max(most, moment.bytes);
  }
  EXPECT_EQ(most, 1000);
}

}  // namespace
}  // namespace memduel
