# Every library we take, from the distribution's packages; ARCHITECTURE.md gives the reason for each.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(simdjson REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(Boost 1.81 REQUIRED)  # header-only use; Debian 12 has 1.81 beside 1.74, Debian 13 has 1.83

# Libraries without a CMake package of their own.
foreach(lib xxhash isal zstd lzma brotlidec brotlienc brotlicommon snappy re2 sqlite3 pq argon2)
  find_library(STROBE_LIB_${lib} NAMES ${lib} REQUIRED)
  add_library(${lib} UNKNOWN IMPORTED)
  set_target_properties(${lib} PROPERTIES IMPORTED_LOCATION "${STROBE_LIB_${lib}}")
endforeach()

# libpq's header lies in a folder of its own.
find_path(STROBE_PQ_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql REQUIRED)
target_include_directories(pq SYSTEM INTERFACE "${STROBE_PQ_INCLUDE}")

# Our own .proto files for the gRPC services.
file(GLOB STROBE_PROTOS CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/proto/*.proto")
if(STROBE_PROTOS)
  find_program(STROBE_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
  set(proto_out "${CMAKE_BINARY_DIR}/proto")
  file(MAKE_DIRECTORY "${proto_out}")
  set(generated)
  foreach(proto ${STROBE_PROTOS})
    get_filename_component(stem "${proto}" NAME_WE)
    set(out "${proto_out}/${stem}.pb.cc" "${proto_out}/${stem}.grpc.pb.cc")
    add_custom_command(
      OUTPUT ${out} "${proto_out}/${stem}.pb.h" "${proto_out}/${stem}.grpc.pb.h"
      COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR}/proto --cpp_out=${proto_out}
              --grpc_out=${proto_out} --plugin=protoc-gen-grpc=${STROBE_GRPC_PLUGIN} ${proto}
      DEPENDS ${proto} VERBATIM)
    list(APPEND generated ${out})
  endforeach()
  add_library(strobe_proto STATIC ${generated})
  target_include_directories(strobe_proto SYSTEM PUBLIC "${proto_out}")
  target_link_libraries(strobe_proto PUBLIC gRPC::grpc++ protobuf::libprotobuf)
else()
  add_library(strobe_proto INTERFACE)
endif()
