/* TSR_PRECISION_AUTO: which tensors are kept in 32 bits. */
#ifndef TSR_API_CALIBRATE_H
#define TSR_API_CALIBRATE_H

#include "api/session.h"

/* Elements of every input, as the model has them or, of integers, as floats; by graph input, NULL
 * where there are none. */
typedef struct tsr_input_copies {
    int count;
    float **elements;
} tsr_input_copies;

/* From the session's runner. To be freed, after a failure, too. */
tsr_status tsr_input_copies_take(const tsr_session *session, tsr_input_copies *copies);
tsr_status tsr_input_copies_give(const tsr_session *session, tsr_runner *runner,
                                 const tsr_input_copies *copies);
void tsr_input_copies_free(tsr_input_copies *copies);

/* Runs the model in 32 bits, then in plans of 16 bits with more and more values in 32 bits.
 * choice->precise: of the graph's values; on failure the choice is incomplete. */
tsr_status tsr_choose_storage(const tsr_session *session, const tsr_input_copies *inputs,
                              tsr_storage_choice *choice);

/* Replaces the session's runner by one that stores its tensors so, with these inputs. On failure
 * the session is as before. */
tsr_status tsr_session_store_as(tsr_session *session, const tsr_storage_choice *choice,
                                const tsr_input_copies *inputs);

#endif
