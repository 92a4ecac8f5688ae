#include "gles/shader.h"

/* Same texel positions; what texels hold and the channels of the last tile may differ. */
static bool is_stored_as(const tsr_layout *a, const tsr_layout *b) {
    tsr_layout other = *b;
    other.format = a->format;
    other.zero_point = a->zero_point;
    other.scale = a->scale;
    other.c = a->c;
    return a->tiles == b->tiles && tsr_layout_same(a, &other);
}

/* TEXEL of glsl/prelude.glsl. */
static int texel_of(const tsr_layout *l) {
    static const int texels[] = {[TSR_TEXEL_F32] = 0,
                                 [TSR_TEXEL_F16] = 0,
                                 [TSR_TEXEL_BITS] = 1,
                                 [TSR_TEXEL_U8] = 2,
                                 [TSR_TEXEL_I8] = 3};
    return texels[l->format];
}

static void name_source(tsr_constants *names, const tsr_plan *plan, const tsr_pass *pass, int i,
                        const char *name) {
    const tsr_layout *l = tsr_plan_layout(plan, pass->sources[i]);
    tsr_constants_add_source(names, i, name, "TEXEL", texel_of(l));
    tsr_constants_add_source(names, i, name, "SCALED", l->scale && l->scale != 1);
    tsr_constants_add_source(names, i, name, "SHIFTED", l->scale && l->zero_point);
    tsr_constants_add_source(names, i, name, "LINEAR", l->linear);
    tsr_constants_add_source(names, i, name, "SAME",
                             is_stored_as(l, tsr_plan_layout(plan, pass->output)));
    tsr_constants_add_source(names, i, name, "ONE", (int64_t)l->n * l->c * l->h * l->w == 1);
    tsr_constants_add_source(names, i, name, "BEFORE", i == 0 && pass->before);
}

/* Literals, planes and pixel strides are constants of the program. */
static void add_constants(tsr_text *text, const tsr_constants *names, int constant_count) {
    for (int i = 0; i < constant_count; i++)
        tsr_text_add(text, "const int %s = %d;\n", names->list[i].name, names->list[i].value);
}

/* Lists the names, constants of the program first; returns the number of these. */
static int list_names(const tsr_plan *plan, const tsr_pass *pass, bool sample,
                      tsr_constants *names) {
    const tsr_layout *output = tsr_plan_layout(plan, pass->output);
    const char *sources[TSR_MAX_SOURCES];
    int inputs = 0;
    tsr_source_names(pass, sources);
    int planes = tsr_pass_writes_more(pass) ? pass->planes : output->planes;
    tsr_constants_add(names, "PLANES", planes);
    tsr_constants_add(names, "PIXEL_STRIDE", output->pixel_stride);
    for (int i = 0; i < pass->kernel->field_count; i++) {
        const tsr_field *field = &pass->kernel->fields[i];
        inputs += field->class == TSR_FIELD_INPUT && pass->args[i].t.set;
        if (field->class == TSR_FIELD_LITERAL && field->languages & TSR_GLSL)
            tsr_constants_add(names, field->name, (int)pass->args[i].i.value);
    }
    for (int i = 0; i < pass->source_count; i++) {
        const tsr_plan_tensor *t = &plan->tensors[pass->sources[i]];
        tsr_constants_add_source(names, i, sources[i], "PLANES", t->layout.planes);
        tsr_constants_add_source(names, i, sources[i], "STRIDE", t->layout.pixel_stride);
        tsr_constants_add_source(names, i, sources[i], "LOW", tsr_plan_storage_planes(t));
        tsr_constants_add_source(names, i, sources[i], "FIRST", t->layout.first_stride);
    }
    int constants = names->count;
    for (int i = 0; i < pass->source_count; i++)
        name_source(names, plan, pass, i, sources[i]);
    if (tsr_pass_writes_more(pass))
        tsr_constants_add(names, "O_PLANES", output->planes);
    tsr_constants_add(names, "MORE", pass->more_count);
    tsr_constants_add(names, "TARGETS", planes * (1 + pass->more_count));
    tsr_constants_add(names, "O_TEXEL", texel_of(output));
    tsr_constants_add(names, "O_PADDING", output->padding != 0);
    tsr_constants_add(names, "O_LINEAR", output->linear);
    tsr_constants_add(names, "ROUNDED",
                      output->format == TSR_TEXEL_F16 && plan->device.truncates_halves);
    tsr_constants_add(names, "ONE_IMAGE", output->n == 1);
    tsr_constants_add(names, "O_PADDED", output->c % 4 != 0);
    tsr_constants_add(names, "SAMPLE", sample);
    tsr_constants_add(names, "REGISTERS", plan->device.fragments.registers);
    tsr_constants_add(names, "HALF_ONLY", plan->limits.half_only);
    tsr_constants_add(names, "INPUTS", inputs);
    tsr_constants_add(names, "SOURCES", pass->source_count);
    tsr_constants_add(names, "TABLE", pass->table.width && pass->kernel->table);
    tsr_constants_add(names, "TABLE_BITS",
                      pass->table.tensor &&
                          tsr_plan_layout(plan, pass->table.tensor)->format == TSR_TEXEL_BITS);
    tsr_constants_add(names, "TABLE_INTEGERS", pass->table.format == TSR_TABLE_I8);
    tsr_constants_add(names, "TABLE_OF_4", tsr_table_is_of_4(pass->table.format));
    tsr_constants_add(names, "TABLE_NIBBLES", pass->table.format == TSR_TABLE_I4_OF_4);
    tsr_constants_add(names, "ROW_FORM", pass->kernel->glsl == TSR_FORM_ROW);
    tsr_constants_add(names, "ELEMENT_FORM", pass->kernel->glsl == TSR_FORM_ELEMENT);
    return constants;
}

tsr_status tsr_shader_start(const tsr_plan *plan, const tsr_pass *pass, const tsr_params *params,
                            bool sample, uint64_t variant, tsr_program_text *p) {
    *p = (tsr_program_text){.plan = plan,
                            .pass = pass,
                            .params = params,
                            .post_head = "vec4 tsr_post(vec4 v, int n, int t, int y, int x) {\n"};
    int constants = list_names(plan, pass, sample, &p->names), vectors = params->int_count / 4;
    tsr_constants_add(&p->names, "UNIFORMS", sample && plan->device.bins ? vectors : 0);
    /* Before the constants: some drivers' default int has 16 bits. */
    tsr_text_add(&p->head,
                 "#version 300 es\nprecision highp int;\nuniform highp ivec4 tsr_uniforms[%d];\n",
                 vectors);
    if (pass->kernel->draw_arg_count || tsr_pass_writes_more(pass))
        tsr_text_add(&p->head, "uniform highp ivec4 tsr_draw;\n");
    if (variant)
        tsr_text_add(&p->head, "#define TSR_VARIANT of_%llx\n", (unsigned long long)variant);
    add_constants(&p->head, &p->names, constants);
    return tsr_program_text_start(p);
}
