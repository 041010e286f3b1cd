# flags.cmake: how our code is compiled. Everything else comes from the system's
# packages, whose headers lie on the system include path and warn about nothing.

set(EVENTQ_SANITIZE "" CACHE STRING "Empty, address,undefined or thread")

add_compile_options(
  -Wall -Wextra -Wpedantic -Wformat=2 -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align=strict
  # {.title = "mail"} is how we fill a struct: the members left out have their defaults.
  -Wno-missing-field-initializers
  # __FILE__ is the path from here: no machine's folders in the binary.
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
add_compile_definitions(_GLIBCXX_ASSERTIONS)

if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Known to be wrong in g++ 12 at -O2: the first about operator+ of std::string
  # (GCC bug 105651), the second about std::optional and std::variant (80635).
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized)
endif()

set(CMAKE_CXX_FLAGS_DEBUG "-Og -g")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(EVENTQ_SANITIZE)
  # Warnings are no errors here: the instrumented code has false ones, the release build all true ones.
  add_compile_options(-O1 -g1 -fno-omit-frame-pointer
    -fsanitize=${EVENTQ_SANITIZE} -fno-sanitize-recover=all)
  if(EVENTQ_SANITIZE MATCHES undefined)
    # The address sanitizer sees the first two, too. The others look at every access for what only a cast can do:
    # -Wcast-align sees those, and down a hierarchy there are none. They take a third of the compiler's time.
    add_compile_options(-fno-sanitize=null,object-size,alignment,vptr)
  endif()
  add_link_options(-fsanitize=${EVENTQ_SANITIZE})
elseif(PROJECT_IS_TOP_LEVEL)
  add_compile_options(-Werror)
endif()

# tests/hardening_test.cc reads the result back from the binary.
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

# Several files at a time, in a third of the time. The preset `dev` and clang-tidy compile each alone.
if(PROJECT_IS_TOP_LEVEL AND (EVENTQ_SANITIZE OR NOT CMAKE_BUILD_TYPE STREQUAL Debug))
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
