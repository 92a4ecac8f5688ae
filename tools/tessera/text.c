#include "text.h"
#include "tool.h"

static label scaled_label(double value, double base, const char *const *units, int unit_count) {
    int unit = 0;
    while (value >= base && unit + 1 < unit_count) {
        value /= base;
        unit++;
    }
    label made;
    if (unit == 0)
        snprintf(made.text, sizeof made.text, "%.0f %s", value, units[0]);
    else
        snprintf(made.text, sizeof made.text, "%.*f %s",
                 value < 10    ? 2
                 : value < 100 ? 1
                               : 0,
                 value, units[unit]);
    return made;
}

label bytes_label(uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    return scaled_label((double)bytes, 1024, units, 5);
}

label count_label(double count) {
    static const char *const units[] = {"", "K", "M", "G", "T"};
    return scaled_label(count, 1000, units, 5);
}

tsr_status print_nodes(const tsr_session *session, const double *ms) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    printf("\n  %-28s %-24s %-18s %-6s %-18s %6s %9s%s\n", "node", "op", "shape", "where", "kernel",
           "passes", "MACs", ms ? "        ms   GFLOP/s" : "");
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        TRY_LIBRARY(tsr_session_node_report(session, i, &node));
        printf("  %-28s %-24s %-18s %-6s %-18s %6d %9s", node.name, node.op,
               shape_label(&node.shape).text, node.backend, node.kernel, node.passes,
               count_label((double)node.macs).text);
        if (ms && ms[i] >= 0)
            printf(" %9.3f", ms[i]);
        if (ms && ms[i] > 0 && node.macs > 0)
            printf(" %9.2f", 2e-6 * (double)node.macs / ms[i]);
        putchar('\n');
    }
    return TSR_OK;
}
