/* Elements in a caller's memory, before a backend gets them. */
#ifndef TSR_API_CHECK_ELEMENTS_H
#define TSR_API_CHECK_ELEMENTS_H

#include "base/elements.h"
#include "graph/graph.h"

/* Do they fit the value's shape, and their memory? Sets the defaults of pixels. */
tsr_status tsr_check_elements(const tsr_graph *graph, const tsr_value *value,
                              tsr_elements *elements);
/* Does an integer or boolean input have these elements? */
tsr_status tsr_check_integers(const tsr_graph *graph, const tsr_value *value,
                              const tsr_elements *elements);
/* The same for a buffer, whose bytes become those that are accessed. */
tsr_status tsr_check_buffer(const tsr_graph *graph, const tsr_value *value, bool output,
                            tsr_buffer *buffer);

#endif
