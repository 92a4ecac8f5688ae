/* Forms of older opsets are rewritten to those of the newest. */
#include "base/error.h"
#include "onnx/onnx.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/refused.h"

#include <stdio.h>
#include <string.h>

typedef struct upgrade_case {
    int opset;
    const char *model, *node; /* node: the first one afterwards, as node_text() writes it */
} upgrade_case;

static const upgrade_case cases[] = {
    {11, "Squeeze x[1,3,1] -> y axes=0,2", "Squeeze x int64[2]=0,2"},
    {13, "Squeeze x[1,3,1] a(0,2) -> y", "Squeeze x int64[2]=0,2"},
    {11, "Squeeze x[1,3,1] -> y", "Squeeze x"},
    {12, "Unsqueeze x[3] -> y axes=0,", "Unsqueeze x int64[1]=0"},
    {6, "Clip x[3] -> y min=-1.0 max=2.5", "Clip x float32[]=-1 float32[]=2.5"},
    {10, "Clip x[3] -> y max=2.5", "Clip x _ float32[]=2.5"},
    {10, "Clip x[3] -> y", "Clip x"},
    {10, "Pad x[3] -> y pads=1,2 value=0.5 mode=edge",
     "Pad x int64[2]=1,2 float32[]=0.5 mode=edge"},
    {9, "Slice x[3,3] -> y starts=0,1 ends=2,3 axes=1,0",
     "Slice x int64[2]=0,1 int64[2]=2,3 int64[2]=1,0"},
    {9, "Slice x[3,3] -> y starts=0, ends=2,", "Slice x int64[1]=0 int64[1]=2"},
    {11, "Split x[4] -> y z split=1,3 axis=0", "Split x int64[2]=1,3 axis=0"},
    {13, "Split x[4] -> y z", "Split x num_outputs=2"},
    {18, "Split x[4] -> y z num_outputs=2", "Split x num_outputs=2"},
    {10, "Dropout x[4] -> y ratio=0.25", "Dropout x float32[]=0.25"},
    {6, "Dropout x[4] -> y is_test=1", "Dropout x"},
    {7, "Upsample x[1,1,2,2] -> y scales=1.0,1.0,2.0,3.0 mode=linear",
     "Resize x _ float32[4]=1,1,2,3 mode=linear coordinate_transformation_mode=asymmetric "
     "nearest_mode=floor"},
    {8, "Upsample x[1,1,2,2] -> y scales=1.0,1.0,2.0,3.0",
     "Resize x _ float32[4]=1,1,2,3 coordinate_transformation_mode=asymmetric nearest_mode=floor"},
    {9, "Upsample x[1,1,2,2] s<1,1,2,3> -> y",
     "Resize x _ float32[4]=1,1,2,3 coordinate_transformation_mode=asymmetric nearest_mode=floor"},
    {10, "Resize x[1,1,2,2] s<1,1,2,3> -> y mode=nearest",
     "Resize x _ float32[4]=1,1,2,3 mode=nearest coordinate_transformation_mode=asymmetric "
     "nearest_mode=floor"},
    {11, "Resize x[1,1,2,2] r<> e<> s(1,1,4,4) -> y mode=cubic",
     "Resize x _ _ int64[4]=1,1,4,4 mode=cubic"},
    {7, "BatchNormalization x[1,2] g{2} b{2} m{2} v{2} -> y spatial=1 epsilon=0.5",
     "BatchNormalization x g b m v epsilon=0.5"},
    {6, "BatchNormalization x[1,2] g{2} b{2} m{2} v{2} -> y is_test=1",
     "BatchNormalization x g b m v"},
    {14, "BatchNormalization x[1,2] g{2} b{2} m{2} v{2} -> y training_mode=0",
     "BatchNormalization x g b m v training_mode=0"},
    {12, "Softmax x[2,3,4] -> y", "Softmax x axis=1 coerce_2d=1"},
    {11, "Softmax x[2,3,4] -> y axis=-1", "Softmax x axis=-1 coerce_2d=1"},
    {13, "Softmax x[2,3,4] -> y", "Softmax x"},
    {16, "GridSample x[1,1,2,2] g[1,1,1,2] -> y mode=bicubic padding_mode=border",
     "GridSample x g padding_mode=border mode=cubic"},
    {19, "GridSample x[1,1,2,2] g[1,1,1,2] -> y mode=bilinear", "GridSample x g mode=linear"},
    {16, "GridSample x[1,1,2,2] g[1,1,1,2] -> y mode=nearest", "GridSample x g mode=nearest"},
    {6, "Gemm a[2,2] b{2,2} c{2} -> y broadcast=1 transB=1", "Gemm a b c transB=1"},
    {6, "Add x[1,3,4,4] b{3} -> y broadcast=1 axis=1", "Add x float32[3,1,1]=0.125,0.25,0.375"},
    {6, "Mul x[1,3,4,4] b{4} -> y broadcast=1", "Mul x b"},
    {6, "Sub x[1,3,4,4] b{4,4} -> y broadcast=1 axis=2", "Sub x b"},
    {6, "PRelu x[1,3,4,4] s{3} -> y", "PRelu x float32[3,1,1]=0.125,0.25,0.375"},
    {6, "PRelu x[1,3,4,4] g{1} -> y", "PRelu x g"},
    {7, "PRelu x[1,3,4,4] g{3,1,1} -> y", "PRelu x g"},
};

