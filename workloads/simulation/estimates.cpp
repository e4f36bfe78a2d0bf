#include "workloads/simulation/estimates.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace memduel {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;
constexpr int kStatesPerClient = 4;
constexpr double kUsableShare = 0.6;

struct PublishedEstimate {
  const char* model;
  ClientEstimate estimate;
};

constexpr PublishedEstimate kPublished[] = {{"csfl-cnn", {50 * kMiB, 200 * kMiB}},
                                            {"csfl-light-cnn", {75 * kMiB, 300 * kMiB}},
                                            {"resnet18", {125 * kMiB, 500 * kMiB}}};

struct RecommendedRow {
  std::int64_t device_bytes;
  RecommendedSettings settings;
};

constexpr RecommendedRow kRecommended[] = {{16 * kGiB, {500, 1000, 50, 100, 8, std::nullopt}},
                                           {12 * kGiB, {200, 500, 20, 50, 6, 300}},
                                           {8 * kGiB, {100, 200, 10, 20, 4, 200}},
                                           {4 * kGiB, {50, 100, 5, 10, 2, 100}}};

}  // namespace

std::optional<ClientEstimate> published_estimate(const std::string& model) {
  for (const PublishedEstimate& one : kPublished)
    if (model == one.model) return one.estimate;
  return std::nullopt;
}

std::int64_t formula_client_bytes(std::int64_t state_bytes) {
  return kStatesPerClient * state_bytes;
}

std::optional<RecommendedSettings> recommended_settings(std::int64_t device_bytes) {
  for (const RecommendedRow& row : kRecommended)
    if (device_bytes >= row.device_bytes) return row.settings;
  return std::nullopt;
}

int parallel_clients(int requested, std::int64_t state_bytes, std::int64_t available_bytes,
                     int most) {
  const std::int64_t each = std::max<std::int64_t>(formula_client_bytes(state_bytes), 1);
  const auto usable =
      static_cast<std::int64_t>(kUsableShare * static_cast<double>(available_bytes));
  const std::int64_t fitting = usable / each;
  if (requested == -1)
    return static_cast<int>(std::clamp<std::int64_t>(fitting, 1, std::max(most, 1)));
  if (requested > 1 && requested > fitting)
    throw Error(ExitCode::usage,
                fmt::format("found {}, expected at most {}: {} × {} states × {} = {}, and {:.0f} % "
                            "of the {} that are available is {}",
                            requested, std::max<std::int64_t>(fitting, 1), requested,
                            kStatesPerClient, format_bytes(static_cast<double>(state_bytes)),
                            format_bytes(static_cast<double>(requested * each)), 100 * kUsableShare,
                            format_bytes(static_cast<double>(available_bytes)),
                            format_bytes(static_cast<double>(usable))),
                "workload.parallel_clients", "-1 takes as many as fit");
  return std::max(requested, 1);
}

}  // namespace memduel
