#include "gpu/runner.h"

#include "algorithm/low_memory.h"
#include "base/allocator.h"
#include "base/error.h"
#include "base/half.h"
#include "lower/lower.h"

#include <math.h>
#include <string.h>

static tsr_status out_of_memory(void) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the session");
}

static tsr_status make_plan(tsr_gpu_runner *r, const tsr_plan_options *limits) {
    tsr_plan_options options = *limits;
    options.half = r->options.precision == TSR_PRECISION_FP16;
    options.precise = r->options.precise;
    options.precise_weights = r->options.precise_weights;
    options.weights = r->options.weights;
    options.again = limits->again || r->options.again;
    options.keep_all = r->options.keep_tensors;
    options.fallback = r->options.allow_cpu_fallback;
    options.separate = r->options.separate_tensors;
    options.fused_only = r->options.fused_only;
    options.plain_outputs = r->options.texture_outputs;
    options.copies_concats = r->options.copies_concats;
    options.copies_splits = r->options.copies_splits;
    options.max_bytes = r->graph->max_bytes;
    options.lower = tsr_lowerings;
    options.choices = r->options.choices;
    return r->options.any_bytes ? tsr_plan_create(r->graph, &options, &r->plan)
                                : tsr_plan_within_memory(r->graph, &options, &r->plan);
}

static tsr_status list_outputs(tsr_gpu_runner *r) {
    r->output_count = r->graph->output_count;
    r->outputs = tsr_calloc((size_t)r->output_count + 1, sizeof *r->outputs);
    r->node_ms = tsr_calloc((size_t)r->graph->node_count + 1, sizeof *r->node_ms);
    if (!r->outputs || !r->node_ms)
        return out_of_memory();
    for (int i = 0; i < r->graph->node_count; i++)
        r->node_ms[i] = -1;
    for (int i = 0; i < r->output_count; i++) {
        int value = r->graph->outputs[i];
        bool constant = r->graph->values[value].data;
        r->outputs[i] = (tsr_gpu_output){value, constant ? TSR_NONE : r->plan->value_tensor[value]};
    }
    return TSR_OK;
}

/* The kernels of each node's passes, repeated ones once. */
static tsr_status name_kernels(tsr_gpu_runner *r) {
    const tsr_plan *plan = r->plan;
    r->kernels = TSR_NEW(plan->arena, r->graph->node_count + 1, const char *);
    for (int i = 0; r->kernels && i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i], *before = i ? pass - 1 : NULL;
        if (pass->node == TSR_NONE || pass->kind != TSR_PASS_DRAW)
            continue;
        const char **name = &r->kernels[pass->node];
        if (!*name)
            *name = pass->kernel->stem;
        else if (before->node != pass->node || before->kernel != pass->kernel)
            *name = tsr_arena_printf(plan->arena, "%s+%s", *name, pass->kernel->stem);
        if (!*name)
            return out_of_memory();
    }
    return r->kernels ? TSR_OK : out_of_memory();
}

tsr_status tsr_gpu_runner_create(tsr_gpu_runner *r, const tsr_graph *graph,
                                 const tsr_runner_options *options,
                                 const tsr_plan_options *limits) {
    *r = (tsr_gpu_runner){.graph = graph, .options = *options, .gpu_ms = -1};
    TSR_TRY(make_plan(r, limits));
    int programs = r->plan->pass_count + graph->input_count + graph->output_count;
    r->programs = TSR_NEW(r->plan->arena, programs, const void *);
    TSR_TRY(r->programs ? name_kernels(r) : out_of_memory());
    return list_outputs(r);
}

void tsr_gpu_runner_destroy(tsr_gpu_runner *r) {
    tsr_fallback_destroy(&r->fallback);
    tsr_free(r->outputs);
    tsr_free(r->staging);
    tsr_free(r->node_ms);
    tsr_plan_destroy(r->plan);
}

int tsr_gpu_storage(const tsr_gpu_runner *r, int value) {
    int tensor = r->plan->value_tensor[value];
    return tensor == TSR_NONE ? TSR_NONE : r->plan->tensors[tensor].storage;
}

bool tsr_gpu_is_bound(const tsr_gpu_runner *r, int storage) {
    return r->options.bound_tensors && r->plan->storages[storage].separate;
}

uint64_t tsr_gpu_tensor_bytes(const tsr_gpu_runner *r) {
    return r->plan->tensor_bytes - (r->options.bound_tensors ? r->plan->separate_bytes : 0);
}

static size_t staging_floats(const tsr_gpu_runner *r) {
    size_t most = 0;
    for (int i = 1; tsr_falls_back(r->plan) && i < r->plan->tensor_count; i++) {
        size_t floats = tsr_layout_floats(&r->plan->tensors[i].layout);
        most = floats > most ? floats : most;
    }
    return most;
}

tsr_status tsr_gpu_runner_allocate(tsr_gpu_runner *r) {
    r->staging = tsr_malloc(staging_floats(r) * sizeof(float) + 1);
    return r->staging ? tsr_fallback_create(r->plan, &r->fallback) : out_of_memory();
}

