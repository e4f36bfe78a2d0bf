// Any bytes as any file of a process: no crash, and what is found keeps what the reader says of it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "memory/kernel_files.h"
#include "memory/proc_files.h"

namespace {

using namespace memduel;

void expect(bool holds) {
  if (!holds) std::abort();
}

void check_memory(std::string_view text) {
  const ProcessMemory memory = parse_status(text).value_or(ProcessMemory{});
  expect(memory.rss == sized_field(text, "VmRSS"));
  expect(memory.peak_rss == sized_field(text, "VmHWM"));
  expect(memory.rss_anon == sized_field(text, "RssAnon"));
  expect(memory.rss_file == sized_field(text, "RssFile"));
  expect(memory.rss_shmem == sized_field(text, "RssShmem"));
  expect(memory.swapped == sized_field(text, "VmSwap"));
  if (const auto pss = parse_pss(text)) expect(*pss >= 0 && *pss % 1024 == 0);
  if (const auto pages = parse_statm(text))
    expect(pages->anonymous() >= 0 && pages->anonymous() <= pages->resident);
}

void check_arguments(std::string_view text) {
  std::string joined;
  for (const std::string& argument : parse_arguments(text)) joined += argument + '\0';
  while (joined.ends_with('\0')) joined.pop_back();
  while (text.ends_with('\0')) text.remove_suffix(1);
  expect(joined == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto line = parse_process_line(text)) {
    expect(text.find(std::string(") ") + line->state + " ") != std::string_view::npos);
    if (line->faults) expect(line->faults->minor >= 0 && line->faults->major >= 0);
  }
  check_memory(text);
  check_arguments(text);
  if (const auto range = parse_maps_line(text))
    expect(range->begin < range->end && text.ends_with(range->path));
  if (const auto value = parse_variable(text, "MEMDUEL_TRIAL"))
    expect(text.find("MEMDUEL_TRIAL=" + *value) != std::string_view::npos);
  for (const pid_t pid : parse_pids(text)) expect(pid > 0);
  parse_last_pid(text);
  return 0;
}
