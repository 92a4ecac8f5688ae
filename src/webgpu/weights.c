/* Packed weights and constants. Threads pack tables into memory of ours, not into mapped buffers:
 * those go away with a lost device while threads write. */
#include "webgpu/runner.h"

#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"

static tsr_status out_of_memory(uint64_t bytes) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no buffer of %llu bytes for weights",
                    (unsigned long long)bytes);
}

/* ---- packing --------------------------------------------------------------------------------- */

/* Memory for the largest table that is to be packed. */
static tsr_status allocate_texels(tsr_runner *r) {
    size_t largest = 0;
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        const tsr_weights *w = r->passes[i].weights;
        size_t bytes = tsr_packing_bytes(&r->base.plan->passes[i].table);
        if (w && !w->handle.object && bytes > largest)
            largest = bytes;
    }
    if (largest)
        r->building.packing.texels = tsr_malloc(largest);
    return !largest || r->building.packing.texels ? TSR_OK : out_of_memory(largest);
}

static tsr_status start_table(tsr_runner *r, int i) {
    const tsr_table *table = &r->base.plan->passes[i].table;
    tsr_webgpu_packing *p = &r->building.packing;
    uint64_t bytes = tsr_table_bytes(table);
    WGPUBuffer to = tsr_buffer_storage(r->device, bytes);
    if (!to)
        return out_of_memory(bytes);
    r->passes[i].weights->handle.object = to;
    tsr_packing_start(&p->work, table, p->texels);
    p->packs = true;
    p->written = 0;
    return TSR_OK;
}

/* The device copies what is written, and keeps it until the next submission. */
static void submit_writes(tsr_runner *r) {
    r->device->api->QueueSubmit(r->device->queue, 0, NULL);
    r->building.packing.unsubmitted = 0;
}

/* Gives a packed table to the device, piece by piece until the deadline; whether all of it. */
static bool write_table(tsr_runner *r, WGPUBuffer to, uint64_t bytes) {
    enum { PIECE = 1 << 20, MOST_UNSUBMITTED = 16 << 20 };
    tsr_webgpu_packing *p = &r->building.packing;
    while (p->written < bytes) {
        uint64_t piece = bytes - p->written < PIECE ? bytes - p->written : PIECE;
        r->device->api->QueueWriteBuffer(r->device->queue, to, p->written,
                                         (const char *)p->texels + p->written, (size_t)piece);
        p->written += piece;
        p->unsubmitted += piece;
        if (p->unsubmitted >= MOST_UNSUBMITTED)
            submit_writes(r);
        if (p->written < bytes && tsr_clock_ms() >= r->building.steps.deadline)
            return false;
    }
    return true;
}

static void finish_packing(tsr_webgpu_packing *p) {
    if (p->packs)
        tsr_packing_finish(&p->work);
    p->packs = false;
}

tsr_status tsr_webgpu_pack_table(tsr_runner *r, int i) {
    const tsr_weights *w = r->passes[i].weights;
    tsr_webgpu_packing *p = &r->building.packing;
    uint64_t bytes = tsr_table_bytes(&r->base.plan->passes[i].table);
    if (!w || (w->handle.object && p->table != i))
        return TSR_OK;
    if (p->table != i)
        TSR_TRY(start_table(r, i));
    p->table = i;
    if (p->packs && !tsr_packing_work(&p->work, r->building.steps.deadline))
        return TSR_NOT_READY;
    finish_packing(p);
    if (!write_table(r, w->handle.object, bytes))
        return TSR_NOT_READY;
    p->table = TSR_NONE;
    r->base.packed_bytes += bytes;
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
    r->building.packing.table = TSR_NONE;
    return allocate_texels(r);
}

void tsr_webgpu_stop_packing(tsr_runner *r) {
    finish_packing(&r->building.packing);
    tsr_free(r->building.packing.texels);
    r->building.packing.texels = NULL;
}

void tsr_webgpu_end_packing(tsr_runner *r) {
    tsr_webgpu_stop_packing(r);
    submit_writes(r);
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
