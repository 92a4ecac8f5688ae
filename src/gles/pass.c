/* The passes of a run. */
#include "gles/runner.h"

#include "base/clock.h"
#include "base/error.h"
#include "gles/state.h"
#include "gles/wait.h"

static void bind_source(const tsr_runner *r, int index, int tensor) {
    const tsr_plan_tensor *t = &r->base.plan->tensors[tensor];
    tsr_bindings *b = &r->device->bindings;
    if (t->storage_high != TSR_NONE)
        tsr_bind_texture(b, TSR_HIGH_UNIT, r->targets[t->storage_high].texture);
    tsr_bind_texture(b, index, t->constant ? r->constants[tensor] : r->targets[t->storage].texture);
}

/* The table's texture; 0: there is none. */
static GLuint table_of(const tsr_runner *r, const tsr_pass *pass, const tsr_gles_pass *p) {
    return pass->table.tensor && !tsr_pass_has_table_blocks(pass)
               ? tsr_gles_target(r, pass->table.tensor)->texture
               : p->table;
}

/* First to the unit that is active: one call less. */
static void bind_textures(const tsr_runner *r, const tsr_pass *pass, const tsr_gles_pass *p) {
    tsr_bindings *b = &r->device->bindings;
    const GLuint table = table_of(r, pass, p);
    if (table && b->unit == TSR_TABLE_UNIT)
        tsr_bind_texture(b, TSR_TABLE_UNIT, table);
    for (int i = 0; i < pass->source_count; i++)
        bind_source(r, i, pass->sources[i]);
    if (table)
        tsr_bind_texture(b, TSR_TABLE_UNIT, table);
}

/* Tiles k to k + count - 1 of a tensor that is not linear, by rectangles of the texture. */
static void draw_tiles(tsr_bindings *b, const tsr_layout *l, int k, int count) {
    const int columns = 1 << l->columns_log2;
    for (int end = k + count, w, h; k < end; k += w * h) {
        int column = k % columns, row = k / columns, left = end - k;
        w = left < columns - column ? left : columns - column;
        h = w == columns ? left / columns : 1;
        tsr_bind_viewport(b, l->texture_x + column * l->tile_w, l->texture_y + row * l->h,
                          w * l->tile_w, h * l->h);
        glDrawArrays(GL_TRIANGLES, 0, 3);
    }
}

typedef struct uniform_blocks {
    GLuint buffer;
    GLintptr at;
    GLsizeiptr bytes; /* of a row */
} uniform_blocks;

static void copy_blocks(const tsr_runner *r, int tensor, int64_t at) {
    tsr_target_read(&r->device->bindings, tsr_gles_target(r, tensor),
                    tsr_plan_layout(r->base.plan, tensor), r->blocks, at);
}

/* Those of a tensor are copied to a buffer on the GPU, unless they were with its root. */
static uniform_blocks find_blocks(const tsr_runner *r, const tsr_pass *pass,
                                  const tsr_gles_pass *p) {
    enum { TEXEL_BYTES = 16 };
    const int tensor = tsr_pass_blocks_tensor(pass);
    const tsr_plan_tensor *tensors = r->base.plan->tensors, *t = &tensors[tensor];
    if (!tensor)
        return (uniform_blocks){p->blocks, 0, (GLsizeiptr)pass->table.width * TEXEL_BYTES};
    uniform_blocks b = {r->blocks, 0, (GLsizeiptr)t->layout.w * TEXEL_BYTES};
    if (tsr_tensor_has_blocks(t))
        b.at = tensors[t->root].blocks_at + (GLintptr)t->tile * TSR_BINDING_ALIGNED;
    else
        copy_blocks(r, tensor, 0);
    return b;
}

