# cpack: Debian packages of the library, of what programs are built with, and of the tool: docs/packages.md.

set(LIBRARY_PACKAGE libtessera${TSR_ABI_VERSION})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_VENDOR "The Tessera authors")
set(CPACK_PACKAGE_CONTACT "${TSR_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL library development)
if(TSR_BUILD_TOOLS)
    list(APPEND CPACK_COMPONENTS_ALL tools)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE none) # debian_control.cmake packs again
set(CPACK_DEBIAN_PACKAGE_SOURCE tessera)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# What drivers need is loaded at run time.
set(DRIVERS "libegl1, libgles2")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${LIBRARY_PACKAGE})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "${DRIVERS}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS libvulkan1)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "neural networks as OpenGL ES fragment passes
Tessera runs ONNX networks on GPUs as OpenGL ES 3.0 fragment shaders, or as
WebGPU compute kernels, and on the CPU. No GPU compute and no display are
needed.
.
This package has the shared library.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtessera-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${LIBRARY_PACKAGE} (= ${PROJECT_VERSION}), libprotobuf-c-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "neural networks as OpenGL ES fragment passes (development)
Tessera runs ONNX networks on GPUs as OpenGL ES 3.0 fragment shaders, or as
WebGPU compute kernels, and on the CPU. No GPU compute and no display are
needed.
.
This package has the headers, the static library, files for pkg-config and
CMake, and examples.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME tessera-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "${DRIVERS}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "libvulkan1, npm")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "neural networks as OpenGL ES fragment passes (tool)
Tessera runs ONNX networks on GPUs as OpenGL ES 3.0 fragment shaders, or as
WebGPU compute kernels, and on the CPU. No GPU compute and no display are
needed.
.
This package has the command tessera, which runs, measures, compares,
inspects and converts networks, with its manual pages.")

set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/tools/cmake/debian_files.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/tools/cmake/debian_control.cmake)
include(CPack)
