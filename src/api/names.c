#include "api/names.h"

#include "base/similar.h"

#include <stdio.h>
#include <string.h>

void tsr_names_add(tsr_names *names, const char *name) {
    if (names->full)
        return;
    const size_t room = sizeof names->text - sizeof ", ...";
    size_t needed = strlen(name) + strlen(", ''");
    names->full = names->length + needed > room;
    const char *separator = names->length ? ", " : "";
    char *end = names->text + names->length;
    size_t left = sizeof names->text - names->length;
    if (names->full)
        snprintf(end, left, "%s...", separator);
    else
        names->length += (size_t)snprintf(end, left, "%s'%s'", separator, name);
}

tsr_names tsr_names_of(const tsr_graph *graph, const int *values, int count) {
    tsr_names names = {.text = "none"};
    for (int i = 0; i < count; i++)
        tsr_names_add(&names, graph->values[values[i]].name);
    return names;
}

int tsr_names_find(const tsr_graph *graph, const int *values, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(graph->values[values[i]].name, name) == 0)
            return i;
    return TSR_NONE;
}

tsr_names tsr_names_close_to(const tsr_graph *graph, const char *name) {
    tsr_similar similar = {0};
    for (int v = 0; v < graph->value_count; v++)
        if (graph->values[v].name)
            tsr_similar_add(&similar, name, graph->values[v].name);
    tsr_names names = {.text = "none"};
    for (int i = 0; i < similar.count; i++)
        tsr_names_add(&names, similar.names[i]);
    return names;
}