tsr_status tsr_gpu_report_compiling(const tsr_gpu_runner *r, int done) {
    return tsr_progress_report(r->options.progress, "compiling", done, r->plan->pass_count);
}

tsr_status tsr_gpu_report_packing(const tsr_gpu_runner *r, int done) {
    return tsr_progress_report(r->options.progress, "packing weights", done, r->plan->pass_count);
}

tsr_status tsr_gpu_name_node(const tsr_gpu_runner *r, const tsr_pass *pass, tsr_status status) {
    if (pass->node == TSR_NONE)
        return status;
    const tsr_node *node = &r->graph->nodes[pass->node];
    return tsr_fail_context(status, "node '%s' (%s)", node->name, tsr_node_op_name(node));
}

bool tsr_gpu_count_program(tsr_gpu_runner *r, int index, const void *program) {
    for (int i = 0; i < index; i++)
        if (r->programs[i] == program)
            return false;
    r->programs[index] = program;
    r->program_count++;
    return true;
}

static const tsr_shape *shape_of(const tsr_gpu_runner *r, int value) {
    return &r->graph->values[value].shape;
}

tsr_status tsr_gpu_stage_input(tsr_gpu_runner *r, int value, const tsr_elements *from,
                               tsr_elements *staged, float **floats) {
    size_t count = (size_t)tsr_shape_count(shape_of(r, value));
    *staged = *from;
    *floats = NULL;
    tsr_fallback_set_input(&r->fallback, value, from);
    if (r->plan->value_tensor[value] == TSR_NONE || tsr_transfer_converts(r->plan, value, from))
        return TSR_OK;
    if (from->is_pixels)
        return tsr_fail(TSR_ERROR_LIMIT, "input '%s': %d x %d pixels are too many for a transfer",
                        r->graph->values[value].name, from->pixels.width, from->pixels.height);
    *floats = tsr_malloc(count * sizeof **floats + 1);
    if (!*floats)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to convert an input");
    tsr_elements_to_floats(from, shape_of(r, value), *floats);
    *staged = tsr_elements_of_floats(*floats, count);
    return TSR_OK;
}

tsr_status tsr_gpu_read_kept(tsr_gpu_runner *r, int value, const tsr_elements *to,
                             tsr_read_fn *read, void *user) {
    int tensor = r->plan->value_tensor[value];
    float *floats = tsr_malloc((size_t)tsr_shape_count(shape_of(r, value)) * sizeof *floats + 1);
    if (!floats)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to read a tensor");
    tsr_status status = TSR_OK;
    if (tensor == TSR_NONE)
        tsr_fallback_get_output(&r->fallback, value, floats);
    else
        status = read(user, tensor, floats);
    if (status == TSR_OK)
        tsr_elements_from_floats(floats, shape_of(r, value), to);
    tsr_free(floats);
    return status;
}

tsr_status tsr_gpu_fail_earlier(const tsr_gpu_runner *r, int output) {
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                    "output '%s' of an earlier run was not transferred, and is overwritten",
                    r->graph->values[r->outputs[output].value].name);
}

tsr_status tsr_gpu_read_output(tsr_gpu_runner *r, int output, const tsr_elements *to, bool latest,
                               tsr_read_output_fn *transferred, tsr_read_fn *tensor, void *user) {
    int value = r->outputs[output].value;
    tsr_elements plain = tsr_gpu_floats_of(r, value);
    if (tsr_gpu_transfers_output(r, output, to))
        return transferred(user, output, to);
    if (!tsr_gpu_transfers_output(r, output, &plain))
        return latest ? tsr_gpu_read_kept(r, value, to, tensor, user)
                      : tsr_gpu_fail_earlier(r, output);
    float *floats = tsr_malloc(plain.array.count * sizeof *floats);
    if (!floats)
        return out_of_memory();
    plain.array.data = floats;
    tsr_status status = transferred(user, output, &plain);
    if (status == TSR_OK)
        tsr_elements_from_floats(floats, shape_of(r, value), to);
    tsr_free(floats);
    return status;
}

bool tsr_gpu_transfers_output(const tsr_gpu_runner *r, int output, const tsr_elements *to) {
    return output != TSR_NONE && r->outputs[output].tensor != TSR_NONE &&
           tsr_transfer_converts(r->plan, r->outputs[output].value, to);
}

tsr_status tsr_gpu_pack_input(const tsr_gpu_runner *r, int value, const tsr_elements *from,
                              float **texels) {
    const tsr_layout *l = tsr_plan_layout(r->plan, r->plan->value_tensor[value]);
    size_t count = (size_t)tsr_shape_count(shape_of(r, value));
    float *floats = tsr_malloc(count * sizeof *floats);
    *texels = tsr_malloc(tsr_layout_floats(l) * sizeof **texels);
    tsr_status status = TSR_OK;
    if (floats && *texels) {
        tsr_elements_to_floats(from, shape_of(r, value), floats);
        tsr_layout_pack(l, floats, r->options.poison ? NAN : 0, *texels);
        for (size_t i = 0; l->format == TSR_TEXEL_F16 && i < tsr_layout_floats(l);
             i++) /* drivers may truncate */
            (*texels)[i] = tsr_round_to_half((*texels)[i]);
    } else {
        status = tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to pack an input");
    }
    tsr_free(floats);
    return status;
}

