#include "reports/formats/terminal_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "reports/formats/terminal_text.h"
#include "reports/tables/escape.h"
#include "reports/tables/words.h"

namespace memduel {
namespace {

constexpr int kNameColumns = 15;
constexpr int kBytesColumns = 10;
constexpr int kChangeColumns = 9;

std::string bytes_of(const PartPeak& part, std::size_t arm) {
  return right(part.bytes[arm] ? format_bytes(*part.bytes[arm]) : "-", kBytesColumns);
}

std::string table_of(const PartPeaks& peaks, std::size_t arms) {
  std::string out = left(peaks.role, kNameColumns) + right(peaks.arms[0], kBytesColumns);
  for (std::size_t arm = 1; arm < arms; ++arm)
    out += right(peaks.arms[arm], kBytesColumns + kChangeColumns);
  out += "\n";
  for (const PartPeak& part : peaks.parts) {
    out += left(part.name, kNameColumns) + bytes_of(part, 0);
    for (std::size_t arm = 1; arm < arms; ++arm) {
      const auto ratio = part.ratio(arm);
      out += bytes_of(part, arm) +
             right(ratio ? with_minus(format_change(*ratio)) : "", kChangeColumns);
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::string render_parts(const ReportModel& model, const TerminalOptions& options) {
  if (model.part_peaks.empty()) return {};
  std::string out = "\nPeak by part\n";
  const int candidates =
      (options.width - kNameColumns - kBytesColumns) / (kBytesColumns + kChangeColumns);
  std::size_t most = 0;
  for (const PartPeaks& peaks : model.part_peaks) {
    const std::size_t arms =
        std::min<std::size_t>(peaks.arms.size(), 1 + static_cast<std::size_t>(candidates));
    out += table_of(peaks, arms);
    most = std::max(most, peaks.arms.size() - arms);
  }
  out += wrapped(kPartPeaksRemark, 0, options.width);
  if (most > 0) out += fmt::format("{} more arms are in the HTML report.\n", most);
  return out;
}

}  // namespace memduel
