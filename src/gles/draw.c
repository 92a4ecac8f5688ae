/* The passes of a run. */
#include "gles/runner.h"

static void set_layout(GLint size, GLint grid, const tsr_layout *l) {
    int planes_log2 = 0;
    while (1 << planes_log2 < l->planes)
        planes_log2++;
    glUniform4i(size, l->n, l->c, l->h, l->w);
    glUniform4i(grid, l->tiles, l->tile_w, l->columns_log2, planes_log2);
}

static void bind_source(const tsr_runner *r, const tsr_program *program, int index, int tensor) {
    const tsr_plan_tensor *t = &r->plan->tensors[tensor];
    glActiveTexture(GL_TEXTURE0 + (GLenum)index);
    glBindTexture(GL_TEXTURE_2D_ARRAY, t->constant ? r->constants[tensor] : r->targets[t->storage].texture);
    set_layout(program->source_size[index], program->source_grid[index], &t->layout);
}

static void set_uniforms(const tsr_pass *pass, const tsr_gles_pass *p) {
    for (int i = 0; i < pass->uniform_count; i++) {
        const tsr_uniform *u = &pass->uniforms[i];
        if (u->is_float)
            glUniform4fv(p->uniforms[i], 1, u->f);
        else
            glUniform4iv(p->uniforms[i], 1, u->i);
    }
    GLfloat params[TSR_MAX_PASS_POSTS][4] = {{0}};
    for (int i = 0; i < pass->post_count; i++) {
        params[i][0] = pass->posts[i].param[0];
        params[i][1] = pass->posts[i].param[1];
    }
    if (pass->post_count)
        glUniform4fv(p->program->posts, pass->post_count, params[0]);
}

static void draw_pass(const tsr_runner *r, int index) {
    const tsr_pass *pass = &r->plan->passes[index];
    const tsr_gles_pass *p = &r->passes[index];
    const tsr_plan_tensor *output = &r->plan->tensors[pass->output];
    const tsr_layout *l = &output->layout;
    glUseProgram(p->program->id);
    for (int i = 0; i < pass->source_count; i++)
        bind_source(r, p->program, i, pass->sources[i]);
    if (p->table) {
        glActiveTexture(GL_TEXTURE0 + TSR_MAX_SOURCES);
        glBindTexture(GL_TEXTURE_2D, p->table);
    }
    set_layout(p->program->output_size, p->program->output_grid, l);
    glUniform2f(p->program->output_inverse, 1.0f / (float)l->tile_w, 1.0f / (float)l->h);
    set_uniforms(pass, p);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, r->targets[output->storage].framebuffer);
    glViewport(0, 0, l->texture_w, l->texture_h);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

void tsr_gles_draw(tsr_runner *r) {
    int timed = TSR_NONE; /* node whose timer runs */
    for (int i = 0; i < r->plan->pass_count; i++) {
        int node = r->plan->passes[i].node;
        if (r->timers && node != timed) {
            if (timed != TSR_NONE)
                glEndQueryEXT(GL_TIME_ELAPSED_EXT);
            if (node > timed)
                glBeginQueryEXT(GL_TIME_ELAPSED_EXT, r->timers[node]);
            timed = node > timed ? node : TSR_NONE;
        }
        draw_pass(r, i);
    }
    if (timed != TSR_NONE)
        glEndQueryEXT(GL_TIME_ELAPSED_EXT);
}
