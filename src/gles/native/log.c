/* The message about each pass, which tools/phones/trace.py reads. */
#include "gles/runner.h"

#include "base/error.h"
#include "graph/rules.h"

#include <inttypes.h>

static int channel_bits(const tsr_layout *l) {
    if (l->bytes)
        return 8;
    return 8 * tsr_texel_bytes(l->format) / 4;
}

void tsr_gles_log_pass(const tsr_runner *r, const tsr_pass *pass, const tsr_program *program) {
    if (r->latest)
        return;
    const tsr_plan *plan = r->base.plan;
    const tsr_layout *l = tsr_plan_layout(plan, pass->output);
    const tsr_node *node = pass->node == TSR_NONE ? NULL : &plan->graph->nodes[pass->node];
    int64_t fragments = pass->draw_count ? (int64_t)l->n * l->tiles * l->tile_w * l->h
                                         : (int64_t)l->texture_w * l->texture_h;
    uint64_t read = tsr_table_bytes(&pass->table);
    for (int i = 0; i < tsr_pass_count_reads(pass); i++)
        read += tsr_layout_bytes(tsr_plan_layout(plan, tsr_pass_read(pass, i)));
    const int writes = tsr_pass_count_writes(pass);
    int channels = pass->source_count ? tsr_plan_layout(plan, pass->sources[0])->c : 0;
    tsr_log(TSR_LOG_DEBUG,
            "pass: program %u, kernel %s, %" PRId64 " fragments, %d targets of %d bits, %" PRId64
            " draws, %d to %d channels, %" PRIu64 " bytes read, %" PRIu64
            " bytes written, node %d, %" PRId64 " multiply-adds, '%s' (%s)",
            (unsigned)program->id, pass->kernel->stem, fragments,
            writes > 1 ? writes * pass->planes : l->planes, channel_bits(l),
            tsr_pass_count_draws(plan, pass), channels, l->c, read,
            (uint64_t)writes * tsr_layout_bytes(l), pass->node,
            node ? tsr_node_macs(plan->graph, node) : 0, node ? node->name : "",
            node ? tsr_node_op_name(node) : "");
}
