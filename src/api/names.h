/* Values by name, and lists of names for messages. */
#ifndef TSR_API_NAMES_H
#define TSR_API_NAMES_H

#include "graph/graph.h"

/* "'a', 'b', 'c'", cut off with "..." when long; empty when zero-initialised. */
typedef struct tsr_names {
    char text[400];
    size_t length;
    bool full;
} tsr_names;

void tsr_names_add(tsr_names *names, const char *name);

/* The names of some values of a graph; "none" if there are none. */
tsr_names tsr_names_of(const tsr_graph *graph, const int *values, int count);

/* The index of the value with this name among these; TSR_NONE if there is none. */
int tsr_names_find(const tsr_graph *graph, const int *values, int count, const char *name);

/* The names of values that are most similar to name. */
tsr_names tsr_names_close_to(const tsr_graph *graph, const char *name);

#endif
