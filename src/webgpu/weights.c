/* Packed weights and constants. Threads pack tables into chunks of mapped memory, two in turns: one
 * is filled while the device copies from the other. */
#include "webgpu/runner.h"

#include "base/allocator.h"
#include "base/error.h"

static tsr_status out_of_memory(uint64_t bytes) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no buffer of %llu bytes for weights",
                    (unsigned long long)bytes);
}

static uint64_t packed_bytes(const tsr_table *table) {
    return tsr_table_floats(table) * sizeof(float);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

typedef struct packing_chunks {
    tsr_mapping chunks[2];
    int at;                     /* the one that is being filled */
    uint64_t bytes;             /* of a chunk */
    uint64_t used;              /* of this one */
    char *data;                 /* NULL: not mapped yet */
    WGPUCommandEncoder encoder; /* copies from it */
} packing_chunks;

/* All that is to be packed, or much of it and at least the largest table. */
static uint64_t chunk_bytes(const tsr_runner *r) {
    const uint64_t most = 16 << 20;
    uint64_t all = 0, largest = 0;
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        const tsr_weights *w = r->passes[i].weights;
        uint64_t bytes = w && !w->handle.object ? packed_bytes(&r->base.plan->passes[i].table) : 0;
        all += bytes;
        largest = bytes > largest ? bytes : largest;
    }
    return all < most ? all : largest > most ? largest : most;
}

static tsr_status open_chunk(tsr_runner *r, packing_chunks *c) {
    void *data;
    TSR_TRY(tsr_mapping_write(r->device, &c->chunks[c->at], c->bytes, &data));
    c->data = data;
    c->used = 0;
    c->encoder = r->device->api->DeviceCreateCommandEncoder(r->device->device, NULL);
    return TSR_OK;
}

/* Submits the copies from the chunk. */
static void flush_chunk(tsr_runner *r, packing_chunks *c) {
    tsr_mapping *m = &c->chunks[c->at];
    if (!c->data)
        return;
    tsr_mapping_reset(r->device, m);
    tsr_webgpu_submit(r->device, c->encoder);
    tsr_mapping_start(r->device, m, WGPUMapMode_Write);
    c->data = NULL;
    c->at = 1 - c->at;
}

/* ---- packing --------------------------------------------------------------------------------- */

static tsr_status pack_table(tsr_runner *r, int i, packing_chunks *c) {
    const tsr_table *table = &r->base.plan->passes[i].table;
    tsr_weights *w = r->passes[i].weights;
    uint64_t bytes = packed_bytes(table);
    tsr_packing packing;
    if (!w || w->handle.object)
        return TSR_OK;
    if (c->data && c->used + bytes > c->bytes)
        flush_chunk(r, c);
    if (!c->data)
        TSR_TRY(open_chunk(r, c));
    w->handle.object = tsr_buffer_storage(r->device, bytes);
    if (!w->handle.object)
        return out_of_memory(bytes);
    tsr_packing_start(&packing, table, (float *)(void *)(c->data + c->used));
    tsr_packing_finish(&packing);
    r->device->api->CommandEncoderCopyBufferToBuffer(c->encoder, c->chunks[c->at].buffer, c->used,
                                                     w->handle.object, 0, bytes);
    c->used += bytes;
    tsr_weights_share(w);
    r->base.packed_bytes += tsr_table_bytes(table);
    tsr_map_release(r->base.graph->map);
    return TSR_OK;
}

static tsr_status pack_tables(tsr_runner *r, packing_chunks *c) {
    c->bytes = chunk_bytes(r);
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        TSR_TRY(tsr_gpu_report_packing(&r->base, i));
        TSR_TRY(pack_table(r, i, c));
    }
    return TSR_OK;
}

/* Those of equal keys that other sessions packed, or empty ones. */
static tsr_status acquire_tables(tsr_runner *r) {
    bool found;
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        const tsr_table *table = &r->base.plan->passes[i].table;
        if (table->pack)
            r->passes[i].weights = tsr_weights_acquire(&r->device->weights, table, r, &found);
        if (table->pack && !r->passes[i].weights)
            return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the session");
    }
    return TSR_OK;
}

