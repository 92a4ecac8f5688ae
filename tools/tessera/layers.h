/* The table of `tessera compare --layers`: each layer's time on each backend, and its errors. */
#ifndef TESSERA_LAYERS_H
#define TESSERA_LAYERS_H

#include "difference.h"
#include "tessera.h"

enum { MAX_BACKENDS = 8 };

/* The model on one backend. */
typedef struct runner {
    const char *backend;
    tsr_device *device;
    tsr_session *session;
    double run_ms; /* wall clock of the latest run */
} runner;

/* At most MAX_BACKENDS. The first of the runners is the reference. Their sessions have run, with
 * keep_tensors and time_passes. */
tsr_status print_layers(const runner *runners, int count, tolerance allowed);

#endif
