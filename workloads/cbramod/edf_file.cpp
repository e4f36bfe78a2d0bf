#include <edflib.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "eeg_recording.h"
#include "util/error.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_edf(const fs::path& path, const std::string& what) {
  throw Error(ExitCode::io, what, path.string());
}

const char* reason_of(int code) {
  switch (code) {
    case EDFLIB_NO_SUCH_FILE_OR_DIRECTORY:
      return "no such file, or it may not be read";
    case EDFLIB_FILE_CONTAINS_FORMAT_ERRORS:
      return "expected an EDF or EDF+ file, found a header or a size that no such file has";
    case EDFLIB_FILE_READ_ERROR:
      return "expected a whole EDF file, found one that ends before its header or its records do";
    case EDFLIB_FILE_IS_DISCONTINUOUS:
      return "expected a recording without gaps (EDF+C), found one with gaps (EDF+D)";
    case EDFLIB_FILE_ALREADY_OPENED:
      return "is already open";
    default:
      return "EDFlib cannot open it";
  }
}

/// Open as long as it lives.
class OpenEdf {
 public:
  explicit OpenEdf(const fs::path& path) : header_(std::make_unique<edf_hdr_struct>()) {
    if (edfopen_file_readonly(path.c_str(), header_.get(), EDFLIB_READ_ALL_ANNOTATIONS) != 0)
      refuse_edf(path, reason_of(header_->filetype));
  }
  OpenEdf(const OpenEdf&) = delete;
  OpenEdf& operator=(const OpenEdf&) = delete;
  ~OpenEdf() { edfclose_file(header_->handle); }

  [[nodiscard]] const edf_hdr_struct& header() const { return *header_; }

 private:
  std::unique_ptr<edf_hdr_struct> header_;  // 200 KiB
};

std::string label_of(const edf_param_struct& signal) {
  std::string label = signal.label;  // padded
  label.erase(label.find_last_not_of(' ') + 1);
  return label;
}

double rate_of(const edf_hdr_struct& header, const edf_param_struct& signal) {
  return static_cast<double>(signal.smp_in_datarecord) * EDFLIB_TIME_DIMENSION /
         static_cast<double>(header.datarecord_duration);
}

void expect_one_rate(const edf_hdr_struct& header, const fs::path& path) {
  const edf_param_struct& first = header.signalparam[0];
  for (int i = 1; i < header.edfsignals; ++i) {
    const edf_param_struct& signal = header.signalparam[i];
    if (signal.smp_in_datarecord == first.smp_in_datarecord) continue;
    refuse_edf(path, fmt::format("expected {} Hz as in signal \"{}\", found {} Hz in \"{}\"",
                                 rate_of(header, first), label_of(first), rate_of(header, signal),
                                 label_of(signal)));
  }
}

/// An amplifier at an end of its range measures nothing. A sample or two there may be a signal's
/// own largest value, where a writer fitted the range to it.
constexpr double kLongestAtRail = 0.1;

void expect_within_rails(const edf_hdr_struct& header, int index, const fs::path& path) {
  const edf_param_struct& signal = header.signalparam[index];
  std::vector<int> steps(static_cast<std::size_t>(signal.smp_in_file));
  edfrewind(header.handle, index);
  edfread_digital_samples(header.handle, index, static_cast<int>(steps.size()), steps.data());
  const double rate = rate_of(header, signal);
  const auto most = static_cast<std::ptrdiff_t>(std::max(1.0, std::floor(rate * kLongestAtRail)));
  for (const int rail : {signal.dig_min, signal.dig_max}) {
    const auto begin = std::search_n(steps.begin(), steps.end(), most + 1, rail);
    if (begin == steps.end()) continue;
    const auto end = std::find_if(begin, steps.end(), [&](int step) { return step != rail; });
    refuse_edf(
        path,
        fmt::format("signal \"{}\", second {:.3f}: expected at most {} s at digital {}, an end "
                    "of its range, found {:.3f} s: it is clipped",
                    label_of(signal), static_cast<double>(begin - steps.begin()) / rate,
                    kLongestAtRail, rail, static_cast<double>(end - begin) / rate));
  }
}

std::vector<EegAnnotation> annotations_of(const edf_hdr_struct& header, const fs::path& path) {
  constexpr double kSecond = EDFLIB_TIME_DIMENSION;
  std::vector<EegAnnotation> all;
  for (long long i = 0; i < header.annotations_in_file; ++i) {
    edf_annotation_struct one;
    if (edf_get_annotation(header.handle, static_cast<int>(i), &one) != 0)
      refuse_edf(path, fmt::format("annotation {} of {} cannot be read", i + 1,
                                   header.annotations_in_file));
    // Without a duration it has a negative one.
    const double duration = one.duration_l > 0 ? static_cast<double>(one.duration_l) / kSecond : 0;
    all.push_back({static_cast<double>(one.onset) / kSecond, duration, one.annotation});
  }
  return all;
}

}  // namespace

EegRecording read_edf(const fs::path& path) {
  const OpenEdf file(path);
  const edf_hdr_struct& header = file.header();
  if (header.edfsignals < 1) refuse_edf(path, "expected an EEG signal, found only annotations");
  expect_one_rate(header, path);
  EegRecording recording;
  recording.rate_hz = rate_of(header, header.signalparam[0]);
  recording.samples = static_cast<std::size_t>(header.signalparam[0].smp_in_file);
  recording.values.reserve(recording.samples * static_cast<std::size_t>(header.edfsignals));
  std::vector<double> one(recording.samples);
  for (int i = 0; i < header.edfsignals; ++i) {
    recording.channels.push_back(label_of(header.signalparam[i]));
    const int wanted = static_cast<int>(recording.samples);
    const int read = edfread_physical_samples(header.handle, i, wanted, one.data());
    if (read != wanted)
      refuse_edf(path, fmt::format("expected {} samples of signal \"{}\", found {}", wanted,
                                   recording.channels.back(), read));
    expect_within_rails(header, i, path);
    recording.values.insert(recording.values.end(), one.begin(), one.end());
  }
  recording.annotations = annotations_of(header, path);
  return recording;
}

}  // namespace memduel