/* Ordered by uniform block, so that few are bound. */
static void draw_blocks(const tsr_runner *r, const tsr_pass *pass, const tsr_gles_pass *p,
                        uniform_blocks b, const tsr_layout *l) {
    int images = pass->draw_images, rows = pass->block_rows, bound = TSR_NONE;
    bool whole = rows >= l->tiles; /* images, side by side */
    for (int i = 0; i < pass->draw_count; i++) {
        int first = i * images, count = images < l->n - first ? images : l->n - first;
        tsr_bind_draw_args(p->program, pass->draws[i].args);
        for (int t = 0; t < l->tiles; t += rows) {
            int block = pass->draws[i].block + t, tiles = rows < l->tiles - t ? rows : l->tiles - t;
            if (block != bound)
                glBindBufferRange(GL_UNIFORM_BUFFER, 0, b.buffer, b.at + block * b.bytes,
                                  rows * b.bytes);
            bound = block;
            for (int n = first; n < first + count; n += whole ? count : 1)
                draw_tiles(&r->device->bindings, l, n * l->tiles + t,
                           whole ? count * tiles : tiles);
        }
    }
}

/* Of a pass that writes several tensors: some planes of each at a time, as many as there are render
 * targets for. */
static void draw_planes(const tsr_runner *r, const tsr_pass *pass, const tsr_gles_pass *p,
                        const tsr_layout *l) {
    GLuint textures[1 + TSR_MAX_MORE];
    const int count = tsr_pass_count_writes(pass);
    for (int i = 0; i < count; i++)
        textures[i] = tsr_gles_target(r, tsr_pass_written(pass, i))->texture;
    tsr_bind_framebuffer(&r->device->bindings, p->framebuffer);
    tsr_bind_viewport(&r->device->bindings, l->texture_x, l->texture_y, l->texture_w, l->texture_h);
    for (int plane = 0; plane < l->planes; plane += pass->planes) {
        tsr_planes_attach(textures, count, plane, pass->planes);
        tsr_bind_draw_args(p->program, (const int[TSR_MAX_DRAW_ARGS]){plane});
        glDrawArrays(GL_TRIANGLES, 0, 3);
    }
}

/* All of the texture, as before it was cleared. */
static void poison(const tsr_runner *r, int tensor, int planes) {
    const tsr_plan *plan = r->base.plan;
    const tsr_storage *s = &plan->storages[plan->tensors[tensor].storage];
    const tsr_layout whole = {.planes = planes,
                              .format = s->format,
                              .texture_w = s->texture_w,
                              .texture_h = s->texture_h};
    tsr_target_poison(tsr_gles_target(r, tensor), &whole);
}

void tsr_gles_draw_pass(const tsr_runner *r, const tsr_pass *pass, const tsr_gles_pass *p) {
    const tsr_layout *l = tsr_plan_layout(r->base.plan, pass->output);
    tsr_bindings *b = &r->device->bindings;
    tsr_bind_program(b, p->program, &p->params);
    bind_textures(r, pass, p);
    if (tsr_pass_writes_more(pass)) {
        draw_planes(r, pass, p, l);
        return;
    }
    const uniform_blocks blocks = find_blocks(r, pass, p); /* binds another framebuffer */
    tsr_bind_framebuffer(b, tsr_gles_target(r, pass->output)->framebuffer);
    if (p->clears)
        tsr_planes_clear(l->planes, l->format, false); /* as the rows of zeros have to be */
    if (p->clears && r->base.options.poison && pass->output != TSR_STAGING_TENSOR)
        poison(r, pass->output, l->planes);
    if (pass->draw_count) {
        draw_blocks(r, pass, p, blocks, l);
        return;
    }
    tsr_bind_viewport(b, l->texture_x, l->texture_y, l->texture_w, l->texture_h);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    const tsr_plan_tensor *written = &r->base.plan->tensors[pass->output];
    if (tsr_tensor_has_blocks(written))
        copy_blocks(r, pass->output, written->blocks_at);
}

static void upload(const tsr_runner *r, const tsr_pass *pass) {
    const tsr_layout *l = tsr_plan_layout(r->base.plan, pass->output);
    tsr_layout_pack(l, tsr_fallback_floats(&r->base.fallback, pass->value), 0, r->base.staging);
    tsr_target_upload(tsr_gles_target(r, pass->output), l, r->base.staging);
    tsr_bindings_forget(&r->device->bindings);
}

static tsr_status run_passes(tsr_runner *r, int begin, int end) {
    for (int i = begin; i < end; i++) {
        const tsr_pass *pass = &r->base.plan->passes[i];
        if (pass->kind == TSR_PASS_DRAW) {
            tsr_gles_log_pass(r, pass, r->passes[i].program);
            tsr_gles_draw_pass(r, pass, &r->passes[i]);
        } else if (pass->kind == TSR_PASS_UPLOAD)
            upload(r, pass);
        else
            TSR_TRY(
                tsr_fallback_run(&r->base.fallback, pass, r->base.staging, tsr_gles_read_now, r));
    }
    return TSR_OK;
}

