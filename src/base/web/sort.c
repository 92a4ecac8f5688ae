/* qsort() as a heap sort, a fraction of the C library's size. */
#include <stdlib.h>

typedef int (*comparison)(const void *, const void *);

static void swap(char *a, char *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

/* Moves element `at` down to where no child is larger. */
static void sift(char *list, size_t at, size_t count, size_t size, comparison compare) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare(list + child * size, list + (child + 1) * size) < 0)
            child++;
        if (compare(list + at * size, list + child * size) >= 0)
            return;
        swap(list + at * size, list + child * size, size);
    }
}

void qsort(void *elements, size_t count, size_t size, comparison compare) {
    char *list = elements;
    for (size_t i = count / 2; i-- > 0;)
        sift(list, i, count, size, compare);
    for (size_t i = count; i-- > 1;) {
        swap(list, list + i * size, size);
        sift(list, 0, i, size, compare);
    }
}
