/* The names that are most similar to one that does not exist: for messages. */
#ifndef TSR_BASE_SIMILAR_H
#define TSR_BASE_SIMILAR_H

enum { TSR_SIMILAR_NAMES = 5 };

/* Zero-initialised it is empty. */
typedef struct tsr_similar {
    const char *names[TSR_SIMILAR_NAMES]; /* borrowed, the most similar first */
    int distance[TSR_SIMILAR_NAMES];
    int count;
} tsr_similar;

/* Adds a name if it is among those most similar to `wanted`. */
void tsr_similar_add(tsr_similar *similar, const char *wanted, const char *name);

#endif
