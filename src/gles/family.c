#include "gles/family.h"

#include <ctype.h>
#include <string.h>

/* Midgard has 16 registers of a texel, later Mali GPUs, Adreno and VideoCore VI have 64 of a
 * component; addresses need some of them. "LLVM" is Mesa's driver for AMD; Mesa calls Adreno "FD"
 * and, in old releases, writes "Mali T860".
 * A GPU that is not known is taken to be small: programs that spill are many times slower, others a
 * little. */
static const tsr_gpu_family families[] = {
    {{"llvmpipe", "softpipe", "SwiftShader", "NVIDIA", "GeForce", "AMD", "Radeon", "LLVM"},
     {.registers = 0},
     false},
    {{"Mali-T", "Mali T"}, TSR_FRAGMENTS_MIDGARD, true},
    {{"Mali-G31", "Mali-G51", "Mali-G52", "Mali-G71", "Mali-G72", "Mali-G76", /* Bifrost */
      "Mali G31", "Mali G51", "Mali G52", "Mali G71", "Mali G72", "Mali G76"},
     TSR_FRAGMENTS_SMALL,
     true},
    {{"Mali", "Immortalis"}, TSR_FRAGMENTS_VALHALL, true},
    {{"V3D"}, {.registers = 9}, true},
    {{"Adreno", "FD"}, TSR_FRAGMENTS_SMALL, false},
    {{""}, {.registers = 10}, false},
};

/* "Mali-G31" is not the name of a Mali-G310. */
static bool holds(const char *renderer, const char *name) {
    const char *at = strstr(renderer, name);
    size_t length = strlen(name);
    return at && !(length && isdigit((unsigned char)name[length - 1]) &&
                   isdigit((unsigned char)at[length]));
}

static bool is_one(const tsr_gpu_family *f, const char *renderer) {
    for (int i = 0; i < TSR_FAMILY_NAMES && f->names[i]; i++)
        if (holds(renderer, f->names[i]))
            return true;
    return false;
}

const tsr_gpu_family *tsr_gpu_family_of(const char *renderer) {
    const tsr_gpu_family *f = families;
    while (!is_one(f, renderer))
        f++;
    return f;
}
