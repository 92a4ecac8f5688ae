/* Creates and destroys a runner's GL objects. */
#include "gles/runner.h"

#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"
#include "gles/shader.h"

static tsr_status out_of_memory(void) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the session");
}

tsr_status tsr_gles_start_program(tsr_runner *r, const tsr_pass *pass, tsr_gles_pass *p) {
    tsr_program_text text;
    tsr_params_free(&p->params);
    TSR_TRY(tsr_params_make(r->base.plan, pass, &p->params));
    tsr_status status = tsr_shader_start(r->base.plan, pass, &p->params, r->device->sample, &text);
    if (status == TSR_OK)
        status = tsr_program_acquire(&r->device->programs, &text, &p->program);
    tsr_program_text_free(&text);
    return status;
}

/* All programs are started before waiting for the first: drivers may compile in parallel. */
static tsr_status build_programs(tsr_runner *r) {
    double start = tsr_clock_ms();
    tsr_progress_stage(r->base.options.progress, TSR_COMPILING_SHARE);
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        TSR_TRY(tsr_gpu_report_compiling(&r->base, i));
        if (r->base.plan->passes[i].kind != TSR_PASS_DRAW)
            continue;
        TSR_TRY(tsr_gles_start_program(r, &r->base.plan->passes[i], &r->passes[i]));
        const tsr_program *program = r->passes[i].program;
        if (tsr_gpu_count_program(&r->base, i, program))
            r->base.cached_programs += program->cached;
    }
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        const tsr_pass *pass = &r->base.plan->passes[i];
        TSR_TRY(tsr_gpu_report_compiling(&r->base, r->base.plan->pass_count + i));
        if (pass->kind != TSR_PASS_DRAW)
            continue;
        tsr_status status =
            tsr_program_finish(r->passes[i].program, pass->kernel->stem, pass->body);
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

/* One buffer for all passes that read a source as uniform blocks. */
static void build_blocks(tsr_runner *r) {
    size_t bytes = (size_t)r->base.plan->copied_blocks_bytes;
    if (bytes)
        r->blocks = tsr_buffer_blocks(bytes / sizeof(float), NULL);
    r->base.allocated_bytes += bytes;
}

/* Floats of the largest table or constant tensor: all are packed in the same memory, one by one. */
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

/* Is the pass's table in uniform blocks, not in a texture? */
static bool is_in_blocks(const tsr_pass *pass) {
    return pass->draw_count && !pass->blocks_from_source;
}

/* The table of pass `pass` is being packed; TSR_NONE: none is. */
typedef struct table_packing {
    int pass;
    float *texels;
    tsr_packing packing;
} table_packing;

static void start_table(const tsr_runner *r, int pass, table_packing *t) {
    t->pass = pass;
    tsr_packing_start(&t->packing, &r->base.plan->passes[pass].table, t->texels);
}

/* A software rasteriser clears a new texture, which takes as long as packing a large table, so the
 * texture is created while threads pack. */
static void finish_table(tsr_runner *r, table_packing *t) {
    if (t->pass == TSR_NONE)
        return;
    const tsr_pass *pass = &r->base.plan->passes[t->pass];
    const tsr_table *table = &pass->table;
    bool blocks = is_in_blocks(pass);
    GLuint name = blocks ? 0 : tsr_texture_table(table->width, table->height, table->half);
    tsr_packing_finish(&t->packing);
    if (blocks)
        name = tsr_buffer_blocks(tsr_table_floats(table), t->texels);
    else
        tsr_table_upload(name, table->width, table->height, t->texels);
    r->passes[t->pass].weights->handle.name = name;
    r->base.packed_bytes += tsr_table_bytes(table);
    tsr_map_release(r->base.graph->map);
    t->pass = TSR_NONE;
}

/* The next table is packed while the one before is uploaded. */
static tsr_status pack_tables(tsr_runner *r, table_packing packing[2]) {
    int slot = 0;
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        const tsr_table *table = &r->base.plan->passes[i].table;
        bool found;
        TSR_TRY(tsr_gpu_report_packing(&r->base, i));
        if (!table->pack)
            continue;
        r->passes[i].weights = tsr_weights_acquire(&r->device->weights, table, &found);
        if (!r->passes[i].weights)
            return out_of_memory();
        if (found)
            continue;
        start_table(r, i, &packing[slot]);
        slot = 1 - slot;
        finish_table(r, &packing[slot]);
    }
    return TSR_OK;
}

static tsr_status build_tables(tsr_runner *r, float *texels[2]) {
    table_packing packing[2] = {{.pass = TSR_NONE, .texels = texels[0]},
                                {.pass = TSR_NONE, .texels = texels[1]}};
    tsr_status status = pack_tables(r, packing);
    for (int i = 0; i < 2; i++)
        finish_table(r, &packing[i]);
    for (int i = 0; i < r->base.plan->pass_count && status == TSR_OK; i++) {
        tsr_gles_pass *p = &r->passes[i];
        GLuint *name = is_in_blocks(&r->base.plan->passes[i]) ? &p->blocks : &p->table;
        if (p->weights)
            *name = p->weights->handle.name;
    }
    return status;
}