static tsr_status build_tables(tsr_runner *r) {
    packing_chunks chunks = {0};
    TSR_TRY(acquire_tables(r));
    tsr_status status = pack_tables(r, &chunks);
    flush_chunk(r, &chunks);
    for (int i = 0; i < 2; i++)
        tsr_mapping_destroy(r->device, &chunks.chunks[i]);
    return status;
}

static tsr_status build_constant(tsr_runner *r, int i) {
    const tsr_plan_tensor *t = &r->base.plan->tensors[i];
    if (!t->constant)
        return TSR_OK;
    uint64_t bytes = tsr_layout_bytes(&t->layout);
    void *texels;
    r->constants[i] = tsr_buffer_mapped(r->device, WGPUBufferUsage_Storage, bytes, &texels);
    if (!texels)
        return out_of_memory(bytes);
    tsr_layout_pack(&t->layout, t->constant, 0, texels);
    r->device->api->BufferUnmap(r->constants[i]);
    return TSR_OK;
}

tsr_status tsr_webgpu_pack_constants(tsr_runner *r) {
    tsr_progress_stage(r->base.options.progress, TSR_PACKING_SHARE);
    TSR_TRY(build_tables(r));
    for (int i = 1; i < r->base.plan->tensor_count; i++)
        TSR_TRY(build_constant(r, i));
    r->base.allocated_bytes += r->base.plan->constant_bytes;
    return tsr_gpu_report_packing(&r->base, r->base.plan->pass_count);
}

void tsr_webgpu_release_weights(tsr_runner *r, int pass) {
    tsr_weights last;
    tsr_weights *w = r->passes[pass].weights;
    if (w && tsr_weights_release(&r->device->weights, w, &last))
        tsr_buffer_destroy(r->device, last.handle.object);
}

/* ---- other weights --------------------------------------------------------------------------- */

/* Weights of this pass alone: what others share is replaced, else updated in place. */
static tsr_status separate_table(tsr_runner *r, int i) {
    tsr_webgpu_pass *p = &r->passes[i];
    uint64_t bytes = packed_bytes(&r->base.plan->passes[i].table);
    tsr_weights *own = tsr_weights_separate(&r->device->weights, p->weights);
    if (!own)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for weights");
    if (own == p->weights)
        return TSR_OK;
    tsr_webgpu_release_weights(r, i);
    p->weights = own;
    own->handle.object = tsr_buffer_storage(r->device, bytes);
    if (!own->handle.object)
        return out_of_memory(bytes);
    tsr_webgpu_bind_pass(r, i);
    return TSR_OK;
}

static tsr_status replace_table(tsr_runner *r, int i, const float *elements) {
    const tsr_table *table = &r->base.plan->passes[i].table;
    uint64_t bytes = packed_bytes(table);
    TSR_TRY(separate_table(r, i));
    float *texels = tsr_malloc((size_t)bytes);
    if (!texels)
        return out_of_memory(bytes);
    tsr_packing_replace(table, elements, texels);
    r->device->api->QueueWriteBuffer(r->device->queue, r->passes[i].weights->handle.object, 0,
                                     texels, (size_t)bytes);
    tsr_free(texels);
    return TSR_OK;
}

tsr_status tsr_webgpu_replace_weights(tsr_runner *r, int constant, const float *elements) {
    tsr_status status = TSR_OK;
    tsr_webgpu_push_errors(r->device);
    for (int i = 0; i < r->base.plan->pass_count && status == TSR_OK; i++)
        if (r->base.plan->passes[i].table.constant == constant)
            status = replace_table(r, i, elements);
    tsr_status errors = tsr_webgpu_pop_errors(r->device, "replacing weights");
    return errors != TSR_OK ? errors : status;
}
