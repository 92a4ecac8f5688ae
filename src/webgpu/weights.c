/* Packed weights and constants. Threads pack tables into chunks of mapped memory. */
#include "webgpu/runner.h"

#include "base/allocator.h"
#include "base/error.h"

static tsr_status out_of_memory(uint64_t bytes) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no buffer of %llu bytes for weights",
                    (unsigned long long)bytes);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* All that is to be packed, or much of it and at least the largest table: in steps less, since the
 * device may take a chunk by copying it. */
static uint64_t chunk_bytes(const tsr_runner *r) {
    const uint64_t most = r->base.options.prepare_in_steps ? 1 << 20 : 16 << 20;
    uint64_t all = 0, largest = 0;
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        const tsr_weights *w = r->passes[i].weights;
        const tsr_table *table = &r->base.plan->passes[i].table;
        uint64_t bytes = w && !w->handle.object ? tsr_packing_bytes(table) : 0;
        all += bytes;
        largest = bytes > largest ? bytes : largest;
    }
    return all < most ? all : largest > most ? largest : most;
}

static tsr_status open_chunk(tsr_runner *r, tsr_packing_chunks *c) {
    void *data;
    TSR_TRY(tsr_mapping_write(r->device, &c->chunks[c->at], c->bytes, tsr_webgpu_build_timeout(r),
                              &data));
    c->data = data;
    c->used = 0;
    c->encoder = r->device->api->DeviceCreateCommandEncoder(r->device->device, NULL);
    return TSR_OK;
}

/* Submits the copies from the chunk. */
static void flush_chunk(tsr_runner *r, tsr_packing_chunks *c) {
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

/* Memory for a table. */
static tsr_status reserve(tsr_runner *r, uint64_t bytes) {
    tsr_packing_chunks *c = &r->building.packing;
    if (c->data && c->used + bytes > c->bytes)
        flush_chunk(r, c);
    return c->data ? TSR_OK : open_chunk(r, c);
}

static tsr_status start_table(tsr_runner *r, int i) {
    const tsr_table *table = &r->base.plan->passes[i].table;
    tsr_packing_chunks *c = &r->building.packing;
    uint64_t bytes = tsr_table_bytes(table);
    TSR_TRY(reserve(r, tsr_packing_bytes(table)));
    WGPUBuffer to = tsr_buffer_storage(r->device, bytes);
    if (!to)
        return out_of_memory(bytes);
    r->passes[i].weights->handle.object = to;
    tsr_packing_start(&c->work, table, (float *)(void *)(c->data + c->used));
    c->works = true;
    r->device->api->CommandEncoderCopyBufferToBuffer(c->encoder, c->chunks[c->at].buffer, c->used,
                                                     to, 0, bytes);
    c->used += tsr_packing_bytes(table);
    return TSR_OK;
}

static void finish_table(tsr_packing_chunks *c) {
    if (c->works)
        tsr_packing_finish(&c->work);
    c->works = false;
}

tsr_status tsr_webgpu_pack_table(tsr_runner *r, int i) {
    const tsr_weights *w = r->passes[i].weights;
    tsr_packing_chunks *c = &r->building.packing;
    if (!w || (w->handle.object && !c->works))
        return TSR_OK;
    if (!c->works)
        TSR_TRY(start_table(r, i));
    if (!tsr_packing_work(&c->work, r->building.steps.deadline))
        return TSR_NOT_READY;
    finish_table(c);
    r->base.packed_bytes += tsr_table_bytes(&r->base.plan->passes[i].table);
    tsr_maps_release(r->base.graph->maps);
    return TSR_OK;
}

tsr_status tsr_webgpu_acquire_tables(tsr_runner *r) {
    bool found;
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        const tsr_table *table = &r->base.plan->passes[i].table;
        if (table->pack)
            r->passes[i].weights = tsr_weights_acquire(&r->device->weights, table, r, &found);
        if (table->pack && !r->passes[i].weights)
            return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the session");
    }
    r->building.packing.bytes = chunk_bytes(r);
    return TSR_OK;
}

void tsr_webgpu_stop_packing(tsr_runner *r) {
    tsr_packing_chunks *c = &r->building.packing;
    finish_table(c);
    flush_chunk(r, c);
    for (int i = 0; i < 2; i++)
        tsr_mapping_destroy(r->device, &c->chunks[i]);
}

void tsr_webgpu_end_packing(tsr_runner *r) {
    tsr_webgpu_stop_packing(r);
    for (int i = 0; i < r->base.plan->pass_count; i++)
        if (r->passes[i].weights && r->passes[i].weights->packer == r)
            tsr_weights_share(r->passes[i].weights);
}

tsr_status tsr_webgpu_build_constant(tsr_runner *r, int i) {
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
    uint64_t bytes = tsr_table_bytes(&r->base.plan->passes[i].table);
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
    size_t bytes = tsr_packing_bytes(table);
    TSR_TRY(separate_table(r, i));
    float *texels = tsr_malloc(bytes);
    if (!texels)
        return out_of_memory(bytes);
    tsr_packing_replace(table, elements, texels);
    r->device->api->QueueWriteBuffer(r->device->queue, r->passes[i].weights->handle.object, 0,
                                     texels, tsr_table_bytes(table));
    tsr_free(texels);
    return TSR_OK;
}

tsr_status tsr_webgpu_replace_weights(tsr_runner *r, int constant, const float *elements) {
    tsr_status status = TSR_OK;
    if (tsr_plan_has_integers(r->base.plan, constant))
        return TSR_ERROR_UNSUPPORTED;
    tsr_webgpu_push_errors(r->device);
    for (int i = 0; i < r->base.plan->pass_count && status == TSR_OK; i++)
        if (r->base.plan->passes[i].table.constant == constant)
            status = replace_table(r, i, elements);
    tsr_status errors = tsr_webgpu_pop_errors(r->device, "replacing weights");
    return errors != TSR_OK ? errors : status;
}
