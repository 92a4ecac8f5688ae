/* Tessera: neural networks as OpenGL ES 3.0 fragment-shader passes, or WebGPU compute kernels, over
 * channel tiles.
 *
 * Three opaque objects: a DEVICE (where passes run), a MODEL (an ONNX file, checked), and a SESSION
 * (a model prepared for a device: planned, compiled, weights uploaded, ready to run many times).
 *
 *     tsr_device *device; tsr_model *model; tsr_session *session;
 *     tsr_device_create(&(tsr_device_desc){.backend = "gles"}, &device);
 *     tsr_model_load("net.onnx", NULL, &model);
 *     tsr_session_create(device, model, NULL, &session);
 *     tsr_session_set_input(session, "x", input, input_count);
 *     tsr_session_run(session);
 *     tsr_session_get_output(session, "y", output, output_count);
 *
 * Rules for the whole header
 * - Descriptions are plain structs; a zeroed one (or NULL) asks for every default. A zeroed
 *   tsr_session_desc measures nothing.
 * - Structs may get more members at their ends in later versions, without a change of the ABI:
 *   functions that take one are inline and pass its size to the library's function of that name
 *   with "_sized" at its end, which programs in other languages call. A library that is older than
 *   the header fails with TSR_ERROR_UNSUPPORTED where a description uses what it does not know, and
 *   sets members of results that it does not know to zero. Exceptions, which never grow:
 *   tsr_shape, tsr_dim_binding, tsr_input_shape, tsr_fixed_input, tsr_custom_attr, tsr_progress,
 *   tsr_allocator, tsr_files, tsr_custom_call, tsr_written_layer.
 * - Functions return a tsr_status. On failure tsr_last_error() has the message: file, node,
 *   operator, shape.
 * - Tensors cross this API as dense row-major float32 arrays in the model's own axis order, unless
 *   a tsr_array, tsr_pixels, tsr_texture or tsr_buffer says otherwise.
 * - NaN and infinities propagate on a GPU as on cpu, if the driver supports them, which neither
 *   GLSL ES 3.00 nor WGSL guarantees. Results differ where they meet weights of zero: a Conv or
 *   ConvTranspose may turn neighbouring pixels and channels into NaN, a Resize may ignore them.
 *   Winograd convolution adds and subtracts inputs before it multiplies:
 *   infinities, and inputs or weights above a quarter of the largest float, may become NaN. 16-bit
 *   storage may turn infinities into NaN, too.
 * - Threads: different devices may be used from different threads. One device, and every session
 *   made on it, belongs to one thread at a time. A model is immutable once loaded and may be
 *   shared. Making a session packs weights on threads of its own. On llvmpipe other threads, each
 *   with a GL context, compile programs. All of them end before the session is ready to run.
 * NVIDIA's driver (seen with 580) may hang when a webgpu device is destroyed while other threads
 * render.
 * - Returned strings stay valid as long as the object that returned them.
 * - A device keeps compiled programs, up to 256 that no session uses, until it is destroyed. They
 *   and autotuning results are cached on disk, too, at most 64 MiB: see tsr_set_cache_folder().
 */
#ifndef TESSERA_H
#define TESSERA_H

#include "tessera_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; tsr_version() is the library's. */
#define TSR_VERSION "0.1.0"

TSR_API const char *tsr_version(void);

/* Programs built with the same number run with the library: its shared object has it in its name.
 */
#define TSR_ABI_VERSION 1

/* ---- devices --------------------------------------------------------------------------------- */

typedef struct tsr_device tsr_device;

typedef enum tsr_platform {
    TSR_PLATFORM_AUTO,        /* the given gpu; if none is given the first GPU that works, else
                               * SURFACELESS (a software rasteriser), else DEFAULT */
    TSR_PLATFORM_SURFACELESS, /* EGL_MESA_platform_surfaceless */
    TSR_PLATFORM_DEVICE,      /* EGL_EXT_platform_device: the gpu-th device */
    TSR_PLATFORM_DEFAULT,     /* eglGetDisplay(EGL_DEFAULT_DISPLAY) */
    /* Use the caller's GLES 3 context, which must be current now and at every later call that takes
     * the device or a session on it (not another one that shares its objects): else the call fails
     * with TSR_ERROR_DEVICE, and what is destroyed leaves its GL objects to the context. Each call
     * restores the GL state (but see caller_restores_state) and clears pending errors; a program in
     * use that was already deleted is gone afterwards. */
    TSR_PLATFORM_CURRENT,
} tsr_platform;

/* Of backend "gles". Limits are below the driver's, for tests and weaker targets; 0: the driver's.
 */
typedef struct tsr_gles_desc {
    tsr_platform platform;
    /* TSR_PLATFORM_CURRENT: finds GL entry points; NULL asks the system's libGLESv2 and EGL. */
    void *(*get_proc_address)(const char *name);
    int max_texture_size, max_draw_buffers, max_uniform_block_bytes;
    const void *reserved[3]; /* NULL: room for later members */
    /* TSR_PLATFORM_CURRENT: calls neither save nor restore the GL state, which takes about 100
     * glGet calls each; the caller sets again what it needs of
     * - the program in use, the vertex array (to 0), the draw and read framebuffers (to 0)
     * - the pixel-pack and pixel-unpack buffers, the uniform buffer and its indexed binding 0
     * - the active texture unit; of units 0 to 15 the 2D texture, 2D-array texture and sampler
     * - viewport, scissor box, color mask of every draw buffer
     * - blending of every draw buffer, culling, depth test, dithering, polygon offset, rasterizer
     *   discard, sample alpha to coverage, scissor test, stencil test: disabled
     * - all pixel-store parameters: alignments 4, the others 0
     * No transform feedback may be active and not paused. */
    bool caller_restores_state;
    bool no_float_targets; /* as if the driver rendered to none: see tsr_device_info.bits_only */
} tsr_gles_desc;

