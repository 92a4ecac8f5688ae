#define _POSIX_C_SOURCE 200809L

#include "api/names.h"

#include <stdio.h>
#include <string.h>

enum { CLOSE_NAMES = 4, LONGEST_COMPARED = 255 };

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

static int least(int a, int b) {
    return a < b ? a : b;
}

/* Levenshtein distance of the first LONGEST_COMPARED characters. */
static int edit_distance(const char *a, const char *b) {
    int row[LONGEST_COMPARED + 1];
    int columns = (int)strnlen(b, LONGEST_COMPARED), rows = (int)strnlen(a, LONGEST_COMPARED);
    for (int j = 0; j <= columns; j++)
        row[j] = j;
    for (int i = 0; i < rows; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int j = 0; j < columns; j++) {
            int replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = least(replaced, least(row[j], row[j + 1]) + 1);
        }
    }
    return row[columns];
}

tsr_names tsr_names_close_to(const tsr_graph *graph, const char *name) {
    int best[CLOSE_NAMES], distance[CLOSE_NAMES], count = 0;
    for (int v = 0; v < graph->value_count; v++) {
        if (!graph->values[v].name)
            continue;
        int d = edit_distance(name, graph->values[v].name), at = count;
        while (at > 0 && distance[at - 1] > d)
            at--;
        if (at == CLOSE_NAMES)
            continue;
        count = least(count + 1, CLOSE_NAMES);
        for (int i = count - 1; i > at; i--) {
            best[i] = best[i - 1];
            distance[i] = distance[i - 1];
        }
        best[at] = v;
        distance[at] = d;
    }
    return tsr_names_of(graph, best, count);
}
