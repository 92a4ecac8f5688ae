/* From a plan to GL objects, and back. */
#include "gles/runner.h"

#include "base/clock.h"
#include "base/error.h"
#include "gles/shader.h"

#include <stdlib.h>

static tsr_status out_of_memory(void) {
    return tsr_fail(TSR_OUT_OF_MEMORY, "no memory for the session");
}

static bool in_earlier_pass(const tsr_runner *r, int pass) {
    for (int i = 0; i < pass; i++)
        if (r->passes[i].program == r->passes[pass].program)
            return true;
    return false;
}

tsr_status tsr_gles_start_program(tsr_runner *r, const tsr_pass *pass, tsr_gles_pass *p) {
    char *text = NULL;
    tsr_params_free(&p->params);
    TSR_TRY(tsr_params_make(r->base.plan, pass, &p->params));
    TSR_TRY(tsr_shader_text(r->base.plan, pass, &p->params, r->device->sample, &text));
    return tsr_program_acquire(&r->device->programs, text, &p->program);
}

/* All programs are started before the first is waited for: drivers may compile in parallel. */
static tsr_status build_programs(tsr_runner *r) {
    double start = tsr_clock_ms();
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        if (r->base.plan->passes[i].kind != TSR_PASS_DRAW)
            continue;
        TSR_TRY(tsr_gles_start_program(r, &r->base.plan->passes[i], &r->passes[i]));
        if (in_earlier_pass(r, i))
            continue;
        r->base.program_count++;
        r->base.cached_programs += r->passes[i].program->cached;
    }
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        const tsr_pass *pass = &r->base.plan->passes[i];
        if (pass->kind != TSR_PASS_DRAW)
            continue;
        tsr_status status = tsr_program_finish(r->passes[i].program, pass->kernel->stem);
        TSR_TRY(tsr_gpu_name_node(&r->base, pass, status));
    }
    r->base.compile_ms = tsr_clock_ms() - start;
    return TSR_OK;
}

static tsr_status build_targets(tsr_runner *r) {
    for (int i = 0; i < r->base.plan->storage_count; i++) {
        const tsr_storage *s = &r->base.plan->storages[i];
        const tsr_layout whole = {
            .planes = s->planes, .texture_w = s->texture_w, .texture_h = s->texture_h};
        TSR_TRY(tsr_target_create(s, &r->targets[i]));
        if (r->base.options.poison)
            tsr_target_poison(&r->targets[i], &whole);
    }
    r->base.allocated_bytes += r->base.plan->tensor_bytes;
    return TSR_OK;
}

static tsr_status build_doubles(tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    for (int i = 1; i < plan->tensor_count; i++) {
        const tsr_plan_tensor *t = &plan->tensors[i];
        if (t->storage_high == TSR_NONE)
            continue;
        r->doubles[i].texture = r->targets[t->storage].texture;
        TSR_TRY(tsr_framebuffer_of_two(&plan->storages[t->storage], r->targets[t->storage].texture,
                                       &plan->storages[t->storage_high],
                                       r->targets[t->storage_high].texture,
                                       &r->doubles[i].framebuffer));
    }
    return TSR_OK;
}

/* One buffer for the blocks of all passes that take them from a source. */
static void build_blocks(tsr_runner *r) {
    size_t bytes = (size_t)r->base.plan->copied_blocks_bytes;
    if (bytes)
        r->blocks = tsr_buffer_blocks(bytes / sizeof(float), NULL);
    r->base.allocated_bytes += bytes;
}

/* Texels of the largest table or constant tensor: all go through the same memory, one by one. */
static size_t most_texels(const tsr_plan *plan) {
    size_t most = 0;
    for (int i = 0; i < plan->pass_count; i++) {
        size_t floats = tsr_table_floats(&plan->passes[i].table);
        most = floats > most ? floats : most;
    }
    for (int i = 1; i < plan->tensor_count; i++) {
        const tsr_plan_tensor *t = &plan->tensors[i];
        size_t floats = t->constant ? tsr_layout_floats(&t->layout) : 0;
        most = floats > most ? floats : most;
    }
    return most;
}

/* A driver in software clears the texture that it makes, which takes as long as packing a large
 * table: both happen at the same time. */
static GLuint make_table(const tsr_table *table, float *texels) {
    tsr_packing packing;
    tsr_packing_start(&packing, table, texels);
    GLuint texture = tsr_texture_table(table->width, table->height, table->half);
    tsr_packing_finish(&packing);
    tsr_table_upload(texture, table->width, table->height, texels);
    return texture;
}

static GLuint make_blocks(const tsr_table *table, float *texels) {
    tsr_packing packing;
    tsr_packing_start(&packing, table, texels);
    tsr_packing_finish(&packing);
    return tsr_buffer_blocks(tsr_table_floats(table), texels);
}

