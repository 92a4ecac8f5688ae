#include "support/refused.h"

#include "onnx/onnx.h"
#include "support/graphs.h"
#include "support/onnx_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_message(const char *parts) {
    char part[256];
    while (*parts) {
        size_t length = strcspn(parts, "|");
        snprintf(part, sizeof part, "%.*s", (int)length, parts);
        if (!strstr(tsr_last_error(), part))
            fail_msg("\"%s\" is not in \"%s\"", part, tsr_last_error());
        parts += length + (parts[length] == '|');
    }
}

void expect_refused_bytes(const void *bytes, size_t size, tsr_status status, const char *parts) {
    tsr_graph *graph;
    const tsr_model_desc desc = {.name = "file.onnx", .max_bytes = 1 << 24};
    static tsr_maps none;
    tsr_status actual = tsr_onnx_read(bytes, size, &desc, &none, NULL, &graph);
    if (actual != status)
        fail_msg("%s instead of %s: %s", tsr_status_name(actual), tsr_status_name(status),
                 tsr_last_error());
    assert_null(graph);
    expect_message("file.onnx");
    expect_message(parts);
}

void expect_refused(onnx_writer *writer, tsr_status status, const char *parts) {
    size_t size;
    uint8_t *bytes = onnx_write_memory(writer, &size);
    assert_non_null(bytes);
    onnx_writer_destroy(writer);
    expect_refused_bytes(bytes, size, status, parts);
    free(bytes);
}

void expect_refused_case(int opset, const char *text, tsr_status status, const char *parts) {
    expect_refused(onnx_case(opset, text), status, parts);
}
