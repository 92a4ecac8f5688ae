#include "json.h"
#include "output.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void json_add_text(cJSON *object, const char *key, const char *text) {
    char shown[4096];
    cJSON_AddStringToObject(object, key, tsr_escape(text, shown, sizeof shown));
}

static int line_of(const char *text, const char *at) {
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static tsr_status parse(const char *path, const char *text, size_t size, cJSON **root) {
    const char *end = text;
    *root = cJSON_ParseWithLengthOpts(text, size, &end, false);
    const size_t read = (size_t)(end - text);
    if (*root && read + strspn(end, " \t\r\n") < size) {
        cJSON_Delete(*root);
        *root = NULL;
    }
    return *root ? TSR_OK
                 : fail(TSR_ERROR_INVALID_ARGUMENT, "%s:%d: not JSON", path, line_of(text, end));
}

tsr_status json_read(const char *path, cJSON **root) {
    enum { MOST_BYTES = 1 << 24 };
    struct stat place;
    unsigned char *bytes;
    size_t size;
    *root = NULL;
    TRY(file_check_regular(path));
    if (stat(path, &place) == 0 && place.st_size > MOST_BYTES)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: more than %d bytes", path, MOST_BYTES);
    TRY(file_read(path, &bytes, &size));
    char *text = malloc(size + 1); /* ended by 0 */
    tsr_status status = fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", path);
    if (text) {
        memcpy(text, bytes, size);
        text[size] = 0;
        status = parse(path, text, size, root);
    }
    free(text);
    free(bytes);
    return status;
}

bool json_is_stdout(const char *path) {
    return path && strcmp(path, "-") == 0;
}

tsr_status json_write(cJSON *root, const char *path) {
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", path);
    output_file out;
    bool piped = json_is_stdout(path);
    if (piped)
        puts(text); /* main() sees whether it was written */
    tsr_status status = piped ? TSR_OK : output_begin(path, &out);
    if (!piped && status == TSR_OK) {
        fprintf(out.file, "%s\n", text);
        status = output_end(&out, TSR_OK);
    }
    cJSON_free(text);
    return status;
}
