# The CMake package: find_package(norn), then target_link_libraries(program norn::norn).
get_filename_component(norn_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET norn::norn)
    add_library(norn::norn STATIC IMPORTED)
    set_target_properties(norn::norn PROPERTIES
        IMPORTED_LOCATION "${norn_prefix}/lib/libnorn.a"
        INTERFACE_INCLUDE_DIRECTORIES "${norn_prefix}/include")
endif()
