// The pages of the report and of a flame graph, and how their data are thinned, packed and
// embedded.

#include "reports/pages.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "escape.h"
#include "html_page.h"
#include "model/metric_catalogue.h"
#include "model_json.h"
#include "templates/viewer.h"
#include "util/error.h"
#include "util/process.h"

namespace memduel {

namespace {

/// Raw deflate (RFC 1951) that ends with a whole byte, so that another piece may follow.
std::string deflated(std::string_view piece, bool is_last) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw Error(ExitCode::io, "zlib could not be started");
  constexpr std::size_t kMarkerOfFlush = 16;
  std::string packed(deflateBound(&stream, piece.size()) + kMarkerOfFlush, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  stream.avail_in = static_cast<uInt>(piece.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, is_last ? Z_FINISH : Z_SYNC_FLUSH);
  const bool is_whole = stream.avail_in == 0 && stream.avail_out > 0;
  packed.resize(packed.size() - stream.avail_out);
  packed.shrink_to_fit();  // pieces of a large page are in memory at once
  deflateEnd(&stream);
  if (!is_whole) throw Error(ExitCode::io, "the report's data could not be compressed");
  return packed;
}

void add_word(std::string& bytes, std::uint32_t word) {
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(word >> shift & 0xff);
}

}  // namespace

std::string gzip(std::string_view bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::vector<std::string> pieces(std::max<std::size_t>(1, (bytes.size() + kPiece - 1) / kPiece));
  run_parallel(pieces.size(), [&](std::size_t i) {
    pieces[i] = deflated(bytes.substr(i * kPiece, kPiece), i + 1 == pieces.size());
  });
  std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);  // deflate, made on Unix
  for (const std::string& piece : pieces) packed += piece;
  add_word(packed, static_cast<std::uint32_t>(
                       crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size())));
  add_word(packed, static_cast<std::uint32_t>(bytes.size()));  // modulo 2^32
  return packed;
}

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(length));
  return out;
}

std::string sha256(std::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

std::string render_page(const Page& page) {
  const std::string policy = fmt::format(
      "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; "
      "base-uri 'none'; form-action 'none'",
      base64(sha256(page.script)), base64(sha256(page.style)));
  std::string attachments;
  for (const PageAttachment& one : page.attachments)
    attachments += fmt::format("<script type=\"text/plain\" id=\"{}\">{}</script>\n",
                               escape_markup(one.id), one.packed);
  return fmt::format(
      R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="memduel">
<title>{title} · memduel</title>
<style>{style}</style>
{attachments}</head>
<body>
<noscript>This report draws itself with the script it contains; please allow scripts.</noscript>
<script type="text/plain" id="memduel-data">{data}</script>
<script>{script}</script>
</body>
</html>
)",
      fmt::arg("policy", policy), fmt::arg("title", escape_markup(page.title)),
      fmt::arg("style", page.style), fmt::arg("data", base64(page.packed_data)),
      fmt::arg("attachments", attachments), fmt::arg("script", page.script));
}

namespace {

std::string packed_model(const ReportModel& model) {
  std::string data;
  write_report_model(model, [&](std::string_view text) { data += text; });
  return gzip(data);
}

}  // namespace

std::string render_html(const ReportModel& model) {
  Page page{document_of(model).title, packed_model(model), viewer_script(), viewer_style()};
  for (std::size_t i = 0; i < model.flames.shown.size(); ++i)
    page.attachments.push_back({flame_id(i), model.flames.shown[i].packed});
  return render_page(page);
}

std::string render_flame_page(const std::string& title, const std::string& data) {
  return render_page({title + " · flame graph", gzip(data), flame_script(), flame_style()});
}

namespace {

std::size_t values_in(const RoundData& round) {
  std::size_t values = round.metrics.size();
  for (const PhaseData& phase : round.phases) values += phase.metrics.size();
  return values;
}

template <class Visit>
void each_round(const Results& results, Visit visit) {
  for (const TrialData& trial : results.trials)
    for (const RoleData& role : trial.roles)
      for (const RoundData& round : role.rounds) visit(round);
}

/// Resident memory at its peak of all roles and trials together, by round.
std::map<int, double> peaks_by_round(const Results& results) {
  std::map<int, double> peaks;
  const MetricName peak(kPeakRss);
  each_round(results, [&](const RoundData& round) {
    peaks[round.round] += round.metrics.value(peak).value_or(0);
  });
  return peaks;
}

std::set<int> largest_of_each(const std::map<int, double>& peaks, int step) {
  std::set<int> kept = {peaks.begin()->first, peaks.rbegin()->first};
  auto largest = peaks.begin();
  for (auto peak = peaks.begin(); peak != peaks.end(); ++peak) {
    if (peak->first / step != largest->first / step) {
      kept.insert(largest->first);
      largest = peak;
    } else if (peak->second > largest->second) {
      largest = peak;
    }
  }
  kept.insert(largest->first);
  return kept;
}

}  // namespace

int thin_rounds(Results& results, std::size_t most_values) {
  std::size_t values = 0;
  each_round(results, [&](const RoundData& round) { values += values_in(round); });
  if (values <= most_values) return 1;
  const auto step = static_cast<int>((values + most_values - 1) / most_values);
  const std::set<int> kept = largest_of_each(peaks_by_round(results), step);
  for (TrialData& trial : results.trials) {
    for (RoleData& role : trial.roles) {
      std::vector<RoundData> left;  // not by edit(), which would copy those that others share first
      std::ranges::copy_if(role.rounds, std::back_inserter(left),
                           [&](const RoundData& round) { return kept.contains(round.round); });
      role.rounds = std::move(left);
    }
  }
  return step;
}

}  // namespace memduel