/* In uniform blocks, not a texture? */
static bool is_in_blocks(const tsr_pass *pass) {
    return pass->part_count && !pass->blocks_from_source;
}

static tsr_status build_table(tsr_runner *r, int i, float *texels) {
    const tsr_pass *pass = &r->base.plan->passes[i];
    tsr_gles_pass *p = &r->passes[i];
    bool found;
    if (!pass->table.pack)
        return TSR_OK;
    p->weights = tsr_weights_acquire(&r->device->weights, &pass->table, &found);
    if (!p->weights)
        return out_of_memory();
    GLuint *name = is_in_blocks(pass) ? &p->blocks : &p->table;
    if (!found) {
        p->weights->handle.name = is_in_blocks(pass) ? make_blocks(&pass->table, texels)
                                                     : make_table(&pass->table, texels);
        r->base.packed_bytes += tsr_table_bytes(&pass->table);
        tsr_map_release(r->base.graph->map);
    }
    *name = p->weights->handle.name;
    return TSR_OK;
}

static void destroy_table(tsr_runner *r, int i) {
    tsr_weights last;
    if (!r->passes[i].weights ||
        !tsr_weights_release(&r->device->weights, r->passes[i].weights, &last))
        return;
    if (is_in_blocks(&r->base.plan->passes[i]))
        glDeleteBuffers(1, &last.handle.name);
    else
        glDeleteTextures(1, &last.handle.name);
}

static tsr_status build_constants(tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    float *texels = malloc(most_texels(plan) * sizeof *texels + 1);
    if (!texels)
        return out_of_memory();
    tsr_status status = TSR_OK;
    for (int i = 0; i < plan->pass_count && status == TSR_OK; i++)
        status = build_table(r, i, texels);
    for (int i = 1; i < plan->tensor_count && status == TSR_OK; i++)
        if (plan->tensors[i].constant)
            r->constants[i] =
                tsr_texture_constant(&plan->tensors[i].layout, plan->tensors[i].constant, texels);
    free(texels);
    r->base.allocated_bytes += plan->constant_bytes;
    return status;
}

static void build_outputs(tsr_runner *r, tsr_gles_run *run) {
    for (int i = 0; i < r->base.output_count; i++) {
        tsr_gles_output *o = &run->outputs[i];
        int tensor = r->base.outputs[i].tensor;
        if (tensor == TSR_NONE || r->base.options.texture_outputs)
            continue;
        const tsr_layout *l = tsr_plan_layout(r->base.plan, tensor);
        o->buffer = tsr_buffer_create(l);
        r->base.allocated_bytes += tsr_layout_floats(l) * sizeof(float);
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

static void destroy_run(const tsr_runner *r, tsr_gles_run *run) {
    if (run->fence)
        glDeleteSync(run->fence);
    for (int i = 0; i < r->base.output_count; i++)
        glDeleteBuffers(1, &run->outputs[i].buffer);
}

tsr_status tsr_gles_build(tsr_runner *r) {
    TSR_TRY(build_programs(r));
    TSR_TRY(build_constants(r)); /* first: this is when most memory is in use */
    TSR_TRY(build_targets(r));
    TSR_TRY(build_doubles(r));
    build_blocks(r);
    for (int i = 0; i < r->base.options.runs_in_flight; i++)
        build_outputs(r, &r->runs[i]);
    TSR_TRY(tsr_gpu_runner_allocate(&r->base));
    if (r->timers)
        glGenQueriesEXT(r->base.graph->node_count, r->timers);
    return tsr_gles_check_error(r->device, "preparing the session");
}

void tsr_gles_unbuild(tsr_runner *r) {
    if (r->timers)
        glDeleteQueriesEXT(r->base.graph->node_count, r->timers);
    for (int i = 0; i < r->base.options.runs_in_flight; i++)
        destroy_run(r, &r->runs[i]);
    for (int i = 0; i < r->base.plan->storage_count; i++)
        tsr_target_destroy(&r->targets[i]);
    for (int i = 0; i < r->base.plan->tensor_count; i++)
        glDeleteFramebuffers(1, &r->doubles[i].framebuffer);
    glDeleteTextures(r->base.plan->tensor_count, r->constants);
    glDeleteBuffers(1, &r->blocks);
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        destroy_table(r, i);
        if (r->passes[i].program)
            tsr_program_release(&r->device->programs, r->passes[i].program);
    }
    for (int i = 0; i < r->base.graph->input_count; i++)
        if (r->inputs[i].program)
            tsr_program_release(&r->device->programs, r->inputs[i].program);
}
