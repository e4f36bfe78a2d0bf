#include "can_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "test_recorded_drive.h"
#include "util/error.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<CanFrame> parsed(const std::string& text) {
  std::vector<CanFrame> frames;
  parse_can_log(text, "log", [&](const CanFrame& frame) { frames.push_back(frame); });
  return frames;
}

std::string log_refusal(const std::string& text) {
  try {
    parsed(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    return error.message();
  }
  return "accepted";
}

TEST(CanLog, ReadsCandump) {
  const auto frames = parsed(
      "(1701998281.317190) can0 200#0003C000C000C000\n"
      "(1701998281.318232) vcan1 18DB33F1#0102 T\r\n"
      "\n"
      "(1701998281.5) can0 7DF#R\n");
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(
      frames[0],
      (CanFrame{
          1701998281317190, 0x200, 8, false, {0x00, 0x03, 0xc0, 0x00, 0xc0, 0x00, 0xc0, 0x00}}));
  EXPECT_EQ(frames[1], (CanFrame{1701998281318232, 0x18db33f1, 2, false, {1, 2}}));
  EXPECT_EQ(frames[2], (CanFrame{1701998281500000, 0x7df, 0, false, {}}));
}

// Rows as the data set's DoS and gear files have them: the width follows the length.
TEST(CanLog, ReadsHcrlCsvOfVaryingWidth) {
  const auto frames = parsed(
      "1478198376.389427,0316,8,05,21,68,09,21,21,00,6f,R\n"
      "1478198376.389636,05f0,2,01,00,R\n"
      "1478198376.389864,0000,8,00,00,00,00,00,00,00,00,T\n"
      "1478198376.390000,043f,0,R\n");
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_EQ(
      frames[0],
      (CanFrame{
          1478198376389427, 0x316, 8, false, {0x05, 0x21, 0x68, 0x09, 0x21, 0x21, 0x00, 0x6f}}));
  EXPECT_EQ(frames[1], (CanFrame{1478198376389636, 0x5f0, 2, false, {1, 0}}));
  EXPECT_EQ(frames[2], (CanFrame{1478198376389864, 0, 8, true, {}}));
  EXPECT_EQ(frames[3], (CanFrame{1478198376390000, 0x43f, 0, false, {}}));
}

TEST(CanLog, ReadsHcrlAttackFreeText) {
  const auto frames = parsed(
      "Timestamp: 1479121434.850202        ID: 0350    000    DLC: 8    05 28 84 66 6d 00 00 a2\n"
      "Timestamp: 1479121434.850423        ID: 02c0    100    DLC: 0\n");
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(
      frames[0],
      (CanFrame{
          1479121434850202, 0x350, 8, false, {0x05, 0x28, 0x84, 0x66, 0x6d, 0x00, 0x00, 0xa2}}));
  EXPECT_EQ(frames[1], (CanFrame{1479121434850423, 0x2c0, 0, false, {}}));
}

struct BadLine {
  const char* text;
  const char* what;
};

class BadCanLog : public testing::TestWithParam<BadLine> {};

TEST_P(BadCanLog, NamesFileLineFoundAndExpected) {
  EXPECT_THAT(log_refusal(GetParam().text), AllOf(HasSubstr("log: "), HasSubstr(GetParam().what)));
}

INSTANTIATE_TEST_SUITE_P(
    CanLog, BadCanLog,
    testing::Values(
        BadLine{"time,id,data,attack\n", "found \"time,id,data,attack\""},
        BadLine{"(1.0) can0 200#00\n(1.0) can0 20G#00\n",
                "line 2: expected a hexadecimal identifier up to 1fffffff, found \"20G\""},
        BadLine{"(1.0) can0 20000000#00\n", "found \"20000000\""},
        BadLine{"(1.0) can0 200#001\n", "expected two hexadecimal digits, found \"1\""},
        BadLine{"(1.0) can0 200#001122334455667788\n", "expected at most 16 data digits, found 18"},
        BadLine{"(1.0) can0 200##00011\n", "CAN FD"},
        BadLine{"(1.0) can0 200#00 X\n", "expected the end of the line, found \"X\""},
        BadLine{"(1.0000001) can0 200#00\n", "expected seconds with at most six decimals"},
        BadLine{"(-1.0) can0 200#00\n", "expected seconds"},
        BadLine{"(99999999999999999999.0) can0 200#00\n", "expected seconds"},
        BadLine{"(1.0) can0 200#R9\n", "expected a length from 0 to 8, found \"9\""},
        BadLine{"(1.0)\n", "expected the name of the bus after the time, found none"},
        BadLine{"\n\n1.0,0316,8,05,21,68,R\n",
                "line 3: expected 8 bytes according to the length, found 3"},
        BadLine{"1.0,0316,2,05,21,68,R\n", "expected the flag R or T after 2 bytes, found \"68\""},
        BadLine{"1.0,0316,9,05,R\n", "expected a length from 0 to 8, found \"9\""},
        BadLine{"1.0,0316,1,5,R\n", "expected two hexadecimal digits, found \"5\""},
        BadLine{"1.0,0316,1,05,R,R\n", "expected the end of the line, found \"R\""},
        BadLine{"1.0,0316,1,05\n", "expected the flag R or T"},
        BadLine{"1.0,0316\n", "expected a length from 0 to 8, found \"\""},
        BadLine{"Timestamp: 1.0 ID: 0350 000 DLC: 2 05\n",
                "expected 2 bytes according to the length, found 1"},
        BadLine{"Timestamp: 1.0 ID: 0350 000 DLC: 1 05 06\n",
                "expected the end of the line, found \"06\""},
        BadLine{"(2.5) can0 200#00\n(2.5) can0 201#00\n\n(2.499999) can0 200#00\n",
                "line 4: expected a time of at least 2.500000, that of the frame before, found "
                "2.499999"},
        BadLine{"1478198376.5,0316,1,05,R\n1478198375.5,0316,1,05,T\n",
                "line 2: expected a time of at least 1478198376.500000, that of the frame before"},
        BadLine{"Timestamp: 1.0 IX: 0350\n", "expected \"ID:\""}));

TEST(CanLog, OfAnEmptyFileThereIsNothing) {
  EXPECT_TRUE(parsed("").empty());
  EXPECT_TRUE(parsed("\n\r\n").empty());
}

// Counted with awk: 74,642 lines, 34 identifiers, five lengths, from .317190 to 55.109170 s later.
TEST_F(RecordedDrive, IsReadWhole) {
  const std::vector<CanFrame>& frames = drive();
  ASSERT_EQ(frames.size(), 74642U);
  EXPECT_EQ(frames.front().time_us, 1701998281317190);
  EXPECT_EQ(frames.back().time_us, 1701998336426360);
  std::map<int, int> lengths;
  std::map<std::uint32_t, int> ids;
  for (const CanFrame& frame : frames) {
    ++lengths[frame.length];
    ++ids[frame.id];
    EXPECT_FALSE(frame.attack);
  }
  EXPECT_EQ(ids.size(), 34U);
  EXPECT_THAT(lengths, ElementsAre(Pair(1, 552), Pair(2, 2760), Pair(6, 2761), Pair(7, 17106),
                                   Pair(8, 51463)));
}

}  // namespace
}  // namespace memduel
