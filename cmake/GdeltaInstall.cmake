# What `cmake --install` puts where: the library with its headers, the command, and
# the files by which find_package(gdelta) and pkg-config find them.
install(TARGETS gdelta EXPORT gdelta-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/codec/include/gdelta DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS gdelta_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(GDELTA_HAS_CUDA)
  install(TARGETS gdelta_tune_scan RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gdelta)
install(EXPORT gdelta-targets NAMESPACE gdelta:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gdelta-config.cmake.in
  ${PROJECT_BINARY_DIR}/gdelta-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gdelta-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gdelta-config.cmake ${PROJECT_BINARY_DIR}/gdelta-config-version.cmake
  DESTINATION ${package_dir})

# An archive needs its dependencies on the link line whoever links it, so they are not private to it.
set(gdelta_pc_requires "")
set(gdelta_pc_libs "")
if(NOT BUILD_SHARED_LIBS)
  set(gdelta_pc_requires "Requires: libzstd fmt tbb")
  set(gdelta_pc_libs "-lstdc++ -pthread")
  if(GDELTA_HAS_CUDA)
    string(APPEND gdelta_pc_libs " ${CUDA_cudart_static_LIBRARY} -ldl -lrt")
  endif()
endif()
# Relative to the file itself, so that an installed tree may be moved.
cmake_path(SET gdelta_pc_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${gdelta_pc_dir} OUTPUT_VARIABLE gdelta_pc_prefix)
cmake_path(APPEND gdelta_pc_includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
cmake_path(APPEND gdelta_pc_libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/gdelta.pc.in ${PROJECT_BINARY_DIR}/gdelta.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gdelta.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
