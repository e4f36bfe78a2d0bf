#include "workloads/optimizations/garbage.h"

#include <mutex>

#include "memduel/memory_torch.h"
#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

class NoGarbage final : public Garbage {
 public:
  void hold(const State& /*state*/) override {}
  void drop() override {}
};

class HeldGarbage final : public Garbage {
 public:
  void hold(const State& state) override {
    const std::lock_guard lock(mutex_);
    held_.push_back(state);
  }
  void drop() override {
    const std::lock_guard lock(mutex_);
    held_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<State> held_;
};

using MakeGarbage = std::unique_ptr<Garbage> (*)();

template <class Kind>
std::unique_ptr<Garbage> make_kind() {
  return std::make_unique<Kind>();
}

constexpr Choice<MakeGarbage> kGarbage[] = {{"none", make_kind<NoGarbage>},
                                            {"until_collected", make_kind<HeldGarbage>}};
constexpr Choice<CudaCache> kCudaCache[] = {{"off", CudaCache::kept}, {"on", CudaCache::emptied}};

}  // namespace

std::unique_ptr<Garbage> make_garbage(const std::string& value) {
  return choose("cyclic_garbage", kGarbage, value)();
}

CudaCache choose_cuda_cache(const std::string& value) {
  return choose("cuda_empty_cache", kCudaCache, value);
}

CleanupOptions collection(Garbage& garbage, CudaCache cuda_cache) {
  CleanupOptions options;
  options.drop = [&garbage] { garbage.drop(); };
  if (cuda_cache == CudaCache::emptied) options.device = &torch_cuda();
  return options;
}

}  // namespace memduel
