# Run by cpack between installing and packing: what Debian's policy wants of the files of each package.

if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

string(TIMESTAMP DATE "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH, if that is set
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../LICENSE LICENSE)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]*)\n\n(.*)" match "${LICENSE}")
set(COPYRIGHT "${CMAKE_MATCH_1}")
string(STRIP "${CMAKE_MATCH_2}" TEXT)
string(REPLACE "\n\n" "\n.\n" TEXT "${TEXT}")
string(REPLACE "\n" "\n " TEXT "${TEXT}")

foreach(component ${CPACK_COMPONENTS_ALL})
    string(TOUPPER ${component} upper)
    set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component})
    set(doc ${root}/usr/share/doc)
    message(STATUS "${package} in ${root}")
    if(EXISTS ${doc}/tessera)
        file(REMOVE ${doc}/tessera/LICENSE)
        file(RENAME ${doc}/tessera ${doc}/${package})
    endif()
    file(WRITE ${doc}/${package}/copyright
         "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
         "Upstream-Name: Tessera\n"
         "Comment: Binaries have the loaders that glad writes, in the public domain but for Khronos' headers (Apache-2.0);\n"
         " tessera has stb_image, in the public domain.\n\nFiles: *\nCopyright: ${COPYRIGHT}\nLicense: Expat\n ${TEXT}\n")
    file(WRITE ${doc}/${package}/changelog
         "tessera (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * Built from the sources of this version.\n\n"
         " -- ${CPACK_PACKAGE_CONTACT}  ${DATE}\n")
    file(GLOB_RECURSE texts ${doc}/${package}/changelog ${root}/usr/share/man/*.1)
    run(gzip -9n ${texts})
    file(GLOB_RECURSE programs ${root}/usr/bin/tessera)
    file(GLOB_RECURSE libraries ${root}/usr/lib/*.so.*.*)
    file(GLOB_RECURSE archives ${root}/usr/lib/*.a)
    foreach(file ${programs} ${libraries})
        run(strip --strip-unneeded --remove-section=.comment --remove-section=.note ${file})
    endforeach()
    foreach(file ${archives})
        run(strip --strip-debug --remove-section=.comment --enable-deterministic-archives ${file})
    endforeach()
    run(chmod -R u=rwX,go=rX ${root})
endforeach()
