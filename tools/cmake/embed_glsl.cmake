# cmake -DFILES="a.glsl;b.glsl" -DOUT=STEM -P embed_glsl.cmake
# Writes STEM.h and STEM.c: each file as `const char tsr_glsl_<stem>[]`, and a table of them.

set(declarations "")
set(definitions "")
set(rows "")
foreach(file ${FILES})
    get_filename_component(stem ${file} NAME_WE)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}") # a line each
    string(APPEND declarations "extern const char tsr_glsl_${stem}[];\n")
    string(APPEND definitions "const char tsr_glsl_${stem}[] = {\n${bytes}0};\n")
    string(APPEND rows "    {\"${stem}\", tsr_glsl_${stem}},\n")
endforeach()

file(WRITE ${OUT}.h "/* Written by cmake/embed_glsl.cmake. */
#ifndef TSR_GLSL_KERNELS_H
#define TSR_GLSL_KERNELS_H

${declarations}
typedef struct tsr_glsl_kernel {
    const char *stem, *text;
} tsr_glsl_kernel;

/* Every file of glsl/. */
extern const tsr_glsl_kernel tsr_glsl_kernels[];
extern const int tsr_glsl_kernel_count;

#endif
")

file(WRITE ${OUT}.c "/* Written by cmake/embed_glsl.cmake. */
#include \"glsl_kernels.h\"

${definitions}
const tsr_glsl_kernel tsr_glsl_kernels[] = {
${rows}};
const int tsr_glsl_kernel_count = sizeof tsr_glsl_kernels / sizeof *tsr_glsl_kernels;
")
