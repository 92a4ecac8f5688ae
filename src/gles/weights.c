/* Packed weights and constants: threads pack them into buffers, from which the driver copies. */
#include "gles/runner.h"

#include "base/error.h"

static tsr_status out_of_memory(void) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the session");
}

static GLuint new_table(const tsr_plan *plan, const tsr_pass *pass) {
    const tsr_table *t = &pass->table;
    return tsr_pass_has_table_blocks(pass)
               ? tsr_buffer_blocks(tsr_packing_bytes(t), GL_STATIC_DRAW)
               : tsr_texture_table(t->width, tsr_table_rows(plan, t), t->format);
}

/* From what was packed into the upload buffer. */
static tsr_status fill_table(const tsr_pass *pass, const tsr_gles_upload *from, GLuint name) {
    const tsr_table *t = &pass->table;
    TSR_TRY(tsr_gles_upload_unmap(from));
    if (tsr_pass_has_table_blocks(pass))
        tsr_blocks_copy(name, tsr_packing_bytes(t));
    else
        tsr_table_upload(name, t);
    tsr_gles_upload_unbind();
    return TSR_OK;
}

static tsr_status start_table(const tsr_runner *r, int pass, tsr_gles_packing *p) {
    const tsr_table *table = &r->base.plan->passes[pass].table;
    void *texels;
    TSR_TRY(tsr_gles_upload_map(&p->upload, tsr_packing_bytes(table), true, &texels));
    p->pass = pass;
    tsr_packing_start(&p->packing, table, texels);
    return TSR_OK;
}

/* A software rasteriser clears a new texture, which takes as long as packing a large table, so the
 * texture is created while threads pack. */
static tsr_status finish_table(tsr_runner *r, tsr_gles_packing *p) {
    if (p->pass == TSR_NONE)
        return TSR_OK;
    const tsr_pass *pass = &r->base.plan->passes[p->pass];
    tsr_weights *weights = r->passes[p->pass].weights;
    if (!weights->handle.name)
        weights->handle.name = new_table(r->base.plan, pass);
    if (r->base.options.prepare_in_steps &&
        !tsr_packing_work(&p->packing, r->building.steps.deadline))
        return TSR_NOT_READY;
    p->pass = TSR_NONE;
    tsr_packing_finish(&p->packing);
    tsr_maps_release(r->base.graph->maps);
    r->base.packed_bytes += tsr_table_bytes(&pass->table);
    TSR_TRY(fill_table(pass, &p->upload, weights->handle.name));
    tsr_weights_share(weights);
    return TSR_OK;
}

/* The next table is packed while the one before is uploaded. */
tsr_status tsr_gles_pack_table(tsr_runner *r, int i) {
    const tsr_table *table = &r->base.plan->passes[i].table;
    tsr_gles_building *b = &r->building;
    bool found;
    if (i == 0)
        tsr_progress_stage(r->base.options.progress, TSR_PACKING_SHARE);
    TSR_TRY(tsr_gpu_report_packing(&r->base, i));
    if (!table->pack)
        return TSR_OK;
    if (!r->passes[i].weights) {
        r->passes[i].weights = tsr_weights_acquire(&r->device->weights, table, r, &found);
        if (!r->passes[i].weights)
            return out_of_memory();
        if (found)
            return TSR_OK;
        TSR_TRY(start_table(r, i, &b->packing[b->slot]));
    }
    TSR_TRY(finish_table(r, &b->packing[1 - b->slot]));
    b->slot = 1 - b->slot;
    return TSR_OK;
}

tsr_status tsr_gles_finish_tables(tsr_runner *r) {
    for (int i = 0; i < 2; i++)
        TSR_TRY(finish_table(r, &r->building.packing[i]));
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        tsr_gles_pass *p = &r->passes[i];
        GLuint *name = tsr_pass_has_table_blocks(&r->base.plan->passes[i]) ? &p->blocks : &p->table;
        if (p->weights)
            *name = p->weights->handle.name;
    }
    return tsr_gpu_report_packing(&r->base, r->base.plan->pass_count);
}

