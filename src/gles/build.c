/* From a plan to GL objects, and back. */
#include "gles/runner.h"

#include "base/clock.h"
#include "base/error.h"
#include "gles/shader.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

static size_t table_floats(const tsr_pass *pass) {
    return pass->table ? (size_t)pass->table_w * (size_t)pass->table_h * 4 : 0;
}

/* Texels of the largest table or constant tensor: all go through the same memory, one by one. */
static size_t most_texels(const tsr_plan *plan) {
    size_t most = 0;
    for (int i = 0; i < plan->pass_count; i++)
        most = table_floats(&plan->passes[i]) > most ? table_floats(&plan->passes[i]) : most;
    for (int i = 1; i < plan->tensor_count; i++) {
        const tsr_plan_tensor *t = &plan->tensors[i];
        size_t floats = t->constant ? tsr_layout_floats(&t->layout) : 0;
        most = floats > most ? floats : most;
    }
    return most;
}

/* A table that is filled, whichever thread does it. */
typedef struct filling {
    const tsr_pass *pass;
    float *texels;
} filling;

static void *fill_table(void *data) {
    const filling *f = data;
    memset(f->texels, 0, table_floats(f->pass) * sizeof *f->texels);
    f->pass->table(f->pass->table_data, f->texels);
    return NULL;
}

/* What takes a tenth of a millisecond to fill: less is not worth a thread. */
enum { MIN_APART_FLOATS = 1 << 17 };

/* A driver in software clears the texture that it makes, which takes as long as filling a large
 * table: both happen at the same time, where a thread is to be had. */
static GLuint make_table(filling *f) {
    const tsr_pass *pass = f->pass;
    pthread_t thread;
    bool apart =
        table_floats(pass) >= MIN_APART_FLOATS && pthread_create(&thread, NULL, fill_table, f) == 0;
    GLuint texture = tsr_texture_table(pass->table_w, pass->table_h, pass->table_half);
    if (apart)
        pthread_join(thread, NULL);
    else
        fill_table(f);
    tsr_table_upload(texture, pass->table_w, pass->table_h, f->texels);
    return texture;
}

static void build_table(tsr_runner *r, int i, float *texels) {
    filling f = {&r->base.plan->passes[i], texels};
    if (!f.pass->table)
        return;
    if (f.pass->part_count && !f.pass->blocks_from_source) {
        fill_table(&f);
        r->passes[i].blocks = tsr_buffer_blocks(table_floats(f.pass), texels);
    } else {
        r->passes[i].table = make_table(&f);
    }
    tsr_map_release(r->base.graph->map);
}

static tsr_status build_constants(tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    float *texels = malloc(most_texels(plan) * sizeof *texels + 1);
    if (!texels)
        return out_of_memory();
    for (int i = 0; i < plan->pass_count; i++)
        build_table(r, i, texels);
    for (int i = 1; i < plan->tensor_count; i++)
        if (plan->tensors[i].constant)
            r->constants[i] =
                tsr_texture_constant(&plan->tensors[i].layout, plan->tensors[i].constant, texels);
    free(texels);
    r->base.allocated_bytes += plan->constant_bytes;
    return TSR_OK;
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
        glDeleteTextures(1, &r->passes[i].table);
        glDeleteBuffers(1, &r->passes[i].blocks);
        if (r->passes[i].program)
            tsr_program_release(&r->device->programs, r->passes[i].program);
    }
    for (int i = 0; i < r->base.graph->input_count; i++)
        if (r->inputs[i].program)
            tsr_program_release(&r->device->programs, r->inputs[i].program);
}
