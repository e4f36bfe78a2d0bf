# memduel_test_headers: a precompiled header for the test programs. Parsing these headers is most of the time that compiling a test takes.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "// Carries the precompiled header of the tests.\n")
add_library(memduel_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
target_link_libraries(memduel_test_headers PRIVATE GTest::gmock GTest::gtest)
target_precompile_headers(memduel_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp> <chrono> <filesystem> <fstream> <thread>)
# Programs are compiled with -fPIE.
target_compile_options(memduel_test_headers PRIVATE ${MEMDUEL_WARNINGS} ${MEMDUEL_TEST_OPTIONS} -fPIE)
