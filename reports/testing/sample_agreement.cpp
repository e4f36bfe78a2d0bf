#include "reports/testing/sample_agreement.h"

namespace memduel {
namespace {

constexpr double kSampleMiB = 1024 * 1024;

AgreementAmount sample_amount(const char* kind, AgreementOutcome outcome, double mib,
                              double reference_mib) {
  AgreementAmount amount;
  amount.kind = kind;
  amount.outcome = outcome;
  amount.bytes = mib * kSampleMiB;
  if (outcome != AgreementOutcome::reference)
    amount.difference_bytes = (mib - reference_mib) * kSampleMiB;
  return amount;
}

AgreementAmount no_amount(const char* kind, const AgreementReason& why) {
  AgreementAmount amount;
  amount.kind = kind;
  amount.reasons = {why};
  return amount;
}

TracerView sample_view(const char* tracer, const char* tool, const char* counts) {
  TracerView view;
  view.tracer = tracer;
  view.tool = tool;
  view.counts = counts;
  view.besides = "mappings not counted";
  view.trials = view.images = 1;
  return view;
}

}  // namespace

TracerAgreement sample_agreement(const std::string& arm, const std::string& odd_function) {
  using enum AgreementOutcome;
  TracerView recorder = sample_view("recorder", "memduel", "requested bytes of every block");
  recorder.besides = "mappings apart, 12.0 MiB at most";
  recorder.mapping_peak_bytes = 12 * kSampleMiB;
  recorder.amounts = {sample_amount("peak", reference, 100, 0),
                      sample_amount("allocated", reference, 400, 0),
                      sample_amount("live", reference, 2, 0)};

  TracerView heaptrack =
      sample_view("heaptrack", "heaptrack 1.4.0", "requested bytes of every block");
  heaptrack.amounts = {sample_amount("peak", same, 100, 100),
                       sample_amount("allocated", close, 401, 400),
                       sample_amount("live", explained, 1.5, 2)};
  heaptrack.amounts[2].reasons = {{"pools_at_exit",
                                   "heaptrack has libc and libstdc++ free their own pools at exit",
                                   -kSampleMiB, 0}};
  heaptrack.stacks = AgreementStacks{"peak", 2, 2, 2, {}};

  TracerView massif = sample_view("massif", "massif", "requested bytes of every block");
  massif.besides += "; valgrind's allocator in place of the program's own";
  massif.amounts = {sample_amount("peak", explained, 99.5, 100),
                    no_amount("allocated", {"no_allocated", "massif notes what is live", {}, {}}),
                    sample_amount("live", possible, 5, 2)};
  massif.amounts[0].reasons = {
      {"peak_within", "massif notes a new peak only at 1 % more", -kSampleMiB, 0}};
  massif.amounts[2].reasons = {{"not_the_end", "of massif this is its last snapshot", {}, {}}};
  massif.stacks =
      AgreementStacks{"peak", 2, 1, 1, {{"threshold", "1 not found: below its threshold", {}, {}}}};

  TracerView jemalloc =
      sample_view("jemalloc", "jemalloc", "bytes of size classes, one sample per 512.0 KiB");
  jemalloc.besides += "; jemalloc in place of the program's own";
  jemalloc.interval_bytes = kSampleMiB / 2;
  const AgreementReason sampling{"sampling", "jemalloc takes one sample per 512.0 KiB",
                                 -6 * kSampleMiB, 6 * kSampleMiB};
  jemalloc.amounts = {no_amount("peak", {"no_peak", "jemalloc has no peak", {}, {}}),
                      sample_amount("allocated", unexplained, 430, 400),
                      sample_amount("live", explained, 3, 2)};
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    jemalloc.amounts[i].half_width_bytes = 4 * kSampleMiB;
    jemalloc.amounts[i].reasons = {sampling};
  }
  jemalloc.stacks = AgreementStacks{"allocated", 2, 2, 1, {}};

  const std::vector<std::string> clone = {"main", "serve()", "clone(State)",
                                          "std::vector<float>::vector(unsigned long)"};
  const std::vector<std::string> odd = {"main", odd_function};
  const double mib = kSampleMiB;
  return {arm,
          "server",
          "recorder",
          {recorder, heaptrack, massif, jemalloc},
          {{"peak",
            clone,
            90 * mib,
            {{"heaptrack", 90 * mib, 90 * mib}, {"massif", 90 * mib, 95 * mib}}},
           {"peak", odd, 0.5 * mib, {{"heaptrack", 0.5 * mib, 0.5 * mib}}},
           {"allocated", clone, 300 * mib, {{"jemalloc", 330 * mib, 300 * mib}}}}};
}

}  // namespace memduel
