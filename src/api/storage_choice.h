/* Which values TSR_PRECISION_AUTO keeps in 32 bits: kept by the device for later sessions of the
 * same graph, and on disk. */
#ifndef TSR_API_STORAGE_CHOICE_H
#define TSR_API_STORAGE_CHOICE_H

#include "backend/backend.h"

typedef struct tsr_storage_choice {
    bool *precise;        /* by value of the graph, in its arena */
    bool precise_weights; /* see tsr_runner_options */
    double error;         /* of the outputs as calibrated: see tsr_report */
} tsr_storage_choice;

typedef struct tsr_kept_choice tsr_kept_choice;

/* Of a device; zero-initialised. */
typedef struct tsr_storage_choices {
    tsr_kept_choice *head;
} tsr_storage_choices;

/* Depends on the device, its driver, the graph with its shapes, and a sample of each constant's
 * elements. */
tsr_cache_key tsr_storage_choice_key(const tsr_backend *backend, const tsr_backend_device *device,
                                     const tsr_graph *graph);
/* False if there is none; *status: TSR_ERROR_OUT_OF_MEMORY or TSR_OK. */
bool tsr_storage_choice_find(const tsr_storage_choices *kept, const tsr_cache_key *key,
                             tsr_graph *graph, tsr_storage_choice *choice, tsr_status *status);
/* Replaces an earlier one. */
tsr_status tsr_storage_choice_keep(tsr_storage_choices *kept, const tsr_cache_key *key,
                                   const tsr_graph *graph, const tsr_storage_choice *choice);
void tsr_storage_choices_clear(tsr_storage_choices *kept);

#endif
