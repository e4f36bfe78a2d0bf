// Functions of every shape that a name can get lost in: namespaces, classes, lambdas, templates,
// chains of inlined calls, local classes, one that never inlines. What it computes does not matter.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#define ALWAYS inline __attribute__((always_inline))
#define NEVER __attribute__((noinline))

namespace app {

struct Part {
  std::string name;
  std::vector<int> values;
};

namespace {

ALWAYS void* take(std::size_t bytes) {
  return std::malloc(bytes);
}
ALWAYS void* take_two(std::size_t bytes) {
  std::free(take(bytes));
  return take(bytes + 1);
}

NEVER int hidden(int n) {
  void* p = take_two(static_cast<std::size_t>(n) + 16);
  const int odd = static_cast<int>(reinterpret_cast<std::size_t>(p) & 1);
  std::free(p);
  return odd;
}

}  // namespace

inline namespace v1 {
template <class T>
NEVER T sum(const std::vector<T>& values) {
  T total{};
  for (const T& value : values) total += value;
  return total;
}
}  // namespace v1

class Pool {
 public:
  explicit Pool(int n) {
    for (int i = 0; i < n; ++i) grow(i);
  }
  NEVER int total() const;
  ALWAYS void grow(int i) {
    parts_.push_back(std::make_unique<Part>(Part{std::to_string(i), {i, i + 1}}));
  }
  struct Inner {
    static NEVER int depth(int n) { return n <= 0 ? hidden(n) : depth(n - 1) + hidden(n); }
  };

 private:
  std::vector<std::unique_ptr<Part>> parts_;
};

int Pool::total() const {
  int all = 0;
  const auto add = [&all](const Part& part) {
    all += sum(part.values) + hidden(static_cast<int>(part.name.size()));
  };
  for (const auto& part : parts_) add(*part);
  return all;
}

template <int N>
struct Ladder {
  static ALWAYS int climb(int n) { return Ladder<N - 1>::climb(n + N) + hidden(N); }
};
template <>
struct Ladder<0> {
  static ALWAYS int climb(int n) { return hidden(n); }
};

NEVER int call(const std::function<int(int)>& function, int n) {
  return function(n);
}

NEVER int local_class(int n) {
  struct Counter {
    int at = 0;
    NEVER int next() { return ++at + hidden(at); }
  };
  Counter counter;
  int all = 0;
  for (int i = 0; i < n; ++i) all += counter.next();
  return all;
}

}  // namespace app

extern "C" NEVER int plain_c(int n) {
  return app::hidden(n) + n;
}

static NEVER int file_local(int n) {
  return plain_c(n) + app::Ladder<3>::climb(n);
}

int main(int argc, char**) {
  const app::Pool pool(argc + 3);
  int all = pool.total() + app::Pool::Inner::depth(3) + app::local_class(2) + file_local(argc);
  all += app::call([argc](int n) { return n + app::hidden(argc); }, 4);
  std::printf("%d\n", all > 0);
  return 0;
}
