# Kernel files are compiled once per instruction set and chosen at start-up. Each build of a file defines VOTIVE_ISA, the namespace its symbols live in.
# The baseline comes first in the link, so that an inline function which both define is the baseline's (tools/check_isa.py looks after it).
set(VOTIVE_SETS "" CACHE STRING "the instruction sets to build beside the baseline, all if empty: for builds where every set costs minutes")
set(VOTIVE_SETS_BUILT)  # for the files that name the sets: VOTIVE_HAS_v3=1 …
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(VOTIVE_ISAS baseline)
  foreach(isa v3 v4emulated v4 v4n)
    if(VOTIVE_SETS STREQUAL "" OR isa IN_LIST VOTIVE_SETS)
      list(APPEND VOTIVE_ISAS ${isa})
      list(APPEND VOTIVE_SETS_BUILT VOTIVE_HAS_${isa}=1)
    else()
      list(APPEND VOTIVE_SETS_BUILT VOTIVE_HAS_${isa}=0)
    endif()
  endforeach()
  set(VOTIVE_ISA_FLAGS_baseline -march=x86-64)
  set(VOTIVE_ISA_FLAGS_v3 -march=x86-64-v3)
  set(VOTIVE_ISA_FLAGS_v4emulated -march=x86-64-v3)
  set(VOTIVE_ISA_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)
  set(VOTIVE_ISA_FLAGS_v4n -march=x86-64-v4 -mavx512vnni -mavx512bf16 -mprefer-vector-width=512)
else()
  set(VOTIVE_ISAS baseline)
  set(VOTIVE_ISA_FLAGS_baseline "")
endif()

# Under a sanitizer the baseline stays as it is: its fma emulated in integers, instrumented, takes g++ minutes a file, and the same sources are instrumented
# in every other set. An interface of its own, so that the flag comes after those of votive_flags.
add_library(votive_baseline_flags INTERFACE)
if(VOTIVE_SANITIZE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(votive_baseline_flags INTERFACE -fno-sanitize=all)
endif()

# votive_kernels(TARGET file…): object libraries TARGET_<isa>, one per instruction set; their objects are added to the library by votive/CMakeLists.txt.
function(votive_kernels target)
  foreach(isa IN LISTS VOTIVE_ISAS)
    add_library(${target}_${isa} OBJECT ${ARGN})
    target_link_libraries(${target}_${isa} PRIVATE votive_flags fmt::fmt)
    if(isa STREQUAL "baseline")
      target_link_libraries(${target}_${isa} PRIVATE votive_baseline_flags)
    endif()
    target_compile_definitions(${target}_${isa} PRIVATE VOTIVE_ISA=${isa} VOTIVE_ISA_${isa}=1)
    target_compile_options(${target}_${isa} PRIVATE ${VOTIVE_ISA_FLAGS_${isa}})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # g++ 12 takes the undefined vectors inside its own AVX-512 intrinsics for uses of the caller's (GCC bug 105593).
      target_compile_options(${target}_${isa} PRIVATE -Wno-maybe-uninitialized -Wno-uninitialized)
    endif()
  endforeach()
endfunction()
