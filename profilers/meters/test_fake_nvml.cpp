// A libnvidia-ml.so.1 for tests: it answers what the environment variable FAKE_NVML says, words
// KEY=VALUE, read anew at every call.
//
//   init, count, handle, memory, memory_v2, processes   the code that the function returns (0)
//   devices      how many GPUs there are (1)
//   used, reserved   bytes of each device (0)
//   pid          PID:BYTES[,PID:BYTES…] of each device; BYTES "-": the driver does not say
//   comm         NAME:BYTES: every process of that name
//   old          1: without nvmlDeviceGetMemoryInfo_v2's structure (code 25)
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "nvml_library.h"

namespace {

using memduel::nvml::Device;
using memduel::nvml::ProcessInfo;

std::string value_of(const std::string& key, const std::string& otherwise) {
  const char* script = std::getenv("FAKE_NVML");
  std::istringstream words(script == nullptr ? "" : script);
  for (std::string word; words >> word;)
    if (word.starts_with(key + "=")) return word.substr(key.size() + 1);
  return otherwise;
}

unsigned long long number(const std::string& key, const std::string& otherwise) {
  return std::stoull(value_of(key, otherwise));
}

int code_of(const std::string& key) {
  return static_cast<int>(number(key, "0"));
}

unsigned long long bytes_from(const std::string& text) {
  return text == "-" ? memduel::nvml::kNotAvailable : std::stoull(text);
}

void list_named(const std::string& name, unsigned long long bytes, std::vector<ProcessInfo>& into) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "comm");
    std::string comm;
    if (std::getline(file, comm) && comm == name)
      into.push_back({static_cast<unsigned int>(std::stoul(pid)), bytes, ~0U, ~0U});
  }
}

std::vector<ProcessInfo> scripted_processes() {
  std::vector<ProcessInfo> all;
  std::istringstream entries(value_of("pid", ""));
  for (std::string entry; std::getline(entries, entry, ',');) {
    const auto colon = entry.find(':');
    all.push_back({static_cast<unsigned int>(std::stoul(entry.substr(0, colon))),
                   bytes_from(entry.substr(colon + 1)), ~0U, ~0U});
  }
  if (const std::string named = value_of("comm", ""); !named.empty()) {
    const auto colon = named.find(':');
    list_named(named.substr(0, colon), bytes_from(named.substr(colon + 1)), all);
  }
  return all;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return code_of("init");
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = static_cast<unsigned int>(number("devices", "1"));
  return code_of("count");
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, Device* device) {
  *device = reinterpret_cast<Device>(static_cast<std::uintptr_t>(index) + 1);
  return code_of("handle");
}
int nvmlDeviceGetName(Device, char* name, unsigned int length) {
  std::snprintf(name, length, "Fake GPU");
  return 0;
}
int nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  std::snprintf(version, length, "1.2.3");
  return 0;
}
int nvmlDeviceGetMemoryInfo(Device, memduel::nvml::Memory* memory) {
  memory->used = number("used", "0") + number("reserved", "0");
  return code_of("memory");
}
int nvmlDeviceGetMemoryInfo_v2(Device, memduel::nvml::MemoryV2* memory) {
  if (number("old", "0") == 1 || memory->version != memduel::nvml::kMemoryV2)
    return memduel::nvml::kArgumentVersionMismatch;
  memory->used = number("used", "0");
  memory->reserved = number("reserved", "0");
  return code_of("memory_v2");
}
int nvmlDeviceGetComputeRunningProcesses_v3(Device, unsigned int* count, ProcessInfo* infos) {
  if (const int code = code_of("processes"); code != 0) return code;
  const std::vector<ProcessInfo> all = scripted_processes();
  const bool fits = all.size() <= *count;
  *count = static_cast<unsigned int>(all.size());
  if (!fits) return memduel::nvml::kInsufficientSize;
  std::ranges::copy(all, infos);
  return 0;
}

}  // extern "C"
