// Allocates where few programs do: in constructors, in thread-local and pthread-key destructors, in
// static destructors, in exit handlers, in a signal handler on its own stack, on a tiny stack.
#include <pthread.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

struct Holder {
  void* block = malloc(3000);
  Holder() = default;
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    free(block);
    void* volatile again = malloc(10);
    free(again);
  }
};

Holder in_static_storage;
thread_local Holder in_thread_storage;
pthread_key_t key;

__attribute__((constructor(102))) void before_main() {
  void* volatile block = malloc(5000);
  free(block);
}

__attribute__((destructor)) void after_main() {
  void* volatile block = malloc(7000);
  free(block);
}

void free_value(void* value) {
  free(value);
  if (std::rand() % 2 == 0) pthread_setspecific(key, malloc(11));
}

void on_signal(int /*number*/) {
  void* volatile block = malloc(123);
  free(block);
}

void in_thread() {
  in_thread_storage.block = realloc(in_thread_storage.block, 4000);
  pthread_setspecific(key, malloc(999));
}

void* on_tiny_stack(void* /*argument*/) {
  void* volatile block = malloc(600'000);
  free(block);
  return nullptr;
}

}  // namespace

int main() {
  pthread_key_create(&key, free_value);
  for (int i = 0; i < 200; ++i) std::thread(in_thread).join();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(PTHREAD_STACK_MIN));
  pthread_t tiny{};
  if (pthread_create(&tiny, &attributes, on_tiny_stack, nullptr) != 0) return 1;
  pthread_join(tiny, nullptr);

  static char signal_stack[64 * 1024];
  stack_t own_stack{};
  own_stack.ss_sp = signal_stack;
  own_stack.ss_size = sizeof signal_stack;
  sigaltstack(&own_stack, nullptr);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 1000; ++i) raise(SIGUSR1);
  atexit([] {
    void* volatile block = malloc(8000);
    free(block);
  });
  return 0;
}
