/* Outputs drawn into textures of the caller's, on its WebGPU device, held against the same outputs
 * read as pixels. */
#define _GNU_SOURCE /* dladdr() */
#include "support/backends.h"
#include "support/main.h"
#include "support/sessions.h"
#include "support/webgpu_caller.h"

#include <dlfcn.h>
#include <string.h>

enum { WIDTH = 70, HEIGHT = 30 }; /* of the textures */
enum { ROW = 512 };               /* bytes of one in a buffer */

/* What the library's table lacks, since only callers use it. */
typedef struct texture_functions {
    WGPUProcDeviceCreateTexture create;
    WGPUProcTextureDestroy destroy;
    WGPUProcTextureRelease release;
    WGPUProcCommandEncoderCopyTextureToBuffer copy;
} texture_functions;

static webgpu_caller caller;
static texture_functions functions;
static tsr_device *adopted;

static void *find(void *library, const char *name) {
    void *symbol = dlsym(library, name);
    assert_non_null(symbol);
    return symbol;
}

static void find_functions(void) {
    union { /* ISO C has no cast from function to object pointers */
        WGPUProcDeviceCreateBuffer function;
        void *object;
    } known = {caller.api->DeviceCreateBuffer};
    Dl_info info;
    assert_int_not_equal(dladdr(known.object, &info), 0);
    void *library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    *(void **)&functions.create = find(library, "wgpuDeviceCreateTexture");
    *(void **)&functions.destroy = find(library, "wgpuTextureDestroy");
    *(void **)&functions.release = find(library, "wgpuTextureRelease");
    *(void **)&functions.copy = find(library, "wgpuCommandEncoderCopyTextureToBuffer");
    dlclose(library);
}

static void need_devices(void) {
    if (adopted)
        return;
    open_webgpu_caller(&caller, &(caller_options){0});
    find_functions();
    const tsr_device_desc desc = adopting(&caller);
    adopted = make_device(&desc);
}

static int close_devices(void **state) {
    if (adopted) {
        tsr_device_destroy(adopted);
        close_webgpu_caller(&caller);
    }
    return close_backends(state);
}

/* Formats with 16 bits a channel came before these in numbers since. */
static WGPUTextureFormat number_of(WGPUTextureFormat format) {
    return caller.api->abi == TSR_WGPU_MID_2025 ? format - 4 : format;
}

static WGPUTexture make_texture(const webgpu_caller *c, WGPUTextureUsage usage, bool bgra) {
    const WGPUTextureDescriptor desc = {
        .usage = WGPUTextureUsage_CopySrc | usage,
        .dimension = WGPUTextureDimension_2D,
        .size = {WIDTH, HEIGHT, 1},
        .format = number_of(bgra ? WGPUTextureFormat_BGRA8Unorm : WGPUTextureFormat_RGBA8Unorm),
        .mipLevelCount = 1,
        .sampleCount = 1};
    WGPUTexture texture = functions.create(c->device, &desc);
    assert_non_null(texture);
    return texture;
}

static void read_texture(WGPUTexture texture, unsigned char rows[HEIGHT * ROW]) {
    WGPUBuffer buffer = make_caller_buffer(&caller, WGPUBufferUsage_Storage, NULL, HEIGHT * ROW);
    WGPUCommandEncoder encoder = caller.api->DeviceCreateCommandEncoder(caller.device, NULL);
    const WGPUTexelCopyTextureInfo from = {.texture = texture, .aspect = WGPUTextureAspect_All};
    const WGPUTexelCopyBufferInfo to = {.buffer = buffer,
                                        .layout = {.bytesPerRow = ROW, .rowsPerImage = HEIGHT}};
    functions.copy(encoder, &from, &to, &(WGPUExtent3D){WIDTH, HEIGHT, 1});
    WGPUCommandBuffer commands = caller.api->CommandEncoderFinish(encoder, NULL);
    caller.api->QueueSubmit(caller.queue, 1, &commands);
    caller.api->CommandBufferRelease(commands);
    caller.api->CommandEncoderRelease(encoder);
    read_caller_buffer(&caller, buffer, rows, HEIGHT * ROW);
    caller.api->BufferRelease(buffer);
}

/* The session's latest run; what is outside the target stays zero. */
static void expect_drawn(tsr_session *session, const tsr_draw_target *t) {
    static unsigned char rows[HEIGHT * ROW], picture[WIDTH * HEIGHT * 4];
    const unsigned char zeros[4] = {0};
    tsr_pixels p = {.data = picture,
                    .bytes = sizeof picture,
                    .width = t->width,
                    .height = t->height,
                    .format = t->format,
                    .filter = t->filter,
                    .channels_last = t->channels_last,
                    .bgr = t->bgr,
                    .image = t->image};
    memcpy(p.mean, t->mean, sizeof p.mean);
    memcpy(p.scale, t->scale, sizeof p.scale);
    EXPECT_OK(tsr_session_draw_output(session, "y", t));
    read_texture(t->wgpu_texture, rows);
    EXPECT_OK(tsr_session_get_output_pixels(session, "y", &p));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int row = y - t->y, column = x - t->x;
            bool inside = row >= 0 && row < t->height && column >= 0 && column < t->width;
            const unsigned char *texel = rows + y * ROW + x * 4;
            const unsigned char *expected =
                inside ? picture + (row * t->width + column) * 4 : zeros;
            if (memcmp(texel, expected, 4) != 0)
                fail_msg("pixel (%d, %d) is %d,%d,%d,%d instead of %d,%d,%d,%d", x, y, texel[0],
                         texel[1], texel[2], texel[3], expected[0], expected[1], expected[2],
                         expected[3]);
        }
}

