# SPDX-License-Identifier: MIT
# add_tk_kernel(<target> SOURCES <a.tk>... [DEFINE <name=value>...] [TARGETS <sm_90a>...] [INCLUDE <folder>...] [GENERATE_ONLY])
#
# Compiles .tk files to CUDA or HIP and builds them. If <target> exists, also of a folder above, the kernels become part of it; if not,
# it is made a static library. Whoever links <target> includes "a.h", the header of the entries of a.tk, in C99 or any C++.
# Files are compiled again when they, a file that they import, or tkc itself change.
#
#   DEFINE         compile-time parameters, as -D of tkc. They do not change the names of entries: of targets that give the same file
#                  different ones, a program can link only one (`instance` in the file names variants)
#   TARGETS        what the code is for; sm_90a when left out. Several (sm_80 sm_90a) go into one file, whose launcher chooses by the
#                  device; they are all NVIDIA's (CUDA) or all AMD's (gfx942 gfx950: HIP)
#   INCLUDE        folders in which imports are looked up, as -I of tkc
#   GENERATE_ONLY  makes <target> a target that only writes the files; needs no CUDA and no HIP
#
# The target's property TK_GENERATED lists the files that were written, its TK_HEADERS the headers among them, for install(FILES): who
# installs and exports the target says with target_include_directories(.. INTERFACE $<INSTALL_INTERFACE:..>) where they go.
#
# Each call builds its files in an object library, which the target's property TK_OBJECTS lists: C++20, the architectures that TARGETS
# name and options of ours are theirs alone, and those that <target> has for other files are not theirs. Where <target> is itself an
# object library, all of its CUDA or HIP is compiled like them.
#
# CUDA is built by the language CUDA. HIP is built by the language HIP, if the project enables it, or by the compiler that the variable
# TKC_HIP_COMPILER names (hipcc, or a clang++ that finds HIP's headers by the options in TKC_HIP_FLAGS); the program then links HIP's
# library itself (hip::host).

# Of this file only: to an older project targets of another folder are closed, and dependency files mean something else.
cmake_policy(VERSION 3.25)

# Adds a command that makes an object file of a HIP file, and the object to the target.
function(_tk_hip_object target source folder offload)
  cmake_path(GET source FILENAME name)
  set(object ${folder}/${name}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${TKC_HIP_COMPILER} -x hip ${offload} -std=c++20 -O3 -fPIC ${TKC_HIP_FLAGS}
      "-I$<JOIN:$<TARGET_PROPERTY:tkc::runtime,INTERFACE_INCLUDE_DIRECTORIES>,;-I>" -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "HIP ${name}"
    COMMAND_EXPAND_LISTS
    VERBATIM)
  target_sources(${target} PRIVATE ${object})
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# What is wrong with the arguments is said when CMake runs, and not by the build tool.
function(_tk_check_arguments target sources defines)
  foreach(define IN LISTS defines)
    if(NOT define MATCHES "^[A-Za-z_][A-Za-z_0-9]*=.+$")
      message(FATAL_ERROR "add_tk_kernel(${target}): `${define}` is not of the form NAME=value: DEFINE BM=128 \"order=grouped(8)\"")
    endif()
  endforeach()
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "\\.tk$")
      message(FATAL_ERROR "add_tk_kernel(${target}): `${source}` among the SOURCES is no .tk file. It takes SOURCES, DEFINE, TARGETS, INCLUDE, "
        "GENERATE_ONLY")
    endif()
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    get_source_file_property(is_made ${path} GENERATED)
    if(NOT is_made AND NOT EXISTS ${path})
      message(FATAL_ERROR "add_tk_kernel(${target}): there is no file ${path}")
    endif()
  endforeach()
endfunction()

# What this tkc compiles for. A project that has tkc as a folder can't ask it before it is built.
function(_tk_check_targets target targets)
  set(known sm_80 sm_86 sm_89 sm_90a sm_120 gfx942 gfx950)
  list(JOIN known " " names)
  foreach(name IN LISTS targets)
    if(NOT name IN_LIST known)
      message(FATAL_ERROR "add_tk_kernel(${target}): tkc has no target `${name}`: TARGETS takes ${names}")
    endif()
  endforeach()
endfunction()

