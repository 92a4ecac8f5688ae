#include "plan/plan.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

tsr_status tsr_plan_fail(tsr_plan *plan, tsr_status status) {
    if (plan->status == TSR_OK)
        plan->status = status;
    return status;
}

static tsr_status out_of_memory(tsr_plan *plan) {
    return tsr_plan_fail(plan, tsr_fail(TSR_OUT_OF_MEMORY, "no memory for the plan"));
}

/* Room for one more item in an array that lives in the arena; NULL when out of memory. */
static void *grow(tsr_plan *plan, void *items, int count, int *capacity, size_t size) {
    if (count < *capacity)
        return items;
    int wanted = *capacity ? *capacity * 2 : 64;
    void *bigger = tsr_arena_alloc(plan->arena, (size_t)wanted, size);
    if (!bigger) {
        out_of_memory(plan);
        return NULL;
    }
    if (count)
        memcpy(bigger, items, (size_t)count * size);
    *capacity = wanted;
    return bigger;
}

const tsr_layout *tsr_plan_layout(const tsr_plan *plan, int tensor) { return &plan->tensors[tensor].layout; }

/* Tensor 0 is a 1 x 1 dummy that stands in after a failure. */
static int add_tensor(tsr_plan *plan, const tsr_shape *shape, tsr_layout_wish wish) {
    if (plan->status != TSR_OK)
        return 0;
    tsr_plan_tensor *grown =
        grow(plan, plan->tensors, plan->tensor_count, &plan->tensor_capacity, sizeof *grown);
    if (!grown)
        return 0;
    plan->tensors = grown;
    tsr_plan_tensor *t = &plan->tensors[plan->tensor_count];
    *t = (tsr_plan_tensor){.first_pass = -1, .last_pass = -1, .storage = TSR_NONE};
    if (tsr_plan_fail(plan, tsr_layout_make(shape, &plan->limits, wish, &t->layout)) != TSR_OK)
        return 0;
    return plan->tensor_count++;
}

int tsr_plan_tensor_new(tsr_plan *plan, const tsr_shape *shape, bool precise) {
    return add_tensor(plan, shape, (tsr_layout_wish){.half = plan->half && !precise});
}

int tsr_plan_constant(tsr_plan *plan, const tsr_shape *shape, const float *elements) {
    int tensor = add_tensor(plan, shape, (tsr_layout_wish){0});
    if (tensor)
        plan->tensors[tensor].constant = elements;
    return tensor;
}

static bool is_graph_output(const tsr_graph *graph, int value) {
    for (int i = 0; i < graph->output_count; i++)
        if (graph->outputs[i] == value)
            return true;
    return false;
}

int tsr_plan_value(tsr_plan *plan, int value) {
    if (plan->status != TSR_OK)
        return 0;
    if (plan->value_tensor[value] != TSR_NONE)
        return plan->value_tensor[value];
    const tsr_value *v = &plan->graph->values[value];
    if (!tsr_dtype_is_float(v->dtype)) {
        tsr_plan_fail(plan, tsr_fail(TSR_UNSUPPORTED, "tensor '%s' is %s: a GPU computes floats only", v->name,
                                     tsr_dtype_name(v->dtype)));
        return 0;
    }
    int tensor = v->data ? tsr_plan_constant(plan, &v->shape, v->data)
                         : tsr_plan_tensor_new(plan, &v->shape, false);
    if (tensor)
        plan->value_tensor[value] = tensor;
    return tensor;
}

int tsr_plan_operand(tsr_plan *plan, int value, int rank) {
    const tsr_value *v = &plan->graph->values[value];
    if (v->shape.rank >= rank)
        return tsr_plan_value(plan, value);
    tsr_shape shape = {.rank = rank};
    int ones = rank - v->shape.rank;
    for (int i = 0; i < rank; i++)
        shape.dim[i] = i < ones ? 1 : v->shape.dim[i - ones];
    return v->data ? tsr_plan_constant(plan, &shape, v->data)
                   : tsr_plan_reshape(plan, tsr_plan_value(plan, value), &shape);
}

