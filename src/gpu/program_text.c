#include "gpu/program_text.h"

#include "base/allocator.h"

#include "kernel/prune.h"

#include <stdio.h>
#include <string.h>

void tsr_constants_add(tsr_constants *names, const char *name, int value) {
    if (names->count == TSR_MAX_NAMES)
        names->failed = true;
    else
        names->list[names->count++] = (tsr_template_name){name, value};
}

void tsr_constants_add_source(tsr_constants *names, int source, const char *source_name,
                              const char *suffix, int value) {
    char *name = names->chars[source][names->made[source]++ % TSR_MAX_SOURCE_NAMES];
    snprintf(name, sizeof names->chars[0][0], "%s_%s", source_name, suffix);
    tsr_constants_add(names, name, value);
}

/* ---- post-ops -------------------------------------------------------------------------------- */

/* The other operand of a binary post-op, as an expression. */
static void name_operand(const tsr_program_text *p, const tsr_pass_post *post, char *text,
                         size_t size) {
    const char *names[TSR_MAX_SOURCES];
    const tsr_layout *operand = tsr_plan_layout(p->plan, p->pass->sources[post->source]),
                     *output = tsr_plan_layout(p->plan, p->pass->output);
    tsr_source_names(p->pass, names);
    const char *name = names[post->source];
    if (post->blocksize) {
        snprintf(text, size, "%s_depth_to_space(n, t, y, x, %d, %d)", name, post->blocksize,
                 post->dcr);
        return;
    }
    bool broadcast = operand->n != output->n || operand->c != output->c ||
                     operand->h != output->h || operand->w != output->w;
    /* One texel for a whole tile: the same expression for every pixel of a fragment, so that
     * compilers merge the fetches. */
    const char *pixel = operand->h == 1 && operand->w == 1 ? "0, 0" : "y, x";
    snprintf(text, size, "%s_%s(n, t, %s)", name, broadcast ? "broadcast" : "own", pixel);
}

static void add_post(const tsr_program_text *p, tsr_text *text, int i) {
    const tsr_pass_post *post = &p->pass->posts[i];
    const char *stem = post->function ? post->function : tsr_op_get_info(post->op)->stem;
    char operand[64];
    if (post->source == TSR_NONE) {
        tsr_text_add(text, "    v = tsr_%s(v, u.post_%d);\n", stem, i);
        return;
    }
    name_operand(p, post, operand, sizeof operand);
    const char *a = post->swapped ? operand : "v", *b = post->swapped ? "v" : operand;
    if (post->has_param)
        tsr_text_add(text, "    v = tsr_%s(%s, %s, u.post_%d);\n", stem, a, b, i);
    else
        tsr_text_add(text, "    v = tsr_%s(%s, %s);\n", stem, a, b);
}

