#include "gles/registers.h"

#include <string.h>

/* Midgard has 16 registers of a texel, later Mali GPUs, Adreno and VideoCore VI have 64 of a
 * component; addresses need some of them. */
enum { ANY = 0, MIDGARD = 7, SMALL = 10 };

/* By what the renderer's name holds, the first of these. "LLVM" is Mesa's driver for AMD; "Mali-T"
 * is Midgard. "" is any other GPU, which is taken to be small: programs that spill are many times
 * slower, others a little. */
static const struct family {
    const char *name;
    int registers;
} families[] = {
    {"llvmpipe", ANY},   {"softpipe", ANY}, {"SwiftShader", ANY}, {"NVIDIA", ANY},
    {"GeForce", ANY},    {"AMD", ANY},      {"Radeon", ANY},      {"LLVM", ANY},
    {"Mali-T", MIDGARD}, {"", SMALL},
};

bool tsr_gpu_clears_tiles(const char *renderer) {
    static const char *const names[] = {"Mali-", "Immortalis-", "V3D "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(renderer, names[i]))
            return true;
    return false;
}

int tsr_gpu_registers(const char *renderer) {
    const struct family *f = families;
    while (!strstr(renderer, f->name))
        f++;
    return f->registers;
}
