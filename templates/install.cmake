# npm ci into the source folder, once for all build folders, under a lock; nothing to do when the
# installed lock file is newer than ours.
set(here ${CMAKE_CURRENT_LIST_DIR})
file(LOCK ${here} DIRECTORY GUARD PROCESS TIMEOUT 300)
set(done ${here}/node_modules/.package-lock.json)
if(EXISTS ${done} AND NOT ${here}/package-lock.json IS_NEWER_THAN ${done})
  return()
endif()
execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund WORKING_DIRECTORY ${here}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "npm ci failed in ${here} (it needs the npm registry or a filled cache):\n${output}")
endif()
file(TOUCH ${done})
