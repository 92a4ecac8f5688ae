/* The names of a model's classes. */
#ifndef TESSERA_LABELS_H
#define TESSERA_LABELS_H

#include "tensor.h"

typedef struct labels {
    const char *from; /* where they stand, for messages: borrowed */
    bool of_metadata; /* the model's, perhaps another tool's */
    int count;
    char **names; /* malloc, each of them, too */
} labels;

/* A text file with one name a line; empty lines at its end do not count. */
tsr_status labels_read(const char *path, labels *made);
/* The same from a text. */
tsr_status labels_add_lines(labels *l, const char *text, size_t size);
tsr_status labels_add(labels *l, const char *name, size_t length);
void labels_free(labels *l);

/* A class's name, NULL where there are no labels. */
const char *labels_name(const labels *l, size_t index);
/* The failure of labels that are not as many as the classes of an output. */
tsr_status labels_fail(const labels *l, const tsr_tensor_info *output);
/* Refuses labels where the model's outputs have vectors of scores, none of this many classes.
 * session: knows shapes that the model leaves open; NULL: there is none yet. */
tsr_status labels_check(const labels *l, const tsr_model *model, const tsr_session *session);

#endif