/* Of backend "webgpu". */
typedef struct tsr_webgpu_desc {
    /* Selects the adapter whose name contains this, in any case; NULL: automatic. */
    const char *adapter;
    uint64_t max_buffer_bytes; /* of one tensor or packed weights; 0: the device's limit */
    /* A WGPUInstance and a WGPUDevice of it that the caller made, both or neither: sessions run on
     * that device, which is retained until the tsr_device is gone, and never destroyed. They come
     * from the library that Tessera loads: the file that the environment variable
     * TSR_WEBGPU_LIBRARY names, else libwebgpu_dawn.so, libwebgpu.so or libwebgpu_wrapper.so, else
     * ${XDG_DATA_HOME:-~/.local/share}/tessera/webgpu/lib/libwebgpu_wrapper.so (get-webgpu.sh).
     * - The instance was made with the feature TimedWaitAny, with which calls wait.
     * - The device has WebGPU's default limits at least: TSR_ERROR_NO_DEVICE tells what is missing.
     *   Tensors can be as large as the maxBufferSize and maxStorageBufferBindingSize that were
     *   requested for it. GPU timers are offered if it has the feature TimestampQuery.
     * - Each call leaves the device's error scopes as they were. What goes wrong inside is the
     *   call's status: no scope or callback of the caller's gets it.
     * - After a loss, or wgpuDeviceDestroy(), calls fail with TSR_ERROR_DEVICE_LOST. They may call
     *   the device's callback for its loss, and no other callback of the caller's.
     * - Calls and the caller's own use of the device are on one thread at a time. */
    void *instance, *device;
    const void *reserved[2]; /* NULL: room for later members */
} tsr_webgpu_desc;

typedef struct tsr_device_desc {
    const char *backend; /* "gles" (default), "webgpu" or "cpu" */
    /* 1 selects the first device of TSR_PLATFORM_DEVICE or the first WebGPU adapter, 2 the second;
     * 0: automatic */
    int gpu;
    /* Debugging: which algorithms compute convolutions and matrix products. NULL: all that the
     * device has, the best by estimates or autotuning. "plain": one texel per invocation;
     * "direct": several; "shared": and split-K or workgroup memory; "blocks": and uniform blocks
     * and Winograd; "small", "midgard", "valhall": those for GPUs of few registers, as on Mali-G52
     * and Adreno, on Mali-T, on Mali-G57 and later. All but NULL switch autotuning off. */
    const char *kernels;
    tsr_gles_desc gles;
    tsr_webgpu_desc webgpu;
} tsr_device_desc;

TSR_API tsr_status tsr_device_create_sized(const tsr_device_desc *desc, size_t size,
                                           tsr_device **device);
static inline tsr_status tsr_device_create(const tsr_device_desc *desc, tsr_device **device) {
    return tsr_device_create_sized(desc, sizeof *desc, device);
}
/* Drops the caller's reference. Sessions hold one each: the device goes with the last of them, and
 * they work until then. NULL is fine. */
TSR_API void tsr_device_destroy(tsr_device *device);

typedef struct tsr_device_info {
    const char *backend;
    const char *name;    /* renderer, e.g. "llvmpipe (LLVM 15.0.6, 256 bits)" */
    const char *version; /* driver and API version */
    bool is_cpu;         /* a software rasteriser (llvmpipe, SwiftShader), or backend cpu */
    int max_texture_size, max_array_layers, max_draw_buffers,
        max_uniform_block_bytes; /* gles; 0 elsewhere */
    uint64_t max_buffer_bytes;   /* webgpu, as the next three; 0 elsewhere */
    int max_workgroup_invocations, max_workgroup_bytes, max_storage_buffers;
    bool has_timer;        /* GPU timers are offered */
    bool has_float_blend;  /* blending into RGBA32F */
    bool has_robust_reset; /* a lost context can be detected */
    /* gles: it renders to 16-bit floats, but to none of 32 bits (GL_EXT_color_buffer_half_float
     * without GL_EXT_color_buffer_float). Sessions store tensors in 16 bits, whatever precision
     * they ask for, and int32 and int64 tensors on the CPU, if allow_cpu_fallback is set. */
    bool half_only;
    /* gles: it renders to no floats, as OpenGL ES 3.0 and WebGL2 without extensions. Sessions store
     * their bits in integer textures, in 32 bits whatever precision they ask for, with equal
     * results; outputs cannot be textures. */
    bool bits_only;
} tsr_device_info;

TSR_API tsr_status tsr_device_get_info_sized(const tsr_device *device, tsr_device_info *info,
                                             size_t size);
static inline tsr_status tsr_device_get_info(const tsr_device *device, tsr_device_info *info) {
    return tsr_device_get_info_sized(device, info, sizeof *info);
}

/* Measured peak rates in 32 bits, each by itself: what shares of peak refer to. All in billions per
 * second. On a device that is half_only tensors are of 16 bits. */
typedef struct tsr_device_peaks {
    double gflops;     /* multiply-adds, two operations each */
    double gfetches;   /* texel fetches, or loads of vec4f, that hit the cache */
    double copy_gbs;   /* bytes read and written by a pass that copies a million texels */
    double upload_gbs; /* bytes from host memory to a tensor, and back */
    double readback_gbs;
} tsr_device_peaks;

/* Needs about a second. TSR_ERROR_UNSUPPORTED on cpu, and on a device that is bits_only. */
TSR_API tsr_status tsr_device_measure_sized(tsr_device *device, tsr_device_peaks *peaks,
                                            size_t size);
static inline tsr_status tsr_device_measure(tsr_device *device, tsr_device_peaks *peaks) {
    return tsr_device_measure_sized(device, peaks, sizeof *peaks);
}

