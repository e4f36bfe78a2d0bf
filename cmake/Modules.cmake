# A module is a folder with one static library memduel_<name>. Its public headers are in include/<name>/ there, and modules that link it include them as
# "<name>/file.h". All other headers are private: the folder itself is on no include path but the module's own. It links only what it names.
set(MEMDUEL_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)

# compile_together(<target>...): what files have in common, headers and instances of templates, is most of what compiling them costs, so
# several are compiled at once; they share their unnamed namespaces.
set(MEMDUEL_FILES_AT_ONCE 96 CACHE STRING "How many files are compiled as one: with fewer, a change to one file is compiled sooner and the whole later")
function(compile_together)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${MEMDUEL_FILES_AT_ONCE}
    UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
endfunction()

# The options of COLD modules. They mostly wait for other processes or run once over a few thousand values. GCC compiles them at -O1 in three quarters of
# the time that -O2 takes; CONTRIBUTING.md has the cost at run time.
set(MEMDUEL_COLD $<$<CONFIG:Release>:-O1>)

# A private folder is searched for "file.h" alone: <spawn.h> stays the system's.
function(see_private_headers target)
  foreach(folder ${ARGN})
    target_compile_options(${target} PRIVATE "SHELL:-iquote ${folder}")
  endforeach()
endfunction()

# memduel_module(<name> SOURCES <files> [LINK <targets>] [APART] [COLD]). APART: its files have the same names for different
# things, or are linked one by one into programs of others. COLD: see MEMDUEL_COLD.
function(memduel_module name)
  cmake_parse_arguments(MODULE "APART;COLD" "" "SOURCES;LINK" ${ARGN})
  add_library(memduel_${name} STATIC ${MODULE_SOURCES})
  if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include)
    target_include_directories(memduel_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
  endif()
  see_private_headers(memduel_${name} ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_options(memduel_${name} PRIVATE ${MEMDUEL_WARNINGS})
  target_link_libraries(memduel_${name} PUBLIC ${MODULE_LINK})
  if(MODULE_COLD)
    target_compile_options(memduel_${name} PRIVATE ${MEMDUEL_COLD})
  endif()
  if(NOT MODULE_APART)
    compile_together(memduel_${name})
  endif()
endfunction()

# memduel_program(<name> SOURCES <files> [LINK <targets>] [OF <folders>] [COLD]). OF: modules whose private headers it sees, from the root.
function(memduel_program name)
  cmake_parse_arguments(PROGRAM "COLD" "" "SOURCES;LINK;OF" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  list(TRANSFORM PROGRAM_OF PREPEND ${memduel_SOURCE_DIR}/)
  see_private_headers(${name} ${CMAKE_CURRENT_SOURCE_DIR} ${PROGRAM_OF})
  target_compile_options(${name} PRIVATE ${MEMDUEL_WARNINGS})
  target_link_libraries(${name} PRIVATE ${PROGRAM_LINK})
  if(PROGRAM_COLD)
    target_compile_options(${name} PRIVATE ${MEMDUEL_COLD})
  endif()
endfunction()

# Test programs run briefly, so they are not optimized. gRPC brings -pthread, which a precompiled header must have as well.
set(MEMDUEL_TEST_OPTIONS -O0 -pthread)

# memduel_test(<name> SOURCES <files> [LINK <targets>] [OF <folders>] [DEFINITIONS <macros>] [LABELS <labels>] [TIMEOUT <s>] [COST <s>] [TORCH] [ALONE]
# [ONE_THREAD]): a GoogleTest program that CTest runs as one test. Its cases are in tests/cases/<name>.xml of the build directory, which
# scripts/test_cases.py reads. COST: how long it takes; CTest starts the longest first. ALONE: no other test runs beside it. A worker-only build has
# no tests.
function(memduel_test name)
  if(MEMDUEL_WORKER_ONLY)
    return()
  endif()
  cmake_parse_arguments(TEST "ALONE;TORCH;ONE_THREAD" "COST;TIMEOUT" "SOURCES;LINK;OF;DEFINITIONS;LABELS" ${ARGN})
  memduel_program(${name} SOURCES ${TEST_SOURCES} OF ${TEST_OF} LINK ${TEST_LINK} GTest::gmock GTest::gtest)
  target_compile_definitions(${name} PRIVATE ${TEST_DEFINITIONS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${memduel_BINARY_DIR}/tests)
  compile_together(${name})
  target_compile_options(${name} PRIVATE ${MEMDUEL_TEST_OPTIONS})
  if(NOT MEMDUEL_TESTS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    return()
  endif()
  if(MEMDUEL_FUZZ)  # which builds memduel_fuzz_targets only
    return()
  endif()
  target_link_libraries(${name} PRIVATE memduel_test_main)
  # TORCH: it includes LibTorch's headers, which workloads/ precompiles for tests with -fPIC.
  if(TEST_TORCH)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
    target_precompile_headers(${name} REUSE_FROM memduel_torch_test_headers)
  elseif(NOT TEST_SOURCES MATCHES "[.]c(;|$)")
    target_precompile_headers(${name} REUSE_FROM memduel_test_main)
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 900)
  endif()
  if(NOT TEST_COST)
    set(TEST_COST 0)
  endif()
  if(NOT TEST_LABELS)
    set(TEST_LABELS unit)
  endif()
  # ONE_THREAD: LibTorch's threads wait for each other at every operator, which takes minutes where the cores are busy.
  set(threads)
  if(TEST_ONE_THREAD)
    set(threads OMP_NUM_THREADS=1)
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 --gtest_output=xml:${memduel_BINARY_DIR}/tests/cases/${name}.xml)
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT} COST ${TEST_COST} ENVIRONMENT "${threads}"
    SKIP_RETURN_CODE 77 RUN_SERIAL ${TEST_ALONE})
endfunction()

# Everything that the fuzz preset builds.
add_custom_target(memduel_fuzz_targets)

# memduel_fuzz(<name> SOURCES <files> [LINK <targets>] [DEFINITIONS <macros>] [CORPUS <dir>]): a libFuzzer target. In the fuzz preset CTest runs it for
# a bounded time, always from the same seed, so that a failure can be reproduced. In other presets fuzz_corpus_test runs it over its corpus.
function(memduel_fuzz name)
  cmake_parse_arguments(FUZZ "" "CORPUS" "SOURCES;LINK;DEFINITIONS" ${ARGN})
  if(MEMDUEL_FUZZ)
    memduel_program(${name} SOURCES ${FUZZ_SOURCES} LINK ${FUZZ_LINK})
    target_compile_definitions(${name} PRIVATE ${FUZZ_DEFINITIONS})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${memduel_BINARY_DIR}/fuzz)
    add_dependencies(memduel_fuzz_targets ${name})
    set(corpus ${memduel_BINARY_DIR}/fuzz/${name}.corpus)
    file(MAKE_DIRECTORY ${corpus})
    add_test(NAME ${name} COMMAND ${name} -seed=1 -max_total_time=20 -rss_limit_mb=2048 -timeout=10 ${corpus} ${FUZZ_CORPUS})
    set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 120)
  elseif(MEMDUEL_TESTS AND FUZZ_CORPUS AND NOT MEMDUEL_WORKER_ONLY)
    memduel_module(${name} SOURCES ${FUZZ_SOURCES} LINK ${FUZZ_LINK})
    target_compile_definitions(memduel_${name} PRIVATE LLVMFuzzerTestOneInput=${name} ${FUZZ_DEFINITIONS})
    set_property(GLOBAL APPEND PROPERTY memduel_corpora "${name}=${FUZZ_CORPUS}")
  endif()
endfunction()
