#include "gpu/params.h"

#include "base/allocator.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

static const char *const operand_names[TSR_MAX_SOURCES] = {
    "P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13"};

void tsr_source_names(const tsr_pass *pass, const char *names[]) {
    int count = 0;
    for (int i = 0; pass->kernel && i < pass->kernel->field_count; i++)
        if (pass->kernel->fields[i].class == TSR_FIELD_INPUT && pass->args[i].t.set)
            names[count++] = pass->kernel->fields[i].name;
    for (int i = 0; count < pass->source_count; i++)
        names[count++] = operand_names[i];
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static bool grow(tsr_params *p, void **items, int count, int *capacity, size_t size) {
    if (count <= *capacity)
        return true;
    int wanted = count < 64 ? 64 : 2 * count;
    void *grown = tsr_realloc(*items, (size_t)wanted * size);
    if (!grown) {
        p->failed = true;
        return false;
    }
    *items = grown;
    *capacity = wanted;
    return true;
}

static void add_name(tsr_params *p, const char *prefix, const char *name, const char *text) {
    void *names = p->names;
    if (!grow(p, &names, p->name_count + 1, &p->name_capacity, sizeof *p->names))
        return;
    p->names = names;
    tsr_template_param *added = &p->names[p->name_count++];
    snprintf(added->name, sizeof added->name, "%s%s", prefix, name);
    snprintf(added->text, sizeof added->text, "%s", text);
}

/* Components first to first + count - 1 of an array, all of one vector. */
static void name_components(tsr_params *p, const char *prefix, const char *name, char array,
                            int first, int count) {
    char text[sizeof p->names->text];
    const char *head = p->language == TSR_WGSL ? (array == 'i' ? "params.i" : "params.f")
                       : array == 'i'          ? "tsr_i"
                                               : "intBitsToFloat(tsr_i",
               *tail = p->language == TSR_GLSL && array == 'f' ? ")" : "";
    snprintf(text, sizeof text, "%s[%d]%s%.*s%s", head, first / 4, count < 4 ? "." : "",
             count < 4 ? count : 0, &"xyzw"[first % 4], tail);
    add_name(p, prefix, name, text);
}

/* Appends `count` components, aligned so that they are in one vector; returns the first's index. */
static int add_ints(tsr_params *p, const void *values, int count, int alignment) {
    void *ints = p->ints;
    int first = (p->int_count + alignment - 1) / alignment * alignment;
    if (!grow(p, &ints, first + count, &p->int_capacity, sizeof *p->ints))
        return 0;
    p->ints = ints;
    for (int i = p->int_count; i < first; i++)
        p->ints[i] = 0;
    if (count)
        memcpy(p->ints + first, values, (size_t)count * sizeof *p->ints);
    p->int_count = first + count;
    return first;
}

/* In GLSL as bits of integers. */
static int add_floats(tsr_params *p, const float *values, int count, int alignment) {
    if (p->language == TSR_GLSL)
        return add_ints(p, values, count, alignment);
    void *floats = p->floats;
    int first = (p->float_count + alignment - 1) / alignment * alignment;
    if (!grow(p, &floats, first + count, &p->float_capacity, sizeof *p->floats))
        return 0;
    p->floats = floats;
    for (int i = p->float_count; i < first; i++)
        p->floats[i] = 0;
    for (int i = 0; i < count; i++)
        p->floats[first + i] = values ? values[i] : 0;
    p->float_count = first + count;
    return first;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static void add_sizes(tsr_params *p, const char *tensor, const tsr_layout *l) {
    static const char *const axes[4] = {"_N", "_C", "_H", "_W"};
    int first = add_ints(p, (int32_t[]){l->n, l->c, l->h, l->w}, 4, 4);
    name_components(p, tensor, "_size", 'i', first, 4);
    for (int i = 0; i < 4; i++)
        name_components(p, tensor, axes[i], 'i', first + i, 1);
}

static void add_scalar(tsr_params *p, const char *tensor, const char *name, int32_t value) {
    name_components(p, tensor, name, 'i', add_ints(p, &value, 1, 1), 1);
}

/* Of a texture; width, height: the divisors of coordinates. */
static void add_texture(tsr_params *p, const char *tensor, const tsr_layout *l, int width,
                        int height) {
    const float inverse[2] = {1.0f / (float)width, 1.0f / (float)height};
    int begin = add_ints(p, (int32_t[]){l->texture_x, l->texture_y}, 2, 2);
    name_components(p, tensor, "_begin", 'i', begin, 2);
    add_scalar(p, tensor, "_tile_width", l->tile_w);
    add_scalar(p, tensor, "_columns_log2", l->columns_log2);
    name_components(p, tensor, "_inverse", 'f', add_floats(p, inverse, 2, 2), 2);
}

static void add_source(tsr_params *p, const tsr_plan *plan, const char *name, int tensor) {
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    const tsr_layout *l = &t->layout;
    bool stored = t->storage != TSR_NONE;
    int w = stored ? plan->storages[t->storage].texture_w : l->texture_w;
    int h = stored ? plan->storages[t->storage].texture_h : l->texture_h;
    add_sizes(p, name, l);
    add_scalar(p, name, "_tiles", l->tiles);
    if (p->language == TSR_GLSL)
        add_scalar(p, name, "_zero_row", h);
    if (l->scale)
        name_components(p, name, "_step", 'f',
                        add_floats(p, (float[]){l->zero_point, l->scale}, 2, 2), 2);
    if (p->language == TSR_WGSL) {
        add_scalar(p, name, "_texels", l->n * l->tiles * l->h * l->w);
        return;
    }
    add_texture(p, name, l, w, h + TSR_ZERO_ROWS);
    if (l->first_tiles)
        add_scalar(p, name, "_first_tiles", l->first_tiles);
}

static void add_output(tsr_params *p, const tsr_layout *l) {
    add_sizes(p, "O", l);
    add_scalar(p, "O", "_tiles", l->tiles);
    if (l->padding)
        name_components(p, "O", "_padding", 'f', add_floats(p, &l->padding, 1, 1), 1);
    if (p->language == TSR_WGSL)
        add_scalar(p, "O", "_texels", l->n * l->tiles * l->h * l->w);
    else
        add_texture(p, "O", l, l->tile_w, l->h);
}

static void add_table(tsr_params *p, const tsr_plan *plan, const tsr_pass *pass) {
    const tsr_table *t = &pass->table;
    const float inverse[2] = {1.0f / (float)tsr_table_columns(t->width, t->format),
                              1.0f / (float)tsr_table_rows(plan, t)};
    if (p->language == TSR_GLSL)
        name_components(p, "table", "_inverse", 'f', add_floats(p, inverse, 2, 2), 2);
    else
        add_scalar(p, "table", "_width", pass->table.width);
}

/* ---- the kernel's ---------------------------------------------------------------------------- */

/* "window_y" of "window_y.kernel". */
static void name_vector(tsr_params *p, const char *member, int first) {
    char name[sizeof p->names->name];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(member, "."), member);
    name_components(p, name, "", 'i', first, 4);
}

static void add_special(tsr_params *p, const char *name, int64_t value) {
    char text[sizeof p->names->text];
    snprintf(text, sizeof text, "%lld", (long long)value);
    add_name(p, name, "", text);
}

static void add_field(tsr_params *p, const tsr_plan *plan, const tsr_field *f, const tsr_arg *arg) {
    if (!(f->languages & (unsigned)p->language))
        return;
    if (f->class == TSR_FIELD_FLOAT) {
        const float value = (float)arg->f.value;
        name_components(p, f->name, "", 'f', add_floats(p, &value, 1, 1), 1);
    } else if (f->class == TSR_FIELD_SPECIAL && plan->device.specialize) {
        add_special(p, f->name, arg->i.value);
    } else if (f->class == TSR_FIELD_SPECIAL || f->class == TSR_FIELD_INT) {
        const int32_t value = (int32_t)arg->i.value;
        int first = add_ints(p, &value, 1, f->vector ? 4 : 1);
        name_components(p, f->name, "", 'i', first, 1);
        if (f->vector)
            name_vector(p, f->name, first);
    }
}

static void add_draws(tsr_params *p, const tsr_kernel *kernel) {
    char text[sizeof p->names->text];
    for (int i = 0; i < kernel->draw_arg_count; i++) {
        snprintf(text, sizeof text, "tsr_draw.%c", "xyzw"[i]);
        add_name(p, kernel->draw_args[i], "", text);
    }
}

static void add_posts(tsr_params *p, const tsr_pass *pass) {
    char name[16];
    for (int i = 0; i < pass->post_count; i++) {
        snprintf(name, sizeof name, "post_%d", i);
        name_components(p, name, "", 'f', add_floats(p, pass->posts[i].param, 2, 2), 2);
    }
}

static void add_attrs(tsr_params *p, const tsr_pass *pass) {
    for (int i = 0; pass->custom && i < pass->custom->attr_count; i++)
        name_components(p, "attr_", pass->custom->attrs[i].name, 'f',
                        add_floats(p, &pass->attrs[i], 1, 1), 1);
}

tsr_status tsr_params_make(const tsr_plan *plan, const tsr_pass *pass, tsr_params *p) {
    const char *names[TSR_MAX_SOURCES];
    *p = (tsr_params){.language = plan->device.language};
    tsr_source_names(pass, names);
    for (int i = 0; i < pass->source_count; i++)
        add_source(p, plan, names[i], pass->sources[i]);
    if (pass->kernel->table && pass->table.width)
        add_table(p, plan, pass);
    for (int i = 0; i < pass->kernel->field_count; i++)
        add_field(p, plan, &pass->kernel->fields[i], &pass->args[i]);
    add_draws(p, pass->kernel);
    add_attrs(p, pass);
    add_posts(p, pass);
    add_output(p, tsr_plan_layout(plan, pass->output));
    add_ints(p, NULL, 0, 4); /* whole vectors */
    if (p->language == TSR_WGSL) {
        add_floats(p, NULL, p->float_count == 0, 1);
        add_floats(p, NULL, 0, 4);
    }
    return p->failed ? tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the parameters of a pass")
                     : TSR_OK;
}

void tsr_params_free(tsr_params *p) {
    tsr_free(p->names);
    tsr_free(p->ints);
    tsr_free(p->floats);
}
