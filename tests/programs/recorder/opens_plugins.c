/* A C program that opens and closes a C++ plugin 50 times. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int failures = 0;
  if (argc < 2) return 2;
  for (int i = 0; i < 50; ++i) {
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 3;
    }
    int (*run)(void);
    *(void**)&run = dlsym(plugin, "plugin_run");
    failures += run();
    dlclose(plugin);
  }
  return failures;
}
