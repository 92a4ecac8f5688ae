#include "passes/passes.h"

#include "base/error.h"

tsr_status tsr_optimize(tsr_graph *graph) {
    TSR_TRY(tsr_pass_decompose(graph));
    TSR_TRY(tsr_pass_split_transpose(graph));
    TSR_TRY(tsr_pass_bypass(graph));
    TSR_TRY(tsr_pass_fold_batch_norm(graph));
    TSR_TRY(tsr_pass_fuse_before(graph));
    TSR_TRY(tsr_pass_fuse_posts(graph));
    return tsr_pass_remove_dead(graph);
}