int tsr_plan_output(tsr_plan *plan, const tsr_node *node, int i) { return tsr_plan_output_spread(plan, node, i, 1); }

int tsr_plan_output_spread(tsr_plan *plan, const tsr_node *node, int i, int spread) {
    int value = node->outputs[i];
    tsr_layout_wish wish = {.spread = spread, .half = plan->half};
    int tensor = add_tensor(plan, &plan->graph->values[value].shape, wish);
    if (tensor)
        plan->value_tensor[value] = tensor;
    return tensor;
}

tsr_pass *tsr_plan_pass(tsr_plan *plan, const char *kernel, int output) {
    static _Thread_local tsr_pass ignored; /* written to after a failure */
    tsr_pass *grown = plan->status == TSR_OK
                          ? grow(plan, plan->passes, plan->pass_count, &plan->pass_capacity, sizeof *grown)
                          : NULL;
    if (!grown) {
        ignored = (tsr_pass){.output = 0};
        return &ignored;
    }
    plan->passes = grown;
    plan->tensors[output].first_pass = plan->pass_count;
    tsr_pass *pass = &plan->passes[plan->pass_count++];
    *pass = (tsr_pass){.node = plan->node, .kernel = kernel, .output = output};
    return pass;
}

void tsr_pass_source(tsr_plan *plan, tsr_pass *pass, int tensor) {
    if (pass->source_count == TSR_MAX_SOURCES) {
        tsr_plan_fail(plan, tsr_fail(TSR_LIMIT, "a pass reads more than %d tensors", TSR_MAX_SOURCES));
        return;
    }
    pass->sources[pass->source_count++] = tensor;
    if (!pass->post_count)
        pass->kernel_source_count = pass->source_count;
}

void tsr_pass_define(tsr_pass *pass, const char *name, int value) {
    tsr_pass_repeat(pass, name, value, NULL);
}

void tsr_pass_repeat(tsr_pass *pass, const char *name, int value, const char *each) {
    pass->defines[pass->define_count++] = (tsr_define){name, value, each};
}

void tsr_pass_ints(tsr_pass *pass, const char *name, int x, int y, int z, int w) {
    pass->uniforms[pass->uniform_count++] = (tsr_uniform){name, false, {x, y, z, w}, {0}};
}

void tsr_pass_floats(tsr_pass *pass, const char *name, float x, float y, float z, float w) {
    pass->uniforms[pass->uniform_count++] = (tsr_uniform){name, true, {0}, {x, y, z, w}};
}

void tsr_pass_post_unary(tsr_pass *pass, tsr_op op, const float param[2]) {
    pass->posts[pass->post_count++] = (tsr_pass_post){op, {param[0], param[1]}, TSR_NONE, false};
}

void tsr_pass_post_binary(tsr_plan *plan, tsr_pass *pass, tsr_op op, int tensor, bool swapped) {
    pass->posts[pass->post_count++] = (tsr_pass_post){op, {0, 0}, pass->source_count, swapped};
    tsr_pass_source(plan, pass, tensor);
}

tsr_pass *tsr_plan_copy(tsr_plan *plan, int source, int output) {
    const tsr_layout *a = tsr_plan_layout(plan, source), *b = tsr_plan_layout(plan, output);
    bool broadcast = a->n != b->n || a->c != b->c || a->h != b->h || a->w != b->w;
    tsr_pass *pass = tsr_plan_pass(plan, "copy", output);
    tsr_pass_define(pass, "BROADCAST", broadcast);
    tsr_pass_source(plan, pass, source);
    return pass;
}

