# Run by cpack after packing: packs again with what it cannot say (Multi-Arch), and without what Debian does by a trigger
# (scripts that call ldconfig).

if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()

foreach(package ${CPACK_PACKAGE_FILES})
    set(root ${CPACK_TEMPORARY_DIRECTORY}/again)
    file(REMOVE_RECURSE ${root})
    execute_process(COMMAND dpkg-deb --raw-extract ${package} ${root} COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE ${root}/DEBIAN/postinst ${root}/DEBIAN/postrm)
    file(GLOB multiarch ${root}/usr/lib/*-*)
    if(multiarch)
        file(READ ${root}/DEBIAN/control control)
        file(WRITE ${root}/DEBIAN/control "Multi-Arch: same\n${control}")
    endif()
    execute_process(COMMAND dpkg-deb --root-owner-group --build ${root} ${package} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
