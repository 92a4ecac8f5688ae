#include "passes/passes.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

#define REQUIRED_RUN(name) true, tsr_pass_##name
#define OPTIONAL_RUN(name) false, tsr_pass_##name
#define OUTSIDE_RUN(name) false, NULL

const tsr_optimizer_pass_info tsr_optimizer_passes[TSR_OPTIMIZER_COUNT] = {
#define TSR_OPTIMIZER_PASS(name, kind, text) {#name, kind##_RUN(name)},
#include "passes/passes.def"
};

const char *const tsr_optimizer_texts[TSR_OPTIMIZER_COUNT] = {
#define TSR_OPTIMIZER_PASS(name, kind, text) text,
#include "passes/passes.def"
};

static int find(const char *name, size_t length) {
    for (int i = 0; i < TSR_OPTIMIZER_COUNT; i++) {
        const char *known = tsr_optimizer_passes[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return i;
    }
    return TSR_NONE;
}

static tsr_status fail_unknown(const char *name, size_t length) {
    char all[1024] = "";
    for (int i = 0; i < TSR_OPTIMIZER_COUNT; i++) {
        size_t used = strlen(all);
        if (!tsr_optimizer_passes[i].required)
            snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "",
                     tsr_optimizer_passes[i].name);
    }
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                    "there is no optimizer pass '%.*s'; those that can be left out are: %s",
                    (int)length, name, all);
}

static void set_all(tsr_optimizer *optimizer, bool on) {
    for (int i = 0; i < TSR_OPTIMIZER_COUNT; i++)
        optimizer->on[i] = on || tsr_optimizer_passes[i].required;
}

/* One name of the list, without its sign. */
static tsr_status set_one(tsr_optimizer *optimizer, const char *name, size_t length, bool on) {
    int pass = find(name, length);
    if (pass == TSR_NONE)
        return fail_unknown(name, length);
    if (!on && tsr_optimizer_passes[pass].required)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "optimizer pass '%s' cannot be left out: a GPU needs it",
                        tsr_optimizer_passes[pass].name);
    optimizer->on[pass] = on;
    return TSR_OK;
}

tsr_status tsr_optimizer_make(const char *list, tsr_optimizer *optimizer) {
    for (int i = 0; i < TSR_OPTIMIZER_COUNT; i++)
        optimizer->nodes_before[i] = optimizer->nodes_after[i] = -1;
    bool all = !list || strcmp(list, "all") == 0, leaves_out = list && list[0] == '-';
    set_all(optimizer, all || leaves_out);
    if (all || strcmp(list, "none") == 0)
        return TSR_OK;
    for (const char *next = list; next;) {
        size_t length = strcspn(next, ",");
        if ((next[0] == '-') != leaves_out)
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                            "optimizer passes '%s': either each name has a '-', or none", list);
        TSR_TRY(set_one(optimizer, next + leaves_out, length - leaves_out, !leaves_out));
        next = next[length] ? next + length + 1 : NULL;
    }
    return TSR_OK;
}

tsr_status tsr_optimize(tsr_graph *graph, tsr_optimizer *optimizer) {
    for (int i = 0; i < TSR_OPTIMIZER_COUNT; i++) {
        if (!optimizer->on[i] || !tsr_optimizer_passes[i].run)
            continue;
        optimizer->nodes_before[i] = graph->node_count;
        TSR_TRY(tsr_optimizer_passes[i].run(graph));
        optimizer->nodes_after[i] = graph->node_count;
    }
    return TSR_OK;
}