static void try_target(const char *text, tsr_draw_target target) {
    tsr_model *model = make_model(text);
    tsr_session *session = make_session(adopted, model, &(tsr_session_desc){.poison = true});
    set_inputs(session, 3);
    tsr_session_transfer_outputs(session, false);
    EXPECT_OK(tsr_session_submit(session));
    for (int bgra = 0; bgra < 2; bgra++) {
        WGPUTexture texture = make_texture(&caller, WGPUTextureUsage_CopyDst, bgra);
        target.wgpu_texture = texture;
        target.format = bgra ? TSR_PIXELS_BGRA8 : TSR_PIXELS_RGBA8;
        expect_drawn(session, &target);
        functions.release(texture);
    }
    tsr_session_destroy(session);
    tsr_model_free(model);
}

static void test_targets(void **state) {
    (void)state;
    need_devices();
    static const struct {
        const char *text;
        tsr_draw_target target;
    } cases[] = {
        {"Sigmoid x[1,3,30,64] -> y", {.width = 64, .height = 30}},
        {"Sigmoid x[1,3,30,70] -> y", {.width = 70, .height = 30}},
        {"Sigmoid x[2,4,9,13] -> y", {.x = 3, .y = 5, .width = 31, .height = 17, .image = 1}},
        {"Sigmoid x[1,1,20,20] -> y", {.x = 69, .y = 29, .width = 1, .height = 1}},
        {"Tanh x[1,3,50,61] -> y",
         {.width = 33,
          .height = 30,
          .bgr = true,
          .mean = {127.5f, 127.5f, 127.5f, 0},
          .scale = {2 / 255.f, 2 / 255.f, 2 / 255.f, 0}}},
        {"Sigmoid x[1,8,11,3] -> y",
         {.x = 1, .width = 65, .height = 8, .channels_last = true, .filter = TSR_FILTER_NEAREST}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        try_target(cases[i].text, cases[i].target);
}

static void refuse(tsr_session *session, tsr_draw_target target, tsr_status status,
                   const char *words) {
    expect_failure(tsr_session_draw_output(session, "y", &target), status, words);
}

/* Arguments, and what only the device knows to be wrong; the caller's error callback gets nothing.
 */
static void test_refused(void **state) {
    (void)state;
    need_devices();
    webgpu_caller other;
    open_webgpu_caller(&other, &(caller_options){0});
    tsr_model *model = make_model("Sigmoid x[1,3,30,40] -> y");
    tsr_session *session = make_session(adopted, model, NULL);
    WGPUTexture textures[] = {make_texture(&caller, WGPUTextureUsage_CopyDst, false),
                              make_texture(&caller, WGPUTextureUsage_RenderAttachment, false),
                              make_texture(&other, WGPUTextureUsage_CopyDst, false),
                              make_texture(&caller, WGPUTextureUsage_CopyDst, false)};
    const tsr_draw_target good = {.wgpu_texture = textures[0], .width = 40, .height = HEIGHT};
    tsr_draw_target bad = good;
    refuse(session, good, TSR_ERROR_INVALID_ARGUMENT, "has not run");
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    bad.wgpu_texture = NULL;
    refuse(session, bad, TSR_ERROR_INVALID_ARGUMENT, "wgpu_texture");
    bad = good, bad.flip = true;
    refuse(session, bad, TSR_ERROR_INVALID_ARGUMENT, "flipped");
    bad = good, bad.texture = 1;
    refuse(session, bad, TSR_ERROR_INVALID_ARGUMENT, "neither GL's");
    bad = good, bad.format = TSR_PIXELS_RGB8;
    refuse(session, bad, TSR_ERROR_INVALID_ARGUMENT, "RGBA8 or BGRA8");
    bad = good, bad.x = 31;
    refuse(session, bad, TSR_ERROR_DEVICE, "drawing an output");
    functions.destroy(textures[3]);
    static const char *const words[] = {"CopyDst", "evice", "estroyed"};
    for (int i = 1; i < 4; i++) {
        bad = good, bad.wgpu_texture = textures[i];
        refuse(session, bad, TSR_ERROR_DEVICE, words[i - 1]);
    }
    expect_drawn(session, &good);
    for (int i = 0; i < 4; i++)
        functions.release(textures[i]);
    tsr_session_destroy(session);
    tsr_model_free(model);
    close_webgpu_caller(&other);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, close_devices);
}
