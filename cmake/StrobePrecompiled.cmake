# strobe_use_precompiled(target core|test): the target's files find the headers of cmake/precompiled/<name>.h parsed already, which is
# most of the work of a cold build.
#
# CMake has precompiled headers of its own, but names them by absolute paths and gives ccache only their bytes, so that two
# checkouts share nothing. Here the path is relative to the build folder, and ccache is told what is in the header by the
# hash of its preprocessed text (CCACHE_PCH_EXTSUM in ./dev, x.pch.sum beside x.pch).

option(STROBE_PRECOMPILED "Parse the commonest headers once a build" ON)

# The options of every file of a target: those that the compiler wants to be the same in header and file.
function(strobe_precompiled_flags out)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  get_directory_property(options COMPILE_OPTIONS)
  get_target_property(definitions fmt::fmt INTERFACE_COMPILE_DEFINITIONS)
  list(TRANSFORM definitions PREPEND "-D")
  set(${out} ${flags} ${options} ${definitions} -std=c++20 -fno-omit-frame-pointer PARENT_SCOPE)
endfunction()

function(strobe_make_precompiled name)
  set(header "${CMAKE_SOURCE_DIR}/cmake/precompiled/${name}.h")
  set(made "${CMAKE_BINARY_DIR}/${name}.pch")
  strobe_precompiled_flags(flags)
  # As CMake compiles: libraries for any place, the files of a test's program for a program.
  if(name STREQUAL "test")
    list(APPEND flags -fPIE -DGTEST_HAS_PTHREAD=1)
  else()
    list(APPEND flags -fPIC)
  endif()
  set(compile ${CMAKE_CXX_COMPILER} ${flags} -x c++-header)
  add_custom_command(
    OUTPUT "${made}" "${made}.sum"
    COMMAND ${compile} -Xclang -fno-pch-timestamp -fpch-instantiate-templates -MD -MF ${name}.pch.d -MT ${name}.pch
            -o ${name}.pch "${header}"
    # Without line markers: they name this checkout.
    COMMAND ${compile} -E -P "${header}" -o ${name}.pch.text
    COMMAND ${CMAKE_COMMAND} -E sha256sum ${name}.pch.text > ${name}.pch.sum
    COMMAND ${CMAKE_COMMAND} -E rm ${name}.pch.text
    DEPENDS "${header}" "${CMAKE_SOURCE_DIR}/cmake/precompiled/core.h"
    DEPFILE "${CMAKE_BINARY_DIR}/${name}.pch.d"
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}"
    COMMENT "Precompiling ${name}.h" VERBATIM)
  add_custom_target(strobe_precompiled_${name} DEPENDS "${made}")
endfunction()

function(strobe_use_precompiled target name)
  if(NOT STROBE_PRECOMPILED)
    return()
  endif()
  if(NOT TARGET strobe_precompiled_${name})
    strobe_make_precompiled(${name})
  endif()
  add_dependencies(${target} strobe_precompiled_${name})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch ${name}.pch>)
  get_target_property(sources ${target} SOURCES)
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS "${CMAKE_BINARY_DIR}/${name}.pch")
endfunction()
