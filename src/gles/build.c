/* Creates and destroys a runner's GL objects. */
#include "gles/runner.h"

#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"
#include "gles/shader.h"

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

static void count_program(tsr_runner *r, int index, const tsr_program *program) {
    if (tsr_gpu_count_program(&r->base, index, program))
        r->base.cached_programs += program->cached;
}

/* All programs are started before waiting for the first, and weights are packed meanwhile: drivers
 * may compile in parallel. */
static tsr_status start_programs(tsr_runner *r) {
    double start = tsr_clock_ms();
    tsr_progress_stage(r->base.options.progress, TSR_COMPILING_SHARE);
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        TSR_TRY(tsr_gpu_report_compiling(&r->base, i));
        if (r->base.plan->passes[i].kind != TSR_PASS_DRAW)
            continue;
        TSR_TRY(tsr_gles_start_program(r, &r->base.plan->passes[i], &r->passes[i]));
        count_program(r, i, r->passes[i].program);
    }
    r->base.compile_ms = tsr_clock_ms() - start;
    return TSR_OK;
}

static tsr_status finish_programs(tsr_runner *r) {
    double start = tsr_clock_ms();
    tsr_progress_stage(r->base.options.progress, 1);
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        const tsr_pass *pass = &r->base.plan->passes[i];
        TSR_TRY(tsr_gpu_report_compiling(&r->base, i));
        if (pass->kind != TSR_PASS_DRAW)
            continue;
        tsr_status status =
            tsr_program_finish(r->passes[i].program, pass->kernel->stem, pass->body);
        TSR_TRY(tsr_gpu_name_node(&r->base, pass, status));
    }
    TSR_TRY(tsr_gpu_report_compiling(&r->base, r->base.plan->pass_count));
    r->base.compile_ms += tsr_clock_ms() - start;
    return TSR_OK;
}

static void choose_clears(tsr_runner *r) {
    for (int i = 0; r->device->clears_tiles && i < r->base.plan->pass_count; i++)
        r->passes[i].clears = tsr_plan_clears(r->base.plan, i);
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
        r->blocks = tsr_buffer_blocks(bytes, GL_STREAM_COPY);
    r->base.allocated_bytes += bytes;
}

/* For arrays of floats: other forms are prepared when they are used. */
static tsr_status build_transfers(tsr_runner *r) {
    const tsr_graph *graph = r->base.graph;
    int index = r->base.plan->pass_count;
    for (int i = 0; i < graph->input_count; i++) {
        const tsr_elements floats = tsr_gpu_floats_of(&r->base, graph->inputs[i]);
        if (!tsr_transfer_converts(r->base.plan, graph->inputs[i], &floats))
            continue;
        TSR_TRY(tsr_gles_transfer_in(r, graph->inputs[i], &floats));
        count_program(r, index++, r->inputs[i].built.program);
    }
    for (int i = 0; i < r->base.output_count && !r->base.options.texture_outputs; i++) {
        const tsr_elements floats = tsr_gpu_floats_of(&r->base, r->base.outputs[i].value);
        if (!tsr_gpu_transfers_output(&r->base, i, &floats))
            continue;
        TSR_TRY(tsr_gles_transfer_prepare_out(r, i, &floats));
        count_program(r, index++, r->outputs[i].built.program);
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
    TSR_TRY(start_programs(r));
    TSR_TRY(tsr_gles_pack_constants(r)); /* first: peak of memory use */
    TSR_TRY(build_targets(r));
    TSR_TRY(build_doubles(r));
    build_blocks(r);
    choose_clears(r);
    TSR_TRY(build_transfers(r));
    TSR_TRY(finish_programs(r));
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
        tsr_gles_release_weights(r, i);
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