static char *make_posts(const tsr_program_text *p) {
    tsr_text posts = {0};
    tsr_text_add(&posts, "%s", p->post_head);
    for (int i = 0; i < p->pass->post_count; i++)
        add_post(p, &posts, i);
    tsr_text_add(&posts, "    return v;\n}\n");
    return tsr_text_take(&posts);
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* What source 0 is read through. Params are constants: a kernel applies it to each texel that it
 * reads, and compilers would load a uniform as often. */
static char *make_before(const tsr_program_text *p) {
    const char *names[TSR_MAX_SOURCES];
    const tsr_before *before = p->pass->before;
    tsr_text text = {0};
    tsr_source_names(p->pass, names);
    if (!before)
        tsr_text_add(&text, "%s", "");
    else
        tsr_text_add(&text,
                     p->plan->device.language == TSR_GLSL
                         ? "vec4 %s_before(vec4 v) { return tsr_%s(v, "
                           "vec2(uintBitsToFloat(0x%xu), uintBitsToFloat(0x%xu))); }\n"
                         : "fn %s_before(v: vec4f) -> vec4f { return tsr_%s(v, "
                           "vec2f(bitcast<f32>(0x%xu), bitcast<f32>(0x%xu))); }\n",
                     names[0], tsr_op_get_info(before->op)->stem, bits_of(before->param[0]),
                     bits_of(before->param[1]));
    return tsr_text_take(&text);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static tsr_cache_key make_key(const tsr_program_text *p) {
    const int forms[] = {(int)p->plan->device.language, p->pass->source_count};
    tsr_cache_key key = tsr_cache_key_start();
    tsr_cache_key_add(&key, p->pass->kernel->stem);
    tsr_cache_key_add_bytes(&key, forms, sizeof forms);
    tsr_cache_key_add(&key, p->head.chars);
    tsr_cache_key_add(&key, p->before);
    tsr_cache_key_add(&key, p->posts);
    for (int i = 0; i < p->names.count; i++) {
        tsr_cache_key_add(&key, p->names.list[i].name);
        tsr_cache_key_add_bytes(&key, &p->names.list[i].value, sizeof(int));
    }
    for (int i = 0; i < p->params->name_count; i++) {
        tsr_cache_key_add(&key, p->params->names[i].name);
        tsr_cache_key_add(&key, p->params->names[i].text);
    }
    if (p->pass->body)
        tsr_cache_key_add(&key, p->pass->body);
    return key;
}

tsr_status tsr_program_text_start(tsr_program_text *p) {
    p->before = make_before(p);
    p->posts = make_posts(p);
    if (p->names.failed)
        return tsr_fail(TSR_ERROR_LIMIT, "a program of more than %d constants", TSR_MAX_NAMES);
    if (!p->before || !p->posts || p->head.failed)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a program");
    p->key = make_key(p);
    return TSR_OK;
}

void tsr_program_text_free(tsr_program_text *p) {
    tsr_free(p->before);
    tsr_free(p->posts);
    tsr_free(tsr_text_take(&p->head));
}

/* ---- programs -------------------------------------------------------------------------------- */

/* The caller's body of a custom operator, after the kernel's file. ATTR_<name> are its attributes.
 * GLSL compilers count its lines from 1. */
static void add_body(const tsr_program_text *p, tsr_text *text) {
    bool glsl = p->plan->device.language == TSR_GLSL;
    for (int i = 0; i < p->params->name_count; i++) {
        const tsr_template_param *param = &p->params->names[i];
        if (strncmp(param->name, "attr_", 5))
            continue;
        tsr_text_add(text, glsl ? "    float ATTR_%s = %s;\n" : "    let ATTR_%s = %s;\n",
                     param->name + 5, param->text);
    }
    tsr_text_add(text, "%s%s\n}\n", glsl ? "#line 1\n" : "", p->pass->body);
}

/* What is no file but made for the pass; else NULL. */
static const char *made_text(const tsr_program_text *p, const char *stem) {
    return !strcmp(stem, "before") ? p->before : !strcmp(stem, "post") ? p->posts : NULL;
}

static tsr_status add_files(const tsr_program_text *p, tsr_text *text) {
    const char *inputs[TSR_MAX_SOURCES];
    bool glsl = p->plan->device.language == TSR_GLSL;
    const tsr_template t = {.names = p->names.list,
                            .name_count = p->names.count,
                            .inputs = inputs,
                            .input_count = p->pass->source_count,
                            .params = p->params->names,
                            .param_count = p->params->name_count,
                            .find_file = glsl ? tsr_glsl_file : tsr_wgsl_file};
    tsr_source_names(p->pass, inputs);
    for (const char *const *stem = glsl ? tsr_glsl_every : tsr_wgsl_every; *stem; stem++) {
        bool kernel = !strcmp(*stem, "kernel");
        const char *made = made_text(p, *stem);
        TSR_TRY(made ? tsr_template_expand(text, made, &t)
                     : tsr_template_expand_file(text, kernel ? p->pass->kernel->stem : *stem, &t));
        if (kernel && p->pass->body)
            add_body(p, text);
    }
    return TSR_OK;
}

tsr_status tsr_program_text_finish(tsr_program_text *p, char **out) {
    tsr_status status = add_files(p, &p->head);
    char *chars = tsr_prune(tsr_text_take(&p->head), p->plan->device.language);
    if (status == TSR_OK && !chars)
        status = tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a program");
    if (status != TSR_OK) {
        tsr_free(chars);
        return status;
    }
    *out = chars;
    return TSR_OK;
}
