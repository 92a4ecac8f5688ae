# cmake -DGLAD=gles2.h -DOUT=gl_calls.h -P gl_calls.cmake
# Names the members of glad's table of entry points as GL does: #define glClear (tsr_gl->Clear)

file(STRINGS ${GLAD} members REGEX "^    PFNGL[A-Z0-9_]+PROC [A-Za-z0-9_]+;")
set(lines "")
foreach(member ${members})
    string(REGEX REPLACE ".*PROC ([A-Za-z0-9_]+).*" "\\1" name "${member}")
    string(APPEND lines "#define gl${name} (tsr_gl->${name})\n")
endforeach()
file(WRITE ${OUT} "/* Written by cmake/gl_calls.cmake. */\n${lines}")
