# Linux with musl and libc++ instead of glibc and libstdc++, by the compiler that zig brings along (PATH or ZIG names it).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_CXX_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zig-c++)
