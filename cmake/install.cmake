# What an installed Votive is: the library, the headers that votive/votive.h reaches, a CMake package, a pkg-config file, the program.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS votive EXPORT votive_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET votive_app)
  install(TARGETS votive_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# Found when installing, not when configuring: a header that begins to include another needs no new configuration.
install(CODE "
  set(votive_source [[${PROJECT_SOURCE_DIR}]])
  set(votive_into \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")
  include([[${PROJECT_SOURCE_DIR}/cmake/public_headers.cmake]])
")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/votive)
install(EXPORT votive_targets NAMESPACE votive:: FILE votive-targets.cmake DESTINATION ${package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/votive-config.cmake.in ${PROJECT_BINARY_DIR}/votive-config.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/votive-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/votive-config.cmake ${PROJECT_BINARY_DIR}/votive-config-version.cmake DESTINATION ${package})

set(VOTIVE_PC_REQUIRES fmt)
if(VOTIVE_TEXT)
  string(APPEND VOTIVE_PC_REQUIRES " libpcre2-8 libutf8proc")
endif()
get_target_property(votive_type votive TYPE)
# Who links the static library needs what it needs, without having to know `pkg-config --static`.
set(VOTIVE_PC_FIELD Requires)
set(VOTIVE_PC_THREADS -pthread)
if(votive_type STREQUAL SHARED_LIBRARY)
  set(VOTIVE_PC_FIELD Requires.private)
  set(VOTIVE_PC_THREADS "")
endif()
file(RELATIVE_PATH VOTIVE_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/votive.pc.in ${PROJECT_BINARY_DIR}/votive.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/votive.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
