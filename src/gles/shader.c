#include "gles/shader.h"

#include "base/text.h"
#include "glsl_kernels.h"
#include "gpu/posts.h"

#include <string.h>

static const char *kernel_text(const char *stem) {
    for (int i = 0; i < tsr_glsl_kernel_count; i++)
        if (!strcmp(tsr_glsl_kernels[i].stem, stem))
            return tsr_glsl_kernels[i].text;
    return NULL;
}

/* #define <each>(M) M(0) M(1) ... : loops in plain text, which every driver keeps in registers. */
static void add_define(tsr_text *text, const tsr_define *define) {
    tsr_text_add(text, "#define %s %d\n", define->name, define->value);
    if (!define->each)
        return;
    tsr_text_add(text, "#define %s(M)", define->each);
    for (int i = 0; i < define->value; i++)
        tsr_text_add(text, " M(%d)", i);
    tsr_text_add(text, "\n");
}

/* Texel by texel, whatever a texel's bits and how many channels the last tile has. */
static bool lies_as(const tsr_layout *a, const tsr_layout *b) {
    tsr_layout other = *b;
    other.half = a->half;
    other.c = a->c;
    return a->tiles == b->tiles && tsr_layout_same(a, &other);
}

/* glsl/source.glsl once a source, its T_ names defined to the source's own. */
static void add_source(tsr_text *text, char letter, const tsr_plan_tensor *tensor,
                       const tsr_layout *output) {
    const tsr_layout *layout = &tensor->layout;
    static const char *const names[] = {
        "texture",   "high",   "size",   "grid",   "inverse", "begin", "texel",
        "place",     "cell",   "origin", "fetch",  "own",     "pixel", "at",
        "broadcast", "LINEAR", "PLANES", "SPREAD", "SAME",    "LOW",   "depth_to_space"};
    enum { NAME_COUNT = sizeof names / sizeof *names };
    tsr_text_add(text, "#define %c_LINEAR %d\n#define %c_PLANES %d\n#define %c_SPREAD %d\n", letter,
                 layout->linear, letter, layout->planes, letter, layout->spread);
    tsr_text_add(text, "#define %c_SAME %d\n#define %c_LOW %d\n", letter, lies_as(layout, output),
                 letter, tsr_plan_storage_planes(tensor));
    for (int i = 0; i < NAME_COUNT; i++)
        tsr_text_add(text, "#define T_%s %c_%s\n", names[i], letter, names[i]);
    tsr_text_add(text, "%s", tsr_glsl_source);
    for (int i = 0; i < NAME_COUNT; i++)
        tsr_text_add(text, "#undef T_%s\n", names[i]);
}

static void add_posts(tsr_text *text, const tsr_plan *plan, const tsr_pass *pass) {
    if (pass->post_count)
        tsr_text_add(text, "uniform vec4 posts[%d];\n", pass->post_count);
    tsr_text_add(text, "vec4 tsr_post(vec4 v, int n, int t, int y, int x) {\n");
    tsr_add_posts(text, plan, pass, "posts");
    tsr_text_add(text, "    return v;\n}\n");
}

static bool has_define(const tsr_pass *pass, const char *name) {
    for (int i = 0; i < pass->define_count; i++)
        if (!strcmp(pass->defines[i].name, name))
            return true;
    return false;
}

/* The attributes of a custom operator, uniforms called "attr_gain" or the like. */
static void add_attrs(tsr_text *text, const tsr_pass *pass) {
    for (int i = 0; i < pass->uniform_count; i++) {
        const char *name = pass->uniforms[i].name;
        tsr_text_add(text, "uniform vec4 %s;\n#define ATTR_%s %s.x\n", name, name + strlen("attr_"),
                     name);
    }
}

char *tsr_shader_text(const tsr_plan *plan, const tsr_pass *pass, bool sample) {
    const char *kernel = kernel_text(pass->kernel);
    if (!kernel)
        return NULL;
    tsr_text text = {0};
    const tsr_layout *output = tsr_plan_layout(plan, pass->output);
    tsr_text_add(&text,
                 "#version 300 es\n#define PLANES %d\n#define SPREAD %d\n#define O_LINEAR %d\n"
                 "#define SAMPLE %d\n",
                 output->planes, output->spread, output->linear, sample);
    for (int i = 0; i < pass->define_count; i++)
        add_define(&text, &pass->defines[i]);
    tsr_text_add(&text, "%s%s%s", tsr_glsl_prelude, tsr_glsl_unary, tsr_glsl_binary);
    for (int i = 0; i < pass->source_count; i++)
        add_source(&text, (char)('A' + i), &plan->tensors[pass->sources[i]], output);
    add_posts(&text, plan, pass);
    if (pass->body)
        add_attrs(&text, pass);
    tsr_text_add(&text, "%s%s", has_define(pass, "ROW") ? tsr_glsl_row : "", kernel);
    if (pass->body) /* the compiler counts its lines from 1 */
        tsr_text_add(&text, "#line 1\n%s\n}\n", pass->body);
    tsr_text_add(&text, "%s", tsr_glsl_main);
    return tsr_text_take(&text);
}
