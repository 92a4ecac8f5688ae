#include "plan/plan.h"

#include "base/divide.h"
#include "base/error.h"

#include <string.h>

tsr_status tsr_plan_fail(tsr_plan *plan, tsr_status status) {
    if (plan->status == TSR_OK)
        plan->status = status;
    return status;
}

tsr_status tsr_plan_out_of_memory(tsr_plan *plan) {
    return tsr_plan_fail(plan, tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the plan"));
}

/* Room for one more item in an array in the arena; NULL when out of memory. */
static void *grow(tsr_plan *plan, void *items, int count, int *capacity, size_t size) {
    if (count < *capacity)
        return items;
    int wanted = *capacity ? *capacity * 2 : 64;
    void *bigger = tsr_arena_alloc(plan->arena, (size_t)wanted, size);
    if (!bigger) {
        tsr_plan_out_of_memory(plan);
        return NULL;
    }
    if (count)
        memcpy(bigger, items, (size_t)count * size);
    *capacity = wanted;
    return bigger;
}

const tsr_layout *tsr_plan_layout(const tsr_plan *plan, int tensor) {
    return &plan->tensors[tensor].layout;
}

tsr_status tsr_plan_make_layout(const tsr_plan *plan, const tsr_shape *shape, tsr_layout_hint hint,
                                tsr_layout *layout) {
    tsr_layout_hint usual = hint;
    usual.planes = plan->device.planes;
    if (!hint.planes && tsr_layout_make(shape, &plan->limits, usual, layout) == TSR_OK)
        return TSR_OK;
    return tsr_layout_make(shape, &plan->limits, hint, layout);
}

/* Tensor 0 is a 1 x 1 dummy, which is returned after a failure. */
int tsr_plan_tensor_make(tsr_plan *plan, const tsr_shape *shape, tsr_layout_hint hint) {
    if (plan->status != TSR_OK)
        return 0;
    tsr_plan_tensor *grown =
        grow(plan, plan->tensors, plan->tensor_count, &plan->tensor_capacity, sizeof *grown);
    if (!grown)
        return 0;
    plan->tensors = grown;
    tsr_plan_tensor *t = &plan->tensors[plan->tensor_count];
    *t = (tsr_plan_tensor){.first_pass = -1,
                           .last_pass = -1,
                           .storage = TSR_NONE,
                           .storage_high = TSR_NONE,
                           .root = plan->tensor_count};
    if (tsr_plan_fail(plan, tsr_plan_make_layout(plan, shape, hint, &t->layout)) != TSR_OK)
        return 0;
    return plan->tensor_count++;
}

int tsr_plan_tensor_inner(tsr_plan *plan, const tsr_shape *shape, tsr_layout_hint hint) {
    int tensor = tsr_plan_tensor_make(plan, shape, hint);
    tsr_plan_tensor *t = &plan->tensors[tensor];
    t->in_two = tensor && plan->device.planes && t->layout.planes == 2 * plan->device.planes;
    return tensor;
}

int tsr_plan_tensor_new(tsr_plan *plan, const tsr_shape *shape, bool precise) {
    const tsr_layout_hint hint = {.format = plan->half && !precise ? TSR_TEXEL_F16 : TSR_TEXEL_F32};
    return tsr_plan_tensor_make(plan, shape, hint);
}

int tsr_plan_tensor_moved(tsr_plan *plan, const tsr_shape *shape, int from) {
    const tsr_layout *l = tsr_plan_layout(plan, from);
    if (l->scale)
        return tsr_plan_tensor_new(plan, shape, false);
    return tsr_plan_tensor_make(plan, shape, (tsr_layout_hint){.format = l->format});
}

int tsr_plan_tensor_computed(tsr_plan *plan, const tsr_shape *shape, int from) {
    bool half = tsr_plan_layout(plan, from)->format == TSR_TEXEL_F16;
    return tsr_plan_tensor_new(plan, shape, !half);
}

int tsr_plan_tensor_like(tsr_plan *plan, const tsr_shape *shape, int value) {
    if (tsr_plan_fail(plan, tsr_plan_check_stored(plan, &plan->graph->values[value])) != TSR_OK)
        return 0;
    return tsr_plan_tensor_make(plan, shape,
                                (tsr_layout_hint){.format = tsr_plan_format(plan, value)});
}

static const float *align(tsr_plan *plan, const tsr_shape *shape, const void *elements) {
    if ((uintptr_t)elements % _Alignof(float) == 0)
        return elements;
    size_t count = (size_t)tsr_shape_count(shape);
    float *aligned = TSR_NEW(plan->arena, count, float);
    if (aligned)
        memcpy(aligned, elements, count * sizeof *aligned);
    return aligned;
}

int tsr_plan_constant(tsr_plan *plan, const tsr_shape *shape, const void *elements) {
    int tensor = tsr_plan_tensor_make(plan, shape, (tsr_layout_hint){0});
    if (!tensor)
        return 0;
    tsr_layout *l = &plan->tensors[tensor].layout;
    plan->tensors[tensor].constant = align(plan, shape, elements);
    l->format = TSR_TEXEL_F32; /* nothing renders to it */
    if (!l->buffer)
        l->texture_h = tsr_texture_side(plan, l->texture_h + TSR_ZERO_ROWS) - TSR_ZERO_ROWS;
    if (!plan->tensors[tensor].constant)
        tsr_plan_out_of_memory(plan);
    return plan->status == TSR_OK ? tensor : 0;
}

/* Tensors made while a candidate was tried are no more. */
static bool is_constant(const tsr_plan *plan, int tensor, const float *elements,
                        const tsr_shape *shape) {
    const tsr_shape folded = tsr_layout_fold(shape, tsr_layout_channel_axis(shape->rank));
    return tensor < plan->tensor_count && plan->tensors[tensor].constant == elements &&
           tsr_plan_is_seen_as(plan, tensor, &folded);
}

int tsr_plan_constant_value(tsr_plan *plan, const tsr_value *value, const tsr_shape *shape) {
    int *latest = &plan->value_constant[value - plan->graph->values];
    const float *elements = tsr_plan_floats(plan, value);
    if (!elements)
        return 0;
    if (!is_constant(plan, *latest, elements, shape))
        *latest = tsr_plan_constant(plan, shape, elements);
    return *latest;
}

int tsr_plan_value_as_is(tsr_plan *plan, int value) {
    if (plan->status != TSR_OK)
        return 0;
    if (plan->value_tensor[value] != TSR_NONE)
        return plan->value_tensor[value];
    const tsr_value *v = &plan->graph->values[value];
    int tensor = v->data ? tsr_plan_constant_value(plan, v, &v->shape)
                         : tsr_plan_tensor_like(plan, &v->shape, value);
    if (!tensor)
        return 0;
    plan->value_tensor[value] = tensor;
    if (plan->value_on_cpu[value])
        tsr_plan_pass_of(plan, TSR_PASS_UPLOAD, tensor)->value = value;
    return tensor;
}

bool tsr_plan_is_seen_as(const tsr_plan *plan, int tensor, const tsr_shape *folded) {
    const tsr_layout *l = tsr_plan_layout(plan, tensor);
    return l->n == folded->dim[TSR_AXIS_N] && l->c == folded->dim[TSR_AXIS_C] &&
           l->h == folded->dim[TSR_AXIS_H] && l->w == folded->dim[TSR_AXIS_W];
}

int tsr_plan_value_with(tsr_plan *plan, int value, int channel_axis) {
    int tensor = tsr_plan_value_as_is(plan, value);
    if (plan->status != TSR_OK || plan->value_axis[value] == channel_axis)
        return tensor;
    const tsr_shape folded = tsr_layout_fold(&plan->graph->values[value].shape, channel_axis);
    int *copy = &plan->value_copy[value];
    if (tsr_plan_is_seen_as(plan, tensor, &folded))
        return tensor;
    if (*copy == TSR_NONE || !tsr_plan_is_seen_as(plan, *copy, &folded))
        *copy = tsr_plan_reshape(plan, tensor, &folded);
    return *copy;
}

int tsr_plan_value(tsr_plan *plan, int value) {
    int rank = plan->graph->values[value].shape.rank;
    return tsr_plan_value_with(plan, value, tsr_layout_channel_axis(rank));
}

int tsr_plan_before(tsr_plan *plan, const tsr_before *before, int input) {
    int *tensor = &plan->value_tensor[before->value];
    if (plan->status != TSR_OK || *tensor != TSR_NONE)
        return plan->status == TSR_OK ? *tensor : 0;
    int made = tsr_plan_tensor_like(plan, &plan->graph->values[before->value].shape, before->value);
    tsr_pass_post_unary(tsr_plan_copy(plan, input, made), before->op, before->param);
    if (plan->status != TSR_OK)
        return 0;
    *tensor = made;
    return made;
}

int tsr_plan_input(tsr_plan *plan, const tsr_node *node) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    bool apart = plan->keep_all || plan->device.fragments.dots; /* kept tensors are computed */
    if (node->before && apart)
        return tsr_plan_before(plan, node->before, input);
    plan->before = node->before;
    plan->read_before = input;
    return input;
}

