# SPDX-License-Identifier: MIT
# add_tk_kernel(<target> SOURCES <a.tk>... [DEFINE <name=value>...] [TARGETS <sm_90a>...] [INCLUDE <folder>...] [GENERATE_ONLY])
#
# Compiles .tk files to CUDA and builds them. If <target> exists, the generated files become part of it; if not, it is made a static
# library. Whoever links <target> includes "a.h", the header of the entries of a.tk. Files are compiled again when they, a file that
# they import, or tkc itself change.
#
#   DEFINE         compile-time parameters, as -D of tkc
#   TARGETS        what the code is for; sm_90a when left out. This version takes one
#   INCLUDE        folders in which imports are looked up, as -I of tkc
#   GENERATE_ONLY  makes <target> a target that only writes the files (property TK_GENERATED lists them); needs no CUDA

function(add_tk_kernel target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GENERATE_ONLY" "" "SOURCES;DEFINE;TARGETS;INCLUDE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "add_tk_kernel(${target}): what is `${arg_UNPARSED_ARGUMENTS}`? It takes SOURCES, DEFINE, TARGETS, INCLUDE, GENERATE_ONLY")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "add_tk_kernel(${target}): no SOURCES")
  endif()
  if(NOT arg_TARGETS)
    set(arg_TARGETS sm_90a)
  endif()
  list(REMOVE_DUPLICATES arg_TARGETS)
  list(LENGTH arg_TARGETS count)
  if(count GREATER 1)
    list(JOIN arg_TARGETS "`, `" names)
    message(FATAL_ERROR "add_tk_kernel(${target}): one entry for several TARGETS is specified, not yet implemented: name one of `${names}`, "
      "or call add_tk_kernel for each with a target of its own")
  endif()
  if(NOT arg_GENERATE_ONLY AND NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "add_tk_kernel(${target}): generated code needs the CUDA language: project(.. LANGUAGES CXX CUDA); or GENERATE_ONLY")
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/tk/${target})
  file(MAKE_DIRECTORY ${folder})
  set(options --target ${arg_TARGETS})
  foreach(define IN LISTS arg_DEFINE)
    list(APPEND options -D ${define})
  endforeach()
  foreach(include IN LISTS arg_INCLUDE)
    cmake_path(ABSOLUTE_PATH include NORMALIZE)
    list(APPEND options -I ${include})
  endforeach()

  set(generated "")
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(GET source STEM LAST_ONLY name)
    if(${folder}/${name}.cu IN_LIST generated)
      message(FATAL_ERROR "add_tk_kernel(${target}): two sources are called ${name}.tk; give them a target each")
    endif()
    add_custom_command(
      OUTPUT ${folder}/${name}.cu ${folder}/${name}.h
      COMMAND tkc::tkc ${path} ${options} -o ${folder}/${name}.cu --depfile ${folder}/${name}.d
      DEPENDS ${path} tkc::tkc
      DEPFILE ${folder}/${name}.d
      COMMENT "tkc ${name}.tk"
      VERBATIM)
    list(APPEND generated ${folder}/${name}.cu ${folder}/${name}.h)
  endforeach()

  if(arg_GENERATE_ONLY)
    add_custom_target(${target} ALL DEPENDS ${generated})
    set_target_properties(${target} PROPERTIES TK_GENERATED "${generated}")
    return()
  endif()
  if(NOT TARGET ${target})
    add_library(${target} STATIC)
  endif()
  target_sources(${target} PRIVATE ${generated})
  target_include_directories(${target} PUBLIC ${folder})
  target_link_libraries(${target} PUBLIC tkc::runtime)
  if(CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    target_compile_features(${target} PRIVATE cuda_std_20)
  else()  # CMake before 3.26 has no C++20 for nvcc, nvcc has
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
  string(REGEX REPLACE "^sm_" "" architecture ${arg_TARGETS})
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES ${architecture})
endfunction()