/* Calls fn once for each device that could be created here, in the order of tsr_device_desc.gpu for
 * platform devices and adapters. A backend that finds nothing calls fn with info NULL and the
 * reason. Both structs are valid during that call only. */
typedef void (*tsr_device_fn)(void *user, const tsr_device_desc *desc, const tsr_device_info *info,
                              const char *reason);
TSR_API void tsr_list_devices_sized(tsr_device_fn fn, void *user, size_t desc_size,
                                    size_t info_size);
static inline void tsr_list_devices(tsr_device_fn fn, void *user) {
    tsr_list_devices_sized(fn, user, sizeof(tsr_device_desc), sizeof(tsr_device_info));
}

/* ---- custom operators ------------------------------------------------------------------------ */

/* Operators of the caller, or ONNX operators that Tessera lacks: tsr_model_desc.custom_ops lists
 * those that a model's nodes may use. demos/custom_op.c is an example.
 *
 * An operator has 1 to 4 inputs, the last of which may be optional, and one output, all of them
 * float. On the CPU a function computes the whole output. On a GPU a shader body computes one
 * element from its coordinates: the body of a function that returns a float in GLSL ES 3.00, an f32
 * in WGSL. Both languages have the same read-only names, integers except elements and attributes:
 *
 *     n, c, y, x                  coordinates of the element: image, channel, row, column
 *     IN0(n, c, y, x) .. IN3      an element of an input; 0 outside it and for an absent input
 *     IN0_N, IN0_C, IN0_H, IN0_W  an input's sizes; 0 for an absent input
 *     OUT_N, OUT_C, OUT_H, OUT_W  the output's sizes
 *     ATTR_gain                   the attribute "gain" of tsr_custom_op.attrs, as a float
 *
 * so that `return ATTR_gain * IN0(n, c, y, x);` is a valid body in both. Tensors of fewer than 4
 * axes are [N, C, W], [N, C] and [C], with size 1 along the other axes; nodes with more axes run on
 * the CPU. Fused post-ops, a ReLU say, and 16-bit storage are handled outside the body. A body that
 * a driver refuses fails tsr_session_create with TSR_ERROR_DEVICE, the node, and the driver's first
 * error, which counts the lines of the body. */

enum { TSR_MAX_CUSTOM_INPUTS = 4, TSR_MAX_CUSTOM_ATTRS = 8 };

/* A node of the model, as its operator's functions see it. They read its attributes; default_value
 * is returned where the node has none of that name and kind. A float may be an integer in the file.
 */
typedef struct tsr_node tsr_node;
TSR_API int64_t tsr_attr_int(const tsr_node *node, const char *name, int64_t default_value);
TSR_API float tsr_attr_float(const tsr_node *node, const char *name, float default_value);
TSR_API const char *tsr_attr_string(const tsr_node *node, const char *name,
                                    const char *default_value);
/* NULL and a count of 0 if absent. */
TSR_API const int64_t *tsr_attr_ints(const tsr_node *node, const char *name, int *count);
TSR_API const float *tsr_attr_floats(const tsr_node *node, const char *name, int *count);

/* Valid during the call only. Tensors are dense and row-major. */
typedef struct tsr_custom_call {
    void *user;
    const tsr_node *node;
    int input_count;
    tsr_shape input_shape[TSR_MAX_CUSTOM_INPUTS];
    const float *input[TSR_MAX_CUSTOM_INPUTS]; /* NULL for the shape function */
    tsr_shape output_shape;                    /* the shape function's result */
    float *output;                             /* to be filled; NULL for the shape function */
} tsr_custom_call;

/* Returns TSR_OK, or fails with tsr_fail(). The result must depend on the call only: nodes with
 * constant inputs are computed once, when a session is made. Called on the thread that calls
 * Tessera. */
typedef tsr_status (*tsr_custom_fn)(tsr_custom_call *call);

typedef struct tsr_custom_attr {
    const char *name; /* a letter, then letters, digits and single underscores */
    float value;      /* for nodes that do not have the attribute */
} tsr_custom_attr;

/* Strings and attrs are copied; functions and user must outlive the model and its sessions. */
typedef struct tsr_custom_op {
    const char *name;
    const char *domain; /* NULL, "" or "ai.onnx": ONNX's own, for operators that Tessera lacks */
    int min_inputs;     /* 0: 1 */
    int max_inputs;     /* 0: min_inputs */
    /* Sets call->output_shape, which is the first input's shape before. NULL: keeps that. */
    tsr_custom_fn shape;
    tsr_custom_fn compute; /* on the CPU; not optional */
    /* Shader bodies; NULL: backends of that language run the node on the CPU if allow_cpu_fallback
     * is set and reject it otherwise. */
    const char *glsl, *wgsl;
    const tsr_custom_attr *attrs; /* those that the bodies use */
    int attr_count;
    void *user; /* passed to the functions */
} tsr_custom_op;

/* ---- models ---------------------------------------------------------------------------------- */

typedef struct tsr_model tsr_model;

/* Files that the system has not: assets of an APK, members of an archive. Paths are the one given
 * to tsr_model_load, and for external data the model's folder, '/' and the location that the model
 * gives, which never leads out of that folder; the location alone if that folder is "." or none.
 * They return TSR_OK or fail with tsr_fail(), on the thread that loads the model, and must not call
 * Tessera otherwise. Used during the call only. */
typedef struct tsr_files {
    void *user;
    tsr_status (*size)(void *user, const char *path, uint64_t *bytes);
    /* All `size` bytes from `offset` on, which are inside the file by its size. */
    tsr_status (*read)(void *user, const char *path, uint64_t offset, void *buffer, size_t size);
} tsr_files;