void tsr_plan_narrow(tsr_plan *plan, int tensor, int planes) {
    tsr_layout *l = &plan->tensors[tensor].layout;
    const tsr_shape shape = {4, {l->n, l->c, l->h, l->w}};
    const tsr_layout_hint hint = {
        .planes = planes, .pixel_stride = l->pixel_stride, .format = l->format};
    tsr_layout narrow;
    if (tsr_layout_make(&shape, &plan->limits, hint, &narrow) == TSR_OK)
        *l = narrow;
}

static void set_tensor(tsr_plan *plan, int value, int tensor, int channel_axis) {
    plan->value_tensor[value] = tensor;
    plan->value_axis[value] = channel_axis;
    plan->value_copy[value] = TSR_NONE;
}

int tsr_plan_output(tsr_plan *plan, const tsr_node *node, int i) {
    return tsr_plan_output_strided(plan, node, i, 1);
}

int tsr_plan_output_strided(tsr_plan *plan, const tsr_node *node, int i, int pixel_stride) {
    int value = node->outputs[i];
    const tsr_value *v = &plan->graph->values[value];
    tsr_layout_hint hint = {.planes = plan->value_planes[value],
                            .pixel_stride = pixel_stride,
                            .format = tsr_plan_format(plan, value)};
    int axis = i ? tsr_layout_channel_axis(v->shape.rank) : plan->axis;
    if (tsr_plan_fail(plan, tsr_plan_check_stored(plan, v)) != TSR_OK)
        return 0;
    const tsr_shape shape =
        tsr_shape_count(&v->shape) ? tsr_layout_fold(&v->shape, axis) : v->shape; /* refused */
    int tensor = tsr_plan_tensor_make(plan, &shape, hint);
    if (tensor)
        set_tensor(plan, value, tensor, axis);
    return tensor;
}

