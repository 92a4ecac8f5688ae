#include "support/custom_ops.h"

#include "support/onnx_case.h"
#include "support/sessions.h"

#include <string.h>

/* Of tensors of 4 axes; zero outside. */
static float element(const tsr_custom_call *call, int i, int64_t n, int64_t c, int64_t y,
                     int64_t x) {
    const int64_t *dim = call->input_shape[i].dim;
    bool inside = y >= 0 && y < dim[2] && x >= 0 && x < dim[3];
    return inside ? call->input[i][((n * dim[1] + c) * dim[2] + y) * dim[3] + x] : 0;
}

typedef float element_fn(const tsr_custom_call *call, int64_t n, int64_t c, int64_t y, int64_t x);

static tsr_status each_element(tsr_custom_call *call, element_fn *fn) {
    const int64_t *dim = call->output_shape.dim;
    float *out = call->output;
    for (int64_t n = 0; n < dim[0]; n++)
        for (int64_t c = 0; c < dim[1]; c++)
            for (int64_t y = 0; y < dim[2]; y++)
                for (int64_t x = 0; x < dim[3]; x++)
                    *out++ = fn(call, n, c, y, x);
    return TSR_OK;
}

static tsr_status scale(tsr_custom_call *call) {
    float gain = tsr_attr_float(call->node, "gain", 0),
          offset = tsr_attr_float(call->node, "offset", 0);
    int64_t count = tsr_shape_count(&call->output_shape);
    for (int64_t i = 0; i < count; i++)
        call->output[i] = gain * call->input[0][i] + offset;
    return TSR_OK;
}

static float shifted(const tsr_custom_call *call, int64_t n, int64_t c, int64_t y, int64_t x) {
    return element(call, 0, n, c, y - (int64_t)tsr_attr_float(call->node, "rows", 0),
                   x - (int64_t)tsr_attr_float(call->node, "columns", 0));
}

static tsr_status shift(tsr_custom_call *call) {
    return each_element(call, shifted);
}

static tsr_status join_shape(tsr_custom_call *call) {
    for (int i = 0; i < 2; i++)
        if (call->input_shape[i].rank != 4)
            return tsr_fail(TSR_ERROR_SHAPE, "input %d of Join has %d axes", i,
                            call->input_shape[i].rank);
    call->output_shape.dim[1] += call->input_shape[1].dim[1];
    return TSR_OK;
}

static float joined(const tsr_custom_call *call, int64_t n, int64_t c, int64_t y, int64_t x) {
    const int64_t *a = call->input_shape[0].dim, *b = call->input_shape[1].dim;
    float v = c < a[1] ? element(call, 0, n, c, y, x)
                       : element(call, 1, n, c - a[1], y * b[2] / a[2], x * b[3] / a[3]);
    return call->input_count > 2 ? v + call->input[2][0] : v;
}

static tsr_status join(tsr_custom_call *call) {
    return each_element(call, joined);
}

static tsr_status negate(tsr_custom_call *call) {
    int64_t count = tsr_shape_count(&call->output_shape);
    for (int64_t i = 0; i < count; i++)
        call->output[i] = -call->input[0][i];
    return TSR_OK;
}

static tsr_status refuse_even(tsr_custom_call *call) {
    return call->input_shape[0].dim[0] % 2 ? TSR_OK
                                           : tsr_fail(TSR_ERROR_SHAPE, "an even number is not odd");
}

static tsr_status fail_below_zero(tsr_custom_call *call) {
    if (call->input[0][0] < 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "it begins with %g", (double)call->input[0][0]);
    memcpy(call->output, call->input[0],
           (size_t)tsr_shape_count(&call->output_shape) * sizeof(float));
    return TSR_OK;
}

const tsr_custom_op custom_ops[CUSTOM_OP_COUNT] = {
    {.name = "Scale",
     .domain = "test",
     .compute = scale,
     .glsl = "return ATTR_gain * IN0(n, c, y, x) + ATTR_offset;",
     .wgsl = "return ATTR_gain * IN0(n, c, y, x) + ATTR_offset;",
     .attrs = (const tsr_custom_attr[]){{"gain", 2}, {"offset", 0}},
     .attr_count = 2},
    {.name = "Shift",
     .domain = "test",
     .compute = shift,
     .glsl = "return IN0(n, c, y - int(ATTR_rows), x - int(ATTR_columns));",
     .wgsl = "return IN0(n, c, y - i32(ATTR_rows), x - i32(ATTR_columns));",
     .attrs = (const tsr_custom_attr[]){{"rows", 0}, {"columns", 0}},
     .attr_count = 2},
    {.name = "Join",
     .domain = "test",
     .min_inputs = 2,
     .max_inputs = 3,
     .shape = join_shape,
     .compute = join,
     .glsl = "float v = IN0(n, c, y, x);\n"
             "if (c >= IN0_C)\n"
             "    v = IN1(n, c - IN0_C, y * IN1_H / OUT_H, x * IN1_W / OUT_W);\n"
             "if (IN2_W > 0)\n"
             "    v += IN2(0, 0, 0, 0);\n"
             "return v;",
     .wgsl = "var v = IN0(n, c, y, x);\n"
             "if (c >= IN0_C) {\n"
             "    v = IN1(n, c - IN0_C, y * IN1_H / OUT_H, x * IN1_W / OUT_W);\n"
             "}\n"
             "if (IN2_W > 0) {\n"
             "    v += IN2(0, 0, 0, 0);\n"
             "}\n"
             "return v;"},
    {.name = "OnCpu", .domain = "test", .compute = negate},
    {.name = "Broken",
     .domain = "test",
     .compute = negate,
     .glsl = "return IN0(n, c, y, x) *\n    missing_name;",
     .wgsl = "return IN0(n, c, y, x) *\n    missing_name;"},
    {.name = "Picky", .domain = "test", .shape = refuse_even, .compute = fail_below_zero},
};

tsr_status load_with(const tsr_custom_op *ops, int count, const char *text, tsr_model **model) {
    size_t size;
    uint8_t *bytes = onnx_case_bytes(13, text, &size);
    tsr_status status = tsr_model_load_memory(
        bytes, size,
        &(tsr_model_desc){.name = "net.onnx", .custom_ops = ops, .custom_op_count = count}, model);
    free(bytes);
    return status;
}

tsr_model *make_custom_model(const char *text) {
    tsr_model *model;
    EXPECT_OK(load_with(custom_ops, CUSTOM_OP_COUNT, text, &model));
    return model;
}
