/* Graphs that are run on the cpu while a model is written. */
#ifndef TSR_API_WRITE_RUN_H
#define TSR_API_WRITE_RUN_H

#include "base/progress.h"
#include "graph/graph.h"

/* Called after each run. inputs: as tsr_write_desc has them. */
typedef tsr_status (*tsr_write_read_fn)(void *user, tsr_session *session,
                                        const tsr_fixed_input *inputs);

typedef struct tsr_write_reader {
    tsr_write_read_fn read;
    void *user;
    const char *what;          /* for progress */
    tsr_progress_meter *meter; /* at the stage of this */
} tsr_write_reader;

/* Runs a graph, which is freed in any case, with the description's inputs, or with each of its
 * samples. */
tsr_status tsr_write_run(tsr_graph *graph, const tsr_write_desc *desc,
                         const tsr_write_reader *reader);

/* The sample's name in messages. */
const char *tsr_write_sample_name(const tsr_write_desc *desc, int sample, char number[32]);

#endif
