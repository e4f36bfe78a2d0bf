// What a worker-only build says in the place of the libraries that it lacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "eeg_recording.h"
#include "gzip.h"
#include "transport/compressed_codec.h"
#include "util/error.h"

namespace memduel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(WorkerOnly, AGzippedFileIsRefusedByNameWithTheWayToUnpackIt) {
  try {
    gunzip("\x1f\x8b", "images.gz", 100);
    FAIL() << "unpacked";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_THAT(error.message(),
                AllOf(HasSubstr("images.gz"), HasSubstr("without zlib"), HasSubstr("gunzip -k")));
  }
}

TEST(WorkerOnly, AnEdfFileIsRefusedByNameWithTheWayAround) {
  try {
    read_edf("night.edf");
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_THAT(error.message(), AllOf(HasSubstr("night.edf"), HasSubstr("without EDFlib"),
                                       HasSubstr("synthetic-eeg")));
  }
}

TEST(WorkerOnly, CompressorsAreSaidToBeMissingAndRefuseToWork) {
  EXPECT_FALSE(has_compressors());
  EXPECT_THROW(compress_tensor({}, "", std::nullopt), Error);
  EXPECT_THROW(decode_compressed("", "client-1"), Error);
}

}  // namespace
}  // namespace memduel
