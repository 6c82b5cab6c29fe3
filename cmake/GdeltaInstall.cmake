# What `cmake --install` puts where: the library with its headers, the command, and
# the files by which find_package(gdelta) and pkg-config find them.
install(TARGETS gdelta EXPORT gdelta-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(part formats kernels/device kernels/primitives kernels/schedules codec)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${part}/include/gdelta DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
# What installed headers include of the kernels, under the names that it has here.
foreach(room bitpack checksum deltas device pages scan words)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gdelta/internal/kernels
    FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh" PATTERN include EXCLUDE)
endforeach()
install(TARGETS gdelta_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
include(GdeltaDocs)
file(GLOB document_pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/docs/*.md
  ${PROJECT_SOURCE_DIR}/docs/history/*.md)
file(GLOB stage_pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/formats/gdelta/coders/*.md ${PROJECT_SOURCE_DIR}/formats/gdelta/maps/*.md
  ${PROJECT_SOURCE_DIR}/formats/gdelta/predictors/*.md)
gdelta_install_docs(README.md CHANGELOG.md ${document_pages}
  formats/gdelta/spec.md ${stage_pages} formats/foreign/README.md)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/packaging/gdelta.magic DESTINATION ${CMAKE_INSTALL_DATADIR}/gdelta)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/gdelta.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gdelta)
install(EXPORT gdelta-targets NAMESPACE gdelta:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gdelta-config.cmake.in
  ${PROJECT_BINARY_DIR}/gdelta-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gdelta-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gdelta-config.cmake ${PROJECT_BINARY_DIR}/gdelta-config-version.cmake
  DESTINATION ${package_dir})

# An archive needs its dependencies on the link line whoever links it, so they are not private to it.
set(gdelta_pc_variables "")
set(gdelta_pc_requires "")
set(gdelta_pc_libs "")
if(NOT BUILD_SHARED_LIBS)
  set(gdelta_pc_requires "Requires: libzstd liblzma fmt tbb")
  set(gdelta_pc_libs "-lstdc++ -pthread")
  if(GDELTA_HAS_CUDA)
    # By name, as where a distribution has the toolkit among its libraries. Elsewhere it is looked for where NVIDIA's
    # installers put it, whatever its version; `--define-variable=cuda_libdir=DIR` names another place.
    if(NOT CUDAToolkit_LIBRARY_DIR IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      set(gdelta_cuda_libdir ${CUDAToolkit_LIBRARY_DIR})
      file(REAL_PATH /usr/local/cuda/lib64 gdelta_usual_libdir)
      file(REAL_PATH ${CUDAToolkit_LIBRARY_DIR} gdelta_real_libdir)
      if(gdelta_real_libdir STREQUAL gdelta_usual_libdir)
        set(gdelta_cuda_libdir /usr/local/cuda/lib64)
      endif()
      set(gdelta_pc_variables "cuda_libdir=${gdelta_cuda_libdir}")
      string(APPEND gdelta_pc_libs " -L\${cuda_libdir}")
    endif()
    string(APPEND gdelta_pc_libs " -lcudart_static -ldl -lrt")
  endif()
endif()
# Relative to the file itself, so that an installed tree may be moved.
cmake_path(SET gdelta_pc_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${gdelta_pc_dir} OUTPUT_VARIABLE gdelta_pc_prefix)
cmake_path(APPEND gdelta_pc_includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
cmake_path(APPEND gdelta_pc_libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/gdelta.pc.in ${PROJECT_BINARY_DIR}/gdelta.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gdelta.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
