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
        int unroll;
    } gpus[] = {
        {"llvmpipe (LLVM 15.0.6, 256 bits)", MANY, false, false, false, 0},
        {"ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), "
         "SwiftShader driver)",
         MANY, false, false, false, 0},
        {"NVIDIA H200/PCIe/SSE2", MANY, false, false, false, 0},
        {"ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 Direct3D11 vs_5_0 ps_5_0, D3D11)", MANY, false,
         false, false, 0},
        {"AMD Radeon RX 6600 (radeonsi, navi23, LLVM 15.0.6)", MANY, false, false, false, 0},
        {"ANGLE (AMD, AMD Radeon(TM) Graphics Direct3D11 vs_5_0 ps_5_0, D3D11)", MANY, false, false,
         false, 0},
        {"KABINI (kabini, LLVM 15.0.6, DRM 2.50)", MANY, false, false, false, 0},
        {"Mali-T860 (Panfrost)", MIDGARD, false, false, true, 4},
        {"Mali T860 (Panfrost)", MIDGARD, false, false, true, 4},
        {"Mali G72 (Panfrost)", SMALL, true, false, true, 0},
        {"ANGLE (ARM, Mali-T830, OpenGL ES 3.2)", MIDGARD, false, false, true, 4},
        {"Mali-G52 (Panfrost)", SMALL, true, false, true, 0},
        {"ANGLE (ARM, Mali-G78, OpenGL ES 3.2)", SMALL, false, true, true, 0},
        {"Mali-G57 (Panfrost)", SMALL, false, true, true, 0},
        {"Mali-G310", SMALL, false, true, true, 0},
        {"Mali-G710 MC10", SMALL, false, true, true, 0},
        {"ANGLE (ARM, Mali-G71 MP20, OpenGL ES 3.2)", SMALL, true, false, true, 0},
        {"Immortalis-G715", SMALL, false, true, true, 0},
        {"FD630", SMALL, true, false, false, 0},
        {"Adreno (TM) 630", SMALL, true, false, false, 0},
        {"ANGLE (Qualcomm, Adreno (TM) 740, OpenGL ES 3.2)", SMALL, true, false, false, 0},
        {"V3D 4.2", V3D, false, false, true, 0},
        {"PowerVR Rogue GE8320", SMALL, false, false, false, 0},
        {"Apple GPU", SMALL, false, false, false, 0},
        {"ANGLE (Apple, ANGLE Metal Renderer: Apple M1, Unspecified Version)", SMALL, false, false,
         false, 0},
        {"Mesa Intel(R) HD Graphics 530 (SKL GT2)", SMALL, false, false, false, 0},
        {"ANGLE (Intel, Intel(R) UHD Graphics 620 Direct3D11 vs_5_0 ps_5_0, D3D11)", SMALL, false,
         false, false, 0},
        {"a GPU that nobody knows", SMALL, false, false, false, 0},
        {"", SMALL, false, false, false, 0},
    };
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        const tsr_gpu_family *f = tsr_gpu_family_of(gpus[i].renderer);
        if (f->fragments.registers != gpus[i].registers ||
            f->fragments.half_products != gpus[i].half ||
            f->fragments.texture_weights != gpus[i].texture || f->clears_tiles != gpus[i].clears ||
            f->fragments.unroll != gpus[i].unroll ||
            f->fragments.dots != (gpus[i].registers == MIDGARD))
            fail_msg("%s is taken for '%s'", gpus[i].renderer, f->names[0]);
    }
}

/* What tsr_device_desc.kernels tries anywhere is what the GPUs of that name have. */
static void test_kernels(void **state) {
    (void)state;
    static const struct {
        const char *kernels, *renderer;
    } pairs[] = {{"small", "Mali-G52"},
                 {"small", "Adreno (TM) 630"},
                 {"midgard", "Mali-T860"},
                 {"valhall", "Mali-G57"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const tsr_fragment_limits of_gpu = tsr_gpu_family_of(pairs[i].renderer)->fragments,
                                  chosen = tsr_device_profile_make(TSR_GLSL, pairs[i].kernels, true,
                                                                   (tsr_fragment_limits){0})
                                               .fragments;
        assert_int_equal(chosen.registers, of_gpu.registers);
        assert_int_equal(chosen.half_products, of_gpu.half_products);
        assert_int_equal(chosen.texture_weights, of_gpu.texture_weights);
        assert_int_equal(chosen.unroll, of_gpu.unroll);
        assert_int_equal(chosen.dots, of_gpu.dots);
    }
}

int run_program(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
