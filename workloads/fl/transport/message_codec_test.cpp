#include "message_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view bytes) {
  try {
    decode_message(bytes, "client-1");
  } catch (const Error& error) {
    return error.message();
  }
  return "accepted";
}

TEST(MessageCodec, RoundTrips) {
  const Header header{"client-7", Status::done, R"({"loss":0.5})"};
  const std::string bytes = encode_message(header, "payload");
  const DecodedMessage decoded = decode_message(bytes, "x");
  EXPECT_EQ(decoded.header.client_id, header.client_id);
  EXPECT_EQ(decoded.header.status, header.status);
  EXPECT_EQ(decoded.header.metadata, header.metadata);
  EXPECT_EQ(bytes.substr(decoded.payload_offset, decoded.payload_size), "payload");
}

// By hand: field 1 length-delimited is tag 0x0a, field 3 is 0x1a, field 2 is 0x12.
TEST(MessageCodec, IsProtobufsWireFormat) {
  EXPECT_EQ(encode_message({"ab", Status::run, "m"}, "xyz"), std::string("\x0a\x04\x0a\x02"
                                                                         "ab\x1a\x01m\x12\x03xyz"));
  EXPECT_EQ(encode_message({"", Status::error, ""}, ""), std::string("\x0a\x02\x08\x02"));
  EXPECT_EQ(data_buffer_prefix(300), std::string("\x0a\xac\x02"));
}

TEST(MessageCodec, PrefixIsRecognisedOnlyWhenComplete) {
  const std::string bytes = encode_message({"client-1", Status::run, "meta"}, "payload");
  const std::size_t offset = decode_message(bytes, "x").payload_offset;
  for (std::size_t size = 0; size < offset; ++size)
    EXPECT_FALSE(decode_prefix(std::string_view(bytes).substr(0, size), "x")) << size;
  const auto prefix = decode_prefix(std::string_view(bytes).substr(0, offset), "x");
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->payload_offset, offset);
  EXPECT_EQ(prefix->payload_size, 7U);
}

TEST(MessageCodec, EveryTruncationIsRefused) {
  const std::string bytes = encode_message({"client-1", Status::run, "meta"}, "payload");
  // Cut between two fields, what is left is a message without the later ones.
  const std::size_t before_metadata = encode_message({"client-1", Status::run, ""}, "").size();
  const std::size_t before_payload = encode_message({"client-1", Status::run, "meta"}, "").size();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    if (size == before_metadata || size == before_payload) continue;
    EXPECT_THAT(refusal(std::string_view(bytes).substr(0, size)), HasSubstr("client-1")) << size;
  }
}

TEST(MessageCodec, ImpossibleLengthsAreRefused) {
  EXPECT_THAT(refusal("\x12\x7f"), HasSubstr("claims 127 bytes, 0 are left"));
  EXPECT_THAT(refusal(std::string(12, '\xff')), HasSubstr("more than ten bytes"));
}

TEST(MessageCodec, UnknownFieldsAndStatusAreRefused) {
  EXPECT_THAT(refusal(std::string("\x22\x01x")), HasSubstr("unknown field 4"));
  EXPECT_THAT(refusal(std::string("\x0a\x02\x08\x04")), HasSubstr("unknown status 4"));
}

TEST(DataBuffer, FindsItsData) {
  const std::string bytes = data_buffer_prefix(5) + "hello";
  const DataRange range = find_data(bytes, bytes.size(), "x");
  EXPECT_EQ(bytes.substr(range.offset, range.size), "hello");
}

TEST(DataBuffer, LengthThatDoesNotMatchIsRefused) {
  EXPECT_THROW(find_data(data_buffer_prefix(5) + "hell", 6, "x"), Error);
  EXPECT_THROW(find_data("\x12\x01x", 3, "x"), Error);
}

}  // namespace
}  // namespace memduel
