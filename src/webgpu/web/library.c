/* A page's WebGPU, whose functions src/web/gpu.mjs has: they take numbers, and what C passes in
 * structs is unpacked here. The page opens a device before the module asks for it. Nothing blocks:
 * futures become complete between the page's tasks. */
#include "webgpu/library.h"

#include "base/allocator.h"

#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name))) name
#define IMPORT(name) __attribute__((import_module("gpu"), import_name(#name)))

/* Objects are numbers, 0 is none. */
typedef uint32_t web_object;

/* ---- what the page has ----------------------------------------------------------------------- */

/* Is there a device? Is it the page's own? */
IMPORT(isOpen) int web_is_open(void);
IMPORT(isShared) int web_is_shared(void);
/* Texts about the adapter, with a NUL; is it software? */
IMPORT(getInfo) int web_get_info(char *name, size_t name_size, char *text, size_t text_size);
IMPORT(getLimit) double web_get_limit(const char *name);
IMPORT(hasPackedDot) int web_has_packed_dot(void);
IMPORT(hasSubgroupMatrix) int web_has_subgroup_matrix(void);
IMPORT(destroyDevice) void web_destroy_device(void);
/* What happened on the device: nothing (0), it was lost (1), or an error (a WGPUErrorType). */
IMPORT(takeEvent) int web_take_event(char *message, size_t size);
enum { NOTHING, LOST };

IMPORT(pushErrorScope) void web_push_error_scope(int filter);
/* These return futures. */
IMPORT(popErrorScope) web_object web_pop_error_scope(void);
IMPORT(createPipeline) web_object web_create_pipeline(web_object layout, web_object module);
IMPORT(mapBuffer) web_object web_map_buffer(web_object buffer);
/* The result of a future, and, if it is complete, drops it: 0 if it is not; 1, and for a pipeline
 * the object; else what went wrong, with a message. wait: pipelines are made now, which the page
 * need not wait for; errors that scopes have later become events. */
IMPORT(takeResult)
int web_take_result(web_object future, int wait, web_object *object, char *message, size_t size);
IMPORT(drop) void web_drop(web_object future);

IMPORT(createBuffer) web_object web_create_buffer(double size, int usage);
IMPORT(destroyBuffer) void web_destroy_buffer(web_object buffer);
IMPORT(writeBuffer)
void web_write_buffer(web_object buffer, double offset, const void *bytes, size_t size);
/* Of a mapped buffer: all of its bytes; 0 on failure. */
IMPORT(readBuffer) int web_read_buffer(web_object buffer, void *bytes);
IMPORT(unmapBuffer) void web_unmap_buffer(web_object buffer);
IMPORT(createShaderModule) web_object web_create_shader_module(const char *text, size_t length);
/* entries: a binding and a WGPUBufferBindingType each. */
IMPORT(createBindGroupLayout)
web_object web_create_bind_group_layout(const uint32_t *entries, size_t count);
IMPORT(createPipelineLayout) web_object web_create_pipeline_layout(web_object layout);
/* entries: binding, buffer, offset and size each; a size is negative if it is the rest. */
IMPORT(createBindGroup)
web_object web_create_bind_group(web_object layout, const double *entries, size_t count);
IMPORT(createEncoder) web_object web_create_encoder(void);
IMPORT(copyBuffer)
void web_copy_buffer(web_object encoder, web_object from, double from_offset, web_object to,
                     double to_offset, double size);
IMPORT(copyToTexture)
void web_copy_to_texture(web_object encoder, web_object buffer, uint32_t bytes_per_row,
                         web_object texture, uint32_t x, uint32_t y, uint32_t width,
                         uint32_t height);
IMPORT(submit) void web_submit(web_object encoder);
IMPORT(beginPass) web_object web_begin_pass(web_object encoder);
IMPORT(setPipeline) void web_set_pipeline(web_object pass, web_object pipeline);
IMPORT(setBindGroup) void web_set_bind_group(web_object pass, web_object group);
IMPORT(dispatch) void web_dispatch(web_object pass, uint32_t x, uint32_t y, uint32_t z);
IMPORT(endPass) void web_end_pass(web_object pass);
IMPORT(release) void web_release(web_object object);

/* ---- handles --------------------------------------------------------------------------------- */

/* The instance is adapter, device and queue, too. */
struct WGPUInstanceImpl {
    int references;
    bool lost; /* and its callback told */
    WGPUDeviceLostCallbackInfo on_lost;
    WGPUUncapturedErrorCallbackInfo on_error;
};