tsr_status tsr_gles_build_constant(tsr_runner *r, int tensor) {
    const tsr_plan_tensor *t = &r->base.plan->tensors[tensor];
    tsr_gles_upload *upload = &r->building.packing[0].upload;
    void *texels;
    if (!t->constant)
        return TSR_OK;
    TSR_TRY(
        tsr_gles_upload_map(upload, tsr_layout_floats(&t->layout) * sizeof(float), true, &texels));
    tsr_layout_pack(&t->layout, t->constant, 0, texels);
    TSR_TRY(tsr_gles_upload_unmap(upload));
    r->constants[tensor] = tsr_texture_constant(&t->layout, NULL);
    tsr_gles_upload_unbind();
    return TSR_OK;
}

void tsr_gles_stop_packing(tsr_runner *r) {
    for (int i = 0; i < 2; i++) {
        tsr_gles_packing *p = &r->building.packing[i];
        if (p->pass != TSR_NONE)
            tsr_packing_finish(&p->packing);
        p->pass = TSR_NONE;
    }
}

void tsr_gles_end_packing(tsr_runner *r) {
    for (int i = 0; i < 2; i++)
        tsr_gles_upload_destroy(&r->building.packing[i].upload);
}

/* ---- other weights --------------------------------------------------------------------------- */

void tsr_gles_release_weights(tsr_runner *r, int i) {
    tsr_weights last;
    if (!r->passes[i].weights ||
        !tsr_weights_release(&r->device->weights, r->passes[i].weights, &last))
        return;
    if (tsr_pass_has_table_blocks(&r->base.plan->passes[i]))
        glDeleteBuffers(1, &last.handle.name);
    else
        glDeleteTextures(1, &last.handle.name);
}

/* Weights of this pass alone: what others share is replaced, else updated in place. */
static tsr_status separate_table(tsr_runner *r, int i) {
    const tsr_pass *pass = &r->base.plan->passes[i];
    tsr_gles_pass *p = &r->passes[i];
    tsr_weights *own = tsr_weights_separate(&r->device->weights, p->weights);
    if (!own)
        return out_of_memory();
    if (own == p->weights)
        return TSR_OK;
    tsr_gles_release_weights(r, i);
    p->weights = own;
    own->handle.name = new_table(r->base.plan, pass);
    *(tsr_pass_has_table_blocks(pass) ? &p->blocks : &p->table) = own->handle.name;
    return TSR_OK;
}

static tsr_status replace_table(tsr_runner *r, int i, const float *elements,
                                tsr_gles_upload *upload) {
    const tsr_pass *pass = &r->base.plan->passes[i];
    tsr_gles_pass *p = &r->passes[i];
    void *texels;
    TSR_TRY(tsr_gles_upload_map(upload, tsr_packing_bytes(&pass->table), true, &texels));
    tsr_packing_replace(&pass->table, elements, texels);
    TSR_TRY(separate_table(r, i));
    return fill_table(pass, upload, tsr_pass_has_table_blocks(pass) ? p->blocks : p->table);
}

tsr_status tsr_gles_replace_weights(tsr_runner *r, int constant, const float *elements) {
    const tsr_plan *plan = r->base.plan;
    tsr_gles_upload upload = {0};
    tsr_status status = tsr_plan_has_integers(plan, constant) ? TSR_ERROR_UNSUPPORTED : TSR_OK;
    for (int i = 0; i < plan->pass_count && status == TSR_OK; i++)
        if (plan->passes[i].table.constant == constant)
            status = replace_table(r, i, elements, &upload);
    tsr_gles_upload_destroy(&upload);
    return status == TSR_OK ? tsr_gles_check_error(r->device, "replacing weights") : status;
}