static GLuint new_table(const tsr_pass *pass) {
    const tsr_table *t = &pass->table;
    return is_in_blocks(pass) ? tsr_buffer_blocks(tsr_table_floats(t), NULL)
                              : tsr_texture_table(t->width, t->height, t->half);
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

/* Weights of this pass alone: what others share is replaced, else updated in place. */
static tsr_status separate_table(tsr_runner *r, int i) {
    const tsr_pass *pass = &r->base.plan->passes[i];
    tsr_gles_pass *p = &r->passes[i];
    tsr_weights *own = tsr_weights_separate(&r->device->weights, p->weights);
    if (!own)
        return out_of_memory();
    if (own == p->weights)
        return TSR_OK;
    destroy_table(r, i);
    p->weights = own;
    own->handle.name = new_table(pass);
    *(is_in_blocks(pass) ? &p->blocks : &p->table) = own->handle.name;
    return TSR_OK;
}

static tsr_status replace_table(tsr_runner *r, int i, const float *elements, float *texels) {
    const tsr_pass *pass = &r->base.plan->passes[i];
    const tsr_table *t = &pass->table;
    TSR_TRY(separate_table(r, i));
    tsr_packing_replace(t, elements, texels);
    if (is_in_blocks(pass))
        tsr_blocks_upload(r->passes[i].blocks, tsr_table_floats(t), texels);
    else
        tsr_table_upload(r->passes[i].table, t->width, t->height, texels);
    return TSR_OK;
}

tsr_status tsr_gles_replace_weights(tsr_runner *r, int constant, const float *elements) {
    const tsr_plan *plan = r->base.plan;
    float *texels = tsr_malloc(most_texels(plan) * sizeof *texels + 1);
    tsr_status status = texels ? TSR_OK : out_of_memory();
    for (int i = 0; i < plan->pass_count && status == TSR_OK; i++)
        if (plan->passes[i].table.constant == constant)
            status = replace_table(r, i, elements, texels);
    tsr_free(texels);
    return status == TSR_OK ? tsr_gles_check_error(r->device, "replacing weights") : status;
}

static tsr_status build_constants(tsr_runner *r) {
    const tsr_plan *plan = r->base.plan;
    size_t bytes = most_texels(plan) * sizeof(float) + 1;
    tsr_progress_stage(r->base.options.progress, 1);
    float *texels[] = {tsr_malloc(bytes), tsr_malloc(bytes)};
    tsr_status status = texels[0] && texels[1] ? build_tables(r, texels) : out_of_memory();
    for (int i = 1; i < plan->tensor_count && status == TSR_OK; i++)
        if (plan->tensors[i].constant)
            r->constants[i] = tsr_texture_constant(&plan->tensors[i].layout,
                                                   plan->tensors[i].constant, texels[0]);
    tsr_free(texels[0]);
    tsr_free(texels[1]);
    r->base.allocated_bytes += plan->constant_bytes;
    return status == TSR_OK ? tsr_gpu_report_packing(&r->base, plan->pass_count) : status;
}

/* For arrays of floats: other forms are prepared when they are used. */
static tsr_status build_transfers(tsr_runner *r) {
    const tsr_graph *graph = r->base.graph;
    for (int i = 0; i < graph->input_count; i++) {
        const tsr_elements floats = tsr_gpu_floats_of(&r->base, graph->inputs[i]);
        if (r->base.plan->value_tensor[graph->inputs[i]] != TSR_NONE)
            TSR_TRY(tsr_gles_transfer_in(r, graph->inputs[i], &floats));
    }
    for (int i = 0; i < r->base.output_count; i++) {
        const tsr_elements floats = tsr_gpu_floats_of(&r->base, r->base.outputs[i].value);
        if (r->base.outputs[i].tensor != TSR_NONE && !r->base.options.texture_outputs)
            TSR_TRY(tsr_gles_transfer_prepare_out(r, i, &floats));
    }
    return TSR_OK;
}

static void destroy_run(const tsr_runner *r, tsr_gles_run *run) {
    if (run->fence)
        glDeleteSync(run->fence);
    for (int i = 0; i < r->base.output_count; i++)
        glDeleteBuffers(1, &run->outputs[i].buffer);
}

tsr_status tsr_gles_build(tsr_runner *r) {
    TSR_TRY(build_programs(r));
    TSR_TRY(build_constants(r)); /* first: peak of memory use */
    TSR_TRY(build_targets(r));
    TSR_TRY(build_doubles(r));
    build_blocks(r);
    TSR_TRY(build_transfers(r));
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
        tsr_gles_transfer_destroy(r, &r->inputs[i]);
    for (int i = 0; i < r->base.output_count; i++)
        tsr_gles_transfer_destroy(r, &r->outputs[i]);
    for (int i = 0; i < r->base.output_count; i++)
        tsr_gles_transfer_destroy(r, &r->drawn[i]);
}
