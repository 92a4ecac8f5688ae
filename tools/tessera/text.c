#include "text.h"
#include "tool.h"

#include <string.h>

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

label ms_label(double ms) {
    label made;
    if (ms < 0)
        snprintf(made.text, sizeof made.text, "-");
    else
        snprintf(made.text, sizeof made.text, "%.*f", ms < 1000 ? 3 : 1, ms);
    return made;
}

static bool inside_character(char byte) { /* of UTF-8 */
    return ((unsigned char)byte & 0xC0) == 0x80;
}

void name_list_add(char *list, size_t room, const char *name) {
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s'%s'", used ? ", " : "", name);
}

label short_label(const char *name, int width) {
    label made;
    char shown[4096];
    tsr_escape(name, shown, sizeof shown);
    int length = (int)strlen(shown), head = (width - 2) / 2, tail = length - (width - 2 - head);
    tsr_escape(name, made.text, sizeof made.text);
    if (length <= width)
        return made;
    while (head > 0 && inside_character(shown[head]))
        head--;
    while (inside_character(shown[tail]))
        tail++;
    snprintf(made.text, sizeof made.text, "%.*s..%s", head, shown, shown + tail);
    return made;
}

label name_label(const char *name) {
    return short_label(name, sizeof((label *)NULL)->text - 1);
}

tsr_status print_nodes(const tsr_session *session) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    printf("\n%-20s %-18s %-19s %-6s %-16s %6s %7s\n", "node", "op", "shape", "where", "kernel",
           "passes", "MACs");
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        TRY_LIBRARY(tsr_session_node_report(session, i, &node));
        printf("%-20s %-18s %-19s %-6s %-16s %6d %7s\n", short_label(node.name, 20).text,
               short_label(node.op, 18).text, shape_label(&node.shape).text, node.backend,
               short_label(node.kernel, 16).text, node.passes, count_label((double)node.macs).text);
    }
    return TSR_OK;
}