/* Mapped memory is the module's: written to the buffer when it is unmapped, or read from it. */
struct WGPUBufferImpl {
    web_object object;
    size_t size;
    bool reads;   /* mapped to be read */
    void *memory; /* NULL: none yet */
};

#define HANDLE(type, object) ((type)(uintptr_t)(object))
#define OBJECT(handle) ((web_object)(uintptr_t)(handle))

/* A buffer of the page's, until the next call. Its textures' handles are their numbers. */
WGPUBuffer EXPORT(tsr_web_page_buffer)(web_object object) {
    static struct WGPUBufferImpl buffer;
    buffer.object = object;
    return &buffer;
}

static WGPUStringView view(const char *text) {
    return (WGPUStringView){text, strlen(text)};
}

/* ---- futures --------------------------------------------------------------------------------- */

/* Calls the callback of a complete one. */
typedef struct web_future web_future;
struct web_future {
    void (*run)(const web_future *f, int result, web_object object, WGPUStringView message);
    union {
        WGPURequestAdapterCallback adapter;
        WGPURequestDeviceCallback device;
        WGPUPopErrorScopeCallback errors;
        WGPUCreateComputePipelineAsyncCallback pipeline;
        WGPUBufferMapCallback map;
    } callback;
    void *user;
    WGPUInstance instance;
};

enum { COMPLETE = 1 };

/* The number is the address of a copy of this and, above it, the page's future: 0 if it is complete
 * at once. 0 in all when out of memory: nothing can wait for that. */
static WGPUFuture new_future(web_future f, web_object object) {
    web_future *stored = tsr_malloc(sizeof *stored);
    if (!stored) {
        web_drop(object);
        return (WGPUFuture){0};
    }
    *stored = f;
    return (WGPUFuture){(uint64_t)object << 32 | (uintptr_t)stored};
}

static web_future *stored_future(WGPUFuture future) {
    return (web_future *)(uintptr_t)(uint32_t)future.id;
}

static WGPUWaitStatus wait_any(WGPUInstance instance, size_t count, WGPUFutureWaitInfo *infos,
                               uint64_t timeout) {
    (void)instance, (void)count;
    char message[1024] = "";
    web_object object = 0, future = (web_object)(infos->future.id >> 32);
    web_future *f = stored_future(infos->future);
    int result = !f       ? 0
                 : future ? web_take_result(future, timeout > 0, &object, message, sizeof message)
                          : COMPLETE;
    if (!result)
        return timeout ? WGPUWaitStatus_Error : WGPUWaitStatus_TimedOut;
    f->run(f, result, object, view(message));
    tsr_free(f);
    infos->completed = true;
    return WGPUWaitStatus_Success;
}

void tsr_wgpu_abandon(const tsr_wgpu *api, WGPUInstance instance, WGPUFuture future) {
    (void)api, (void)instance;
    web_drop((web_object)(future.id >> 32));
    tsr_free(stored_future(future));
}

/* ---- instances, adapters and devices --------------------------------------------------------- */

static void instance_add_ref(WGPUInstance instance) {
    instance->references++;
}

static void instance_release(WGPUInstance instance) {
    if (!--instance->references)
        tsr_free(instance);
}

static void tell_loss(WGPUInstance i, WGPUStringView reason) {
    const WGPUDevice device = (WGPUDevice)i;
    i->lost = true;
    i->on_lost.callback(&device, WGPUDeviceLostReason_Unknown, reason, i->on_lost.userdata1,
                        i->on_lost.userdata2);
}

static void tell_error(WGPUInstance i, WGPUErrorType type, WGPUStringView message) {
    const WGPUDevice device = (WGPUDevice)i;
    i->on_error.callback(&device, type, message, i->on_error.userdata1, i->on_error.userdata2);
}

static void process_events(WGPUInstance i) {
    char message[1024];
    int event;
    while (!i->lost && (event = web_take_event(message, sizeof message)) != NOTHING)
        if (event == LOST)
            tell_loss(i, view(message));
        else
            tell_error(i, (WGPUErrorType)event, view(message));
}

static void give_adapter(const web_future *f, int result, web_object object, WGPUStringView text) {
    (void)result, (void)object;
    f->callback.adapter(WGPURequestAdapterStatus_Success, (WGPUAdapter)f->instance, text, f->user,
                        NULL);
}

