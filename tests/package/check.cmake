# Installs the build, builds examples/memory-policy from what was installed alone, runs it and looks at what it prints.
#   cmake -DBUILD=<build directory> -DSCRATCH=<scratch directory> -DCXX=<compiler> -DFLAGS=<its flags> -DTORCH=<ON when it has a worker> -P check.cmake
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH})
set(prefix ${SCRATCH}/prefix)

function(run output)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(failed)
    message(FATAL_ERROR "${ARGN} failed:\n${text}")
  endif()
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

# Whether `text` has `pattern`, whose group is a number from `least` to `most`.
function(expect_number text pattern least most)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "expected ${pattern} in:\n${text}")
  endif()
  if(CMAKE_MATCH_1 LESS ${least} OR CMAKE_MATCH_1 GREATER ${most})
    message(FATAL_ERROR "found ${CMAKE_MATCH_1}, expected ${least} to ${most} for ${pattern} in:\n${text}")
  endif()
endfunction()

function(build_from_package source name)
  run(ignored ${CMAKE_COMMAND} -S ${source} -B ${SCRATCH}/${name} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${FLAGS} -Wall -Wextra -Wpedantic -Werror")
  run(ignored ${CMAKE_COMMAND} --build ${SCRATCH}/${name})
endfunction()

run(ignored ${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/first)
# A prefix can be moved.
file(RENAME ${SCRATCH}/first ${prefix})
set(memduel ${prefix}/bin/memduel)

# The tool alone, far from its build directory: it records, duels and reports.
run(said ${memduel} record -o ${SCRATCH}/ls.mdp -- ls /)
if(NOT said MATCHES "peak [0-9.]+ [KM]iB")
  message(FATAL_ERROR "expected counters in:\n${said}")
endif()
run(said ${memduel} compare --a "ls /" --b "ls /usr" --repeats 2 --gate "all.peak_rss_bytes<=1GiB" --out ${SCRATCH}/duel)
if(NOT EXISTS ${SCRATCH}/duel/report.html OR NOT said MATCHES "peak_heap_bytes")
  message(FATAL_ERROR "expected a report and heap counters in:\n${said}")
endif()
file(REMOVE ${SCRATCH}/ls.mdp)

# What man and shells get.
find_program(MAN man)
if(MAN)
  run(text ${CMAKE_COMMAND} -E env MANPATH=${prefix}/share/man MANPAGER=cat ${MAN} memduel)
  if(NOT text MATCHES "SYNOPSIS.*EXAMPLES AND EXIT CODES")
    message(FATAL_ERROR "man memduel shows:\n${text}")
  endif()
endif()
file(READ ${prefix}/share/man/man1/memduel.1 text)
foreach(verb run compare record watch report summary flamegraph export explain check doctor)
  if(NOT text MATCHES "[.]SS ${verb}\n")
    message(FATAL_ERROR "the manual page does not name ${verb}")
  endif()
endforeach()
if(NOT text MATCHES "\\.B [^\n]*exact")
  message(FATAL_ERROR "the manual page does not name --exact")
endif()
run(ignored python3 ${CMAKE_CURRENT_LIST_DIR}/completions.py ${prefix})

build_from_package(${prefix}/share/memduel/examples/memory-policy memory-policy)

run(with ${SCRATCH}/memory-policy/memory-policy)
expect_number("${with}" "round 2: light cleanup \\(round\\): glibc trimmed, ([0-9.]+) ms" 0 10000)
expect_number("${with}" "round 4: heavy cleanup \\(round\\): freed ([0-9.]+) MiB \\(RSS" 120 130)
expect_number("${with}" "glibc: grew by (-?[0-9.]+) MiB in 4 rounds" -2 2)
run(without ${SCRATCH}/memory-policy/memory-policy off)
if(without MATCHES "cleanup")
  message(FATAL_ERROR "expected no cleanup in:\n${without}")
endif()
expect_number("${without}" "glibc: grew by (-?[0-9.]+) MiB in 4 rounds" 120 130)

# Programs that count their own heap.
build_from_package(${CMAKE_CURRENT_LIST_DIR}/consumer consumer)
run(said ${SCRATCH}/consumer/window)
expect_number("${said}" "allocations ([0-9]+)," 1 1)
expect_number("${said}" "bytes ([0-9]+)" 100000 100000)
run(said ${SCRATCH}/consumer/pushes --benchmark_min_time=0.01 --benchmark_format=json)
# One of the program, and what the library itself allocates in a run of sixteen.
expect_number("${said}" "\"allocs_per_iter\": ([0-9.e+-]+)" 1 1.2)

set(torch_part ${CMAKE_CURRENT_LIST_DIR}/torch)
if(TORCH)
  build_from_package(${torch_part} torch-part)
  run(said ${SCRATCH}/torch-part/torch-part)
  expect_number("${said}" "glibc trimmed, ([0-9.]+) ms" 0 10000)
else()
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${torch_part} -B ${SCRATCH}/torch-part -DCMAKE_PREFIX_PATH=${prefix} RESULT_VARIABLE failed ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  if(NOT failed OR NOT text MATCHES "this memduel was built without LibTorch, so it has no memduel::memory_torch")
    message(FATAL_ERROR "expected it to say that memory_torch is missing, found:\n${text}")
  endif()
endif()
