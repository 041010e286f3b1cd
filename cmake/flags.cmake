# flags.cmake: compiler and linker flags of our code.
#
# Libraries come from the system's packages. Their headers are on the system include path, so they cause no warnings.

set(EVENTQ_SANITIZE "" CACHE STRING "Empty, address,undefined or thread")

add_compile_options(
  -Wall -Wextra -Wpedantic -Wformat=2 -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align=strict
  # Structs are filled as {.title = "mail"}: members that are left out have their defaults.
  -Wno-missing-field-initializers
  # __FILE__ is relative to the repository, so the binary contains no folder of the build machine.
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
add_compile_definitions(_GLIBCXX_ASSERTIONS)

if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives of g++ 12 at -O2: the first for operator+ of std::string (GCC bug 105651), the second for
  # std::optional and std::variant (GCC bug 80635).
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized)
endif()

set(CMAKE_CXX_FLAGS_DEBUG "-Og -g")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(EVENTQ_SANITIZE)
  # Without -Werror, because g++ gives false warnings for instrumented code. The release compiles the same files.
  add_compile_options(-O1 -g1 -fno-omit-frame-pointer
    -fsanitize=${EVENTQ_SANITIZE} -fno-sanitize-recover=all)
  if(EVENTQ_SANITIZE MATCHES undefined)
    # ASan reports null and object-size errors, too. Only a cast can cause the other two: -Wcast-align reports such
    # casts, and the code has no downcasts. These four checks take a third of the compiler's time.
    add_compile_options(-fno-sanitize=null,object-size,alignment,vptr)
  endif()
  add_link_options(-fsanitize=${EVENTQ_SANITIZE})
elseif(PROJECT_IS_TOP_LEVEL)
  add_compile_options(-Werror)
endif()

# tests/hardening_test.cc checks the binary for the effect of these flags.
if(CMAKE_BUILD_TYPE STREQUAL Release)
  add_compile_options(
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
    -fstack-protector-strong -fstack-clash-protection
    -ftrivial-auto-var-init=zero -fPIE)
  add_link_options(-pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,nodlopen -Wl,--as-needed)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    add_compile_options(-fcf-protection=full)
  endif()
endif()

# A unity build takes a third of the time. The preset `dev`, which clang-tidy uses, compiles each file alone.
if(PROJECT_IS_TOP_LEVEL AND (EVENTQ_SANITIZE OR NOT CMAKE_BUILD_TYPE STREQUAL Debug))
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