static WGPUFuture request_adapter(WGPUInstance instance, const WGPURequestAdapterOptions *options,
                                  WGPURequestAdapterCallbackInfo info) {
    (void)options;
    return new_future((web_future){.run = give_adapter,
                                   .callback.adapter = info.callback,
                                   .user = info.userdata1,
                                   .instance = instance},
                      0);
}

static WGPUStatus get_info(WGPUAdapter adapter, WGPUAdapterInfo *info) {
    (void)adapter;
    static char name[256], text[256]; /* the same each time */
    bool software = web_get_info(name, sizeof name, text, sizeof text);
    *info =
        (WGPUAdapterInfo){.device = view(name),
                          .description = view(text),
                          .backendType = WGPUBackendType_WebGPU,
                          .adapterType = software ? WGPUAdapterType_CPU : WGPUAdapterType_Unknown};
    return WGPUStatus_Success;
}

static void free_info(WGPUAdapterInfo info) {
    (void)info;
}

/* Those that src/webgpu reads. */
static WGPUStatus get_limits(WGPUAdapter adapter, WGPULimits *limits) {
    (void)adapter;
#define LIMIT(name, type) .name = (type)web_get_limit(#name)
    *limits = (WGPULimits){
        LIMIT(maxBufferSize, uint64_t),
        LIMIT(maxStorageBufferBindingSize, uint64_t),
        LIMIT(maxStorageBuffersPerShaderStage, uint32_t),
        LIMIT(maxComputeWorkgroupStorageSize, uint32_t),
        LIMIT(maxComputeInvocationsPerWorkgroup, uint32_t),
        LIMIT(maxComputeWorkgroupSizeX, uint32_t),
        LIMIT(maxComputeWorkgroupsPerDimension, uint32_t),
    };
    return WGPUStatus_Success;
}

/* Of those that the page may have only this one is used. */
static WGPUBool has_language_feature(WGPUInstance instance, WGPUWGSLLanguageFeatureName feature) {
    (void)instance;
    return feature == WGPUWGSLLanguageFeatureName_Packed4x8IntegerDotProduct &&
           web_has_packed_dot();
}

/* Timestamps among them: nothing in a page measures nodes. */
static WGPUBool has_feature(WGPUAdapter adapter, WGPUFeatureName feature) {
    (void)adapter, (void)feature;
    return false;
}

static void give_device(const web_future *f, int result, web_object object, WGPUStringView text) {
    (void)result, (void)object;
    f->callback.device(WGPURequestDeviceStatus_Success, (WGPUDevice)f->instance, text, f->user,
                       NULL);
}

static WGPUFuture request_device(WGPUAdapter adapter, const WGPUDeviceDescriptor *desc,
                                 WGPURequestDeviceCallbackInfo info) {
    WGPUInstance instance = (WGPUInstance)adapter;
    instance->on_lost = desc->deviceLostCallbackInfo;
    instance->on_error = desc->uncapturedErrorCallbackInfo;
    return new_future((web_future){.run = give_device,
                                   .callback.device = info.callback,
                                   .user = info.userdata1,
                                   .instance = instance},
                      0);
}

static void adapter_release(WGPUAdapter adapter) {
    (void)adapter;
}

static WGPUQueue get_queue(WGPUDevice device) {
    return (WGPUQueue)device;
}

static void queue_release(WGPUQueue queue) {
    (void)queue;
}

static void destroy_device(WGPUDevice device) {
    (void)device;
    web_destroy_device();
}

