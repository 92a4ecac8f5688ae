/* What fragments of a GPU can do, by the names that drivers and browsers give it. */
#include "gles/registers.h"
#include "support/main.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MANY = 0, SMALL = 10, MIDGARD = 7 };

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *renderer;
        int registers;
        bool half;
    } gpus[] = {
        {"llvmpipe (LLVM 15.0.6, 256 bits)", MANY, false},
        {"ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), "
         "SwiftShader driver)",
         MANY, false},
        {"NVIDIA H200/PCIe/SSE2", MANY, false},
        {"ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 Direct3D11 vs_5_0 ps_5_0, D3D11)", MANY, false},
        {"AMD Radeon RX 6600 (radeonsi, navi23, LLVM 15.0.6)", MANY, false},
        {"ANGLE (AMD, AMD Radeon(TM) Graphics Direct3D11 vs_5_0 ps_5_0, D3D11)", MANY, false},
        {"KABINI (kabini, LLVM 15.0.6, DRM 2.50)", MANY, false},
        {"Mali-T860 (Panfrost)", MIDGARD, false},
        {"ANGLE (ARM, Mali-T830, OpenGL ES 3.2)", MIDGARD, false},
        {"Mali-G52 (Panfrost)", SMALL, true},
        {"ANGLE (ARM, Mali-G78, OpenGL ES 3.2)", SMALL, true},
        {"Immortalis-G715", SMALL, true},
        {"FD630", SMALL, true},
        {"Adreno (TM) 630", SMALL, true},
        {"ANGLE (Qualcomm, Adreno (TM) 740, OpenGL ES 3.2)", SMALL, true},
        {"V3D 4.2", SMALL, false},
        {"PowerVR Rogue GE8320", SMALL, false},
        {"Apple GPU", SMALL, false},
        {"ANGLE (Apple, ANGLE Metal Renderer: Apple M1, Unspecified Version)", SMALL, false},
        {"Mesa Intel(R) HD Graphics 530 (SKL GT2)", SMALL, false},
        {"ANGLE (Intel, Intel(R) UHD Graphics 620 Direct3D11 vs_5_0 ps_5_0, D3D11)", SMALL, false},
        {"a GPU that nobody knows", SMALL, false},
        {"", SMALL, false},
    };
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        const tsr_fragment_limits limits = tsr_fragment_limits_of(gpus[i].renderer);
        if (limits.registers != gpus[i].registers || limits.half_products != gpus[i].half)
            fail_msg("%s: %d registers, not %d, or products of 16 bits: %d, not %d",
                     gpus[i].renderer, limits.registers, gpus[i].registers, limits.half_products,
                     gpus[i].half);
    }
}

int run_program(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