# A target that is there already and can't take kernels.
function(_tk_check_target target generate_only)
  get_target_property(type ${target} TYPE)
  if(generate_only)
    message(FATAL_ERROR "add_tk_kernel(${target}): there is a target of this name, and GENERATE_ONLY makes one: give it another name, or name "
      "all SOURCES in one call")
  elseif(type MATCHES "INTERFACE|UTILITY")
    message(FATAL_ERROR "add_tk_kernel(${target}): this target compiles nothing (${type}): name a library or a program that does, or a new "
      "target")
  endif()
endfunction()

# What can only be built in the folder of the target.
function(_tk_check_folder target)
  get_target_property(folder ${target} BINARY_DIR)
  if(NOT folder STREQUAL CMAKE_CURRENT_BINARY_DIR)
    get_target_property(source_folder ${target} SOURCE_DIR)
    message(FATAL_ERROR "add_tk_kernel(${target}): this target is of another folder and can't take the files from here: call add_tk_kernel in "
      "${source_folder}, or give it a new target here, and link that")
  endif()
endfunction()

# Names the object library that compiles the files of a call.
function(_tk_object_library target sources result)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "OBJECT_LIBRARY")  # its objects would lack those of another
    set(${result} ${target} PARENT_SCOPE)
    return()
  endif()
  list(GET sources 0 source)
  cmake_path(GET source STEM LAST_ONLY name)
  set(objects ${target}_tk_${name})
  add_library(${objects} OBJECT)
  set_target_properties(${objects} PROPERTIES
    POSITION_INDEPENDENT_CODE ON  # <target> may become part of a shared library
    CUDA_SEPARABLE_COMPILATION OFF  # else the device linker needs code for the same architectures
    UNITY_BUILD OFF)
  target_link_libraries(${objects} PRIVATE tkc::runtime)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  set_property(TARGET ${target} APPEND PROPERTY TK_OBJECTS ${objects})
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

