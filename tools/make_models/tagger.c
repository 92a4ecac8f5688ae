/* A tagger of words: an embedding, two bidirectional LSTMs, a linear layer; batch and length are
 * open. */
#include "make_models/exporter.h"

enum { WORDS = 200, EMBEDDING = 20, HIDDEN = 24, TAGS = 9 };

/* torch.zeros(2, n, HIDDEN): the state before the first word. */
static value zero_state(exporter *e, value batch) {
    const value lists[] = {EXPORT_INTS(e, 2), batch};
    value sizes = export_sizes(e, 2, lists, 1, (int64_t[]){HIDDEN});
    return EXPORT_OP(e, "Expand", export_number(e, 0), sizes);
}

/* [length, n, in] to [length, n, 2 * HIDDEN] */
static value lstm(exporter *e, value x, int64_t in, value batch) {
    value state = zero_state(e, batch), weights = EXPORT_WEIGHTS(e, 0, 0.2, 2, 4 * HIDDEN, in),
          recurrent = EXPORT_WEIGHTS(e, 0, 0.2, 2, 4 * HIDDEN, HIDDEN),
          bias = EXPORT_WEIGHTS(e, 0, 0.1, 2, 8 * HIDDEN), outputs[3];
    const value inputs[] = {x, weights, recurrent, bias, NULL, state, state};
    export_outputs(e, "LSTM", 7, inputs, 3, outputs);
    onnx_set_string(e->writer, e->last, "direction", "bidirectional");
    onnx_set_int(e->writer, e->last, "hidden_size", HIDDEN);
    value moved = EXPORT_TRANSPOSE(e, outputs[0], 0, 2, 1, 3);
    return EXPORT_RESHAPE(e, moved, 0, 0, -1);
}

static void name_dims(exporter *e, Tsr__ValueInfoProto *info) {
    onnx_set_dim_name(e->writer, info, 0, "batch");
    onnx_set_dim_name(e->writer, info, 1, "length");
}

void export_tagger(exporter *e, int64_t size) {
    (void)size;
    name_dims(e, onnx_add_input(e->writer, "words", TSR_DTYPE_I64, 2, (int64_t[]){-1, -1}));
    value table = EXPORT_WEIGHTS(e, 0, 1, WORDS, EMBEDDING),
          embedded = EXPORT_OP(e, "Gather", table, "words"),
          by_time = EXPORT_TRANSPOSE(e, embedded, 1, 0, 2), batch = export_size(e, by_time, 1),
          first = lstm(e, by_time, EMBEDDING, batch), second = lstm(e, first, 2 * HIDDEN, batch),
          by_batch = EXPORT_TRANSPOSE(e, second, 1, 0, 2),
          scores = export_linear(e, by_batch, 2 * HIDDEN, TAGS);
    EXPORT_OP(e, "LogSoftmax", scores);
    onnx_set_int(e->writer, e->last, "axis", -1);
    export_as(e, "log_probabilities");
    name_dims(e, onnx_add_output(e->writer, "log_probabilities", TSR_DTYPE_F32, 3,
                                 (int64_t[]){-1, -1, TAGS}));
    EXPORT_OP(e, "ArgMax", "log_probabilities");
    onnx_set_int(e->writer, e->last, "axis", -1);
    onnx_set_int(e->writer, e->last, "keepdims", 0);
    export_as(e, "tags");
    name_dims(e, onnx_add_output(e->writer, "tags", TSR_DTYPE_I64, 2, (int64_t[]){-1, -1}));
}
