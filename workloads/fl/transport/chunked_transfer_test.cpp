#include "chunked_transfer.h"

#include <gtest/gtest.h>

#include "test_loop_call.h"
#include "util/error.h"

namespace memduel {
namespace {

std::string alphabet(std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 26);
  return text;
}

std::string read_all_copied(Call& call) {
  std::string all;
  while (const auto piece = read_piece_copied(call)) all += piece->data;
  return all;
}

std::string read_all(PieceReader& reader, std::size_t step) {
  std::string all;
  for (;;) {
    const std::string_view part = reader.read_some(step);
    if (part.empty()) return all;
    all.append(part);
  }
}

TEST(Pieces, CopiedPiecesArriveWholeForEverySizeAroundThePiece) {
  constexpr std::size_t kPiece = 100;
  for (const std::size_t size : {1U, 99U, 100U, 101U, 1000U}) {
    LoopCall call;
    send_pieces_copied(call, alphabet(size), kPiece);
    EXPECT_EQ(call.waiting(), (size + kPiece - 1) / kPiece);
    EXPECT_EQ(read_all_copied(call), alphabet(size));
  }
}

TEST(Pieces, BorrowedSegmentsAreCutAcrossTheirBounds) {
  const std::string text = alphabet(1000);
  const std::string_view all = text;
  // The first in pieces of its own, the others as one row.
  for (const auto& [first, pieces] : {std::pair{111U, 2U + 9U}, {1U, 1U + 10U}, {0U, 10U}}) {
    const std::vector<Segment> segments = {{all.substr(0, first), nullptr},
                                           {all.substr(first, 0), nullptr},
                                           {all.substr(first, 333), nullptr},
                                           {all.substr(first + 333), nullptr}};
    LoopCall call;
    send_pieces_borrowed(call, segments, 100);
    EXPECT_EQ(call.waiting(), pieces) << first;
    EXPECT_EQ(read_all_copied(call), text) << first;
  }
}

// So that a message goes with its last byte, not with the next one's first.
TEST(PieceReader, HoldsNoMessageThatIsReadToItsEnd) {
  LoopCall call;
  send_pieces_copied(call, alphabet(128), 64);
  PieceReader reader(call);
  std::string some(60, ' ');
  reader.read_exactly(some.data(), 60);
  EXPECT_EQ(reader.left_of_message(), 4U);
  reader.read_exactly(some.data(), 4);
  EXPECT_EQ(reader.left_of_message(), 0U);
  reader.read_exactly(some.data(), 1);
  EXPECT_EQ(reader.left_of_message(), 63U);
}

TEST(PieceReader, JoinsDataOverSegmentsAndMessages) {
  for (const std::size_t split : {1U, 3U, 1000U}) {
    LoopCall call(split);
    send_pieces_copied(call, alphabet(500), 64);
    PieceReader reader(call);
    EXPECT_EQ(read_all(reader, 13), alphabet(500));
  }
}

TEST(PieceReader, ReadsExactlyAndSaysHowMuchIsMissing) {
  LoopCall call;
  send_pieces_copied(call, alphabet(100), 64);
  PieceReader reader(call);
  std::string first(70, ' ');
  reader.read_exactly(first.data(), first.size());
  EXPECT_EQ(first, alphabet(100).substr(0, 70));
  std::string rest(31, ' ');
  try {
    reader.read_exactly(rest.data(), rest.size());
    FAIL() << "the end of the stream was not noticed";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("1 bytes early"), std::string::npos) << error.message();
  }
}

TEST(PieceReader, TakesTheRestOfOneMessageOnly) {
  LoopCall call;
  send_pieces_copied(call, "metadata", 64);
  send_pieces_copied(call, "model", 64);
  PieceReader reader(call);
  EXPECT_EQ(reader.read_rest_of_message(), "metadata");
  EXPECT_EQ(read_all(reader, 100), "model");
}

}  // namespace
}  // namespace memduel
