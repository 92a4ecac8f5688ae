# cmake --install: headers, libraries, tool with its manual, pkg-config file, CMake package.

include(CMakePackageConfigHelpers)
set(PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

install(FILES src/tessera.h src/tessera_types.h src/tessera_report.h src/tessera_write.h src/tessera_primitive.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS tessera tessera_shared EXPORT tesseraTargets)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${PACKAGE_DIR})
if(TSR_BUILD_TOOLS)
    install(TARGETS tessera_tool)
    if(NOT CMAKE_CROSSCOMPILING)
        include(tools/cmake/manual.cmake)
    endif()
endif()

configure_package_config_file(tools/cmake/tesseraConfig.cmake.in ${CMAKE_BINARY_DIR}/tesseraConfig.cmake
                              INSTALL_DESTINATION ${PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tesseraConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tesseraConfig.cmake
        ${CMAKE_BINARY_DIR}/tesseraConfigVersion.cmake DESTINATION ${PACKAGE_DIR})

file(RELATIVE_PATH PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(tools/cmake/tessera.pc.in ${CMAKE_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