static void device_release(WGPUDevice device) {
    (void)device;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void push_error_scope(WGPUDevice device, WGPUErrorFilter filter) {
    (void)device;
    web_push_error_scope((int)filter);
}

static void give_error(const web_future *f, int type, web_object object, WGPUStringView message) {
    (void)object;
    f->callback.errors(WGPUPopErrorScopeStatus_Success, (WGPUErrorType)type, message, f->user,
                       NULL);
}

static WGPUFuture pop_error_scope(WGPUDevice device, WGPUPopErrorScopeCallbackInfo info) {
    (void)device;
    return new_future(
        (web_future){.run = give_error, .callback.errors = info.callback, .user = info.userdata1},
        web_pop_error_scope());
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void *allocate_mapped(WGPUBuffer b, bool zeroed) {
    b->memory = zeroed ? tsr_calloc(1, b->size) : tsr_malloc(b->size);
    return b->memory;
}

/* Buffers that are mapped to be written have copies written to them instead. */
static WGPUBuffer create_buffer(WGPUDevice device, const WGPUBufferDescriptor *desc) {
    (void)device;
    WGPUBufferUsage usage = desc->usage & ~WGPUBufferUsage_MapWrite;
    WGPUBuffer b = desc->size <= SIZE_MAX ? tsr_calloc(1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    if (usage != desc->usage || desc->mappedAtCreation)
        usage |= WGPUBufferUsage_CopyDst;
    b->size = (size_t)desc->size;
    if (desc->mappedAtCreation && !allocate_mapped(b, true)) {
        tsr_free(b);
        return NULL;
    }
    b->object = web_create_buffer((double)desc->size, (int)usage);
    return b;
}

static void give_mapped(const web_future *f, int result, web_object object,
                        WGPUStringView message) {
    (void)object;
    f->callback.map(result == COMPLETE ? WGPUMapAsyncStatus_Success : WGPUMapAsyncStatus_Error,
                    message, f->user, NULL);
}

static WGPUFuture map_async(WGPUBuffer b, WGPUMapMode mode, size_t offset, size_t size,
                            WGPUBufferMapCallbackInfo info) {
    (void)offset, (void)size;
    b->reads = mode == WGPUMapMode_Read;
    return new_future(
        (web_future){.run = give_mapped, .callback.map = info.callback, .user = info.userdata1},
        b->reads ? web_map_buffer(b->object) : 0);
}

static void *get_mapped_range(WGPUBuffer b, size_t offset, size_t size) {
    (void)offset, (void)size;
    return b->memory ? b->memory : allocate_mapped(b, false);
}

static void free_mapped(WGPUBuffer b) {
    tsr_free(b->memory);
    b->memory = NULL;
}

static const void *get_const_mapped_range(WGPUBuffer b, size_t offset, size_t size) {
    (void)offset, (void)size;
    if (!b->memory && allocate_mapped(b, false) && !web_read_buffer(b->object, b->memory))
        free_mapped(b);
    return b->memory;
}

static void unmap(WGPUBuffer b) {
    if (b->reads)
        web_unmap_buffer(b->object);
    else if (b->memory)
        web_write_buffer(b->object, 0, b->memory, b->size);
    b->reads = false;
    free_mapped(b);
}

static void destroy_buffer(WGPUBuffer b) {
    web_destroy_buffer(b->object);
}

static void buffer_release(WGPUBuffer b) {
    web_release(b->object);
    tsr_free(b->memory);
    tsr_free(b);
}

static void write_buffer(WGPUQueue queue, WGPUBuffer b, uint64_t offset, const void *bytes,
                         size_t size) {
    (void)queue;
    web_write_buffer(b->object, (double)offset, bytes, size);
}

/* ---- programs -------------------------------------------------------------------------------- */

static WGPUShaderModule create_shader_module(WGPUDevice device,
                                             const WGPUShaderModuleDescriptor *desc) {
    (void)device;
    const WGPUShaderSourceWGSL *source = (const void *)desc->nextInChain;
    return HANDLE(WGPUShaderModule,
                  web_create_shader_module(source->code.data, source->code.length));
}

enum { MOST_ENTRIES = 16 };

static WGPUBindGroupLayout create_bind_group_layout(WGPUDevice device,
                                                    const WGPUBindGroupLayoutDescriptor *desc) {
    (void)device;
    uint32_t entries[2 * MOST_ENTRIES];
    for (size_t i = 0; i < desc->entryCount; i++) {
        entries[2 * i] = desc->entries[i].binding;
        entries[2 * i + 1] = desc->entries[i].buffer.type;
    }
    return HANDLE(WGPUBindGroupLayout, web_create_bind_group_layout(entries, desc->entryCount));
}

static WGPUPipelineLayout create_pipeline_layout(WGPUDevice device,
                                                 const WGPUPipelineLayoutDescriptor *desc) {
    (void)device;
    return HANDLE(WGPUPipelineLayout, web_create_pipeline_layout(OBJECT(*desc->bindGroupLayouts)));
}

static void give_pipeline(const web_future *f, int result, web_object object,
                          WGPUStringView message) {
    f->callback.pipeline(result == COMPLETE ? WGPUCreatePipelineAsyncStatus_Success
                                            : WGPUCreatePipelineAsyncStatus_ValidationError,
                         HANDLE(WGPUComputePipeline, object), message, f->user, NULL);
}

static WGPUFuture create_pipeline(WGPUDevice device, const WGPUComputePipelineDescriptor *desc,
                                  WGPUCreateComputePipelineAsyncCallbackInfo info) {
    (void)device;
    return new_future((web_future){.run = give_pipeline,
                                   .callback.pipeline = info.callback,
                                   .user = info.userdata1},
                      web_create_pipeline(OBJECT(desc->layout), OBJECT(desc->compute.module)));
}

static WGPUBindGroup create_bind_group(WGPUDevice device, const WGPUBindGroupDescriptor *desc) {
    (void)device;
    double entries[4 * MOST_ENTRIES];
    for (size_t i = 0; i < desc->entryCount; i++) {
        const WGPUBindGroupEntry *e = &desc->entries[i];
        entries[4 * i] = e->binding;
        entries[4 * i + 1] = e->buffer->object;
        entries[4 * i + 2] = (double)e->offset;
        entries[4 * i + 3] = e->size == WGPU_WHOLE_SIZE ? -1 : (double)e->size;
    }
    return HANDLE(WGPUBindGroup,
                  web_create_bind_group(OBJECT(desc->layout), entries, desc->entryCount));
}

/* ---- commands -------------------------------------------------------------------------------- */

static WGPUCommandEncoder create_encoder(WGPUDevice device,
                                         const WGPUCommandEncoderDescriptor *desc) {
    (void)device, (void)desc;
    return HANDLE(WGPUCommandEncoder, web_create_encoder());
}

static void copy_buffer(WGPUCommandEncoder encoder, WGPUBuffer from, uint64_t from_offset,
                        WGPUBuffer to, uint64_t to_offset, uint64_t size) {
    web_copy_buffer(OBJECT(encoder), from->object, (double)from_offset, to->object,
                    (double)to_offset, (double)size);
}

/* Submitting does it. */
static WGPUCommandBuffer finish_encoder(WGPUCommandEncoder encoder,
                                        const WGPUCommandBufferDescriptor *desc) {
    (void)desc;
    return (WGPUCommandBuffer)encoder;
}

static void copy_to_texture(WGPUCommandEncoder encoder, const WGPUTexelCopyBufferInfo *from,
                            const WGPUTexelCopyTextureInfo *to, const WGPUExtent3D *size) {
    web_copy_to_texture(OBJECT(encoder), from->buffer->object, from->layout.bytesPerRow,
                        OBJECT(to->texture), to->origin.x, to->origin.y, size->width, size->height);
}

static void submit(WGPUQueue queue, size_t count, const WGPUCommandBuffer *commands) {
    (void)queue;
    for (size_t i = 0; i < count; i++)
        web_submit(OBJECT(commands[i]));
}

static void command_buffer_release(WGPUCommandBuffer commands) {
    (void)commands;
}

/* Only ever waited for, which a page cannot. */
static WGPUFuture on_submitted_work_done(WGPUQueue queue, WGPUQueueWorkDoneCallbackInfo info) {
    (void)queue, (void)info;
    return (WGPUFuture){0};
}

static WGPUComputePassEncoder begin_pass(WGPUCommandEncoder encoder,
                                         const WGPUComputePassDescriptor *desc) {
    (void)desc;
    return HANDLE(WGPUComputePassEncoder, web_begin_pass(OBJECT(encoder)));
}

static void set_pipeline(WGPUComputePassEncoder pass, WGPUComputePipeline pipeline) {
    web_set_pipeline(OBJECT(pass), OBJECT(pipeline));
}

static void set_bind_group(WGPUComputePassEncoder pass, uint32_t index, WGPUBindGroup group,
                           size_t count, const uint32_t *offsets) {
    (void)index, (void)count, (void)offsets;
    web_set_bind_group(OBJECT(pass), OBJECT(group));
}

static void dispatch(WGPUComputePassEncoder pass, uint32_t x, uint32_t y, uint32_t z) {
    web_dispatch(OBJECT(pass), x, y, z);
}

static void end_pass(WGPUComputePassEncoder pass) {
    web_end_pass(OBJECT(pass));
}

#define RELEASE(type, name)                                                                        \
    static void name(type handle) {                                                                \
        web_release(OBJECT(handle));                                                               \
    }
RELEASE(WGPUShaderModule, shader_module_release)
RELEASE(WGPUBindGroupLayout, bind_group_layout_release)
RELEASE(WGPUPipelineLayout, pipeline_layout_release)
RELEASE(WGPUComputePipeline, pipeline_release)
RELEASE(WGPUBindGroup, bind_group_release)
RELEASE(WGPUCommandEncoder, encoder_release)
RELEASE(WGPUComputePassEncoder, pass_release)

/* ---- the table ------------------------------------------------------------------------------- */

/* Without those about devices of a C caller's and about timestamps: another one would be a call of
 * NULL, which traps. */
static const tsr_wgpu functions = {
    .InstanceAddRef = instance_add_ref,
    .InstanceRelease = instance_release,
    .InstanceHasWGSLLanguageFeature = has_language_feature,
    .InstanceRequestAdapter = request_adapter,
    .InstanceProcessEvents = process_events,
    .InstanceWaitAny = wait_any,
    .AdapterGetInfo = get_info,
    .AdapterInfoFreeMembers = free_info,
    .AdapterGetLimits = get_limits,
    .AdapterHasFeature = has_feature,
    .AdapterRequestDevice = request_device,
    .AdapterRelease = adapter_release,
    .DeviceGetQueue = get_queue,
    .DeviceCreateBuffer = create_buffer,
    .DeviceCreateShaderModule = create_shader_module,
    .DeviceCreateBindGroupLayout = create_bind_group_layout,
    .DeviceCreatePipelineLayout = create_pipeline_layout,
    .DeviceCreateComputePipelineAsync = create_pipeline,
    .DeviceCreateBindGroup = create_bind_group,
    .DeviceCreateCommandEncoder = create_encoder,
    .DevicePushErrorScope = push_error_scope,
    .DevicePopErrorScope = pop_error_scope,
    .DeviceDestroy = destroy_device,
    .DeviceRelease = device_release,
    .QueueSubmit = submit,
    .QueueWriteBuffer = write_buffer,
    .QueueOnSubmittedWorkDone = on_submitted_work_done,
    .QueueRelease = queue_release,
    .BufferMapAsync = map_async,
    .BufferGetConstMappedRange = get_const_mapped_range,
    .BufferGetMappedRange = get_mapped_range,
    .BufferUnmap = unmap,
    .BufferDestroy = destroy_buffer,
    .BufferRelease = buffer_release,
    .ShaderModuleRelease = shader_module_release,
    .BindGroupLayoutRelease = bind_group_layout_release,
    .PipelineLayoutRelease = pipeline_layout_release,
    .ComputePipelineRelease = pipeline_release,
    .BindGroupRelease = bind_group_release,
    .CommandEncoderBeginComputePass = begin_pass,
    .CommandEncoderCopyBufferToBuffer = copy_buffer,
    .CommandEncoderCopyBufferToTexture = copy_to_texture,
    .CommandEncoderFinish = finish_encoder,
    .CommandEncoderRelease = encoder_release,
    .CommandBufferRelease = command_buffer_release,
    .ComputePassEncoderSetPipeline = set_pipeline,
    .ComputePassEncoderSetBindGroup = set_bind_group,
    .ComputePassEncoderDispatchWorkgroups = dispatch,
    .ComputePassEncoderEnd = end_pass,
    .ComputePassEncoderRelease = pass_release,
    .abi = TSR_WGPU_HEADER,
};

tsr_status tsr_wgpu_load(const tsr_wgpu **api) {
    *api = &functions;
    return web_is_open() ? TSR_OK : tsr_fail(TSR_ERROR_NO_DEVICE, "the page has no WebGPU device");
}

WGPUInstance tsr_wgpu_create_instance(const tsr_wgpu *api) {
    (void)api;
    WGPUInstance instance = tsr_calloc(1, sizeof *instance);
    if (instance)
        instance->references = 1;
    return instance;
}

void tsr_wgpu_keep(const tsr_wgpu *api, WGPUInstance instance) {
    (void)api, (void)instance;
}

bool tsr_wgpu_blocks(const tsr_wgpu *api) {
    (void)api;
    return false;
}

bool tsr_wgpu_shares_device(const tsr_wgpu *api) {
    (void)api;
    return web_is_shared();
}

const char *tsr_wgpu_needs(void) {
    return "WebGPU has to be on in the browser";
}

bool tsr_wgpu_has_subgroup_matrix(void) {
    return web_has_subgroup_matrix();
}

WGPUFeatureName tsr_wgpu_timestamp_query(const tsr_wgpu *api) {
    (void)api;
    return WGPUFeatureName_TimestampQuery;
}