/* A node's time by a GPU timer, or without timers by the clock. */
static tsr_status run_timed(tsr_runner *r, int node, int begin, int end) {
    if (r->timers && r->base.plan->passes[begin].kind == TSR_PASS_DRAW) {
        glBeginQueryEXT(GL_TIME_ELAPSED_EXT, r->timers[node]);
        tsr_status status = run_passes(r, begin, end);
        glEndQueryEXT(GL_TIME_ELAPSED_EXT);
        return status;
    }
    tsr_gles_wait_all();
    double start = tsr_clock_ms();
    TSR_TRY(run_passes(r, begin, end));
    tsr_gles_wait_all();
    r->base.node_ms[node] = tsr_clock_ms() - start;
    return TSR_OK;
}

int tsr_gles_group_end(const tsr_runner *r, int begin) {
    const tsr_plan *plan = r->base.plan;
    int node = plan->passes[begin].node, end = begin + 1;
    bool together = r->base.options.time_passes || node == TSR_NONE;
    while (together && end < plan->pass_count && plan->passes[end].node == node)
        end++;
    return end;
}

/* Advances *pass to the next group. */
static tsr_status draw_group(tsr_runner *r, int *pass) {
    int begin = *pass, node = r->base.plan->passes[begin].node;
    bool timed = r->base.options.time_passes && node != TSR_NONE;
    *pass = tsr_gles_group_end(r, begin);
    return timed ? run_timed(r, node, begin, *pass) : run_passes(r, begin, *pass);
}

/* glFlush() is called after this many passes, so that the GPU starts while later ones are recorded.
 * A run of 36 passes took 0.83 ms on an H100; 1.01 with a flush after each, 1.02 after 32, 1.15
 * with one at the end only. */
enum { FLUSHED_PASSES = 8 };

tsr_status tsr_gles_draw(tsr_runner *r, int begin, int end) {
    tsr_bindings_forget(&r->device->bindings);
    for (int flushed = begin; begin < end;) {
        TSR_TRY(draw_group(r, &begin));
        if (begin - flushed >= FLUSHED_PASSES && !r->device->profile.software) {
            glFlush();
            flushed = begin;
        }
    }
    return TSR_OK;
}

/* Estimated milliseconds of the group at *pass, which is advanced to the next group. */
static double group_ms(const tsr_runner *r, int *pass) {
    double ms = 0;
    for (int end = tsr_gles_group_end(r, *pass); *pass < end; (*pass)++)
        ms += r->pass_ms[*pass];
    return ms;
}

/* Draws a group, and more as long as their times in earlier runs fit into `ms`; waits, and stores
 * their times. */
static tsr_status draw_groups(tsr_runner *r, double ms) {
    int begin = r->next_pass, end = begin;
    double start = tsr_clock_ms(), expected = group_ms(r, &end);
    for (int after = end; after < r->base.plan->pass_count && expected > 0; end = after) {
        double more = group_ms(r, &after);
        if (more == 0 || expected + more > ms)
            break;
        expected += more;
    }
    while (r->next_pass < end)
        TSR_TRY(draw_group(r, &r->next_pass));
    tsr_gles_wait_all();
    double took = tsr_clock_ms() - start;
    for (int i = begin; i < end; i++)
        r->pass_ms[i] = expected > 0 ? r->pass_ms[i] * took / expected : took / (end - begin);
    return TSR_OK;
}

tsr_status tsr_gles_draw_for(tsr_runner *r, double ms) {
    int count = r->base.plan->pass_count;
    double end = tsr_clock_ms() + ms;
    tsr_bindings_forget(&r->device->bindings);
    for (bool fits = r->next_pass < count; fits;) {
        TSR_TRY(draw_groups(r, end - tsr_clock_ms()));
        int next = r->next_pass;
        fits = next < count && group_ms(r, &next) < end - tsr_clock_ms();
    }
    return TSR_OK;
}
