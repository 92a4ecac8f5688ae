/* What a session tells about itself. */
#include "api/session.h"

#include "api/sized.h"
#include "base/error.h"

#include <string.h>

/* ---- runs and nodes
 * --------------------------------------------------------------------------------- */

static int node_count(const tsr_session *session) {
    return session->graph->node_count + (session->late ? session->late->nodes.node_count : 0);
}

tsr_status tsr_session_report_sized(const tsr_session *session, tsr_report *report, size_t size) {
    if (!session || !report)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_report: %s is NULL",
                        session ? "report" : "session");
    const tsr_graph *graph = session->graph;
    tsr_report known = {.backend = session->device->backend->name,
                        .node_count = node_count(session),
                        .gpu_ms = -1,
                        .tuned_layers = session->tuning.measured,
                        .tune_ms = session->tuning.ms,
                        .macs = tsr_graph_macs(graph),
                        .calibrated_error = session->chosen ? session->storage.error : -1,
                        .precise_weights = session->chosen && session->storage.precise_weights};
    session->device->backend->report(session->runner, &known);
    for (int v = 0; session->chosen && v < graph->value_count; v++)
        known.precise_tensors += session->storage.precise[v];
    tsr_give_struct(&known, sizeof known, report, size);
    return TSR_OK;
}

/* Names and the tensor that it writes. */
static tsr_node_report describe_node(const tsr_graph *graph, const tsr_node *node, const char *op,
                                     const char *backend) {
    tsr_node_report known = {.name = node->name,
                             .op = op,
                             .output = "",
                             .backend = backend,
                             .kernel = "",
                             .ms = -1,
                             .winograd_tile = ""};
    for (int i = node->output_count - 1; i >= 0; i--) {
        const tsr_value *output = tsr_node_out(graph, node, i);
        if (output) {
            known.output = output->name;
            known.shape = output->shape;
            known.dtype = output->dtype;
        }
    }
    return known;
}

static void describe_algorithm(tsr_candidates all, tsr_node_report *known) {
    known->candidates = all.count;
    for (int i = 0; i < all.count; i++)
        if (all.list[i].chosen && all.list[i].winograd_tile)
            known->winograd_tile = all.list[i].winograd_tile;
}

tsr_node_report tsr_report_node(const tsr_device *device, const tsr_runner *runner,
                                const tsr_graph *graph, int index, const char *op) {
    const tsr_node *node = &graph->nodes[index];
    const tsr_backend *backend = device->backend;
    tsr_node_report known = describe_node(graph, node, op, backend->name);
    known.macs = tsr_node_macs(graph, node);
    known.bytes = (uint64_t)tsr_node_floats(graph, node) * sizeof(float);
    if (backend->candidates)
        describe_algorithm(backend->candidates(runner, index), &known);
    backend->node_report(runner, index, &known);
    return known;
}

tsr_status tsr_session_node_report_sized(const tsr_session *session, int index,
                                         tsr_node_report *report, size_t size) {
    if (!session || !report || index < 0 || index >= node_count(session))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_session_node_report: there is no node %d of %d", index,
                        session ? node_count(session) : 0);
    const tsr_graph *graph = session->graph;
    tsr_node_report known;
    if (index >= graph->node_count) {
        const tsr_node *late = &session->late->nodes.nodes[index - graph->node_count];
        known = describe_node(graph, late, tsr_node_op_name(late), "cpu");
    } else {
        known = tsr_report_node(session->device, session->runner, graph, index,
                                session->op_texts[index]);
    }
    tsr_give_struct(&known, sizeof known, report, size);
    return TSR_OK;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static double measured_ms(const tsr_session *session, int node, const char *algorithm) {
    const int *tuned = session->tuning.tuned;
    if (!tuned || tuned[node] == TSR_NONE)
        return -1;
    const tsr_timings *timings = &session->device->tuned.layers[tuned[node]].timings;
    for (int i = 0; i < timings->count; i++)
        if (!strcmp(timings->list[i].algorithm, algorithm))
            return timings->list[i].ms;
    return -1;
}

static double least_cost(const tsr_candidates *all) {
    double least = all->list[0].cost;
    for (int i = 1; i < all->count; i++)
        least = all->list[i].cost < least ? all->list[i].cost : least;
    return least;
}

tsr_status tsr_session_candidate_report_sized(const tsr_session *session, int node, int i,
                                              tsr_candidate_report *report, size_t size) {
    tsr_node_report node_report;
    if (!report)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_candidate_report: report is NULL");
    TSR_TRY(tsr_session_node_report(session, node, &node_report));
    if (i < 0 || i >= node_report.candidates)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_session_candidate_report: there is no candidate %d of %d for node %d",
                        i, node_report.candidates, node);
    const tsr_candidates all = session->device->backend->candidates(session->runner, node);
    const tsr_candidate *c = &all.list[i];
    const tsr_candidate_report known = {.algorithm = c->algorithm,
                                        .estimate = c->cost / least_cost(&all),
                                        .bytes = c->bytes,
                                        .live_texels = c->live_texels,
                                        .ms = measured_ms(session, node, c->algorithm),
                                        .chosen = c->chosen,
                                        .winograd_tile = c->winograd_tile ? c->winograd_tile : ""};
    tsr_give_struct(&known, sizeof known, report, size);
    return TSR_OK;
}

/* ---- the optimizer's passes ------------------------------------------------------------------ */

const char *tsr_optimizer_pass_name(int index) {
    return index >= 0 && index < TSR_OPTIMIZER_COUNT ? tsr_optimizer_passes[index].name : NULL;
}

const char *tsr_optimizer_pass_text(int index) {
    return index >= 0 && index < TSR_OPTIMIZER_COUNT ? tsr_optimizer_texts[index] : NULL;
}

tsr_status tsr_session_optimizer_pass_sized(const tsr_session *session, int index,
                                            tsr_optimizer_pass_report *report, size_t size) {
    if (!session || !report || index < 0 || index >= TSR_OPTIMIZER_COUNT)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_session_optimizer_pass: there is no pass %d of %d", index,
                        TSR_OPTIMIZER_COUNT);
    const tsr_optimizer_pass_info *info = &tsr_optimizer_passes[index];
    const tsr_optimizer *optimizer = &session->optimizer;
    bool here = session->device->backend->optimizes || index == TSR_OPTIMIZER_fold_constants,
         on = here && optimizer->on[index];
    const tsr_optimizer_pass_report known = {
        .name = info->name,
        .required = info->required,
        .on = on,
        .nodes_before = on ? optimizer->nodes_before[index] : -1,
        .nodes_after = on ? optimizer->nodes_after[index] : -1};
    tsr_give_struct(&known, sizeof known, report, size);
    return TSR_OK;
}
