/* What is known of a GPU by the name that drivers and browsers give it. */
#include "gles/family.h"
#include "support/main.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MANY = 0, SMALL = 10, V3D = 9, MIDGARD = 7 };

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *renderer;
        int registers;
        bool half, texture, clears;
    } gpus[] = {
        {"llvmpipe (LLVM 15.0.6, 256 bits)", MANY, false, false, false},
        {"ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), "
         "SwiftShader driver)",
         MANY, false, false, false},
        {"NVIDIA H200/PCIe/SSE2", MANY, false, false, false},
        {"ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 Direct3D11 vs_5_0 ps_5_0, D3D11)", MANY, false,
         false, false},
        {"AMD Radeon RX 6600 (radeonsi, navi23, LLVM 15.0.6)", MANY, false, false, false},
        {"ANGLE (AMD, AMD Radeon(TM) Graphics Direct3D11 vs_5_0 ps_5_0, D3D11)", MANY, false, false,
         false},
        {"KABINI (kabini, LLVM 15.0.6, DRM 2.50)", MANY, false, false, false},
        {"Mali-T860 (Panfrost)", MIDGARD, false, false, true},
        {"ANGLE (ARM, Mali-T830, OpenGL ES 3.2)", MIDGARD, false, false, true},
        {"Mali-G52 (Panfrost)", SMALL, true, false, true},
        {"ANGLE (ARM, Mali-G78, OpenGL ES 3.2)", SMALL, false, true, true},
        {"Mali-G57 (Panfrost)", SMALL, false, true, true},
        {"Mali-G310", SMALL, false, true, true},
        {"Mali-G710 MC10", SMALL, false, true, true},
        {"ANGLE (ARM, Mali-G71 MP20, OpenGL ES 3.2)", SMALL, true, false, true},
        {"Immortalis-G715", SMALL, false, true, true},
        {"FD630", SMALL, true, false, false},
        {"Adreno (TM) 630", SMALL, true, false, false},
        {"ANGLE (Qualcomm, Adreno (TM) 740, OpenGL ES 3.2)", SMALL, true, false, false},
        {"V3D 4.2", V3D, false, false, true},
        {"PowerVR Rogue GE8320", SMALL, false, false, false},
        {"Apple GPU", SMALL, false, false, false},
        {"ANGLE (Apple, ANGLE Metal Renderer: Apple M1, Unspecified Version)", SMALL, false, false,
         false},
        {"Mesa Intel(R) HD Graphics 530 (SKL GT2)", SMALL, false, false, false},
        {"ANGLE (Intel, Intel(R) UHD Graphics 620 Direct3D11 vs_5_0 ps_5_0, D3D11)", SMALL, false,
         false, false},
        {"a GPU that nobody knows", SMALL, false, false, false},
        {"", SMALL, false, false, false},
    };
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        const tsr_gpu_family *f = tsr_gpu_family_of(gpus[i].renderer);
        if (f->fragments.registers != gpus[i].registers ||
            f->fragments.half_products != gpus[i].half ||
            f->fragments.texture_weights != gpus[i].texture || f->clears_tiles != gpus[i].clears)
            fail_msg("%s is taken for '%s'", gpus[i].renderer, f->names[0]);
    }
}

int run_program(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
