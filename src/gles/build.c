/* Creates and destroys a runner's GL objects. */
#include "gles/runner.h"

#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"
#include "gles/precompile.h"
#include "gles/shader.h"
#include "gles/variant.h"
#include "gles/wait.h"

static tsr_status make_params_set(tsr_program *program, const tsr_params *params) {
    if (!program->params_set)
        program->params_set = tsr_calloc((size_t)params->int_count, sizeof *program->params_set);
    return program->params_set
               ? TSR_OK
               : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the parameters of a program");
}

tsr_status tsr_gles_start_program(tsr_runner *r, const tsr_pass *pass, tsr_gles_pass *p) {
    tsr_program_text text;
    tsr_params_free(&p->params);
    TSR_TRY(tsr_params_make(r->base.plan, pass, &p->params));
    tsr_status status = tsr_shader_start(r->base.plan, pass, &p->params, r->device->sample,
                                         tsr_gles_variant(r->device, r->base.plan, pass), &text);
    if (status == TSR_OK)
        status = tsr_program_acquire(&r->device->programs, &text, &p->program);
    tsr_program_text_free(&text);
    TSR_TRY(status);
    status = make_params_set(p->program, &p->params);
    if (status != TSR_OK) {
        tsr_program_release(&r->device->programs, p->program);
        p->program = NULL;
    }
    return status;
}

static void count_program(tsr_runner *r, int index, const tsr_program *program) {
    if (tsr_gpu_count_program(&r->base, index, program))
        r->base.cached_programs += program->cached;
}

static tsr_status start_program(tsr_runner *r, int i) {
    double start = tsr_clock_ms();
    if (i == 0)
        tsr_progress_stage(r->base.options.progress, TSR_COMPILING_SHARE);
    TSR_TRY(tsr_gpu_report_compiling(&r->base, i));
    if (r->base.plan->passes[i].kind != TSR_PASS_DRAW)
        return TSR_OK;
    TSR_TRY(tsr_gles_start_program(r, &r->base.plan->passes[i], &r->passes[i]));
    count_program(r, i, r->passes[i].program);
    r->base.compile_ms += tsr_clock_ms() - start;
    return TSR_OK;
}

static bool is_waiting(const tsr_runner *r, const tsr_program *program) {
    return r->base.options.prepare_in_steps && !tsr_program_is_linked(program);
}

static tsr_status finish_program(tsr_runner *r, int i) {
    double start = tsr_clock_ms();
    const tsr_pass *pass = &r->base.plan->passes[i];
    TSR_TRY(tsr_gpu_report_compiling(&r->base, i));
    if (pass->kind != TSR_PASS_DRAW)
        return TSR_OK;
    if (is_waiting(r, r->passes[i].program))
        return TSR_NOT_READY;
    tsr_status status = tsr_program_finish(r->passes[i].program, pass->kernel->stem, pass->body);
    if (status == TSR_OK)
        status = tsr_gles_precompile_pass(r, i);
    r->base.compile_ms += tsr_clock_ms() - start;
    return tsr_gpu_name_node(&r->base, pass, status);
}

static void choose_clears(tsr_runner *r) {
    for (int i = 0; r->device->clears_tiles && i < r->base.plan->pass_count; i++)
        r->passes[i].clears = tsr_plan_clears(r->base.plan, i);
}

static tsr_status build_target(tsr_runner *r, int i) {
    const tsr_storage *s = &r->base.plan->storages[i];
    if (tsr_gpu_is_bound(&r->base, i))
        return TSR_OK;
    const tsr_layout whole = {.planes = s->planes,
                              .format = s->format,
                              .texture_w = s->texture_w,
                              .texture_h = s->texture_h};
    TSR_TRY(tsr_target_create(s, &r->targets[i]));
    if (r->base.options.poison)
        tsr_target_poison(&r->targets[i], &whole);
    return TSR_OK;
}

static tsr_status build_double(tsr_runner *r, int i) {
    const tsr_plan *plan = r->base.plan;
    const tsr_plan_tensor *t = &plan->tensors[i];
    if (i == 0 || t->storage_high == TSR_NONE)
        return TSR_OK;
    r->doubles[i].texture = r->targets[t->storage].texture;
    return tsr_framebuffer_of_two(&plan->storages[t->storage], r->targets[t->storage].texture,
                                  &plan->storages[t->storage_high],
                                  r->targets[t->storage_high].texture, &r->doubles[i].framebuffer);
}

/* One buffer for all passes that read a source as uniform blocks. */
static void build_blocks(tsr_runner *r) {
    size_t bytes = (size_t)r->base.plan->copied_blocks_bytes;
    if (bytes)
        r->blocks = tsr_buffer_blocks(bytes, GL_STREAM_COPY);
    r->base.allocated_bytes += bytes;
}

static void build_framebuffers(tsr_runner *r) {
    for (int i = 0; i < r->base.plan->pass_count; i++)
        if (tsr_pass_writes_more(&r->base.plan->passes[i]))
            glGenFramebuffers(1, &r->passes[i].framebuffer);
}

/* For arrays of floats: other forms are prepared when they are used. */
static tsr_status build_input(tsr_runner *r, int i) {
    const tsr_elements floats = tsr_gpu_floats_of(&r->base, r->base.graph->inputs[i]);
    if (r->base.options.separate_tensors ||
        !tsr_transfer_converts(r->base.plan, r->base.graph->inputs[i], &floats))
        return TSR_OK;
    TSR_TRY(tsr_gles_transfer_in(r, r->base.graph->inputs[i], &floats));
    count_program(r, r->base.plan->pass_count + i, r->inputs[i].built.program);
    return TSR_OK;
}

