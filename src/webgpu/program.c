#include "webgpu/program.h"

#include "base/allocator.h"
#include "base/error.h"
#include "base/text.h"
#include "gpu/driver_log.h"
#include "webgpu/adapter.h"
#include "webgpu/device.h"
#include "webgpu/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "kernel softmax (FOLD 1, COLUMNS 0)" */
static const char *describe(const tsr_pass *pass, char *text, size_t size) {
    const tsr_kernel *kernel = pass->kernel;
    size_t used = (size_t)snprintf(text, size, "kernel %s", kernel->stem);
    int shown = 0;
    for (int i = 0; i < kernel->field_count && used < size; i++)
        if (kernel->fields[i].class == TSR_FIELD_LITERAL && pass->args[i].i.set)
            used += (size_t)snprintf(text + used, size - used, "%s%s %lld", shown++ ? ", " : " (",
                                     kernel->fields[i].name, (long long)pass->args[i].i.value);
    if (shown && used < size)
        snprintf(text + used, size - used, ")");
    return text;
}

static WGPUStringView view(const char *text) {
    return (WGPUStringView){text, strlen(text)};
}

static WGPUBindGroupLayout create_layout(const tsr_backend_device *d, const tsr_pass *pass) {
    WGPUBindGroupLayoutEntry entries[TSR_WEBGPU_BUFFERS + 1];
    memset(entries, 0, sizeof entries);
    size_t count = 0;
    const int more = TSR_BIND_SOURCES + pass->source_count;
    for (int binding = 0; binding < more + pass->more_count; binding++) {
        if (binding == TSR_BIND_TABLE && !pass->kernel->table)
            continue;
        entries[count].binding = (uint32_t)binding;
        entries[count].visibility = WGPUShaderStage_Compute;
        entries[count++].buffer.type = binding == TSR_BIND_PARAMS ? WGPUBufferBindingType_Uniform
                                       : binding == TSR_BIND_OUTPUT || binding >= more
                                           ? WGPUBufferBindingType_Storage
                                           : WGPUBufferBindingType_ReadOnlyStorage;
    }
    const WGPUBindGroupLayoutDescriptor desc = {.entryCount = count, .entries = entries};
    return d->api->DeviceCreateBindGroupLayout(d->device, &desc);
}

static void receive_pipeline(WGPUCreatePipelineAsyncStatus status, WGPUComputePipeline pipeline,
                             WGPUStringView message, void *user, void *unused) {
    (void)unused;
    tsr_pipeline *p = user;
    p->pipeline = pipeline;
    if (status != WGPUCreatePipelineAsyncStatus_Success)
        tsr_wgpu_copy_text(p->failure, sizeof p->failure, message);
}

static void start_pipeline(const tsr_backend_device *d, tsr_pipeline *p, WGPUShaderModule module) {
    const WGPUPipelineLayoutDescriptor layout_desc = {.bindGroupLayoutCount = 1,
                                                      .bindGroupLayouts = &p->layout};
    WGPUPipelineLayout layout = d->api->DeviceCreatePipelineLayout(d->device, &layout_desc);
    const WGPUComputePipelineDescriptor desc = {
        .layout = layout, .compute = {.module = module, .entryPoint = view("main")}};
    const WGPUCreateComputePipelineAsyncCallbackInfo callback = {
        .mode = WGPUCallbackMode_WaitAnyOnly, .callback = receive_pipeline, .userdata1 = p};
    p->compiled = d->api->DeviceCreateComputePipelineAsync(d->device, &desc, callback);
    p->pending = true;
    d->api->PipelineLayoutRelease(layout);
}

/* What follows ": :61:5 error: " in Dawn's message; NULL if it has none. */
static const char *find_position(const char *error, long *line, long *column) {
    static const char before[] = ": :", after[] = " error: ", digits[] = "0123456789";
    const char *at = strstr(error, before);
    if (!at)
        return NULL;
    at += strlen(before);
    *line = atol(at);
    at += strspn(at, digits);
    if (*at++ != ':')
        return NULL;
    *column = atol(at);
    at += strspn(at, digits);
    return strncmp(at, after, strlen(after)) == 0 ? at + strlen(after) : NULL;
}

/* With the line of the caller's body instead of the whole text's, where Dawn's message has one. */
static tsr_status fail_body(const tsr_pipeline *p, const char *body, const char *log) {
    char error[512];
    long line = 0, column = 0, before = 0;
    tsr_driver_log_error(log, error, sizeof error);
    const char *begin = strstr(p->entry.text, body), *what = find_position(error, &line, &column);
    for (const char *at = p->entry.text; begin && at < begin; at++)
        before += *at == '\n';
    if (begin && what && line > before)
        return tsr_fail(TSR_ERROR_DEVICE,
                        "the compiler refused the operator's WGSL body: line %ld, column %ld: %s",
                        line - before, column, what);
    return tsr_fail(TSR_ERROR_DEVICE, "the compiler refused the operator's WGSL body: %s", error);
}

