#include "labels.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LABELS = 1 << 20 };

/* The room is a power of two, doubled where the count is one. */
static bool has_room(labels *l) {
    if (l->count & (l->count - 1))
        return true;
    size_t room = l->count ? (size_t)l->count * 2 : 1;
    char **names = l->count < MOST_LABELS ? realloc(l->names, room * sizeof *names) : NULL;
    if (names)
        l->names = names;
    return names != NULL;
}

tsr_status labels_add(labels *l, const char *name, size_t length) {
    char *copy = has_room(l) ? malloc(length + 1) : NULL;
    if (!copy)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory for its labels", l->from);
    memcpy(copy, name, length);
    copy[length] = 0;
    l->names[l->count++] = copy;
    return TSR_OK;
}

static bool is_end_of_line(char c) {
    return c == '\n' || c == '\r';
}

tsr_status labels_add_lines(labels *l, const char *text, size_t size) {
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, by some editors */
    if (size >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0) {
        text += strlen(mark);
        size -= strlen(mark);
    }
    while (size && is_end_of_line(text[size - 1]))
        size--;
    for (const char *end = text + size; text < end;) {
        const char *line = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((line ? line : end) - text);
        TRY(labels_add(l, text, length && text[length - 1] == '\r' ? length - 1 : length));
        text += length + 1;
    }
    return l->count ? TSR_OK
                    : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: there are no labels in it", l->from);
}

tsr_status labels_read(const char *path, labels *made) {
    unsigned char *bytes;
    size_t size;
    *made = (labels){.from = path};
    TRY(file_check_regular(path));
    TRY(file_read(path, &bytes, &size));
    tsr_status status = memchr(bytes, 0, size)
                            ? fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is not a text", path)
                            : labels_add_lines(made, (const char *)bytes, size);
    free(bytes);
    if (status != TSR_OK)
        labels_free(made);
    return status;
}

void labels_free(labels *l) {
    for (int i = 0; i < l->count; i++)
        free(l->names[i]);
    free(l->names);
    *l = (labels){0};
}

const char *labels_name(const labels *l, size_t index) {
    return index < (size_t)l->count ? l->names[index] : NULL;
}

tsr_status labels_fail(const labels *l, const tsr_tensor_info *output) {
    return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: has %d labels, but output '%s' is %s%s", l->from,
                l->count, output->name, info_label(output).text,
                l->of_metadata ? "; --description none reads no metadata" : "");
}

tsr_status labels_check(const labels *l, const tsr_model *model, const tsr_session *session) {
    tsr_tensor_info info, other = {0};
    for (int i = 0; l->count && i < tsr_model_output_count(model); i++) {
        TRY_LIBRARY(session ? tsr_session_output(session, i, &info)
                            : tsr_model_output(model, i, &info));
        size_t classes = class_count(&info.shape);
        classes = classes ? classes : vector_class_count(&info.shape);
        if (classes == (size_t)l->count)
            return TSR_OK;
        if (classes)
            other = info;
    }
    return other.name ? labels_fail(l, &other) : TSR_OK;
}