static tsr_status build_output(tsr_runner *r, int i) {
    const tsr_elements floats = tsr_gpu_floats_of(&r->base, r->base.outputs[i].value);
    if (r->base.options.texture_outputs || r->base.options.separate_tensors ||
        !tsr_gpu_transfers_output(&r->base, i, &floats))
        return TSR_OK;
    TSR_TRY(tsr_gles_transfer_prepare_out(r, i, &floats));
    count_program(r, r->base.plan->pass_count + r->base.graph->input_count + i,
                  r->outputs[i].built.program);
    return TSR_OK;
}

static tsr_status finish_transfer(tsr_runner *r, tsr_gles_transfer *t) {
    if (!t->ready)
        return TSR_OK;
    if (is_waiting(r, t->built.program))
        return TSR_NOT_READY;
    tsr_status status = tsr_program_finish(t->built.program, t->what.pass.kernel->stem, false);
    if (status == TSR_OK)
        tsr_gles_precompile_transfer(r, t);
    return status;
}

static tsr_status finish_input(tsr_runner *r, int i) {
    return finish_transfer(r, &r->inputs[i]);
}

static tsr_status finish_output(tsr_runner *r, int i) {
    return finish_transfer(r, &r->outputs[i]);
}

static tsr_status finish_packing(tsr_runner *r, int i) {
    (void)i;
    tsr_gles_end_packing(r);
    r->base.allocated_bytes += r->base.plan->constant_bytes + tsr_gpu_tensor_bytes(&r->base);
    build_blocks(r);
    build_framebuffers(r);
    choose_clears(r);
    tsr_progress_stage(r->base.options.progress, 1);
    return TSR_OK;
}

static tsr_status finish_building(tsr_runner *r, int i) {
    (void)i;
    TSR_TRY(tsr_gpu_report_compiling(&r->base, r->base.plan->pass_count));
    TSR_TRY(tsr_gpu_runner_allocate(&r->base));
    if (r->timers)
        glGenQueriesEXT(r->base.graph->node_count, r->timers);
    if (!r->base.options.prepare_in_steps)
        return tsr_gles_check_error(r->device, "preparing the session");
    r->building.fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    return TSR_OK;
}

/* Else the first call that waits for the GPU would wait for uploads, too. */
static tsr_status finish_commands(tsr_runner *r, int i) {
    (void)i;
    if (!r->base.options.prepare_in_steps)
        return TSR_OK;
    if (tsr_gles_wait_fence(r->building.fence, false) == TSR_GLES_PENDING) {
        tsr_status lost = tsr_gles_check_lost(r->device);
        return lost == TSR_OK ? TSR_NOT_READY : lost;
    }
    return tsr_gles_check_runner(r, "preparing the session");
}

static void destroy_run(const tsr_runner *r, tsr_gles_run *run) {
    if (run->fence)
        glDeleteSync(run->fence);
    for (int i = 0; i < r->base.output_count; i++)
        glDeleteBuffers(1, &run->outputs[i].buffer);
}

static tsr_status finish_tables(tsr_runner *r, int i) {
    (void)i;
    return tsr_gles_finish_tables(r);
}

/* All programs are started before waiting for the first, and weights are packed meanwhile: drivers
 * may compile in parallel. Weights come before tensors: then memory use has its peak. Transfers are
 * finished before passes: other threads may compile passes meanwhile (src/gles/precompile.h). */
static tsr_status work(tsr_runner *r, double ms) {
    const tsr_plan *plan = r->base.plan;
    const int inputs = r->base.graph->input_count, outputs = r->base.output_count;
    const tsr_gpu_phase phases[] = {
        {start_program, plan->pass_count},
        {tsr_gles_pack_table, plan->pass_count},
        {finish_tables, 1},
        {tsr_gles_build_constant, plan->tensor_count},
        {finish_packing, 1},
        {tsr_gles_start_precompiling, 1},
        {build_target, plan->storage_count},
        {build_double, plan->tensor_count},
        {build_input, inputs},
        {build_output, outputs},
        {finish_input, inputs},
        {finish_output, outputs},
        {finish_program, plan->pass_count},
        {tsr_gles_finish_precompiling, 1},
        {finish_building, 1},
        {finish_commands, 1},
    };
    return tsr_gpu_work(r, phases, sizeof phases / sizeof *phases, &r->building.steps, ms);
}

tsr_status tsr_gles_build(tsr_runner *r, double ms) {
    tsr_status status = work(r, ms);
    if (!r->base.options.prepare_in_steps)
        return status;
    glFlush(); /* what was started */
    tsr_status errors = tsr_gles_check_error(r->device, "preparing the session");
    return errors != TSR_OK ? errors : status;
}

void tsr_gles_stop_threads(tsr_runner *r) {
    tsr_gles_stop_packing(r);
    tsr_gles_stop_precompiling(r);
}

void tsr_gles_unbuild(tsr_runner *r) {
    tsr_gles_end_packing(r);
    if (r->building.fence)
        glDeleteSync(r->building.fence);
    if (r->timers)
        glDeleteQueriesEXT(r->base.graph->node_count, r->timers);
    for (int i = 0; i < r->base.options.runs_in_flight; i++)
        destroy_run(r, &r->runs[i]);
    for (int i = 0; i < r->base.plan->storage_count; i++)
        if (!tsr_gpu_is_bound(&r->base, i))
            tsr_target_destroy(&r->targets[i]);
    for (int i = 0; i < r->base.plan->tensor_count; i++)
        glDeleteFramebuffers(1, &r->doubles[i].framebuffer);
    glDeleteTextures(r->base.plan->tensor_count, r->constants);
    glDeleteBuffers(1, &r->blocks);
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        tsr_gles_release_weights(r, i);
        glDeleteFramebuffers(1, &r->passes[i].framebuffer);
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
