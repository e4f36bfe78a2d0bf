#include "reports/testing/sample_agreement.h"

namespace memduel {
namespace {

constexpr double kSampleMiB = 1024 * 1024;

AgreementAmount own_amount(const char* kind, double mib) {
  AgreementAmount amount;
  amount.kind = kind;
  amount.bytes = mib * kSampleMiB;
  return amount;
}

AgreementAmount amount_beside(const char* kind, double mib, double reference_mib) {
  AgreementAmount amount = own_amount(kind, mib);
  amount.difference_bytes = (mib - reference_mib) * kSampleMiB;
  return amount;
}

AgreementAmount no_amount(const char* kind) {
  AgreementAmount amount;
  amount.kind = kind;
  return amount;
}

TracerView sample_view(const char* tracer, const char* tool, const char* counts) {
  TracerView view;
  view.tracer = tracer;
  view.tool = tool;
  view.counts = counts;
  view.trials = view.images = 1;
  return view;
}

}  // namespace

TracerAgreement sample_agreement(const std::string& arm, const std::string& odd_function) {
  TracerView recorder = sample_view("recorder", "memduel", "requested bytes of every block");
  recorder.besides = "counts mappings apart, 12.0 MiB at most";
  recorder.mapping_peak_bytes = 12 * kSampleMiB;
  recorder.amounts = {own_amount("peak", 100), own_amount("allocated", 400), own_amount("live", 2)};

  TracerView heaptrack =
      sample_view("heaptrack", "heaptrack 1.4.0", "requested bytes of every block");
  heaptrack.besides = "has libc and libstdc++ free their pools at exit";
  heaptrack.amounts = {amount_beside("peak", 100, 100), amount_beside("allocated", 401, 400),
                       amount_beside("live", 1.5, 2)};
  heaptrack.stacks = AgreementStacks{"peak", 2, 2, 2};

  TracerView massif = sample_view("massif", "massif", "requested bytes of every block");
  massif.besides = "valgrind's allocator in place of the program's own allocator";
  massif.amounts = {amount_beside("peak", 99.5, 100), no_amount("allocated"),
                    amount_beside("live", 5, 2)};
  massif.stacks = AgreementStacks{"peak", 2, 1, 1};

  TracerView jemalloc =
      sample_view("jemalloc", "jemalloc", "bytes of size classes, one sample per 512.0 KiB");
  jemalloc.besides = "jemalloc in place of the program's own allocator";
  jemalloc.interval_bytes = kSampleMiB / 2;
  jemalloc.amounts = {no_amount("peak"), amount_beside("allocated", 430, 400),
                      amount_beside("live", 3, 2)};
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    jemalloc.amounts[i].half_width_bytes = 4 * kSampleMiB;
  jemalloc.stacks = AgreementStacks{"allocated", 2, 2, 1};

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
