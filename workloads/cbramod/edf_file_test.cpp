// On a file of known signals, as EDFbrowser's generator writes them; it lies in the data folder.
#include <edflib.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numbers>

#include "eeg_recording.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Two steps of the file's 16 bits over 2,000 microvolts: its writer cut to whole steps, twice.
constexpr double kStep = 2 * 2000.0 / 65535;

class EdfFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("MEMDUEL_DATA_DIR");
    if (data == nullptr || !fs::exists(path_ = fs::path(data) / "edf/test_generator.edf"))
      GTEST_SKIP() << "MEMDUEL_DATA_DIR has no edf/test_generator.edf";
  }

  /// The message of the refusal of the file once `change` was at its bytes.
  [[nodiscard]] std::string refusal_after(const std::function<void(std::string&)>& change) const {
    const ScratchDirectory scratch(fs::path(::testing::TempDir()), "edf");
    std::string bytes = read_file(path_);
    change(bytes);
    std::ofstream(scratch.path() / "changed.edf", std::ios::binary) << bytes;
    try {
      read_edf(scratch.path() / "changed.edf");
      return "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::io);
      EXPECT_THAT(error.message(), HasSubstr("changed.edf"));
      return error.message();
    }
  }

  fs::path path_;
};

TEST_F(EdfFile, HasTheSignalsOfItsHeader) {
  const EegRecording recording = read_edf(path_);
  EXPECT_THAT(recording.channels,
              ::testing::ElementsAre("squarewave", "ramp", "pulse", "noise", "sine 1 Hz",
                                     "sine 8 Hz", "sine 8.1777 Hz", "sine 8.5 Hz", "sine 15 Hz",
                                     "sine 17 Hz", "sine 50 Hz"));
  EXPECT_EQ(recording.rate_hz, 200);
  EXPECT_EQ(recording.samples, 600U * 200);
  EXPECT_EQ(recording.values.size(), 11U * 600 * 200);
}

// Sample n of a sine is 100 sin(2 pi f (n + 1) / 200).
TEST_F(EdfFile, SinesAreThoseOfTheClosedForm) {
  const EegRecording recording = read_edf(path_);
  const double hertz[] = {1, 8, 8.1777, 8.5, 15, 17, 50};
  for (std::size_t i = 0; i < 7; ++i) {
    const auto values = recording.channel(4 + i);
    double worst = 0;
    for (std::size_t n = 0; n < values.size(); ++n) {
      const double angle = 2 * std::numbers::pi * hertz[i] * static_cast<double>(n + 1) / 200;
      worst = std::max(worst, std::abs(values[n] - 100 * std::sin(angle)));
    }
    EXPECT_LT(worst, kStep) << hertz[i];
  }
}

// From -100 by one microvolt a sample, each second anew.
TEST_F(EdfFile, TheRampRisesByOneEachSample) {
  const EegRecording recording = read_edf(path_);
  const auto values = recording.channel(1);
  for (std::size_t n = 0; n < values.size(); ++n)
    ASSERT_NEAR(values[n], -100 + static_cast<double>(n % 200), kStep) << n;
}

TEST_F(EdfFile, OneThatIsCutOffIsRefused) {
  for (const std::size_t kept : {std::size_t{0}, std::size_t{100}, std::size_t{256},
                                 std::size_t{3000}, std::size_t{1000000}})
    EXPECT_THAT(refusal_after([&](std::string& bytes) { bytes.resize(kept); }),
                HasSubstr("expected"))
        << kept;
}

TEST_F(EdfFile, OneOfAnotherFormatIsRefused) {
  EXPECT_THAT(refusal_after([](std::string& bytes) { bytes[0] = 'x'; }),
              HasSubstr("expected an EDF or EDF+ file, found a header"));
  EXPECT_THAT(refusal_after([](std::string& bytes) { bytes.replace(252, 4, "12x "); }),
              HasSubstr("expected an EDF or EDF+ file, found a header"));
}

// The eleven counts of samples in a record begin after 256 bytes and 216 for each of 12 signals.
TEST_F(EdfFile, SignalsOfDifferentRatesAreRefused) {
  const std::string refusal = refusal_after(
      [](std::string& bytes) { bytes.replace(256 + 216 * 12, 16, "100     300     "); });
  EXPECT_THAT(refusal,
              HasSubstr("expected 100 Hz as in signal \"squarewave\", found 300 Hz in \"ramp\""));
}

/// The message of the refusal of 60 s of a sine of 100 of ±500 microvolts, of which `samples` from
/// second 10 on are `value`.
std::string refusal_of_sine_with(std::size_t samples, double value) {
  const ScratchDirectory scratch(fs::path(::testing::TempDir()), "edf");
  const fs::path path = scratch.path() / "night.edf";
  const int file =
      edfopen_file_writeonly_with_params(path.c_str(), EDFLIB_FILETYPE_EDFPLUS, 1, 200, 500, "uV");
  edf_set_label(file, 0, "Cz");
  std::vector<double> values(60 * 200);
  for (std::size_t n = 0; n < values.size(); ++n)
    values[n] = 100 * std::sin(2 * std::numbers::pi * 10 * static_cast<double>(n) / 200);
  std::fill_n(values.begin() + 10 * 200, samples, value);
  for (std::size_t second = 0; second < 60; ++second)
    edfwrite_physical_samples(file, values.data() + second * 200);
  edfclose_file(file);
  try {
    read_edf(path);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    return error.message();
  }
}

TEST(ClippedEdfFile, IsRefusedByFileSignalAndSecond) {
  EXPECT_THAT(
      refusal_of_sine_with(40 * 200, 500),
      HasSubstr(
          "night.edf: signal \"Cz\", second 10.000: expected at most 0.1 s at digital 32767, an "
          "end of its range, found 40.000 s: it is clipped"));
  EXPECT_THAT(refusal_of_sine_with(21, -500),
              HasSubstr("at digital -32768, an end of its range, found 0.105 s"));
}

TEST(ClippedEdfFile, ATenthOfASecondAtAnEndIsTaken) {
  EXPECT_EQ(refusal_of_sine_with(20, 500), "accepted");
  EXPECT_EQ(refusal_of_sine_with(40 * 200, 499), "accepted");
}

TEST(MissingEdfFile, IsRefusedByName) {
  try {
    read_edf("/nowhere/night.edf");
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_THAT(error.message(), AllOf(HasSubstr("/nowhere/night.edf"), HasSubstr("no such file")));
  }
}

}  // namespace
}  // namespace memduel