tsr_pass *tsr_plan_pass_of(tsr_plan *plan, tsr_pass_kind kind, int output) {
    static _Thread_local tsr_pass ignored; /* written to after a failure */
    tsr_pass *grown = plan->status == TSR_OK ? grow(plan, plan->passes, plan->pass_count,
                                                    &plan->pass_capacity, sizeof *grown)
                                             : NULL;
    if (!grown) {
        ignored = (tsr_pass){.kind = kind};
        return &ignored;
    }
    plan->passes = grown;
    plan->tensors[output].first_pass = plan->pass_count;
    tsr_pass *pass = &plan->passes[plan->pass_count++];
    *pass = (tsr_pass){.kind = kind, .node = plan->node, .output = output};
    return pass;
}

/* ---- kernels --------------------------------------------------------------------------------- */

_Static_assert(sizeof(tsr_int_arg) == sizeof(tsr_arg) && sizeof(tsr_float_arg) == sizeof(tsr_arg) &&
                   sizeof(tsr_tensor_arg) == sizeof(tsr_arg),
               "the struct of a kernel's arguments is an array of tsr_arg");

static tsr_status check_arg(const tsr_plan *plan, const tsr_kernel *kernel, const tsr_field *field,
                            const tsr_arg *arg) {
    if (!arg->i.set)
        return field->optional || !(field->languages & plan->device.language)
                   ? TSR_OK
                   : tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "kernel %s: '%s' is not set",
                              kernel->stem, field->name);
    if (field->class != TSR_FIELD_FLOAT && (arg->i.value > INT32_MAX || arg->i.value < INT32_MIN))
        return tsr_fail(TSR_ERROR_LIMIT, "kernel %s: '%s' is %lld, which 32 bits do not hold",
                        kernel->stem, field->name, (long long)arg->i.value);
    return TSR_OK;
}

