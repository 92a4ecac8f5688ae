#define _POSIX_C_SOURCE 200809L

#include "base/similar.h"

#include "base/divide.h"

#include <string.h>

enum { MAX_COMPARED = 255 };

/* Levenshtein distance of the first MAX_COMPARED characters. */
static int edit_distance(const char *a, const char *b) {
    int row[MAX_COMPARED + 1];
    int columns = (int)strnlen(b, MAX_COMPARED), rows = (int)strnlen(a, MAX_COMPARED);
    for (int j = 0; j <= columns; j++)
        row[j] = j;
    for (int i = 0; i < rows; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int j = 0; j < columns; j++) {
            int replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = (int)tsr_min(replaced, tsr_min(row[j], row[j + 1]) + 1);
        }
    }
    return row[columns];
}

void tsr_similar_add(tsr_similar *similar, const char *wanted, const char *name) {
    for (int i = 0; i < similar->count; i++)
        if (strcmp(similar->names[i], name) == 0)
            return;
    int distance = edit_distance(wanted, name), at = similar->count;
    while (at > 0 && similar->distance[at - 1] > distance)
        at--;
    if (at == TSR_SIMILAR_NAMES)
        return;
    similar->count = (int)tsr_min(similar->count + 1, TSR_SIMILAR_NAMES);
    for (int i = similar->count - 1; i > at; i--) {
        similar->names[i] = similar->names[i - 1];
        similar->distance[i] = similar->distance[i - 1];
    }
    similar->names[at] = name;
    similar->distance[at] = distance;
}