static tsr_status report_failure(const tsr_pipeline *p, const char *failure, const tsr_pass *pass) {
    char what[512], error[512];
    tsr_log_lines(TSR_LOG_DEBUG, failure);
    tsr_log_lines(TSR_LOG_DEBUG, p->entry.text);
    if (pass->body)
        return fail_body(p, pass->body, failure);
    tsr_driver_log_error(failure, error, sizeof error);
    return tsr_fail(TSR_ERROR_DEVICE, "%s: %s", describe(pass, what, sizeof what), error);
}

static void start(tsr_backend_device *d, tsr_pipeline *p, const tsr_pass *pass) {
    const WGPUShaderSourceWGSL source = {.chain = {.sType = WGPUSType_ShaderSourceWGSL},
                                         .code = view(p->entry.text)};
    const WGPUShaderModuleDescriptor desc = {.nextInChain = (WGPUChainedStruct *)&source.chain};
    tsr_webgpu_push_errors(d);
    WGPUShaderModule module = d->api->DeviceCreateShaderModule(d->device, &desc);
    p->layout = create_layout(d, pass);
    start_pipeline(d, p, module);
    d->api->ShaderModuleRelease(module);
    tsr_webgpu_start_pop(d, &p->errors);
}

/* Takes ownership of the text. */
static tsr_status add(tsr_backend_device *d, char *text, const tsr_pass *pass, tsr_pipeline **out) {
    tsr_pipeline *p = tsr_calloc(1, sizeof *p);
    if (!p) {
        tsr_free(text);
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a program");
    }
    tsr_program_cache_add(&d->pipelines, &p->entry, text);
    start(d, p, pass);
    *out = p;
    return TSR_OK;
}

tsr_status tsr_pipeline_acquire_text(tsr_backend_device *d, char *text, const tsr_pass *pass,
                                     tsr_pipeline **out) {
    *out = (tsr_pipeline *)tsr_program_cache_find_text(&d->pipelines, text);
    if (!*out)
        return add(d, text, pass, out);
    tsr_free(text);
    return TSR_OK;
}

tsr_status tsr_pipeline_acquire(tsr_backend_device *d, tsr_program_text *text, tsr_pipeline **out) {
    char *chars;
    *out = (tsr_pipeline *)tsr_program_cache_find(&d->pipelines, &text->key);
    if (*out)
        return TSR_OK;
    TSR_TRY(tsr_program_text_finish(text, &chars));
    TSR_TRY(tsr_pipeline_acquire_text(d, chars, text->pass, out));
    tsr_cached_program_add_key(&(*out)->entry, &text->key);
    return TSR_OK;
}

/* What is wrong with the text itself says more than that its pipeline cannot be made. */
static tsr_status finish_text(tsr_backend_device *d, tsr_pipeline *p, const tsr_pass *pass,
                              uint64_t timeout) {
    char what[512];
    tsr_status status =
        tsr_webgpu_finish_pop(d, &p->errors, describe(pass, what, sizeof what), timeout);
    if (status == TSR_ERROR_DEVICE && p->errors.status == TSR_ERROR_DEVICE)
        return report_failure(p, p->errors.message, pass);
    return status;
}

tsr_status tsr_pipeline_finish(tsr_backend_device *d, tsr_pipeline *p, const tsr_pass *pass,
                               uint64_t timeout) {
    if (p->pipeline)
        return tsr_webgpu_check_lost(d);
    TSR_TRY(finish_text(d, p, pass, timeout));
    if (p->pending)
        TSR_TRY(tsr_webgpu_wait(d, p->compiled, timeout, &p->pending));
    p->entry.compiled = p->pipeline && (timeout == 0 || tsr_wgpu_blocks(d->api));
    return p->pipeline ? TSR_OK : report_failure(p, p->failure, pass);
}

/* Before p is freed, which callbacks write to. */
static void abandon(tsr_backend_device *d, tsr_pipeline *p) {
    tsr_webgpu_abandon_pop(d, &p->errors);
    if (p->pending)
        tsr_wgpu_abandon(d->api, d->instance, p->compiled);
}

static void destroy(tsr_backend_device *d, tsr_pipeline *p) {
    abandon(d, p);
    if (p->pipeline)
        d->api->ComputePipelineRelease(p->pipeline);
    if (p->layout)
        d->api->BindGroupLayoutRelease(p->layout);
    tsr_free(p->entry.text);
    tsr_free(p);
}

void tsr_pipeline_release(tsr_backend_device *d, tsr_pipeline *p) {
    tsr_cached_program *unused = tsr_program_cache_release(&d->pipelines, &p->entry);
    if (unused)
        destroy(d, (tsr_pipeline *)unused);
}

void tsr_pipelines_clear(tsr_backend_device *d) {
    tsr_cached_program *p;
    while ((p = tsr_program_cache_pop(&d->pipelines)))
        destroy(d, (tsr_pipeline *)p);
}
