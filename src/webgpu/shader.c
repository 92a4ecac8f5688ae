#include "webgpu/shader.h"

#include "base/error.h"
#include "gpu/posts.h"
#include "webgpu/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The members of the struct Params, one after the other: into a text, into bytes, or only counted.
 */
typedef struct params {
    tsr_text *text; /* NULL: not wanted */
    char *bytes;    /* NULL: not wanted */
    size_t size;
} params;

/* A vector of four ints or floats, or an array of `count` of them. */
static void add_param(params *p, const char *name, const char *type, const void *values,
                      size_t count) {
    const size_t size = count * 4 * sizeof(float);
    if (p->text)
        tsr_text_add(p->text, "    %s: %s,\n", name, type);
    if (p->bytes)
        memcpy(p->bytes + p->size, values, size);
    p->size += size;
}

static void add_tensor(params *p, char letter, const tsr_layout *l) {
    char size_name[] = "?_size", grid_name[] = "?_grid";
    size_name[0] = grid_name[0] = letter;
    const int32_t size[4] = {l->n, l->c, l->h, l->w},
                  grid[4] = {l->tiles, l->n * l->tiles * l->h * l->w, 0, 0};
    add_param(p, size_name, "vec4i", size, 1);
    add_param(p, grid_name, "vec4i", grid, 1);
}

static void add_post_params(params *p, const tsr_pass *pass) {
    float values[TSR_MAX_PASS_POSTS][4] = {{0}};
    char type[32];
    if (!pass->post_count)
        return;
    for (int i = 0; i < pass->post_count; i++) {
        values[i][0] = pass->posts[i].param[0];
        values[i][1] = pass->posts[i].param[1];
    }
    snprintf(type, sizeof type, "array<vec4f, %d>", pass->post_count);
    add_param(p, "posts", type, values, (size_t)pass->post_count);
}

static void add_params(params *p, const tsr_plan *plan, const tsr_pass *pass) {
    const int32_t table_size[4] = {pass->table_w, pass->table_h, 0, 0};
    add_tensor(p, 'O', tsr_plan_layout(plan, pass->output));
    for (int i = 0; i < pass->source_count; i++)
        add_tensor(p, (char)('A' + i), tsr_plan_layout(plan, pass->sources[i]));
    if (pass->table)
        add_param(p, "table_size", "vec4i", table_size, 1);
    for (int i = 0; i < pass->uniform_count; i++) {
        const tsr_uniform *u = &pass->uniforms[i];
        if (u->is_float)
            add_param(p, u->name, "vec4f", u->f, 1);
        else
            add_param(p, u->name, "vec4i", u->i, 1);
    }
    add_post_params(p, pass);
}

size_t tsr_wgsl_params(const tsr_plan *plan, const tsr_pass *pass, void *bytes) {
    params p = {.bytes = bytes};
    add_params(&p, plan, pass);
    return p.size;
}

static void add_head(tsr_text *text, const tsr_plan *plan, const tsr_pass *pass) {
    for (int i = 0; i < pass->define_count; i++)
        tsr_text_add(text, "const %s: i32 = %d;\n", pass->defines[i].name, pass->defines[i].value);
    tsr_text_add(text, "struct Params {\n");
    add_params(&(params){.text = text}, plan, pass);
    tsr_text_add(text, "}\n");
}

static void add_posts(tsr_text *text, const tsr_plan *plan, const tsr_pass *pass) {
    tsr_text_add(text, "fn tsr_post(value: vec4f, n: i32, t: i32, y: i32, x: i32) -> vec4f {\n"
                       "    var v = value;\n");
    tsr_add_posts(text, plan, pass, "u.posts");
    tsr_text_add(text, "    return v;\n}\n");
}

enum { OWN_NAMES = 4, MAX_NAMES = TSR_MAX_DEFINES + TSR_MAX_SOURCES + OWN_NAMES };

/* What directives can ask: the pass's defines; ALL_SOURCES, the number of its sources; O_HALF,
 * A_HALF, ...: 1 if their elements have 16 bits; TABLE, OWN_ENTRY: 1 if the pass has one. */
static void list_names(const tsr_plan *plan, const tsr_pass *pass,
                       tsr_template_name names[MAX_NAMES + 1]) {
    static const char *const half[TSR_MAX_SOURCES] = {
        "A_HALF", "B_HALF", "C_HALF", "D_HALF", "E_HALF", "F_HALF", "G_HALF",
        "H_HALF", "I_HALF", "J_HALF", "K_HALF", "L_HALF", "M_HALF", "N_HALF"};
    tsr_template_name *name = names;
    for (int i = 0; i < pass->define_count; i++)
        *name++ = (tsr_template_name){pass->defines[i].name, pass->defines[i].value};
    for (int i = 0; i < pass->source_count; i++)
        *name++ = (tsr_template_name){half[i], tsr_plan_layout(plan, pass->sources[i])->half};
    *name++ = (tsr_template_name){"ALL_SOURCES", pass->source_count};
    *name++ = (tsr_template_name){"O_HALF", tsr_plan_layout(plan, pass->output)->half};
    *name++ = (tsr_template_name){"TABLE", pass->table != NULL};
    *name++ = (tsr_template_name){"OWN_ENTRY", pass->groups[0] != 0};
    *name = (tsr_template_name){NULL, 0};
}

static tsr_status add_file(tsr_text *text, const char *stem, const tsr_template_name *names) {
    const char *file = tsr_template_find(stem);
    if (!file)
        return tsr_fail(TSR_UNSUPPORTED, "no WGSL kernel %s", stem);
    return tsr_fail_context(tsr_template_expand(text, file, names), "wgsl/%s.wgsl", stem);
}

/* A custom operator's attributes, uniforms called "attr_gain" or the like, and the caller's body:
 * the end of what wgsl/custom.wgsl begins. */
static void add_body(tsr_text *text, const tsr_pass *pass) {
    for (int i = 0; i < pass->uniform_count; i++) {
        const char *name = pass->uniforms[i].name;
        tsr_text_add(text, "    let ATTR_%s = u.%s.x;\n", name + strlen("attr_"), name);
    }
    tsr_text_add(text, "%s\n}\n", pass->body);
}

static tsr_status add_program(tsr_text *text, const tsr_plan *plan, const tsr_pass *pass) {
    tsr_template_name names[MAX_NAMES + 1];
    list_names(plan, pass, names);
    add_head(text, plan, pass);
    TSR_TRY(add_file(text, "prelude", names));
    TSR_TRY(add_file(text, "unary", names));
    TSR_TRY(add_file(text, "binary", names));
    TSR_TRY(add_file(text, "source", names));
    add_posts(text, plan, pass);
    TSR_TRY(add_file(text, pass->kernel, names));
    if (pass->body)
        add_body(text, pass);
    return add_file(text, "main", names);
}

tsr_status tsr_wgsl_text(const tsr_plan *plan, const tsr_pass *pass, char **out) {
    tsr_text text = {0};
    tsr_status status = add_program(&text, plan, pass);
    char *chars = tsr_text_take(&text);
    if (status == TSR_OK && !chars)
        status = tsr_fail(TSR_OUT_OF_MEMORY, "no memory for a shader");
    if (status != TSR_OK) {
        free(chars);
        return status;
    }
    *out = chars;
    return TSR_OK;
}
