#include "json.h"
#include "output.h"
#include "tool.h"

void json_add_text(cJSON *object, const char *key, const char *text) {
    char shown[4096];
    cJSON_AddStringToObject(object, key, tsr_escape(text, shown, sizeof shown));
}

tsr_status json_write(cJSON *root, const char *path) {
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory", path);
    output_file out;
    tsr_status status = output_begin(path, &out);
    if (status == TSR_OK) {
        fprintf(out.file, "%s\n", text);
        status = output_end(&out, TSR_OK);
    }
    cJSON_free(text);
    return status;
}