static tsr_status check_kernel(const tsr_plan *plan, const tsr_kernel *kernel,
                               const tsr_arg *args) {
    tsr_form form = plan->device.language == TSR_GLSL ? kernel->glsl : kernel->wgsl;
    if (form == TSR_FORM_NONE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "kernel %s does not exist in this device's language", kernel->stem);
    if (kernel->needs & ~plan->device.features)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "kernel %s needs a feature that this device lacks", kernel->stem);
    for (int i = 0; i < kernel->field_count; i++)
        TSR_TRY(check_arg(plan, kernel, &kernel->fields[i], &args[i]));
    return TSR_OK;
}

tsr_pass *tsr_plan_pass(tsr_plan *plan, int output, const tsr_kernel *kernel, const void *args) {
    tsr_arg *copy = tsr_arena_alloc(plan->arena, (size_t)kernel->field_count, sizeof *copy);
    if (!copy)
        tsr_plan_out_of_memory(plan);
    else
        memcpy(copy, args, (size_t)kernel->field_count * sizeof *copy);
    if (plan->status == TSR_OK)
        tsr_plan_fail(plan, check_kernel(plan, kernel, copy));
    tsr_pass *pass = tsr_plan_pass_of(plan, TSR_PASS_DRAW, output);
    pass->kernel = kernel;
    pass->args = copy;
    for (int i = 0; i < kernel->field_count && plan->status == TSR_OK; i++)
        if (kernel->fields[i].class == TSR_FIELD_INPUT && copy[i].t.set)
            tsr_pass_source(plan, pass, (int)copy[i].t.tensor);
    if (plan->before && pass->source_count && pass->sources[0] == plan->read_before)
        pass->before = plan->before;
    return pass;
}

/* A loop's condition is evaluated once more than it iterates, and where fragments run in lockstep,
 * the loops inside it run even then. */
void tsr_plan_loops(tsr_plan *plan, int times, int depth, const int64_t *iterations) {
    double total = 0;
    for (int i = depth - 1; i >= 0; i--)
        total = (double)iterations[i] * (1 + total) + (depth - i);
    if (plan->max_loop_iterations && total * times > plan->max_loop_iterations)
        tsr_plan_fail(plan, tsr_fail(TSR_ERROR_UNSUPPORTED,
                                     "a fragment's loops have %lld iterations, this driver stops "
                                     "them after %d",
                                     (long long)(total * times), plan->max_loop_iterations));
}

void tsr_pass_source(tsr_plan *plan, tsr_pass *pass, int tensor) {
    if (pass->source_count == plan->max_sources) {
        tsr_plan_fail(plan, tsr_fail(TSR_ERROR_LIMIT, "a pass reads more than %d tensors",
                                     plan->max_sources));
        return;
    }
    pass->sources[pass->source_count++] = tensor;
}

/* Fragments of all of them have the same coordinates, so that each lies alone at the origin of its
 * storage. */
void tsr_pass_also_writes(tsr_plan *plan, tsr_pass *pass, int tensor) {
    tsr_plan_tensor *output = &plan->tensors[pass->output], *other = &plan->tensors[tensor];
    if (plan->status != TSR_OK)
        return;
    if (pass->more_count == TSR_MAX_MORE ||
        pass->source_count + pass->more_count > plan->max_sources ||
        !tsr_layout_same(&output->layout, &other->layout)) {
        tsr_plan_fail(plan, tsr_fail(TSR_ERROR_UNSUPPORTED,
                                     "a pass cannot write these tensors at once: they are too "
                                     "many, or their layouts differ"));
        return;
    }
    output->alone = other->alone = true;
    other->first_pass = output->first_pass;
    pass->more[pass->more_count++] = tensor;
    pass->planes = output->layout.planes;
    while (pass->planes > 1 && pass->planes * (1 + pass->more_count) > plan->limits.max_planes)
        pass->planes /= 2;
}

void tsr_pass_groups(tsr_pass *pass, int64_t count) {
    enum { MOST = 65535 };
    int64_t rows = (count + MOST - 1) / MOST;
    pass->groups[0] = (int)((count + rows - 1) / rows);
    pass->groups[1] = (int)rows;
    pass->groups[2] = 1;
}

