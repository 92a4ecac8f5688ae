#include "support/gpu_plans.h"

#include "algorithm/algorithm.h"
#include "algorithm/low_memory.h"
#include "lower/lower.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

tsr_plan *plan_on_gpu(const tsr_graph *graph, const char *const *algorithms, bool within_memory) {
    tsr_plan_options options = {
        .limits = {.max_texture_size = 4096, .max_planes = 8},
        .device = tsr_device_profile_make(TSR_GLSL, NULL, false, (tsr_fragment_limits){0}),
        .block_texels = 4096,
        .fallback = true,
        .weights = TSR_WEIGHTS_FP32, /* those of a graph without a model seem to be made */
        .lower = tsr_lowerings};
    options.device.features = TSR_NEEDS_UNIFORM_BLOCK;
    tsr_node_choice *choices = calloc((size_t)graph->node_count, sizeof *choices);
    assert_non_null(choices);
    for (int i = 0; algorithms && i < graph->node_count; i++)
        choices[i].algorithm = algorithms[i];
    options.choices = algorithms ? choices : NULL;
    tsr_plan *plan;
    assert_int_equal(within_memory ? tsr_plan_within_memory(graph, &options, &plan)
                                   : tsr_plan_create(graph, &options, &plan),
                     TSR_OK);
    free(choices);
    return plan;
}

int count_node_passes(const tsr_plan *plan, int node) {
    int count = 0;
    for (int i = 0; i < plan->pass_count; i++)
        count += plan->passes[i].node == node;
    return count;
}
