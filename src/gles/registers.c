#include "gles/registers.h"

#include <string.h>

/* Midgard has 16 registers of a texel, later Mali GPUs, Adreno and VideoCore VI have 64 of a
 * component; addresses need some of them. */
enum { ANY = 0, MIDGARD = 7, SMALL = 10 };

/* By what the renderer's name holds, the first of these. "LLVM" is Mesa's driver for AMD; "Mali-T"
 * is Midgard; Mesa calls Adreno "FD". "" is any other GPU, which is taken to be small: programs
 * that spill are many times slower, others a little. */
static const struct family {
    const char *name;
    tsr_fragment_limits limits;
} families[] = {
    {"llvmpipe", {ANY, false}}, {"softpipe", {ANY, false}},    {"SwiftShader", {ANY, false}},
    {"NVIDIA", {ANY, false}},   {"GeForce", {ANY, false}},     {"AMD", {ANY, false}},
    {"Radeon", {ANY, false}},   {"LLVM", {ANY, false}},        {"Mali-T", {MIDGARD, false}},
    {"Mali", {SMALL, true}},    {"Immortalis", {SMALL, true}}, {"Adreno", {SMALL, true}},
    {"FD", {SMALL, true}},      {"", {SMALL, false}},
};

tsr_fragment_limits tsr_fragment_limits_of(const char *renderer) {
    const struct family *f = families;
    while (!strstr(renderer, f->name))
        f++;
    return f->limits;
}