int tsr_plan_reshape(tsr_plan *plan, int tensor, const tsr_shape *shape) {
    tsr_layout wanted;
    const tsr_layout *have = tsr_plan_layout(plan, tensor);
    if (plan->status != TSR_OK ||
        tsr_plan_fail(plan, tsr_layout_make(shape, &plan->limits,
                                            (tsr_layout_wish){have->planes, have->spread, have->half}, &wanted)) != TSR_OK)
        return 0;
    if (tsr_layout_same(have, &wanted))
        return tensor;
    int output = tsr_plan_tensor_new(plan, shape, !have->half);
    tsr_pass_source(plan, tsr_plan_pass(plan, "reshape", output), tensor);
    return output;
}

void tsr_plan_alias(tsr_plan *plan, const tsr_node *node, int i, int tensor) {
    int value = node->outputs[i];
    if (plan->status != TSR_OK)
        return;
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    bool computed = !t->constant && t->first_pass >= 0;
    if (computed || !is_graph_output(plan->graph, value)) {
        plan->value_tensor[value] = tensor;
        return;
    }
    tsr_pass_source(plan, tsr_plan_pass(plan, "reshape", tsr_plan_output(plan, node, i)), tensor);
}

/* The pass has no room for another tensor: what follows moves to a pass of its own behind it. */
static tsr_pass *continue_pass(tsr_plan *plan, tsr_pass *pass) {
    const tsr_plan_tensor *output = &plan->tensors[pass->output];
    const tsr_layout *l = &output->layout;
    tsr_shape shape = {4, {l->n, l->c, l->h, l->w}};
    int final = pass->output;
    int middle = add_tensor(plan, &shape, (tsr_layout_wish){l->planes, l->spread, l->half});
    if (!middle)
        return pass;
    pass->output = middle;
    return tsr_plan_copy(plan, middle, final);
}

static void add_posts(tsr_plan *plan, const tsr_node *node, const int *operands) {
    for (int i = 0; i < node->post_count && plan->status == TSR_OK; i++) {
        tsr_pass *pass = &plan->passes[plan->pass_count - 1];
        const tsr_post *post = &node->posts[i];
        if (post->operand == TSR_NONE) {
            tsr_pass_post_unary(pass, post->op, post->param);
            continue;
        }
        if (pass->source_count == TSR_MAX_SOURCES)
            pass = continue_pass(plan, pass);
        tsr_pass_post_binary(plan, pass, post->op, operands[i], post->swapped);
    }
}

/* So that lowerings need not look. */
static tsr_status check_ranks(const tsr_graph *graph, const tsr_node *node) {
    for (int i = 0; i < node->input_count + node->output_count; i++) {
        int value = i < node->input_count ? node->inputs[i] : node->outputs[i - node->input_count];
        if (value != TSR_NONE && graph->values[value].shape.rank > 4)
            return tsr_fail(TSR_UNSUPPORTED, "tensor '%s' of shape %s has more than 4 axes, a GPU tensor at most 4",
                            graph->values[value].name, tsr_shape_text(&graph->values[value].shape));
    }
    return TSR_OK;
}

static tsr_status lower_node(tsr_plan *plan, const tsr_node *node, tsr_lower_fn *lower) {
    if (!lower)
        return tsr_fail(TSR_UNSUPPORTED, "no such operator on this backend");
    TSR_TRY(check_ranks(plan->graph, node));
    /* Before the node's own passes: reshaping an operand may take one. */
    int operands[TSR_MAX_POSTS];
    int rank = plan->graph->values[node->outputs[0]].shape.rank;
    for (int i = 0; i < node->post_count; i++)
        operands[i] = node->posts[i].operand == TSR_NONE
                          ? 0
                          : tsr_plan_operand(plan, node->posts[i].operand, rank);
    int passes = plan->pass_count;
    tsr_plan_fail(plan, lower(plan, node));
    if (plan->status != TSR_OK || !node->post_count)
        return plan->status;
    int output = plan->value_tensor[node->outputs[0]];
    if (plan->pass_count == passes || plan->passes[plan->pass_count - 1].output != output)
        tsr_plan_copy(plan, output, tsr_plan_output(plan, node, 0)); /* a view: nothing to fuse with */
    add_posts(plan, node, operands);
    return plan->status;
}

