/* Fuzz target: what is read besides models. The first byte says as what: a .npy file, a .pb file, a
 * kernel's text, a text for the terminal, a photo's header. */
#include "base/allocator.h"
#include "kernel/template.h"
#include "onnx/onnx.h"
#include "tessera/exif.h"
#include "tessera/tensor.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void fuzz_npy(const uint8_t *bytes, size_t size) {
    tensor made = {0};
    if (npy_parse(bytes, size, "fuzz.npy", &made) == TSR_OK)
        tensor_free(&made);
}

static void fuzz_proto(const uint8_t *bytes, size_t size) {
    tsr_graph *graph;
    int value;
    if (tsr_onnx_read_tensor(bytes, size, "fuzz.pb", &graph, &value) == TSR_OK)
        tsr_graph_destroy(graph);
}

static const char *no_file(const char *stem) {
    return strcmp(stem, "part") ? NULL : "#for i ROWS\n$i ${i * 3}\n#endfor\n";
}

static void fuzz_template(const char *text) {
    static const tsr_template_name names[] = {{"ROWS", 3}, {"ZERO", 0}, {"LOW", -7}};
    static const char *const inputs[] = {"first", "second"};
    static const tsr_template_param params[] = {{"size.x", "u[0].x"}, {"gain", "f[0].y"}};
    const tsr_template t = {.names = names,
                            .name_count = 3,
                            .inputs = inputs,
                            .input_count = 2,
                            .params = params,
                            .param_count = 2,
                            .find_file = no_file};
    tsr_text out = {0};
    tsr_template_expand(&out, text, &t);
    tsr_free(tsr_text_take(&out));
}

static void fuzz_exif(const uint8_t *bytes, size_t size) {
    int orientation = exif_orientation(bytes, size);
    if (orientation < 1 || orientation > 8)
        abort();
}

/* What is shown is shown unchanged the next time, and as much of it as fits. */
static void fuzz_escape(const char *text, size_t length) {
    size_t room = 6 * length + 1;
    char *shown = malloc(room), *again = malloc(room);
    if (!shown || !again)
        abort();
    tsr_escape(text, shown, room);
    if (strcmp(shown, tsr_escape(shown, again, room)) != 0)
        abort();
    size_t half = strlen(shown) / 2 + 1;
    if (strncmp(shown, tsr_escape(text, again, half), strlen(again)) != 0 || strlen(again) >= half)
        abort();
    free(shown);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0 || size > MAX_BYTES)
        return 0;
    char *text = malloc(size);
    if (!text)
        abort();
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';
    switch (bytes[0] % 5) {
    case 0:
        fuzz_npy(bytes + 1, size - 1);
        break;
    case 1:
        fuzz_proto(bytes + 1, size - 1);
        break;
    case 2:
        fuzz_template(text);
        break;
    case 3:
        fuzz_exif(bytes + 1, size - 1);
        break;
    default:
        fuzz_escape(text, strlen(text));
    }
    free(text);
    return 0;
}