/* ---- a node as text ---- */

static void append(char *text, size_t size, const char *format, ...) TSR_PRINTF(3, 4);
static void append(char *text, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    size_t used = strlen(text);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* With their elements: integers, constants made by the upgrade, and s, the scales; others by name.
 */
static void append_value(char *text, size_t size, const tsr_value *value) {
    bool made = value && (strchr(value->name, '.') || !tsr_dtype_is_float(value->dtype) ||
                          strcmp(value->name, "s") == 0);
    if (!value || !value->data || !made) {
        append(text, size, " %s", value ? value->name : "_");
        return;
    }
    append(text, size, " %s[", tsr_dtype_name(value->dtype));
    for (int i = 0; i < value->shape.rank; i++)
        append(text, size, "%s%d", i ? "," : "", (int)value->shape.dim[i]);
    append(text, size, "]=");
    for (int64_t i = 0; i < tsr_shape_count(&value->shape); i++)
        append(text, size, "%s%g", i ? "," : "",
               tsr_dtype_is_float(value->dtype) ? (double)((const float *)value->data)[i]
                                                : (double)((const int64_t *)value->data)[i]);
}

static void append_attr(char *text, size_t size, const tsr_attr *attr) {
    if (attr->kind == TSR_ATTR_STRING)
        append(text, size, " %s=%s", attr->name, attr->s);
    else
        append(text, size, " %s=%g", attr->name,
               attr->kind == TSR_ATTR_INT ? (double)attr->i : (double)attr->f);
}

static void node_text(const tsr_graph *graph, const tsr_node *node, char *text, size_t size) {
    snprintf(text, size, "%s", tsr_op_get_info(node->op)->name);
    for (int i = 0; i < node->input_count; i++)
        append_value(text, size, tsr_node_in(graph, node, i));
    for (int i = 0; i < node->attr_count; i++)
        append_attr(text, size, &node->attrs[i]);
}

/* ---- tests ---- */

static void rewritten(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        tsr_graph *graph = read_graph(onnx_case(cases[i].opset, cases[i].model));
        node_text(graph, &graph->nodes[0], text, sizeof text);
        if (strcmp(text, cases[i].node) != 0)
            fail_msg("opset %d, %s: \"%s\" instead of \"%s\"", cases[i].opset, cases[i].model, text,
                     cases[i].node);
        tsr_graph_destroy(graph);
    }
}

static void refused(void **state) {
    (void)state;
    expect_refused_case(11, "Squeeze x[1] a(0) -> y axes=0,", TSR_ERROR_INVALID_MODEL,
                        "Squeeze0|attribute and as input");
    expect_refused_case(11, "Squeeze x[1] -> y axes=0", TSR_ERROR_INVALID_MODEL,
                        "Squeeze0|wrong kind");
    expect_refused_case(13, "Squeeze x[1] -> y axes=0,", TSR_ERROR_UNSUPPORTED,
                        "attribute axes of Squeeze (1 node, 'Squeeze0')");
    expect_refused_case(9, "Slice x[1] -> y starts=0,", TSR_ERROR_INVALID_MODEL,
                        "Slice0|at least 3");
    expect_refused_case(7, "BatchNormalization x[1,2] g{2} b{2} m{2} v{2} -> y spatial=0",
                        TSR_ERROR_UNSUPPORTED, "BatchNormalization0|spatial");
    expect_refused_case(9, "BatchNormalization x[1,2] g{2} b{2} m{2} v{2} -> y m1 v1 m2 v2",
                        TSR_ERROR_UNSUPPORTED, "BatchNormalization0|training");
    expect_refused_case(9, "Upsample x[1] -> y", TSR_ERROR_INVALID_MODEL, "Upsample0|scales");
    expect_refused_case(10, "Upsample x[1] s<1> -> y", TSR_ERROR_UNSUPPORTED,
                        "operator Upsample (1 node");
    expect_refused_case(6, "Add x[1,3,4,4] b{3} -> y broadcast=1 axis=7", TSR_ERROR_INVALID_MODEL,
                        "Add0|axis 7");
    expect_refused_case(6, "Relu x[1,3,4,4] -> r; Add r b{3} -> y broadcast=1 axis=1",
                        TSR_ERROR_UNSUPPORTED, "Add1|ranks");
    expect_refused_case(6, "Add x[1,3,4,4] b[3] -> y broadcast=1 axis=1", TSR_ERROR_UNSUPPORTED,
                        "Add0|constant");
    expect_refused_case(5, "Relu x[1] -> y consumed_inputs=0,", TSR_ERROR_UNSUPPORTED,
                        "Relu0|consumed_inputs");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rewritten),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
