/* One worker's part of many inputs. */
#ifndef TESSERA_SHARD_H
#define TESSERA_SHARD_H

#include "tool.h"

/* Items index, index + count, index + 2 * count, ..., counted from 0. */
typedef struct shard {
    int64_t index, count;
} shard;

/* "I/N" with I from 0 to N - 1; "auto/N" or "auto": I, and N, from the environment of Slurm or
 * Kubernetes. Fails where that says nothing, or where its numbers leave parts out. */
tsr_status shard_parse(const char *text, shard *made);

bool shard_has(shard s, int64_t item);
/* The number of items in this shard, of `items` in all. */
int64_t shard_size(shard s, int64_t items);

#endif