int64_t tsr_pass_count_draws(const tsr_plan *plan, const tsr_pass *pass) {
    const tsr_layout *l = tsr_plan_layout(plan, pass->output);
    if (pass->kind == TSR_PASS_DRAW && tsr_pass_writes_more(pass))
        return l->planes / pass->planes;
    if (pass->kind != TSR_PASS_DRAW || !pass->draw_count)
        return pass->kind == TSR_PASS_DRAW;
    if (pass->block_rows >= l->tiles)
        return pass->draw_count;
    return (int64_t)l->n * tsr_divide_up(l->tiles, pass->block_rows);
}

tsr_draw *tsr_plan_draws(tsr_plan *plan, tsr_pass *pass, int count) {
    tsr_draw *draws = TSR_NEW(plan->arena, count, tsr_draw);
    if (!draws)
        tsr_plan_out_of_memory(plan);
    pass->draws = draws;
    pass->draw_count = draws ? count : 0;
    return draws;
}

void tsr_pass_draw(tsr_plan *plan, const tsr_pass *pass, int i, int block, const void *args) {
    tsr_arg given[TSR_MAX_DRAW_ARGS];
    if (plan->status != TSR_OK)
        return;
    tsr_draw *draw = &pass->draws[i];
    *draw = (tsr_draw){.block = block};
    memcpy(given, args, (size_t)pass->kernel->draw_arg_count * sizeof *given);
    for (int k = 0; k < pass->kernel->draw_arg_count; k++) {
        const tsr_field field = {pass->kernel->draw_args[k], TSR_FIELD_INT, TSR_GLSL, false, false};
        if (tsr_plan_fail(plan, check_arg(plan, pass->kernel, &field, &given[k])) == TSR_OK)
            draw->args[k] = (int)given[k].i.value;
    }
}

void tsr_pass_post_unary(tsr_pass *pass, tsr_op op, const float param[2]) {
    pass->posts[pass->post_count++] =
        (tsr_pass_post){.op = op, .param = {param[0], param[1]}, .source = TSR_NONE};
}

void tsr_pass_post_binary(tsr_plan *plan, tsr_pass *pass, tsr_op op, int tensor, bool swapped) {
    pass->posts[pass->post_count++] =
        (tsr_pass_post){.op = op, .source = pass->source_count, .swapped = swapped};
    tsr_pass_source(plan, pass, tensor);
}

void tsr_pass_post_param(tsr_pass *pass, const float param[2]) {
    tsr_pass_post *post = &pass->posts[pass->post_count - 1];
    post->has_param = true;
    memcpy(post->param, param, sizeof post->param);
}

tsr_pass *tsr_plan_copy(tsr_plan *plan, int source, int output) {
    const tsr_layout *a = tsr_plan_layout(plan, source), *b = tsr_plan_layout(plan, output);
    bool broadcast = a->n != b->n || a->c != b->c || a->h != b->h || a->w != b->w;
    return TSR_PASS(plan, output, copy, .X = TSR_TENSOR(source), .BROADCAST = TSR_INT(broadcast));
}

int tsr_plan_reshape(tsr_plan *plan, int tensor, const tsr_shape *shape) {
    tsr_layout wanted;
    const tsr_layout *have = tsr_plan_layout(plan, tensor);
    if (plan->status != TSR_OK ||
        tsr_plan_fail(
            plan, tsr_layout_make(shape, &plan->limits,
                                  (tsr_layout_hint){have->planes, have->pixel_stride, have->format},
                                  &wanted)) != TSR_OK)
        return 0;
    wanted.format = have->format; /* where texels agree nothing is written */
    wanted.zero_point = have->zero_point;
    wanted.scale = have->scale;
    if (tsr_layout_same(have, &wanted))
        return tensor;
    int output = tsr_plan_tensor_moved(plan, shape, tensor);
    TSR_PASS(plan, output, reshape, .X = TSR_TENSOR(tensor));
    return output;
}

