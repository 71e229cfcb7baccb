# The flags that decide what a program means (CONTRACT.md 0.3) and the warnings, set once for every target of this project.
add_library(votive_flags INTERFACE)
target_compile_options(votive_flags INTERFACE
  -ffp-contract=off -fno-fast-math -fno-trapping-math -fno-math-errno
  -Wall -Wextra -Wnon-virtual-dtor -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees an overlap in "literal" + std::string that is not there (GCC bug 105651).
  # Its -Wshadow takes the enumerators of an enum class for shadows of the constants f32, i64, boolean ….
  target_compile_options(votive_flags INTERFACE -Wno-restrict -Wshadow=local)
else()
  target_compile_options(votive_flags INTERFACE -Wshadow)
endif()
if(VOTIVE_WERROR)
  target_compile_options(votive_flags INTERFACE -Werror)
endif()
target_include_directories(votive_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_features(votive_flags INTERFACE cxx_std_20)
if(VOTIVE_SANITIZE)
  target_compile_options(votive_flags INTERFACE -fsanitize=${VOTIVE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1)
  target_link_options(votive_flags INTERFACE -fsanitize=${VOTIVE_SANITIZE})
endif()
