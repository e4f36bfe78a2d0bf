// The pages of the report and of a flame graph, and how their data are thinned, packed and
// embedded.

#include "reports/pages.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
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

namespace memduel {

Gzip::Gzip() {
  constexpr int kGzipWrapper = 16;
  if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipWrapper, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ExitCode::io, "zlib could not be started");
}

Gzip::~Gzip() {
  deflateEnd(&stream_);
}

void Gzip::write(std::string_view bytes) {
  // zlib counts in 32 bits.
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPiece);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    deflate_all(Z_NO_FLUSH);
    bytes.remove_prefix(piece.size());
  }
}

std::string Gzip::finish() {
  deflate_all(Z_FINISH);
  return std::move(packed_);
}

void Gzip::deflate_all(int flush) {
  std::array<char, std::size_t{1} << 16> buffer{};
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(buffer.size());
    if (deflate(&stream_, flush) == Z_STREAM_ERROR)
      throw Error(ExitCode::io, "the report's data could not be compressed");
    packed_.append(buffer.data(), buffer.size() - stream_.avail_out);
  } while (stream_.avail_out == 0);
}

std::string gzip(std::string_view bytes) {
  Gzip packed;
  packed.write(bytes);
  return packed.finish();
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

std::string render_html(const ReportModel& model) {
  Gzip data;
  write_report_model(model, [&](std::string_view text) { data.write(text); });
  Page page{document_of(model).title, data.finish(), viewer_script(), viewer_style()};
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
  each_round(results, [&](const RoundData& round) {
    peaks[round.round] += round.metrics.value(kPeakRss).value_or(0);
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