typedef struct tsr_model_desc {
    /* Reject models that, with external data, have more bytes, and sessions whose tensors and
     * weights need more; 0: the machine's memory. */
    uint64_t max_bytes;
    /* For tsr_model_load_memory: the model's name in messages, and the folder of its external data
     * (or NULL). */
    const char *name;
    const char *external_data_dir;
    const tsr_custom_op *custom_ops;
    int custom_op_count;
    tsr_progress progress;
    /* Read through these, not through the system; functions NULL: the system's. A model's bytes
     * are kept in memory then; of external data only what tensors need is read. */
    tsr_files files;
    /* Operations (multiply-adds, or elements read and written if these are more) that a session
     * may spend on nodes whose inputs are all constant while it is made. Nodes beyond that run with
     * the others, which is logged. 0: 2^28. */
    uint64_t max_work;
} tsr_model_desc;

/* Reads and checks an ONNX file (opset 7 to 27; later ones are tried). Nothing in it is trusted. Of
 * what is not supported the message lists all at once: operators, attributes, forms of operators,
 * element types, with the number of nodes or tensors and the first one's name
 * (TSR_ERROR_UNSUPPORTED). Large weights stay in the file, which is memory-mapped (unless
 * tsr_model_desc.files are given): while the model or a session of it exists the file may be
 * deleted or replaced by another, but not modified in place.
 */
TSR_API tsr_status tsr_model_load_sized(const char *path, const tsr_model_desc *desc, size_t size,
                                        size_t custom_op_size, tsr_model **model);
static inline tsr_status tsr_model_load(const char *path, const tsr_model_desc *desc,
                                        tsr_model **model) {
    return tsr_model_load_sized(path, desc, sizeof *desc, sizeof *desc->custom_ops, model);
}
/* The bytes may be freed after the call. */
TSR_API tsr_status tsr_model_load_memory_sized(const void *bytes, size_t count,
                                               const tsr_model_desc *desc, size_t size,
                                               size_t custom_op_size, tsr_model **model);
static inline tsr_status tsr_model_load_memory(const void *bytes, size_t count,
                                               const tsr_model_desc *desc, tsr_model **model) {
    return tsr_model_load_memory_sized(bytes, count, desc, sizeof *desc, sizeof *desc->custom_ops,
                                       model);
}
/* Sessions keep what they need of a model: it may be freed before them. NULL is fine. */
TSR_API void tsr_model_free(tsr_model *model);

TSR_API int tsr_model_input_count(const tsr_model *model);
TSR_API int tsr_model_output_count(const tsr_model *model);
TSR_API tsr_status tsr_model_input_sized(const tsr_model *model, int index, tsr_tensor_info *info,
                                         size_t size);
static inline tsr_status tsr_model_input(const tsr_model *model, int index, tsr_tensor_info *info) {
    return tsr_model_input_sized(model, index, info, sizeof *info);
}
/* Shapes of outputs are those that the file declares; a session knows the computed ones. */
TSR_API tsr_status tsr_model_output_sized(const tsr_model *model, int index, tsr_tensor_info *info,
                                          size_t size);
static inline tsr_status tsr_model_output(const tsr_model *model, int index,
                                          tsr_tensor_info *info) {
    return tsr_model_output_sized(model, index, info, sizeof *info);
}
/* An input that an operator uses as a parameter (a Reshape's shape, a Pad's widths, ...) has to be
 * fixed when a session is made: see tsr_session_desc.fixed. A convolution's weights need not be:
 * fixed ones are packed once, others in each run. */
TSR_API bool tsr_model_input_is_parameter(const tsr_model *model, int index);
TSR_API int tsr_model_opset(const tsr_model *model);
TSR_API int64_t tsr_model_parameter_count(const tsr_model *model);
/* Distinct operators and how often each occurs; false past the last. */
TSR_API bool tsr_model_op(const tsr_model *model, int index, const char **op, int *count);
/* The file's metadata_props, which live as long as the model; false past the last. */
TSR_API bool tsr_model_metadata(const tsr_model *model, int index, const char **key,
                                const char **value);

/* ---- sessions -------------------------------------------------------------------------------- */

typedef struct tsr_session tsr_session;

typedef enum tsr_precision {
    TSR_PRECISION_FP32,
    TSR_PRECISION_FP16,
    /* 16 bits, but for the tensors and weights that need 32: see tsr_session_calibrate(). */
    TSR_PRECISION_AUTO
} tsr_precision;

/* How packed weights of convolutions and matrix products are stored on a GPU; arithmetic is the
 * same. The cpu backend computes with the model's own. */
typedef enum tsr_weight_type {
    /* As tsr_session_desc.precision says; but in 8 or 4 bits what the model has so: weights
     * that it makes with DequantizeLinear, with a scale and a zero point for each output channel
     * or, by block_size, for 32, 64 or 128 weights. */
    TSR_WEIGHTS_AUTO,
    TSR_WEIGHTS_FP32,
    TSR_WEIGHTS_FP16,
    /* Integers of 8 bits, with a scale for each output channel: its largest weight / 127, or the
     * model's own scale. Layers of fewer than 1024 weights are as with TSR_WEIGHTS_AUTO, and so
     * are those with infinite weights and, on a device that is half_only, all. */
    TSR_WEIGHTS_INT8,
    /* Integers of 4 bits, with a scale of 32 bits for each block of about 128 weights of an output
     * channel: all taps of 2^n input channels; or in the model's own blocks. Depthwise layers and
     * those whose groups are no multiples of 4 channels are as with TSR_WEIGHTS_INT8. */
    TSR_WEIGHTS_INT4
} tsr_weight_type;

typedef struct tsr_dim_binding { /* a symbolic dimension's size, e.g. {"batch", 1} */
    const char *name;
    int64_t size;
} tsr_dim_binding;

