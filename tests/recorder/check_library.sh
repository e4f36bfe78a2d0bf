#!/bin/sh
# A preload library must not need what is not there yet when it first runs: a C++ runtime,
# thread-local storage that is allocated on first use, static initialisers, stdio, the allocator.
set -eu
library=$1
failed=0
complain() {
  echo "$library: $*" >&2
  failed=1
}

allowed=' __environ __libc_single_threaded __libc_stack_end _dl_find_object __errno_location __libc_calloc __libc_free __libc_malloc __libc_realloc
 __register_atfork clock_gettime dl_iterate_phdr dladdr dladdr1 dlerror dlopen dlsym environ fstat getauxval getenv
 gnu_get_libc_version memchr memcmp memcpy memmove memset on_exit pthread_key_create
 pthread_setspecific sigaction strcmp strcpy strcspn strlen strncmp strncpy strstr '
for symbol in $(nm -D --undefined-only "$library" | awk '$1 == "U" {print $2}' | sed 's/@.*//'); do
  echo "$allowed" | tr '\n' ' ' | grep -q " $symbol " || complain "undefined symbol $symbol"
done
for needed in $(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p'); do
  case $needed in
    libc.so.6 | ld-linux-x86-64.so.2) ;;
    *) complain "needs $needed" ;;
  esac
done
if readelf -r -W "$library" | grep -E 'DTPMOD|DTPOFF|TLSDESC'; then
  complain "dynamic thread-local storage"
fi
if nm "$library" | grep -E '_GLOBAL__sub_I|__cxa_(atexit|thread_atexit|guard)'; then
  complain "static initialisers or destructors"
fi
tls_bytes=$(readelf -l -W "$library" | awk '$1 == "TLS" {print $6}')
[ $((tls_bytes)) -le 128 ] || complain "$((tls_bytes)) bytes of thread-local storage, at most 128"
exit $failed