static tsr_status lower_graph(tsr_plan *plan, tsr_lower_fn *const *lower) {
    const tsr_graph *graph = plan->graph;
    for (int i = 0; i < graph->input_count; i++)
        if (!graph->values[graph->inputs[i]].data)
            tsr_plan_value(plan, graph->inputs[i]);
    for (int i = 0; i < graph->node_count; i++) {
        const tsr_node *node = &graph->nodes[i];
        plan->node = i;
        tsr_status status = lower_node(plan, node, lower[node->op]);
        if (status != TSR_OK)
            return tsr_fail_context(status, "%s: node '%s' (%s)", graph->file, node->name,
                                    tsr_op_get_info(node->op)->name);
    }
    return plan->status;
}

/* Graph outputs once more, as plain textures that a caller can sample. */
static tsr_status add_plain_outputs(tsr_plan *plan) {
    const tsr_graph *graph = plan->graph;
    plan->plain_outputs = TSR_NEW(plan->arena, graph->output_count, int);
    if (!plan->plain_outputs)
        return out_of_memory(plan);
    for (int i = 0; i < graph->output_count; i++) {
        int value = graph->outputs[i], source = plan->value_tensor[value];
        if (source == TSR_NONE)
            continue;
        int tensor = add_tensor(plan, &graph->values[value].shape, (tsr_layout_wish){.planes = 1, .half = plan->half});
        if (plan->tensors[tensor].layout.linear)
            return tsr_fail(TSR_LIMIT, "output '%s' of shape %s fits no plain texture of at most %d x %d",
                            graph->values[value].name, tsr_shape_text(&graph->values[value].shape),
                            plan->limits.max_texture_size, plan->limits.max_texture_size);
        plan->plain_outputs[i] = tensor;
        plan->tensors[tensor].keep = plan->tensors[tensor].plain = true;
        plan->node = graph->values[value].producer;
        tsr_plan_copy(plan, source, tensor);
    }
    return plan->status;
}

static void mark_kept(tsr_plan *plan) {
    const tsr_graph *graph = plan->graph;
    for (int i = 0; i < graph->input_count; i++)
        if (plan->value_tensor[graph->inputs[i]] != TSR_NONE)
            plan->tensors[plan->value_tensor[graph->inputs[i]]].keep = true;
    for (int i = 0; i < graph->output_count; i++)
        if (plan->value_tensor[graph->outputs[i]] != TSR_NONE)
            plan->tensors[plan->value_tensor[graph->outputs[i]]].keep = true;
    for (int i = 0; plan->keep_all && i < plan->tensor_count; i++)
        plan->tensors[i].keep = true;
}

static void find_lifetimes(tsr_plan *plan) {
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        plan->tensors[pass->output].first_pass = i;
        if (plan->tensors[pass->output].last_pass < i)
            plan->tensors[pass->output].last_pass = i;
        for (int j = 0; j < pass->source_count; j++)
            plan->tensors[pass->sources[j]].last_pass = i;
    }
}

/* A free storage that the tensor fits without wasting a fifth, else a new one. */
static int choose_storage(tsr_plan *plan, const tsr_plan_tensor *t) {
    const tsr_layout *l = &t->layout;
    int64_t area = (int64_t)l->texture_w * l->texture_h, best_area = area * 6 / 5 + 1;
    int best = plan->storage_count;
    for (int i = 0; !t->keep && i < plan->storage_count; i++) {
        const tsr_storage *s = &plan->storages[i];
        int64_t storage_area = (int64_t)s->texture_w * s->texture_h;
        if (s->free_after < t->first_pass && s->planes == l->planes && s->half == l->half &&
            s->texture_w >= l->texture_w && s->texture_h >= l->texture_h && storage_area < best_area) {
            best = i;
            best_area = storage_area;
        }
    }
    return best;
}