typedef struct tsr_input_shape { /* a whole input's shape, where the model leaves it open; but see
                                    tsr_session_desc.override_shapes */
    const char *input;
    tsr_shape shape;
} tsr_input_shape;

typedef struct tsr_fixed_input { /* turns an input into a constant; data is dense, of dtype, copied
                                  */
    const char *input;
    tsr_dtype dtype;
    tsr_shape shape;
    const void *data;
} tsr_fixed_input;

typedef struct tsr_session_desc {
    /* Storage of tensors on a GPU (but see tsr_device_info.half_only); arithmetic is float32, but
     * with tensors of 16 bits, on GPUs that compute faster in these (Adreno, Mali-G), products of
     * convolutions and sums of four of them have 16 bits, too. In 16 bits values above 65504 become
     * infinity, the largest number or NaN, depending on the driver. So do sums of up to four
     * weights of a filter in Winograd convolution, and the sums of a transposed convolution, before
     * bias and post-ops, where another pass assembles its phases. */
    tsr_precision precision;
    /* Run nodes that the backend lacks on the CPU, between passes; and, after each run, those whose
     * shapes, or whose inputs that have to be constant, are known only then (as of NonZero,
     * NonMaxSuppression, Reshape to a computed shape), with all that read their results. The CPU
     * backend runs such nodes in any case. */
    bool allow_cpu_fallback;
    bool texture_outputs; /* gles only: lay outputs out for tsr_session_output_texture */
    bool keep_tensors;    /* keep every tensor that a pass writes readable through get_output */
    bool plan_only;       /* plan and report, allocate nothing on the device; cannot run */
    bool time_passes;     /* GPU timers around each node, where offered; see tsr_node_report.ms */
    bool poison; /* debugging: before each run, fills with NaN everything it must not read */
    /* Runs in flight: outputs of one can be read while the next ones execute. 0: 1; at most 16.
     * More than 1 cannot be combined with allow_cpu_fallback, texture_outputs, keep_tensors or
     * time_passes. */
    int runs_in_flight;
    /* Time budget for autotuning, which measures the candidate algorithms of each convolution and
     * matrix product when the session is made: milliseconds. Layers that are not measured in time
     * have the algorithm of the least estimate. The device keeps the results, and so does the cache
     * on disk. 0: nothing is measured; layers measured earlier, with this or another batch or image
     * size, have the algorithm found then. Negative: estimates everywhere. Where tensors on a
     * GPU would need more than 1.15 times the bytes that are alive at one time, the session gets
     * estimates instead if they need less; where that is still too much, a low-memory plan: for a
     * few layers candidates that need less memory, though they are slower. */
    int tune_ms;
    const tsr_dim_binding *dims;
    int dim_count;
    const tsr_input_shape *shapes;
    int shape_count;
    const tsr_fixed_input *fixed;
    int fixed_count;
    const char *const *extra_outputs; /* names of inner tensors to deliver as outputs too */
    int extra_output_count;
    tsr_progress progress;
    bool prepare_in_steps; /* tsr_session_create() only plans: tsr_session_prepare() does the rest,
                              and calls `progress`, too */
    /* Which passes of the optimizer rewrite the graph before it is planned, by the names of
     * tsr_optimizer_pass_name(): NULL or "all": every one; "none": only those that cannot be left
     * out; "bypass,fuse_posts": these, too; "-bypass,-fuse_posts": all but these. Without a pass
     * results are the same but for rounding. The cpu backend runs none but fold_constants.
     * TSR_ERROR_INVALID_ARGUMENT names a name that is unknown. */
    const char *optimizer_passes;
    tsr_weight_type weights;
    /* Allows `shapes` to replace sizes that the model fixes. Shape inference runs with the new
     * sizes; the error names the first node that does not allow them, such as a Reshape to a
     * constant shape. */
    bool override_shapes;
} tsr_session_desc;

/* The passes of the optimizer in their order: their names, and what each does, in a line; NULL past
 * the last. */
TSR_API const char *tsr_optimizer_pass_name(int index);
TSR_API const char *tsr_optimizer_pass_text(int index);

/* Everything that can fail because of shapes, operators, limits or memory fails here, not in a run.
 * Holds references on the device and the model: both may be destroyed before the session. */
TSR_API tsr_status tsr_session_create_sized(tsr_device *device, const tsr_model *model,
                                            const tsr_session_desc *desc, size_t size,
                                            tsr_session **session);
static inline tsr_status tsr_session_create(tsr_device *device, const tsr_model *model,
                                            const tsr_session_desc *desc, tsr_session **session) {
    return tsr_session_create_sized(device, model, desc, sizeof *desc, session);
}
TSR_API void tsr_session_destroy(tsr_session *session);

/* Continues on another device of the same backend and GPU after a call failed with
 * TSR_ERROR_DEVICE_LOST: programs are built and weights uploaded again as the session was planned
 * and tuned before, so that results are the same. In steps, if it was made so: call
 * tsr_session_prepare() then. Inputs and tsr_session_set_weights() have to be set again; buffers
 * and textures of the lost device are gone. On failure the session is as before. The session's
 * reference on the lost device is dropped: where contexts are the caller's (TSR_PLATFORM_CURRENT),
 * make the new one current and the device from it first. TSR_ERROR_INVALID_ARGUMENT: the session's
 * device is not lost, or another backend. */
TSR_API tsr_status tsr_session_recover(tsr_session *session, tsr_device *device);

/* For a program that renders frames, or handles events, in between: prepares a session that was
 * made with prepare_in_steps. Starts its programs, packs and uploads its weights, then looks
 * whether the driver has compiled the programs, and waits for nothing. Works for about `ms`
 * milliseconds, by one pass at least. TSR_NOT_READY while work remains; TSR_OK once the session can
 * run, and for any other session. Before that only descriptions of inputs and outputs and reports
 * are available. A failure is final: the session can only be destroyed. On llvmpipe destroying one
 * that is not ready waits for the programs that threads are compiling, up to 0.2 s. */