function(add_tk_kernel target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GENERATE_ONLY" "" "SOURCES;DEFINE;TARGETS;INCLUDE")
  if(target MATCHES "^(SOURCES|DEFINE|TARGETS|INCLUDE|GENERATE_ONLY)$")
    message(FATAL_ERROR "add_tk_kernel(${target} ..): the name of the target comes first: add_tk_kernel(kernels SOURCES a.tk)")
  endif()
  if(arg_UNPARSED_ARGUMENTS MATCHES "\\.tk")
    message(FATAL_ERROR "add_tk_kernel(${target}): write SOURCES in front of `${arg_UNPARSED_ARGUMENTS}`")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "add_tk_kernel(${target}): what is `${arg_UNPARSED_ARGUMENTS}`? It takes SOURCES, DEFINE, TARGETS, INCLUDE, GENERATE_ONLY")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "add_tk_kernel(${target}): no SOURCES: add_tk_kernel(${target} SOURCES a.tk)")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "add_tk_kernel(${target}): nothing behind ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  _tk_check_targets(${target} "${arg_TARGETS}")
  if(NOT arg_TARGETS)
    set(arg_TARGETS sm_90a)
  endif()
  list(REMOVE_DUPLICATES arg_TARGETS)
  list(JOIN arg_TARGETS "," names)
  set(amd ${arg_TARGETS})
  list(FILTER amd INCLUDE REGEX "^gfx")
  set(language CUDA)
  set(extension cu)
  if(amd)
    if(NOT amd STREQUAL arg_TARGETS)
      message(FATAL_ERROR "add_tk_kernel(${target}): `${names}` are for CUDA and for HIP, which are two files: call add_tk_kernel for each, "
        "with a target of its own")
    endif()
    set(language HIP)
    set(extension hip)
  endif()
  if(NOT arg_GENERATE_ONLY AND NOT CMAKE_${language}_COMPILER)
    if(language STREQUAL CUDA)
      message(FATAL_ERROR "add_tk_kernel(${target}): generated code needs the CUDA language: project(.. LANGUAGES CXX CUDA); or GENERATE_ONLY")
    elseif(NOT TKC_HIP_COMPILER)
      message(FATAL_ERROR "add_tk_kernel(${target}): generated code needs the HIP language: project(.. LANGUAGES CXX HIP); or a compiler in "
        "TKC_HIP_COMPILER; or GENERATE_ONLY")
    endif()
  endif()

  if(language STREQUAL CUDA AND CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND NOT arg_GENERATE_ONLY)
    set(needed 12.5)
    if(names MATCHES "sm_120")
      set(needed 12.8)
    endif()
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS needed)
      message(FATAL_ERROR "add_tk_kernel(${target}): generated code for ${names} needs CUDA ${needed} or later; "
        "${CMAKE_CUDA_COMPILER} is of ${CMAKE_CUDA_COMPILER_VERSION}. Another one is named by -DCMAKE_CUDA_COMPILER=..")
    endif()
  endif()

  _tk_check_arguments(${target} "${arg_SOURCES}" "${arg_DEFINE}")
  set(made "")
  if(TARGET ${target})
    _tk_check_target(${target} ${arg_GENERATE_ONLY})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY" OR NOT CMAKE_${language}_COMPILER)  # compiled by the target itself
      _tk_check_folder(${target})
    endif()
    get_target_property(made ${target} TK_GENERATED)
    list(TRANSFORM made REPLACE "^.*/" "")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/tk/${target})
  file(MAKE_DIRECTORY ${folder})
  set(options --target ${names})
  foreach(define IN LISTS arg_DEFINE)
    list(APPEND options -D ${define})
  endforeach()
  foreach(include IN LISTS arg_INCLUDE)
    cmake_path(ABSOLUTE_PATH include NORMALIZE)
    list(APPEND options -I ${include})
  endforeach()

  set(code "")
  set(headers "")
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(GET source STEM LAST_ONLY name)
    set(output ${folder}/${name}.${extension})
    if(output IN_LIST code OR "${name}.h" IN_LIST made)
      message(FATAL_ERROR "add_tk_kernel(${target}): two sources are called ${name}.tk; give them a target each")
    endif()
    add_custom_command(
      OUTPUT ${output} ${folder}/${name}.h
      COMMAND tkc::tkc ${path} ${options} -o ${output} --depfile ${folder}/${name}.d
      DEPENDS ${path} tkc::tkc
      DEPFILE ${folder}/${name}.d
      COMMENT "tkc ${name}.tk"
      VERBATIM)
    list(APPEND code ${output})
    list(APPEND headers ${folder}/${name}.h)
  endforeach()

  if(arg_GENERATE_ONLY)
    add_custom_target(${target} ALL DEPENDS ${code} ${headers})
    set_target_properties(${target} PROPERTIES TK_GENERATED "${code};${headers}" TK_HEADERS "${headers}")
    return()
  endif()
  if(NOT TARGET ${target})
    add_library(${target} STATIC)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY TK_GENERATED ${code} ${headers})
  set_property(TARGET ${target} APPEND PROPERTY TK_HEADERS ${headers})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${target} PUBLIC tkc::runtime)
  if(NOT CMAKE_${language}_COMPILER)
    list(TRANSFORM arg_TARGETS PREPEND --offload-arch= OUTPUT_VARIABLE offload)
    target_sources(${target} PRIVATE ${headers})
    foreach(file IN LISTS code)
      _tk_hip_object(${target} ${file} ${folder} "${offload}")
    endforeach()
    return()
  endif()
  _tk_object_library(${target} "${arg_SOURCES}" objects)
  get_target_property(before ${objects} TK_TARGETS)
  if(before AND NOT before STREQUAL names)
    message(FATAL_ERROR "add_tk_kernel(${target}): its kernels are for `${before}` already, and an object library has one list of "
      "architectures: give those for `${names}` a target of their own")
  endif()
  target_sources(${objects} PRIVATE ${code} ${headers})
  list(TRANSFORM arg_TARGETS REPLACE "^sm_" "")
  set_target_properties(${objects} PROPERTIES TK_TARGETS ${names} ${language}_ARCHITECTURES "${arg_TARGETS}")
  target_compile_options(${objects} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
  # What registers have no room for goes to memory: slow, and only ptxas knows.
  target_compile_options(${objects} PRIVATE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Xptxas=--warn-on-spills>)
  # CMake before 3.26 does not know that nvcc has C++20, and names another standard behind all other options.
  if(language STREQUAL CUDA AND NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20 CACHE INTERNAL "")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20 CACHE INTERNAL "")
  endif()
  set_target_properties(${objects} PROPERTIES ${language}_STANDARD 20)
endfunction()
