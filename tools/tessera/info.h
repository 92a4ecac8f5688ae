/* Parts of the command info. */
#ifndef TESSERA_INFO_H
#define TESSERA_INFO_H

#include "job.h"

/* A table of the optimizer's passes: nodes before and after each, and GPU passes and bytes of
 * tensors without it. backend NULL: the one in the options. */
tsr_status info_print_passes(const job *j, const char *backend);
/* Writes the graph, as the optimizer leaves it, as Graphviz' DOT. */
tsr_status info_write_dot(const job *j, const char *backend, const char *path);

#endif
