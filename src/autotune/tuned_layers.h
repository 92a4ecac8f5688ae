/* Results of autotuning on a device: in the device's memory, and in the cache on disk for other
 * processes. */
#ifndef TSR_AUTOTUNE_TUNED_LAYERS_H
#define TSR_AUTOTUNE_TUNED_LAYERS_H

#include "algorithm/algorithm.h"
#include "base/cache.h"

typedef struct tsr_timing {
    const char *algorithm;
    double ms; /* of its passes */
} tsr_timing;

typedef struct tsr_timings {
    int best; /* index; TSR_NONE: no candidate runs, or there was too little time */
    int count;
    tsr_timing list[TSR_ALGORITHMS];
} tsr_timings;

typedef struct tsr_layer_key {
    tsr_cache_key exact;
    tsr_cache_key any_size; /* without batch and image size */
} tsr_layer_key;

typedef struct tsr_tuned_layer {
    tsr_layer_key key;
    tsr_timings timings;
} tsr_tuned_layer;

/* Zero-initialised, freed with tsr_tuned_layers_free. */
typedef struct tsr_tuned_layers {
    int count, capacity;
    tsr_tuned_layer *layers;
} tsr_tuned_layers;

void tsr_tuned_layers_free(tsr_tuned_layers *tuned);

/* Index of the layer in `tuned`, which is read from the cache on disk if it is not in memory;
 * TSR_NONE if it was never measured. any_size: accepts one of another size. */
int tsr_tuned_layers_find(tsr_tuned_layers *tuned, const tsr_layer_key *key, bool any_size);
/* Index of the layer, new or known; TSR_NONE when out of memory: it will be measured again.
 * to_disk: for other processes too. */
int tsr_tuned_layers_add(tsr_tuned_layers *tuned, const tsr_layer_key *key,
                         const tsr_timings *timings, bool to_disk);

#endif