TSR_API tsr_status tsr_session_prepare(tsr_session *session, double ms);

/* Of a session with TSR_PRECISION_AUTO, which stores tensors in 32 bits until this is called: every
 * input has been set, and the model is run with these inputs in 32 and in 16 bits. Where the
 * outputs differ by more than 0.004 of their largest element, packed weights get 32 bits, if that
 * helps, and then tensors, those first that lose most for their size, within 1.25 times the tensor
 * memory of TSR_PRECISION_FP16. A warning says so if the outputs are off by more than 0.01 even
 * then; if by more than 0.1, the session stays in 32 bits, with their memory. Other inputs have
 * other errors: calibrate with usual ones, as random numbers are not.
 * - Afterwards the session has the inputs that were set, and no run; output textures are gone, and
 *   weights have to be replaced later: TSR_ERROR_INVALID_ARGUMENT if they were replaced before.
 * - The result is kept by the device and in the cache (see tsr_set_cache_folder()): a session made
 *   later of the same model, shapes and device has it from the start, and this call does nothing.
 *   The same inputs give the same result.
 * - Takes as long as making and running some 5 to 15 sessions, on the calling thread, and in
 *   between the memory of two sessions, one of them with keep_tensors. tsr_session_desc.progress is
 *   not called.
 * - After a failure the session continues in 32 bits.
 * Does nothing on the backend cpu, and on a device that is half_only, where all tensors have 16
 * bits. TSR_ERROR_INVALID_ARGUMENT for a session of another precision. Not in pages, where calls
 * cannot wait for WebGPU. */
TSR_API tsr_status tsr_session_calibrate(tsr_session *session);

/* An output whose shape is known only after a run (see allow_cpu_fallback) has the shape that the
 * model declares before the first, with -1 for unknown sizes and rank -1 where nothing is declared,
 * and the type that it declares; then those of the latest run. */
TSR_API int tsr_session_input_count(const tsr_session *session);
TSR_API int tsr_session_output_count(const tsr_session *session);
TSR_API tsr_status tsr_session_input_sized(const tsr_session *session, int index,
                                           tsr_tensor_info *info, size_t size);
static inline tsr_status tsr_session_input(const tsr_session *session, int index,
                                           tsr_tensor_info *info) {
    return tsr_session_input_sized(session, index, info, sizeof *info);
}
TSR_API tsr_status tsr_session_output_sized(const tsr_session *session, int index,
                                            tsr_tensor_info *info, size_t size);
static inline tsr_status tsr_session_output(const tsr_session *session, int index,
                                            tsr_tensor_info *info) {
    return tsr_session_output_sized(session, index, info, sizeof *info);
}

/* count: elements, checked against the shape. The array is copied before the call returns. Elements
 * of integer and boolean inputs are floats, too: whole numbers of the input's type, up to 2^24. */
TSR_API tsr_status tsr_session_set_input(tsr_session *session, const char *name, const float *data,
                                         size_t count);

/* The elements of an input or output in the caller's memory: dense and row-major, in the order of
 * the tensor's axes. */
typedef struct tsr_array {
    void *data;   /* only read for inputs; aligned as its type */
    size_t count; /* of elements, checked against the shape */
    /* Any; it need not be the tensor's. Inputs become float32: integers above 2^24 and float64 are
     * rounded. Outputs are rounded and limited to the range of an integer type. */
    tsr_dtype dtype;
    /* The tensor is [N, C, ...] and the array [N, ..., C]: NHWC for NCHW. Needs two axes. */
    bool channels_last;
} tsr_array;

/* As tsr_session_set_input, for other types and orders. float32, float16, uint8 and bool are
 * converted on the GPU; others, and integer inputs, on the calling thread. */
TSR_API tsr_status tsr_session_set_input_array_sized(tsr_session *session, const char *name,
                                                     const tsr_array *array, size_t size);
static inline tsr_status tsr_session_set_input_array(tsr_session *session, const char *name,
                                                     const tsr_array *array) {
    return tsr_session_set_input_array_sized(session, name, array, sizeof *array);
}

/* Bytes of a pixel in memory, in this order; gray is one byte. */
typedef enum tsr_pixel_format {
    TSR_PIXELS_RGBA8,
    TSR_PIXELS_BGRA8,
    TSR_PIXELS_RGB8,
    TSR_PIXELS_BGR8,
    TSR_PIXELS_GRAY8,
} tsr_pixel_format;

/* How a picture of one size becomes one of another. Sample centres are at half integers, beyond its
 * border a picture continues with its border. */
typedef enum tsr_pixel_filter {
    TSR_FILTER_AREA,   /* shrinking: mean of the area that a pixel covers; enlarging: bilinear */
    TSR_FILTER_LINEAR, /* bilinear, which skips pixels when it shrinks to less than half */
    TSR_FILTER_NEAREST,
} tsr_pixel_filter;

/* A picture in the caller's memory, the upper row first, and how it becomes one image of a tensor
 * with 1, 3 or 4 channels: [N, C, H, W], [C, H, W], or, with channels_last, [N, H, W, C], [H, W,
 * C]; [H, W] has one channel. It is scaled to the tensor's rows and columns (an output: from them).
 * Channels are red, green, blue, alpha. One channel is gray: 0.299 red + 0.587 green + 0.114 blue.
 * A missing alpha is 255. Each element is (value - mean[channel]) * scale[channel] for a value of 0
 * to 255; an output's value is element / scale + mean, rounded, limited to 0 to 255. */
