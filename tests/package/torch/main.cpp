// Says what there is to say of the device, as a note of a cleanup.
#include <memduel/annotate.h>
#include <memduel/memory_torch.h>

#include <cstdio>

int main() {
  memduel_idle();
  const memduel::CleanupReport report = memduel::cleanup_memory({.device = &memduel::torch_cuda()});
  std::printf("%s\n", to_string(report).c_str());
}
