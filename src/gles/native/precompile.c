#include "gles/precompile.h"

#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/parallel.h"
#include "gles/native/egl.h"

#include <stdatomic.h>

struct tsr_precompiling {
    const tsr_runner *runner;
    EGLDisplay display;         /* of the session's context */
    const GladGLES2Context *gl; /* its functions */
    tsr_parallel threads;
    atomic_int working;  /* units of `threads` that are not done */
    atomic_bool taken[]; /* by pass: a thread compiles its program, or it needs no compiling */
};

/* ---- a draw of no pixels --------------------------------------------------------------------- */

/* Small textures in place of a pass's: of the same formats, with sides that are powers of two where
 * the pass's are. That is what llvmpipe's code depends on. The first one is the output. */
typedef struct stand_ins {
    tsr_target targets[2 * TSR_MAX_SOURCES + 2];
    int count;
} stand_ins;

static int least(int side) {
    return side & (side - 1) ? 3 : 1;
}

static GLuint add(stand_ins *s, const tsr_storage *of, int planes) {
    const int below = of->plain ? 0 : TSR_ZERO_ROWS;
    const tsr_storage small = {.texture_w = least(of->texture_w),
                               .texture_h = least(of->texture_h + below) - below,
                               .planes = planes,
                               .format = of->format,
                               .plain = of->plain};
    tsr_target *target = &s->targets[s->count++];
    tsr_target_create(&small, target);
    return target->texture;
}

static GLuint add_source(stand_ins *s, const tsr_plan *plan, const tsr_plan_tensor *t) {
    const tsr_storage constant = {.texture_w = t->layout.texture_w,
                                  .texture_h = t->layout.texture_h,
                                  .format = TSR_TEXEL_F32};
    return add(s, t->constant ? &constant : &plan->storages[t->storage], 1);
}

static GLuint add_table(stand_ins *s, const tsr_plan *plan, const tsr_table *t) {
    if (t->tensor)
        return add(s, &plan->storages[plan->tensors[t->tensor].storage], 1);
    GLuint texture = tsr_texture_plain(tsr_table_internal_format(t->format),
                                       least(tsr_table_columns(t->width, t->format)),
                                       least(tsr_table_rows(plan, t)));
    s->targets[s->count++].texture = texture;
    return texture;
}

static void add_output(stand_ins *s, const tsr_plan *plan, const tsr_pass *pass) {
    const tsr_plan_tensor *t = &plan->tensors[pass->output];
    const tsr_storage *to = &plan->storages[t->storage];
    const int planes = t->storage_high == TSR_NONE ? to->planes : 2 * to->planes;
    add(s, to, tsr_pass_writes_more(pass) ? pass->planes * (1 + pass->more_count) : planes);
}

/* All are created first, since that binds them, too. */
static void bind_stand_ins(stand_ins *s, const tsr_plan *plan, const tsr_pass *pass) {
    GLuint units[TSR_GL_UNITS] = {0};
    tsr_bindings b;
    add_output(s, plan, pass);
    for (int i = 0; i < pass->source_count; i++) {
        const tsr_plan_tensor *t = &plan->tensors[pass->sources[i]];
        units[i] = add_source(s, plan, t);
        if (t->storage_high != TSR_NONE)
            units[TSR_HIGH_UNIT] = add(s, &plan->storages[t->storage_high], 1);
    }
    if (pass->table.width && !tsr_pass_has_table_blocks(pass))
        units[TSR_TABLE_UNIT] = add_table(s, plan, &pass->table);
    tsr_bindings_forget(&b);
    for (int i = 0; i < TSR_GL_UNITS; i++)
        tsr_bind_texture(&b, i, units[i]);
    tsr_bind_framebuffer(&b, s->targets[0].framebuffer);
}

static void begin_no_pixels(void) {
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 0, 0);
}

static void compile(const tsr_plan *plan, const tsr_pass *pass, GLuint program) {
    stand_ins s = {.count = 0};
    bind_stand_ins(&s, plan, pass);
    glUseProgram(program);
    glViewport(0, 0, 1, 1);
    begin_no_pixels();
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glDisable(GL_SCISSOR_TEST);
    for (int i = 0; i < s.count; i++)
        tsr_target_destroy(&s.targets[i]);
}

/* ---- other threads --------------------------------------------------------------------------- */

static bool take(struct tsr_precompiling *p, int i) {
    return !atomic_exchange(&p->taken[i], true);
}

/* What Tessera's cache had on disk, Mesa's has as a rule, too. */
static bool is_new(const tsr_runner *r, int i) {
    return r->passes[i].program && !r->passes[i].program->cached;
}

/* If the driver refuses the program, the session's thread reports it. */
static void compile_there(const tsr_runner *r, int i) {
    GLuint program = tsr_program_link(r->passes[i].program->entry.text);
    if (program)
        compile(r->base.plan, &r->base.plan->passes[i], program);
    glDeleteProgram(program);
}

static bool enter(const struct tsr_precompiling *p, tsr_egl *egl) {
    GLuint vertex_array; /* ends with the context */
    if (tsr_egl_create_on(p->display, egl) != TSR_OK)
        return false;
    if (!eglMakeCurrent(egl->display, egl->surface, egl->surface, egl->context)) {
        tsr_egl_destroy(egl);
        return false;
    }
    tsr_gl = p->gl;
    tsr_gl_state_defaults();
    glGenVertexArrays(1, &vertex_array);
    glBindVertexArray(vertex_array);
    return true;
}

