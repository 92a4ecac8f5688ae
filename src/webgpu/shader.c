#include "webgpu/shader.h"

#include "algorithm/gemm_regions.h"

#include <string.h>

/* A kernel's literals, which are constants, too. */
static void list_literals(const tsr_pass *pass, tsr_constants *names) {
    for (int i = 0; i < pass->kernel->field_count; i++) {
        const tsr_field *field = &pass->kernel->fields[i];
        if (field->class == TSR_FIELD_LITERAL && field->languages & TSR_WGSL)
            tsr_constants_add(names, field->name, (int)pass->args[i].i.value);
    }
}

static bool uses_matrix_units(const tsr_constants *literals) {
    for (int i = 0; i < literals->count; i++)
        if (!strcmp(literals->list[i].name, "FORM"))
            return literals->list[i].value == TSR_GEMM_SUBGROUP_MATRIX;
    return false;
}

/* TEXEL of wgsl/prelude.wgsl. */
static int texel_of(const tsr_layout *l) {
    static const int texels[] = {
        [TSR_TEXEL_F32] = 0, [TSR_TEXEL_F16] = 1, [TSR_TEXEL_U8] = 2, [TSR_TEXEL_I8] = 3};
    return texels[l->format];
}

static void list_names(const tsr_plan *plan, const tsr_pass *pass, tsr_constants *names) {
    const char *sources[TSR_MAX_SOURCES];
    int inputs = 0;
    tsr_source_names(pass, sources);
    for (int i = 0; i < pass->kernel->field_count; i++)
        inputs += pass->kernel->fields[i].class == TSR_FIELD_INPUT && pass->args[i].t.set;
    for (int i = 0; i < pass->source_count; i++) {
        const tsr_layout *l = tsr_plan_layout(plan, pass->sources[i]);
        tsr_constants_add_source(names, i, sources[i], "TEXEL", texel_of(l));
        tsr_constants_add_source(names, i, sources[i], "SCALED", l->scale && l->scale != 1);
        tsr_constants_add_source(names, i, sources[i], "SHIFTED", l->scale && l->zero_point);
        tsr_constants_add_source(names, i, sources[i], "BEFORE", i == 0 && pass->before);
    }
    tsr_constants_add(names, "INPUTS", inputs);
    tsr_constants_add(names, "SOURCES", pass->source_count);
    tsr_constants_add(names, "MORE", pass->more_count);
    tsr_constants_add(names, "O_TEXEL", texel_of(tsr_plan_layout(plan, pass->output)));
    tsr_constants_add(names, "O_PADDING", tsr_plan_layout(plan, pass->output)->padding != 0);
    tsr_constants_add(names, "O_BYTES", tsr_plan_layout(plan, pass->output)->bytes);
    tsr_constants_add(names, "TABLE", pass->kernel->table);
    tsr_constants_add(names, "TABLE_HALVES", pass->table.format == TSR_TABLE_F16);
    tsr_constants_add(names, "TABLE_INTEGERS",
                      pass->table.format == TSR_TABLE_I8 ||
                          pass->table.format == TSR_TABLE_I8_OF_4);
    tsr_constants_add(names, "TABLE_NIBBLES", pass->table.format == TSR_TABLE_I4_OF_4);
    tsr_constants_add(names, "WORDS", pass->kernel->words);
    tsr_constants_add(names, "OWN_ENTRY", pass->kernel->wgsl == TSR_FORM_ENTRY);
}

tsr_status tsr_wgsl_start(const tsr_plan *plan, const tsr_pass *pass, const tsr_params *params,
                          tsr_program_text *p) {
    *p = (tsr_program_text){
        .plan = plan,
        .pass = pass,
        .params = params,
        .post_head = "fn tsr_post(value: vec4f, n: i32, t: i32, y: i32, x: i32) -> vec4f {\n"
                     "    var v = value;\n"};
    list_literals(pass, &p->names);
    if (uses_matrix_units(&p->names)) /* as does src/web/gpu.mjs */
        tsr_text_add(&p->head, "enable f16, chromium_experimental_subgroup_matrix;\n"
                               "diagnostic(off, chromium.subgroup_matrix_uniformity);\n");
    for (int i = 0; i < p->names.count; i++)
        tsr_text_add(&p->head, "const %s: i32 = %d;\n", p->names.list[i].name,
                     p->names.list[i].value);
    list_names(plan, pass, &p->names);
    tsr_text_add(&p->head,
                 "struct Params {\n    i: array<vec4i, %d>,\n    f: array<vec4f, %d>,\n}\n",
                 params->int_count / 4, params->float_count / 4);
    return tsr_program_text_start(p);
}
