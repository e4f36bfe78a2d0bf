# A room is one static library named memduel_<name> that sees the repository root, so that includes
# read "room/file.h", and links only what it names.
set(MEMDUEL_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)

# compile_together(<target>...): what files have in common, headers and instances of templates, is most of what compiling them costs, so
# several are compiled at once; they share their unnamed namespaces.
set(MEMDUEL_FILES_AT_ONCE 24 CACHE STRING "How many files are compiled as one: with fewer, a change to one file is compiled sooner and the whole later")
function(compile_together)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${MEMDUEL_FILES_AT_ONCE}
    UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
endfunction()

# memduel_room(<name> SOURCES <files> [LINK <targets>] [APART]). APART: its files have the same names for different
# things, or are linked one by one into programs of others.
function(memduel_room name)
  cmake_parse_arguments(ROOM "APART" "" "SOURCES;LINK" ${ARGN})
  add_library(memduel_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(memduel_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_options(memduel_${name} PRIVATE ${MEMDUEL_WARNINGS})
  target_link_libraries(memduel_${name} PUBLIC ${ROOM_LINK})
  if(NOT ROOM_APART)
    compile_together(memduel_${name})
  endif()
endfunction()

# memduel_program(<name> SOURCES <files> [LINK <targets>])
function(memduel_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${MEMDUEL_WARNINGS})
  target_link_libraries(${name} PRIVATE ${PROGRAM_LINK})
endfunction()

# memduel_test(<name> SOURCES <files> [LINK <targets>] [DEFINITIONS <macros>] [LABELS <labels>] [TIMEOUT <s>] [OPTIMIZED] [ALONE] [ONE_THREAD]): a
# GoogleTest program whose cases are CTest tests named <name>.<Suite>.<Case>. A worker-only build has none.
function(memduel_test name)
  if(MEMDUEL_WORKER_ONLY)
    return()
  endif()
  cmake_parse_arguments(TEST "ALONE;OPTIMIZED;ONE_THREAD" "TIMEOUT" "SOURCES;LINK;DEFINITIONS;LABELS" ${ARGN})
  memduel_program(${name} SOURCES ${TEST_SOURCES} LINK ${TEST_LINK} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ${TEST_DEFINITIONS})
  # OPTIMIZED: as the rooms are, for tests that share a precompiled header with one.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  compile_together(${name})
  if(NOT TEST_OPTIMIZED)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(NOT MEMDUEL_TESTS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    return()
  endif()
  if(MEMDUEL_FUZZ)  # which builds memduel_fuzz_targets only
    return()
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
  endif()
  if(NOT TEST_LABELS)
    set(TEST_LABELS unit)
  endif()
  # ALONE: beside no other test, of what every memduel on the machine looks at.
  if(TEST_ALONE)
    set(alone RUN_SERIAL TRUE)
  endif()
  # ONE_THREAD: LibTorch's threads wait for each other at every operator, which takes minutes where the cores are busy.
  if(TEST_ONE_THREAD)
    set(threads ENVIRONMENT "OMP_NUM_THREADS=1")
  endif()
  gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT} ${alone} ${threads})
endfunction()

# Everything that the fuzz preset builds.
add_custom_target(memduel_fuzz_targets)

# memduel_fuzz(<name> SOURCES <files> [LINK <targets>] [CORPUS <dir>]): a libFuzzer target, run for a
# bounded time by CTest in the fuzz preset, always from the same seed: a failure comes again.
function(memduel_fuzz name)
  if(NOT MEMDUEL_FUZZ)
    return()
  endif()
  cmake_parse_arguments(FUZZ "" "CORPUS" "SOURCES;LINK" ${ARGN})
  memduel_program(${name} SOURCES ${FUZZ_SOURCES} LINK ${FUZZ_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  add_dependencies(memduel_fuzz_targets ${name})
  set(corpus ${PROJECT_BINARY_DIR}/fuzz/${name}.corpus)
  file(MAKE_DIRECTORY ${corpus})
  add_test(NAME ${name} COMMAND ${name} -seed=1 -max_total_time=20 -rss_limit_mb=2048 -timeout=10 ${corpus} ${FUZZ_CORPUS})
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()