static void leave(tsr_egl *egl) {
    eglMakeCurrent(egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    tsr_egl_destroy(egl);
}

/* The last one before pass i that is left; TSR_NONE if there is none. The session's thread begins
 * with the first. */
static int take_last(struct tsr_precompiling *p, int i) {
    while (--i >= 0)
        if (is_new(p->runner, i) && take(p, i))
            return i;
    return TSR_NONE;
}

static void compile_last(struct tsr_precompiling *p) {
    tsr_egl egl;
    int i = take_last(p, p->runner->base.plan->pass_count);
    if (i == TSR_NONE || !enter(p, &egl))
        return;
    for (; i != TSR_NONE; i = take_last(p, i))
        compile_there(p->runner, i);
    leave(&egl);
}

static void work(void *user, int64_t first, int64_t count) {
    struct tsr_precompiling *p = user;
    (void)first;
    for (int64_t i = 0; i < count; i++) {
        compile_last(p);
        atomic_fetch_sub(&p->working, 1);
    }
}

/* ---- the session's thread -------------------------------------------------------------------- */

/* Can contexts hand code over? Mesa has formats of binaries if it has a cache on disk. */
static bool shares_code(const tsr_backend_device *d) {
    GLint formats = 0;
    glGetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
    return formats > 0 && !tsr_context_is_adopted(d->context);
}

/* A program that an earlier pass has, too, is that one's: see tsr_gpu_count_program(). */
static bool is_compiled(const tsr_runner *r, int i) {
    const tsr_program *program = r->passes[i].program;
    return !program || program->precompiled || r->base.programs[i] != program;
}

/* Marks what needs no compiling; returns the number of programs that are left for threads. */
static int count_programs(const tsr_runner *r, struct tsr_precompiling *p) {
    int count = 0;
    for (int i = 0; i < r->base.plan->pass_count; i++) {
        atomic_init(&p->taken[i], is_compiled(r, i));
        count += !p->taken[i] && is_new(r, i);
    }
    return count;
}

static void start_threads(struct tsr_precompiling *p, int count) {
    p->display = eglGetCurrentDisplay();
    p->gl = tsr_gl;
    atomic_init(&p->working, count);
    tsr_parallel_start(&p->threads, count, SIZE_MAX, work, p);
}

tsr_status tsr_gles_start_precompiling(tsr_runner *r, int unit) {
    enum { PROGRAMS = 2 }; /* that pay for a context */
    const size_t passes = (size_t)r->base.plan->pass_count;
    (void)unit;
    if (!r->device->is_llvmpipe)
        return TSR_OK;
    struct tsr_precompiling *p = tsr_calloc(1, sizeof *p + passes * sizeof *p->taken);
    if (!p)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to compile programs");
    p->runner = r;
    r->precompiling = p;
    const int threads = count_programs(r, p) / PROGRAMS;
    if (threads && shares_code(r->device))
        start_threads(p, threads);
    return TSR_OK;
}

/* Not in steps, which do not wait. */
static bool compiles_here(const tsr_runner *r) {
    return r->precompiling && !r->base.options.prepare_in_steps;
}

/* A pending GL error is reported as the session's. One of the stand-ins is not: the program is then
 * compiled in the first run. */
static tsr_status compile_here(const tsr_runner *r, int i) {
    enum { ERRORS = 8 };
    tsr_program *program = r->passes[i].program;
    if (!program || program->precompiled)
        return TSR_OK;
    TSR_TRY(tsr_gles_check_error(r->device, "preparing the session"));
    compile(r->base.plan, &r->base.plan->passes[i], program->id);
    for (int k = 0; k < ERRORS && glGetError() != GL_NO_ERROR; k++)
        ;
    tsr_bindings_forget(&r->device->bindings);
    program->precompiled = true;
    return TSR_OK;
}

tsr_status tsr_gles_precompile_pass(tsr_runner *r, int i) {
    return compiles_here(r) && take(r->precompiling, i) ? compile_here(r, i) : TSR_OK;
}

void tsr_gles_precompile_transfer(tsr_runner *r, tsr_gles_transfer *t) {
    if (!compiles_here(r) || r->base.options.bound_tensors)
        return;
    r->base.plan->tensors[TSR_STAGING_TENSOR].layout = t->what.staging;
    r->staging = &t->target;
    tsr_gles_pass built = t->built;
    built.clears = false;
    begin_no_pixels();
    tsr_bindings_forget(&r->device->bindings);
    tsr_gles_draw_pass(r, &t->what.pass, &built);
    glDisable(GL_SCISSOR_TEST);
}

/* Loads what threads compiled; compiles it here if the cache does not have it. Mesa writes its
 * cache on a thread of its own, so what was compiled last, for the first passes, is loaded last. */
static tsr_status load_all(const tsr_runner *r) {
    for (int i = r->base.plan->pass_count - 1; i >= 0; i--)
        TSR_TRY(compile_here(r, i));
    return TSR_OK;
}

static tsr_status finish(tsr_runner *r) {
    const bool here = compiles_here(r);
    tsr_gles_stop_precompiling(r);
    return here ? load_all(r) : TSR_OK;
}

tsr_status tsr_gles_finish_precompiling(tsr_runner *r, int unit) {
    const struct tsr_precompiling *p = r->precompiling;
    const double start = tsr_clock_ms();
    (void)unit;
    if (p && r->base.options.prepare_in_steps && p->threads.thread_count &&
        atomic_load(&p->working))
        return TSR_NOT_READY;
    tsr_status status = finish(r);
    r->base.compile_ms += tsr_clock_ms() - start;
    return status;
}

void tsr_gles_stop_precompiling(tsr_runner *r) {
    struct tsr_precompiling *p = r->precompiling;
    for (int i = 0; p && i < r->base.plan->pass_count; i++)
        take(p, i);
    if (p)
        tsr_parallel_finish(&p->threads);
    tsr_free(p);
    r->precompiling = NULL;
}
