/* How many registers fragments of a GPU have, by the names that drivers and browsers give it, and
 * which ones clear tiles. */
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
    } gpus[] = {
        {"llvmpipe (LLVM 15.0.6, 256 bits)", MANY},
        {"ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), "
         "SwiftShader driver)",
         MANY},
        {"NVIDIA H200/PCIe/SSE2", MANY},
        {"ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 Direct3D11 vs_5_0 ps_5_0, D3D11)", MANY},
        {"AMD Radeon RX 6600 (radeonsi, navi23, LLVM 15.0.6)", MANY},
        {"ANGLE (AMD, AMD Radeon(TM) Graphics Direct3D11 vs_5_0 ps_5_0, D3D11)", MANY},
        {"KABINI (kabini, LLVM 15.0.6, DRM 2.50)", MANY},
        {"Mali-T860 (Panfrost)", MIDGARD},
        {"ANGLE (ARM, Mali-T830, OpenGL ES 3.2)", MIDGARD},
        {"Mali-G52 (Panfrost)", SMALL},
        {"ANGLE (ARM, Mali-G78, OpenGL ES 3.2)", SMALL},
        {"Immortalis-G715", SMALL},
        {"FD630", SMALL},
        {"Adreno (TM) 630", SMALL},
        {"ANGLE (Qualcomm, Adreno (TM) 740, OpenGL ES 3.2)", SMALL},
        {"V3D 4.2", SMALL},
        {"PowerVR Rogue GE8320", SMALL},
        {"Apple GPU", SMALL},
        {"ANGLE (Apple, ANGLE Metal Renderer: Apple M1, Unspecified Version)", SMALL},
        {"Mesa Intel(R) HD Graphics 530 (SKL GT2)", SMALL},
        {"ANGLE (Intel, Intel(R) UHD Graphics 620 Direct3D11 vs_5_0 ps_5_0, D3D11)", SMALL},
        {"a GPU that nobody knows", SMALL},
        {"", SMALL},
    };
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        if (tsr_gpu_registers(gpus[i].renderer) != gpus[i].registers)
            fail_msg("%s: %d registers, not %d", gpus[i].renderer,
                     tsr_gpu_registers(gpus[i].renderer), gpus[i].registers);
}

/* Those that were found to load what they overwrite: docs/devices.md. */
static void test_tiles(void **state) {
    (void)state;
    static const struct {
        const char *renderer;
        bool clears;
    } gpus[] = {
        {"Mali-G52 (Panfrost)", true},
        {"ANGLE (ARM, Mali-G78, OpenGL ES 3.2)", true},
        {"Immortalis-G715", true},
        {"V3D 4.2", true},
        {"FD630", false},
        {"Adreno (TM) 630", false},
        {"llvmpipe (LLVM 15.0.6, 256 bits)", false},
        {"NVIDIA H200/PCIe/SSE2", false},
        {"Apple GPU", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        if (tsr_gpu_clears_tiles(gpus[i].renderer) != gpus[i].clears)
            fail_msg("%s: clears %d, not %d", gpus[i].renderer, !gpus[i].clears, gpus[i].clears);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
