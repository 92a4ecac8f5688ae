/* A model run on many inputs, one after the other. */
#ifndef TESSERA_BATCH_H
#define TESSERA_BATCH_H

#include "single.h"
#include "source.h"

typedef struct batch_options {
    shard shard;
    source_frame frame;
    int video;   /* of a film on the standard output: a batch_video */
    bool resume; /* inputs whose outputs are there are left out */
    bool told;   /* outputs of every input, as those of a single run */
    single_options *single;
} batch_options;

typedef enum batch_video { VIDEO_AUTO, VIDEO_Y4M, VIDEO_RGB24 } batch_video;

/* The input that has many tensors; NULL if there is none. */
tsr_status batch_input(job *j, job_input **input);

/* paths: where each of the model's outputs goes, NULL: nowhere. Drawings go where single->draw.path
 * says, as outputs do. Outputs that go nowhere are told if there are no others. Inputs that cannot
 * be read are reported on stderr and counted in *skipped. */
tsr_status batch_run(job *j, job_input *input, const batch_options *options, int count,
                     const char **paths, int64_t *skipped);

#endif
