# tests.cmake: one GoogleTest program per layer. None in another project.

if(NOT PROJECT_IS_TOP_LEVEL)
  function(eventq_tests)
  endfunction()
  return()
endif()

enable_testing()
include(GoogleTest)
find_package(GTest REQUIRED)

# eventq_tests(<layer> <source>... [LIBRARIES <target>...] [DEFINITIONS <name=value>...]
#              [LABELS <label>] [TIMEOUT <seconds>] [POSTGRES <filter>])
#
# Builds <layer>_test from the sources, linked to <layer>, and registers each TEST in it.
# With a label the program is called <layer>_<label>_test, so that a layer may have several.
#
# The label decides in which presets the program exists at all:
#   threads       only these are built and run under the thread sanitizer
#   release_only  too slow or without meaning under any sanitizer
# A layer's own tests run under the sanitizers; the release builds them only when asked for by name, or for POSTGRES.
# Those of the program as a whole run in all presets.
#
# POSTGRES registers those that GoogleTest's filter lets pass once more, as postgres.<name>, with
# EVENTQ_TEST_STORE=postgres: support/test_store.h then gives them a database instead of a file. Not under a
# sanitizer, where each takes as long as ten.
function(eventq_tests layer)
  cmake_parse_arguments(arg "" "LABELS;TIMEOUT;POSTGRES" "LIBRARIES;DEFINITIONS" ${ARGN})
  if(EVENTQ_SANITIZE AND arg_LABELS STREQUAL release_only)
    return()
  endif()
  if(EVENTQ_SANITIZE STREQUAL thread AND NOT arg_LABELS STREQUAL threads)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()

  set(name ${layer}_test)
  if(arg_LABELS)
    set(name ${layer}_${arg_LABELS}_test)
  endif()
  set(built "")
  set(layer_in_release FALSE)
  if(CMAKE_BUILD_TYPE STREQUAL Release AND TARGET ${layer} AND NOT arg_LABELS STREQUAL release_only)
    set(layer_in_release TRUE)
    if(NOT arg_POSTGRES)
      set(built EXCLUDE_FROM_ALL)
    endif()
  endif()
  add_executable(${name} ${built} ${arg_UNPARSED_ARGUMENTS})
  # The binary folder, too: a layer's embedded files (embed.cmake) are there for its tests.
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_BINARY_DIR})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  if(TARGET ${layer})
    target_link_libraries(${name} PRIVATE ${layer})
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  # What is tested is optimized and instrumented; the tests' own code need not be, and compiles in half the time.
  if(EVENTQ_SANITIZE MATCHES undefined)
    # Nowhere else are a layer's tests compiled, so a warning is an error here.
    target_compile_options(${name} PRIVATE -O0 -g0 -fno-sanitize=undefined -Werror)
  elseif(EVENTQ_SANITIZE)
    target_compile_options(${name} PRIVATE -O0 -g0)
  else()
    target_compile_options(${name} PRIVATE -O0 -U_FORTIFY_SOURCE)
  endif()
  if(built)
    return()
  endif()
  if(NOT layer_in_release)
    gtest_discover_tests(${name}
      DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  endif()
  if(arg_POSTGRES AND NOT EVENTQ_SANITIZE)
    gtest_discover_tests(${name}
      TEST_PREFIX postgres.
      TEST_FILTER "${arg_POSTGRES}"
      DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT} LABELS "${arg_LABELS}"
        ENVIRONMENT EVENTQ_TEST_STORE=postgres)
  endif()
endfunction()