static void assign_storage(tsr_plan *plan, tsr_plan_tensor *t) {
    t->storage = choose_storage(plan, t);
    tsr_storage *s = &plan->storages[t->storage];
    if (t->storage == plan->storage_count) {
        plan->storage_count++;
        *s = (tsr_storage){t->layout.texture_w, t->layout.texture_h, t->layout.planes, t->layout.half, t->plain, 0};
        plan->tensor_bytes += tsr_layout_bytes(&t->layout);
    }
    s->free_after = t->keep ? plan->pass_count : t->last_pass;
}

static tsr_status assign_storages(tsr_plan *plan) {
    plan->storages = TSR_NEW(plan->arena, plan->tensor_count, tsr_storage);
    if (!plan->storages)
        return out_of_memory(plan);
    for (int i = 1; i < plan->tensor_count; i++) /* graph inputs: no pass writes them */
        if (plan->tensors[i].first_pass < 0 && plan->tensors[i].keep && !plan->tensors[i].constant)
            assign_storage(plan, &plan->tensors[i]);
    for (int i = 0; i < plan->pass_count; i++)
        assign_storage(plan, &plan->tensors[plan->passes[i].output]);
    return TSR_OK;
}

static void count_bytes(tsr_plan *plan) {
    for (int j = 1; j < plan->tensor_count; j++)
        if (plan->tensors[j].constant)
            plan->constant_bytes += tsr_layout_bytes(&plan->tensors[j].layout);
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        plan->constant_bytes += (uint64_t)pass->table_w * (uint64_t)pass->table_h * 16;
        uint64_t live = 0;
        for (int j = 1; j < plan->tensor_count; j++) {
            const tsr_plan_tensor *t = &plan->tensors[j];
            if (t->storage != TSR_NONE && (t->keep || (t->first_pass <= i && i <= t->last_pass)))
                live += tsr_layout_bytes(&t->layout);
        }
        if (live > plan->live_bytes_bound)
            plan->live_bytes_bound = live;
    }
}

static tsr_status check_memory(const tsr_plan *plan, uint64_t max_bytes) {
    uint64_t needed = plan->tensor_bytes + plan->constant_bytes;
    if (max_bytes && needed > max_bytes)
        return tsr_fail(TSR_OUT_OF_MEMORY, "%s: tensors and weights need %llu MiB, the machine has %llu MiB",
                        plan->graph->file, (unsigned long long)(needed >> 20),
                        (unsigned long long)(max_bytes >> 20));
    return TSR_OK;
}

static tsr_status build(tsr_plan *plan, const tsr_plan_options *options) {
    const tsr_graph *graph = plan->graph;
    plan->value_tensor = TSR_NEW(plan->arena, graph->value_count, int);
    if (!plan->value_tensor)
        return out_of_memory(plan);
    for (int i = 0; i < graph->value_count; i++)
        plan->value_tensor[i] = TSR_NONE;
    add_tensor(plan, &(tsr_shape){0}, (tsr_layout_wish){.planes = 1});
    TSR_TRY(plan->status);
    TSR_TRY(lower_graph(plan, options->lower));
    if (options->plain_outputs)
        TSR_TRY(add_plain_outputs(plan));
    mark_kept(plan);
    find_lifetimes(plan);
    TSR_TRY(assign_storages(plan));
    count_bytes(plan);
    return check_memory(plan, options->max_bytes);
}

tsr_status tsr_plan_create(const tsr_graph *graph, const tsr_plan_options *options, tsr_plan **out) {
    tsr_arena *arena = tsr_arena_create();
    tsr_plan *plan = arena ? TSR_NEW(arena, 1, tsr_plan) : NULL;
    if (!plan) {
        tsr_arena_destroy(arena);
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory for the plan");
    }
    *plan = (tsr_plan){.arena = arena,
                       .graph = graph,
                       .limits = options->limits,
                       .half = options->half,
                       .keep_all = options->keep_all};
    tsr_status status = build(plan, options);
    if (status != TSR_OK) {
        tsr_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return TSR_OK;
}

void tsr_plan_destroy(tsr_plan *plan) {
    if (plan)
        tsr_arena_destroy(plan->arena);
}