void tsr_plan_alias(tsr_plan *plan, const tsr_node *node, int i, int tensor) {
    int value = node->outputs[i];
    if (plan->status != TSR_OK)
        return;
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    bool computed = !t->constant && t->first_pass >= 0;
    int usual = tsr_layout_channel_axis(plan->graph->values[value].shape.rank);
    if (computed || !tsr_graph_is_output(plan->graph, value)) {
        set_tensor(plan, value, tensor, usual);
        return;
    }
    if (i == 0)
        plan->axis = usual;
    tsr_plan_copy(plan, tensor, tsr_plan_output(plan, node, i));
}

void tsr_plan_alias_as_is(tsr_plan *plan, const tsr_node *node, int i, int tensor) {
    if (plan->status == TSR_OK)
        set_tensor(plan, node->outputs[i], tensor, TSR_NONE);
}

static tsr_status build(tsr_plan *plan, const tsr_plan_options *options) {
    const tsr_graph *graph = plan->graph;
    plan->value_tensor = TSR_NEW(plan->arena, graph->value_count, int);
    plan->value_axis = TSR_NEW(plan->arena, graph->value_count, int);
    plan->value_planes = TSR_NEW(plan->arena, graph->value_count, int);
    plan->value_copy = TSR_NEW(plan->arena, graph->value_count, int);
    plan->value_constant = TSR_NEW(plan->arena, graph->value_count, int);
    plan->value_on_cpu = TSR_NEW(plan->arena, graph->value_count, bool);
    plan->candidates = TSR_NEW(plan->arena, graph->node_count, tsr_candidates);
    if (!plan->value_tensor || !plan->value_axis || !plan->value_planes || !plan->value_copy ||
        !plan->value_constant || !plan->value_on_cpu || !plan->candidates)
        return tsr_plan_out_of_memory(plan);
    for (int i = 0; i < graph->value_count; i++)
        set_tensor(plan, i, TSR_NONE, tsr_layout_channel_axis(graph->values[i].shape.rank));
    if (options->plain_outputs) {
        plan->plain_outputs = TSR_NEW(plan->arena, graph->output_count, int);
        if (!plan->plain_outputs)
            return tsr_plan_out_of_memory(plan);
    }
    tsr_plan_tensor_make(plan, &(tsr_shape){0}, (tsr_layout_hint){.planes = 1});
    TSR_TRY(plan->status);
    tsr_plan_expect_concats(plan);
    TSR_TRY(tsr_plan_lower(plan, options));
    if (plan->plain_outputs)
        TSR_TRY(tsr_plan_add_plain_outputs(plan));
    if (plan->separate)
        TSR_TRY(tsr_plan_separate(plan));
    tsr_status status = tsr_plan_assign_storages(plan, options->max_bytes);
    if (options->needs_more)
        *options->needs_more = plan->needs_more;
    return status;
}

tsr_status tsr_plan_create(const tsr_graph *graph, const tsr_plan_options *options,
                           tsr_plan **out) {
    tsr_arena *arena = tsr_arena_create();
    tsr_plan *plan = arena ? TSR_NEW(arena, 1, tsr_plan) : NULL;
    if (!plan) {
        tsr_arena_destroy(arena);
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the plan");
    }
    *plan = (tsr_plan){.arena = arena,
                       .graph = graph,
                       .limits = options->limits,
                       .device = options->device,
                       .all_half = options->half || options->limits.half_only,
                       .half = options->half || options->limits.half_only,
                       .precise = options->precise,
                       .precise_weights = options->precise_weights,
                       .weights = options->weights,
                       .keep_all = options->keep_all,
                       .max_loop_iterations = options->max_loop_iterations,
                       .block_texels = options->block_texels,
                       .max_sources = options->max_sources ? options->max_sources : TSR_MAX_SOURCES,
                       .choices = options->choices,
                       .fallback = options->fallback,
                       .low_memory = options->low_memory,
                       .copies_concats = options->copies_concats,
                       .copies_splits = options->copies_splits,
                       .fused_only = options->fused_only,
                       .separate = options->separate,
                       .again = options->again};
    tsr_status status = build(plan, options);
    if (status != TSR_OK) {
        tsr_plan_destroy(plan);
        return status;
    }
    plan->choices = NULL; /* the caller's, as precise */
    plan->precise = NULL;
    *out = plan;
    return TSR_OK;
}

void tsr_plan_destroy(tsr_plan *plan) {
    if (plan)
        tsr_arena_destroy(plan->arena);
}
