# MEMDUEL_STATIC: the tool carries its libraries, so that an archive of it runs wherever there is a glibc of 2.34. Debian has archives
# of all of them but fmt, which is built here from its headers.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
set(OPENSSL_USE_STATIC_LIBS ON)
set(ZLIB_USE_STATIC_LIBS ON)

add_library(memduel_fmt STATIC ${PROJECT_SOURCE_DIR}/util/fmt_library.cpp)
# As Debian's library says it, so that ccache has the same objects for both.
target_compile_definitions(memduel_fmt PUBLIC FMT_SHARED)
add_library(fmt::fmt ALIAS memduel_fmt)

# carry_libraries(<program>...): what is left to find are libc, libm, libgcc_s and the dynamic linker. libgcc as an archive would need
# glibc 2.35, and libstdc++'s 2.36 for one function.
add_library(memduel_arc4random OBJECT ${PROJECT_SOURCE_DIR}/util/arc4random.cpp)
function(carry_libraries)
  foreach(program ${ARGN})
    target_link_libraries(${program} PRIVATE memduel_arc4random)
    target_link_options(${program} PRIVATE -static-libstdc++)
  endforeach()
endfunction()
