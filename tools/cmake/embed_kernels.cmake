# cmake -DFILES="a.glsl;b.glsl" -DLANGUAGE=glsl -DOUT=.../glsl_kernels -P embed_kernels.cmake
# Writes glsl_kernels.h and .c: each file as `const char tsr_glsl_<stem>[]`, a table of them, and their hash.

string(TOUPPER ${LANGUAGE} GUARD)
set(PREFIX tsr_${LANGUAGE})

set(declarations "")
set(definitions "")
set(rows "")
foreach(file ${FILES})
    get_filename_component(stem ${file} NAME_WE)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}") # a line each
    string(APPEND declarations "extern const char ${PREFIX}_${stem}[];\n")
    string(APPEND definitions "const char ${PREFIX}_${stem}[] = {\n${bytes}0};\n")
    string(APPEND rows "    {\"${stem}\", ${PREFIX}_${stem}},\n")
endforeach()

string(SHA256 hash "${definitions}")

file(WRITE ${OUT}.h "/* Written by cmake/embed_kernels.cmake. */
#ifndef TSR_${GUARD}_KERNELS_H
#define TSR_${GUARD}_KERNELS_H

${declarations}
typedef struct ${PREFIX}_kernel {
    const char *stem, *text;
} ${PREFIX}_kernel;

/* Every file of ${LANGUAGE}/. */
extern const ${PREFIX}_kernel ${PREFIX}_kernels[];
extern const int ${PREFIX}_kernel_count;
extern const char ${PREFIX}_hash[]; /* of all their texts */

#endif
")

file(WRITE ${OUT}.c "/* Written by cmake/embed_kernels.cmake. */
#include \"${LANGUAGE}_kernels.h\"

${definitions}
const ${PREFIX}_kernel ${PREFIX}_kernels[] = {
${rows}};
const int ${PREFIX}_kernel_count = sizeof ${PREFIX}_kernels / sizeof *${PREFIX}_kernels;
const char ${PREFIX}_hash[] = \"${hash}\";
")