typedef struct tsr_pixels {
    void *data;   /* only read for inputs; any alignment */
    size_t bytes; /* of data */
    int width, height;
    int64_t stride; /* bytes from a row to the next; 0: rows follow each other without a gap */
    tsr_pixel_format format;
    tsr_pixel_filter filter;
    bool channels_last; /* of the tensor */
    bool bgr;           /* the tensor's channels are blue, green, red */
    int image;          /* of the batch: 0 to N - 1 */
    float mean[4];
    float scale[4]; /* all 0: 1/255, so that elements are 0 to 1 */
} tsr_pixels;

/* Sets one image of an input; others keep what they had, zeros at first (NaN with
 * tsr_session_desc.poison). The pixels are copied before the call returns and converted on the GPU.
 */
TSR_API tsr_status tsr_session_set_input_pixels_sized(tsr_session *session, const char *name,
                                                      const tsr_pixels *pixels, size_t size);
static inline tsr_status tsr_session_set_input_pixels(tsr_session *session, const char *name,
                                                      const tsr_pixels *pixels) {
    return tsr_session_set_input_pixels_sized(session, name, pixels, sizeof *pixels);
}

/* A tensor as a GL texture (GL_TEXTURE_2D). Channels 4t..4t+3 of pixel (x, y) of image n are stored
 * in the texel ((k % columns) * width + x, (k / columns) * height + y), k = n * tiles + t; row 0 is
 * the top. Components beyond the last channel hold anything: of 3 channels, alpha is no opacity. */
typedef struct tsr_texture {
    uint32_t id;
    uint32_t internal_format; /* of outputs: RGBA32F or RGBA16F */
    int width, height;        /* of one tile */
    int columns;              /* tiles side by side */
    int tiles;                /* per image: ceil(channels / 4) */
    int texture_width, texture_height;
} tsr_texture;

/* Copies an input from a texture on the GPU: each value times `factor`, plus `summand`. The texture
 * may have any internal_format of floats or normalized integers; its filters are ignored: texels
 * are fetched at level 0. It belongs to the device's context, or one that shares objects with it,
 * and may be rendered to again after the call. gles only. */
TSR_API tsr_status tsr_session_set_input_texture_sized(tsr_session *session, const char *name,
                                                       const tsr_texture *texture, size_t size,
                                                       float factor, float summand);
static inline tsr_status tsr_session_set_input_texture(tsr_session *session, const char *name,
                                                       const tsr_texture *texture, float factor,
                                                       float summand) {
    return tsr_session_set_input_texture_sized(session, name, texture, sizeof *texture, factor,
                                               summand);
}

/* The elements of an input or output in a buffer on the GPU: dense and row-major, in the order of
 * the tensor's axes. */
typedef struct tsr_buffer {
    /* A WGPUBuffer of the device that the session's tsr_device adopted (see tsr_webgpu_desc), with
     * usage Storage. Used by commands that are submitted during the call: afterwards it may be
     * released, and commands that the caller submits then come after them. */
    void *buffer;
    uint64_t offset; /* of the first element in bytes: a multiple of 256 */
    /* From the offset on, at least those of the elements, rounded up to a multiple of 4, or 16 for
     * outputs in float32. An output is written with what fills it up to that; bytes beyond are
     * neither read nor written. */
    uint64_t bytes;
    size_t count;       /* of elements, checked against the shape */
    tsr_dtype dtype;    /* float32, float16, uint8 or bool, converted as for tsr_array */
    bool channels_last; /* as in tsr_array; TSR_ERROR_UNSUPPORTED where only the CPU can do it */
} tsr_buffer;

/* Sets an input from a buffer on the GPU, in the queue's order, without a copy through memory.
 * Integer and boolean inputs, and inputs that are also outputs, cannot be set so:
 * TSR_ERROR_UNSUPPORTED. TSR_ERROR_DEVICE, with the device's message, for what it refuses: a buffer
 * without usage Storage, smaller than it is said to be, mapped, destroyed, or of another device.
 * webgpu only. */
TSR_API tsr_status tsr_session_set_input_buffer_sized(tsr_session *session, const char *name,
                                                      const tsr_buffer *buffer, size_t size);
static inline tsr_status tsr_session_set_input_buffer(tsr_session *session, const char *name,
                                                      const tsr_buffer *buffer) {
    return tsr_session_set_input_buffer_sized(session, name, buffer, sizeof *buffer);
}

/* submit + wait. Every input must have been set once. */
TSR_API tsr_status tsr_session_run(tsr_session *session);

/* Starts a run, and the transfer of its outputs, without waiting for either. What runs on the CPU
 * (everything on the cpu backend, nodes that fell back) is complete before it returns. So is most
 * of a run on a software rasteriser (tsr_device_info.is_cpu), as llvmpipe: tsr_session_step()
 * returns earlier. */
TSR_API tsr_status tsr_session_submit(tsr_session *session);
/* A run in steps, for a program that renders frames in between: starts a run if none is in progress
 * and works on it for about `ms` milliseconds. TSR_NOT_READY while work remains, TSR_OK once the
 * run is complete. On gles a step waits for the GPU and executes a few passes, at least one;
 * webgpu's first step submits and the others poll; cpu does everything in one. Until the last step
 * output textures hold the previous run. Setting an input or submitting cancels a run in progress.
 * Not with several runs in flight. */
TSR_API tsr_status tsr_session_step(tsr_session *session, double ms);
/* Whether runs that are started from now on transfer their outputs to memory, as they do at first.
 * A program that only draws outputs, or uses them as textures or buffers, needs no transfer;
 * get_output then transfers the latest run's when it is asked for them, and waits for that. */
TSR_API tsr_status tsr_session_transfer_outputs(tsr_session *session, bool transfer);
/* Selects the run that poll and get_output refer to by its age: 0 is the latest submitted one,
 * runs_in_flight - 1 the oldest. Each submit selects 0 again. */
