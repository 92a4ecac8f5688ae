/* make_case OPSET TEXT FILE: writes the model that support/onnx_case.h reads from the text, for
 * scripts. */
#include "support/onnx_case.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc != 4) {
        fputs("usage: make_case OPSET TEXT FILE\n", stderr);
        return 2;
    }
    onnx_writer *writer = onnx_case(atoi(argv[1]), argv[2]);
    bool written = onnx_write_file(writer, argv[3]);
    if (!written)
        perror(argv[3]);
    onnx_writer_destroy(writer);
    return written ? 0 : 1;
}
