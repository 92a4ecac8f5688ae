#include "cpu/call.h"

#include "graph/custom.h"

tsr_status tsr_cpu_custom(const tsr_cpu_call *call) {
    tsr_custom_call custom = tsr_custom_call_of(call->graph, call->node);
    for (int i = 0; i < custom.input_count; i++)
        custom.input[i] = tsr_call_in(call, i);
    custom.output = tsr_call_out(call, 0);
    return tsr_custom_run(call->node->custom->compute, &custom, "function for the CPU");
}