TSR_API tsr_status tsr_session_select_run(tsr_session *session, int age);
/* TSR_OK once get_output will not block, TSR_NOT_READY before; never blocks. */
TSR_API tsr_status tsr_session_poll(tsr_session *session);

/* Copies an output (row-major, count elements) of the latest or the selected run; waits for it if
 * it is in progress. Integer and boolean outputs are delivered as floats.
 * A run transfers each output to memory in the form in which it was read last, at first as these
 * floats, so that reading need not wait for the transfer. Another form is transferred when it is
 * asked for; of a run that is not the latest, only from floats. Integers but uint8 and bool are
 * transferred as floats, as float64 is. The first use of a form compiles a program; those of the
 * latest four forms of an input or output are kept. */
TSR_API tsr_status tsr_session_get_output(tsr_session *session, const char *name, float *data,
                                          size_t count);
/* The same for other types and orders: fills array->data. Integers that the cpu backend computed,
 * and constants, are exact beyond 2^24, too, where the array has their type. */
TSR_API tsr_status tsr_session_get_output_array_sized(tsr_session *session, const char *name,
                                                      const tsr_array *array, size_t size);
static inline tsr_status tsr_session_get_output_array(tsr_session *session, const char *name,
                                                      const tsr_array *array) {
    return tsr_session_get_output_array_sized(session, name, array, sizeof *array);
}
/* One image of an output as a picture: fills pixels->data, rows of width pixels; bytes between them
 * stay as they are. */
TSR_API tsr_status tsr_session_get_output_pixels_sized(tsr_session *session, const char *name,
                                                       const tsr_pixels *pixels, size_t size);
static inline tsr_status tsr_session_get_output_pixels(tsr_session *session, const char *name,
                                                       const tsr_pixels *pixels) {
    return tsr_session_get_output_pixels_sized(session, name, pixels, sizeof *pixels);
}

/* Where an output is drawn in the device's GL context, or on its WebGPU device, scaled to a
 * rectangle. Colors and alpha are those of tsr_pixels divided by 255, neither rounded nor limited
 * but by the target's format: elements of 0 to 1 are drawn as they are by default. */
typedef struct tsr_draw_target {
    /* A GL_TEXTURE_2D with a color-renderable format of floats or normalized integers, level 0; 0:
     * the framebuffer below. Not one that the session reads or writes. */
    uint32_t texture;
    uint32_t framebuffer;    /* its first draw buffer; 0: the default framebuffer */
    int x, y, width, height; /* in the target, y upwards in a window; inside it */
    /* false: the picture's first row is at y, as Tessera's textures have it; true: at y + height -
     * 1, which is the upper one in a window. */
    bool flip;
    tsr_pixel_filter filter;
    bool channels_last;      /* of the tensor */
    bool bgr;                /* the tensor's channels are blue, green, red */
    int image;               /* of the batch: 0 to N - 1 */
    float mean[4], scale[4]; /* as in tsr_pixels */
    /* webgpu, in place of texture, framebuffer and flip: a WGPUTexture of the device that the
     * session's tsr_device adopted, with usage CopyDst and four bytes a texel, which become those
     * of `format`, RGBA8 or BGRA8, whatever the texture calls them. Its upper row is 0. */
    void *wgpu_texture;
    tsr_pixel_format format;
} tsr_draw_target;

/* Draws one image of an output of the latest run into a target of the caller's, without waiting for
 * it and without a copy through memory: later commands of the context or queue see it. Replaces
 * what is there, without blending. TSR_ERROR_DEVICE, with the device's message, for textures that
 * WebGPU refuses: without usage CopyDst, smaller, destroyed, of another device. gles and webgpu. */
TSR_API tsr_status tsr_session_draw_output_sized(tsr_session *session, const char *name,
                                                 const tsr_draw_target *target, size_t size);
static inline tsr_status tsr_session_draw_output(tsr_session *session, const char *name,
                                                 const tsr_draw_target *target) {
    return tsr_session_draw_output_sized(session, name, target, sizeof *target);
}

/* Writes an output of the latest run into a buffer on the GPU, in the queue's order, without
 * waiting for the run and without a copy through memory. Not an output that is a constant or an
 * input, or that a node computed on the CPU: TSR_ERROR_UNSUPPORTED. TSR_ERROR_DEVICE as for inputs.
 * webgpu only. */
TSR_API tsr_status tsr_session_get_output_buffer_sized(tsr_session *session, const char *name,
                                                       const tsr_buffer *buffer, size_t size);
static inline tsr_status tsr_session_get_output_buffer(tsr_session *session, const char *name,
                                                       const tsr_buffer *buffer) {
    return tsr_session_get_output_buffer_sized(session, name, buffer, sizeof *buffer);
}

/* Replaces weights of Conv, ConvTranspose, Gemm or MatMul in this session; other sessions keep
 * theirs. name: a constant of the model, or what a Cast to float32 makes of one of 16 bits.
 * elements: copied; `count` of them, in the constant's shape and order. Runs already submitted use
 * the old weights. TSR_ERROR_UNSUPPORTED if the constant was folded into others, or if another
 * operator reads it, too. */
TSR_API tsr_status tsr_session_set_weights(tsr_session *session, const char *name,
                                           const float *elements, size_t count);

/* An output as a texture of the device's context, valid until the session is destroyed, rewritten
 * by each run; needs texture_outputs. */
TSR_API tsr_status tsr_session_output_texture_sized(tsr_session *session, const char *name,
                                                    tsr_texture *texture, size_t size);
static inline tsr_status tsr_session_output_texture(tsr_session *session, const char *name,
                                                    tsr_texture *texture) {
    return tsr_session_output_texture_sized(session, name, texture, sizeof *texture);
}

#ifdef __cplusplus
}
#endif

#include "tessera_report.h"
#include "tessera_write.h"
#endif
