# SPDX-License-Identifier: MIT
# Install and export rules. The installed tree is relocatable: everything is found from the place of the package file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(TKC_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tkc)

# The runtime is headers; generated code needs nothing else but the CUDA toolkit.
add_library(tkc_runtime INTERFACE)
set_target_properties(tkc_runtime PROPERTIES EXPORT_NAME runtime)
target_compile_features(tkc_runtime INTERFACE cxx_std_20)
target_include_directories(tkc_runtime INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS tkc tkc_runtime EXPORT tkcTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT tkcTargets NAMESPACE tkc:: DESTINATION ${TKC_PACKAGE_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tkcConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/tkcConfig.cmake
  INSTALL_DESTINATION ${TKC_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tkcConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/tkcConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/tkcConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/AddTkKernel.cmake
  DESTINATION ${TKC_PACKAGE_DIR})
