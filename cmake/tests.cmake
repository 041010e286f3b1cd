# tests.cmake: eventq_tests() builds a GoogleTest program for a layer and registers its tests with ctest.
#
# A project that includes eventq by add_subdirectory() gets no tests.

if(NOT PROJECT_IS_TOP_LEVEL)
  function(eventq_tests)
  endfunction()
  return()
endif()

enable_testing()
include(GoogleTest)
find_package(GTest REQUIRED)

# eventq_tests(<layer> <source>... [LIBRARIES <target>...] [DEFINITIONS <name=value>...]
#              [LABELS <label>] [TIMEOUT <seconds>] [POSTGRES <filter>] [LONG <filter>])
#
# <layer> is the target of the layer's library, such as eventq_store; in tests/ it may be any name. Builds
# <layer>_test from the sources, links it to <layer>, and registers its TESTs. With a label the program is
# called <layer>_<label>_test, so that a layer can have several programs.
#
# The release preset builds and runs every program. The label says which sanitizers run it, too:
#   none            ASan + UBSan
#   threads         ASan + UBSan, TSan
#   random          ASan + UBSan, with fewer rounds (tests/support/rounds.h)
#   random_threads  ASan + UBSan and TSan, with fewer rounds
#   release_only    none: it is too slow there, or its figures have no meaning
#
# Two options register tests a second time, without a sanitizer only. Both take a filter in GoogleTest's syntax:
#   POSTGRES  as postgres.<test>, with EVENTQ_TEST_STORE=postgres: support/test_store.h then makes a database
#             instead of a file.
#   LONG      as long.<test>, with EVENTQ_TEST_LONG=1: support/rounds.h then returns the number of rounds of
#             `./dev test long`. They carry the label `long`, which the other presets exclude.
function(eventq_tests layer)
  cmake_parse_arguments(arg "" "LABELS;TIMEOUT;POSTGRES;LONG" "LIBRARIES;DEFINITIONS" ${ARGN})
  if(EVENTQ_SANITIZE AND arg_LABELS STREQUAL release_only)
    return()
  endif()
  if(EVENTQ_SANITIZE STREQUAL thread AND NOT arg_LABELS MATCHES threads)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()

  set(name ${layer}_test)
  if(arg_LABELS)
    set(name ${layer}_${arg_LABELS}_test)
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  # The binary folder holds the layer's embedded files (embed.cmake), which its tests include.
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_BINARY_DIR})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  if(TARGET ${layer})
    target_link_libraries(${name} PRIVATE ${layer})
  elseif(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/src/")
    message(FATAL_ERROR "eventq_tests(${layer} ...): there is no target ${layer}; name the layer's library")
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  # Only the code under test is optimized and instrumented: the tests' own code compiles in half the time at -O0.
  if(EVENTQ_SANITIZE MATCHES undefined)
    target_compile_options(${name} PRIVATE -O0 -g0 -fno-sanitize=undefined)
  elseif(EVENTQ_SANITIZE)
    target_compile_options(${name} PRIVATE -O0 -g0)
  elseif(arg_LABELS MATCHES random)
    target_compile_options(${name} PRIVATE -O1)  # the generators run longer than -O1 takes to compile
  else()
    target_compile_options(${name} PRIVATE -O0 -U_FORTIFY_SOURCE)
  endif()

  if(EVENTQ_SANITIZE AND NOT arg_LABELS MATCHES random)
    eventq_register_parts(${name} ${arg_TIMEOUT} "${arg_LABELS}")
  else()
    eventq_register_each(${name} "" "*" "" ${arg_TIMEOUT} "${arg_LABELS}")
  endif()
  if(arg_POSTGRES AND NOT EVENTQ_SANITIZE)
    eventq_register_each(${name} postgres. "${arg_POSTGRES}" EVENTQ_TEST_STORE=postgres ${arg_TIMEOUT}
      "${arg_LABELS}")
  endif()
  if(arg_LONG AND NOT EVENTQ_SANITIZE)
    eventq_register_each(${name} long. "${arg_LONG}" EVENTQ_TEST_LONG=1 3600 long)
  endif()
endfunction()

# One ctest test, and so one process, for each TEST: `./dev test -R` finds it by its name. A process of the release
# starts in 5 to 10 ms.
function(eventq_register_each name prefix filter environment timeout label)
  gtest_discover_tests(${name}
    TEST_PREFIX "${prefix}"
    TEST_FILTER "${filter}"
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 300
    NO_PRETTY_VALUES
    PROPERTIES TIMEOUT ${timeout} COST ${timeout} LABELS "${label}" ENVIRONMENT "${environment}")
endfunction()

# Eight processes for all TESTs of a program: starting an instrumented process takes longer than most tests.
function(eventq_register_parts name timeout label)
  set(parts 8)
  foreach(part RANGE 1 ${parts})
    math(EXPR index "${part} - 1")
    set(test ${name}.${part})
    add_test(NAME ${test} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${test} PROPERTIES
      TIMEOUT 1200 COST ${timeout} LABELS "${label}"
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
