# cmake --install, in three components: library (the shared one), development (headers, static library, pkg-config file,
# CMake package, examples) and tools (the tool with its manual).

include(CMakePackageConfigHelpers)
set(PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

install(FILES src/tessera.h src/tessera_types.h src/tessera_report.h src/tessera_write.h src/tessera_primitive.h src/tessera_build.h src/tessera_train.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS tessera tessera_shared EXPORT tesseraTargets
        LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${PACKAGE_DIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
install(FILES demos/custom_op.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(DIRECTORY demos/embed/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples FILES_MATCHING PATTERN *.c PATTERN *.cpp)
if(TSR_BUILD_TOOLS)
    install(TARGETS tessera_tool COMPONENT tools)
    install(PROGRAMS tools/get-webgpu.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera COMPONENT tools)
    if(NOT CMAKE_CROSSCOMPILING)
        include(tools/cmake/manual.cmake)
    endif()
endif()

configure_package_config_file(tools/cmake/tesseraConfig.cmake.in ${PROJECT_BINARY_DIR}/tesseraConfig.cmake
                              INSTALL_DESTINATION ${PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesseraConfig.cmake
        ${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake DESTINATION ${PACKAGE_DIR})

file(RELATIVE_PATH PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(tools/cmake/tessera.pc.in ${PROJECT_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
