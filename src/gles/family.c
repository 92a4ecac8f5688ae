#include "gles/family.h"

#include <string.h>

/* Midgard has 16 registers of a texel, later Mali GPUs, Adreno and VideoCore VI have 64 of a
 * component; addresses need some of them. */
enum { ANY = 0, MIDGARD = 7, SMALL = 10 };

/* The first whose name a renderer's holds. "LLVM" is Mesa's driver for AMD; "Mali-T" is Midgard;
 * Mesa calls Adreno "FD". "" is any other GPU, which is taken to be small: programs that spill are
 * many times slower, others a little. */
static const tsr_gpu_family families[] = {
    {"llvmpipe", {ANY, false}, false},    {"softpipe", {ANY, false}, false},
    {"SwiftShader", {ANY, false}, false}, {"NVIDIA", {ANY, false}, false},
    {"GeForce", {ANY, false}, false},     {"AMD", {ANY, false}, false},
    {"Radeon", {ANY, false}, false},      {"LLVM", {ANY, false}, false},
    {"Mali-T", {MIDGARD, false}, true},   {"Mali", {SMALL, true}, true},
    {"Immortalis", {SMALL, true}, true},  {"V3D", {SMALL, false}, true},
    {"Adreno", {SMALL, true}, false},     {"FD", {SMALL, true}, false},
    {"", {SMALL, false}, false},
};

const tsr_gpu_family *tsr_gpu_family_of(const char *renderer) {
    const tsr_gpu_family *f = families;
    while (!strstr(renderer, f->name))
        f++;
    return f;
}
