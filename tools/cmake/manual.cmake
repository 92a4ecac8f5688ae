# Manual pages and bash's completion, which the tool prints, for cmake --install.

set(MANUAL ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${MANUAL})

function(print_to file)
    add_custom_command(OUTPUT ${MANUAL}/${file} DEPENDS tessera_tool VERBATIM
                       COMMAND tessera_tool ${ARGN} > ${MANUAL}/${file})
    set(PRINTED ${PRINTED} ${MANUAL}/${file} PARENT_SCOPE)
endfunction()

print_to(tessera.1 man)
file(READ tools/tessera/tool.h text)
string(REGEX MATCHALL "    X\\([a-z]+" commands "${text}")
foreach(command ${commands})
    string(SUBSTRING ${command} 6 -1 command)
    print_to(tessera-${command}.1 man ${command})
endforeach()
install(FILES ${PRINTED} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
print_to(completion.bash completion)
install(FILES ${MANUAL}/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tessera
        COMPONENT tools)
add_custom_target(tessera_manual ALL DEPENDS ${PRINTED})