tsr_elements tsr_gpu_floats_of(const tsr_gpu_runner *r, int value) {
    return tsr_elements_of_floats(NULL, (size_t)tsr_shape_count(shape_of(r, value)));
}

int tsr_gpu_find_input(const tsr_gpu_runner *r, int value) {
    int i = 0;
    while (r->graph->inputs[i] != value)
        i++;
    return i;
}

int tsr_gpu_find_output(const tsr_gpu_runner *r, int value) {
    for (int i = 0; i < r->output_count; i++)
        if (r->outputs[i].value == value)
            return i;
    return TSR_NONE;
}

bool tsr_gpu_only_packs(const tsr_gpu_runner *r, int constant) {
    const tsr_graph *graph = r->graph;
    int packed = 0, read = 0;
    for (int i = 0; i < r->plan->pass_count; i++)
        packed += r->plan->passes[i].table.constant == constant;
    for (int v = 0; v < graph->value_count; v++)
        read += graph->values[v].model_constant == constant && r->plan->value_tensor[v] != TSR_NONE;
    return packed > 0 && read == 0;
}

static const tsr_gpu_runner *base_of(const tsr_runner *runner) {
    return (const tsr_gpu_runner *)runner; /* its first member */
}

void tsr_gpu_transfer_outputs(tsr_runner *runner, bool transfer) {
    ((tsr_gpu_runner *)runner)->keeps_outputs = !transfer; /* its first member */
}

bool tsr_gpu_can_read(const tsr_runner *runner, int value) {
    const tsr_gpu_runner *r = base_of(runner);
    int tensor = r->plan->value_tensor[value];
    if (tensor == TSR_NONE)
        return r->plan->value_on_cpu[value];
    return r->plan->tensors[tensor].storage != TSR_NONE && r->plan->tensors[tensor].keep;
}

void tsr_gpu_report(const tsr_runner *runner, tsr_report *out) {
    const tsr_gpu_runner *r = base_of(runner);
    out->pass_count = r->plan->pass_count;
    out->program_count = r->program_count;
    out->cached_programs = r->cached_programs;
    out->compile_ms = r->compile_ms;
    out->tensor_bytes = r->plan->tensor_bytes;
    out->live_bytes_bound = r->plan->live_bytes_bound;
    out->weight_bytes = r->plan->constant_bytes;
    out->packed_bytes = r->packed_bytes;
    out->allocated_bytes = r->allocated_bytes;
    out->gpu_ms = r->gpu_ms;
    out->precision = r->plan->all_half ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32;
}

/* Is what the node writes in 16 bits on the device? */
static bool is_half(const tsr_gpu_runner *r, int node) {
    int value = r->graph->nodes[node].outputs[0],
        tensor = value == TSR_NONE ? TSR_NONE : r->plan->value_tensor[value];
    return tensor != TSR_NONE && tsr_plan_layout(r->plan, tensor)->format == TSR_TEXEL_F16;
}

/* What packed weights, their scales and zero points have beside or without what they have as floats
 * in the other tensors' precision. */
static int64_t narrowed_bytes(const tsr_plan *plan, const tsr_table *t, bool half) {
    const tsr_layout *scales = tsr_plan_layout(plan, t->scales);
    int64_t stored = t->weights * (int64_t)tsr_table_texel_bytes(t->format) / 4,
            of_scales = t->scales ? (int64_t)scales->c * scales->w * (int64_t)sizeof(float) : 0;
    return stored + of_scales - t->weights * (half ? 2 : 4);
}

void tsr_gpu_node_report(const tsr_runner *runner, int node, tsr_node_report *out) {
    const tsr_gpu_runner *r = base_of(runner);
    bool on_cpu = false, half = is_half(r, node);
    int64_t narrowed = 0;
    out->kernel = r->kernels[node] ? r->kernels[node] : "";
    out->passes = 0;
    out->draws = 0;
    for (int i = 0; i < r->plan->pass_count; i++)
        if (r->plan->passes[i].node == node) {
            out->passes++;
            out->draws += tsr_pass_count_draws(r->plan, &r->plan->passes[i]);
            narrowed += narrowed_bytes(r->plan, &r->plan->passes[i].table, half);
            on_cpu = on_cpu || r->plan->passes[i].kind == TSR_PASS_CPU;
        }
    if (on_cpu || !out->passes) /* else the backend, which the session has set */
        out->backend = on_cpu ? "cpu" : "view";
    out->ms = r->node_ms[node];
    out->precision = half ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32;
    if (!out->passes)
        out->bytes = 0;
    else if (half && !on_cpu)
        out->bytes /= 2;
    out->bytes += (uint64_t)narrowed;
}

tsr_candidates tsr_gpu_candidates(const tsr_runner *runner, int node) {
    return base_of(runner)->plan->candidates[node];
}
