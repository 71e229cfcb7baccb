# Kernel files are compiled once per instruction set and chosen at start-up. Each build of a file defines VOTIVE_ISA, the namespace its symbols live in.
# The baseline comes first in the link, so that an inline function which both define is the baseline's (tools/check_isa.py looks after it).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(VOTIVE_ISAS baseline v3 v4emulated v4 v4n)
  set(VOTIVE_ISA_FLAGS_baseline -march=x86-64)
  set(VOTIVE_ISA_FLAGS_v3 -march=x86-64-v3)
  set(VOTIVE_ISA_FLAGS_v4emulated -march=x86-64-v3)
  set(VOTIVE_ISA_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)
  set(VOTIVE_ISA_FLAGS_v4n -march=x86-64-v4 -mavx512vnni -mavx512bf16 -mprefer-vector-width=512)
else()
  set(VOTIVE_ISAS baseline)
  set(VOTIVE_ISA_FLAGS_baseline "")
endif()

# votive_kernels(TARGET file…): object libraries TARGET_<isa>, one per instruction set; their objects are added to the library by votive/CMakeLists.txt.
function(votive_kernels target)
  foreach(isa IN LISTS VOTIVE_ISAS)
    add_library(${target}_${isa} OBJECT ${ARGN})
    target_link_libraries(${target}_${isa} PRIVATE votive_flags fmt::fmt)
    target_compile_definitions(${target}_${isa} PRIVATE VOTIVE_ISA=${isa} VOTIVE_ISA_${isa}=1)
    target_compile_options(${target}_${isa} PRIVATE ${VOTIVE_ISA_FLAGS_${isa}})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # g++ 12 takes the undefined vectors inside its own AVX-512 intrinsics for uses of the caller's (GCC bug 105593).
      target_compile_options(${target}_${isa} PRIVATE -Wno-maybe-uninitialized)
    endif()
  endforeach()
endfunction()
