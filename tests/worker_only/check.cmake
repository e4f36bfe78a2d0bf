# Whether preset worker still needs LibTorch and the headers of nlohmann_json and {fmt} alone: configures it, compiles what is without LibTorch, and looks at
# every header that was read. Of the files with LibTorch, which take minutes, it looks at the includes.
#   cmake -DSOURCE=<checkout> -DBINARY=<scratch directory> -P check.cmake
cmake_policy(VERSION 3.25)
# What the worker may not need, by the folder or the name of its headers.
set(foreign "CLI|grpc|grpcpp|google|absl|openssl|spdlog|blosc|zfp|zlib|zstd|sqlite3|pcre2")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "${ARGN} failed:\n${output}")
  endif()
endfunction()

# Make leaves a list of the headers beside each object; Ninja does not.
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} -G "Unix Makefiles" -DMEMDUEL_WORKER_ONLY=ON -DMEMDUEL_FILES_AT_ONCE=8 -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)
run(${CMAKE_COMMAND} --build ${BINARY} --target memduel_util memduel_model memduel_budget memduel_checkpoints memduel_graph_models memduel_data
  memduel_graphs memduel_transport memduel_compression memduel_workload_keys)

file(GLOB_RECURSE lists ${BINARY}/*.o.d)
list(LENGTH lists compiled)
if(compiled LESS 8)
  message(FATAL_ERROR "${compiled} lists of headers in ${BINARY}, expected at least 8")
endif()
foreach(list IN LISTS lists)
  file(READ ${list} headers)
  if(headers MATCHES "/usr/[a-z/]*include/(${foreign})[/.][^ \n]*")
    message(FATAL_ERROR "${list}: a worker-only build must not include ${CMAKE_MATCH_0}")
  endif()
endforeach()

file(GLOB_RECURSE files ${SOURCE}/workloads/*.cpp ${SOURCE}/workloads/*.h)
# Those that a worker-only build leaves out, or has others in the place of.
list(FILTER files EXCLUDE REGEX "/workloads/(provider/.*|data/gzip|fl/transport/(grpc_transport|compressed_codec)|cbramod/edf_file)[.a-z]*$")
foreach(file IN LISTS files)
  file(STRINGS ${file} includes REGEX "#include <(${foreign})[/.]")
  if(includes AND NOT file MATCHES "_(test|fuzz)\\.cpp$")
    message(FATAL_ERROR "${file}: a worker-only build must not have ${includes}")
  endif()
endforeach()
message(STATUS "${compiled} objects compiled from LibTorch, nlohmann_json and {fmt} alone")
