/* The ONNX reader: whole files, good, odd and hostile. Tensors: test_onnx_tensor.c; old opsets:
 * test_onnx_upgrade.c. */
#define _POSIX_C_SOURCE 200809L
#include "onnx/onnx.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/refused.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Tsr__GraphProto *graph_of(onnx_writer *writer) {
    return onnx_writer_model(writer)->graph;
}

/* ---- bytes that are no model ---- */

static void empty_file(void **state) {
    (void)state;
    expect_refused_bytes("", 0, TSR_ERROR_INVALID_MODEL, "empty");
}

static void random_bytes(void **state) {
    (void)state;
    uint8_t bytes[512];
    unsigned random = 1;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
    expect_refused_bytes(bytes, sizeof bytes, TSR_ERROR_INVALID_MODEL, "not an ONNX file");
    expect_refused_bytes("<html></html>\n", 14, TSR_ERROR_INVALID_MODEL, "");
}

static tsr_status read_limited(const void *bytes, size_t size, uint64_t max_bytes,
                               tsr_graph **graph) {
    static tsr_maps none;
    return tsr_onnx_read(bytes, size, &(tsr_model_desc){.name = "net", .max_bytes = max_bytes},
                         &none, NULL, graph);
}

/* However a model is cut, it is refused: its outputs are declared last. */
static void truncated_file(void **state) {
    (void)state;
    size_t size;
    uint8_t *bytes = onnx_case_bytes(13, "Conv x[1,3,8,8] w{4,3,3,3} -> c; Relu c -> y", &size);
    tsr_graph *graph;
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *part = malloc(cut + 1); /* of exactly the size for the sanitizer */
        memcpy(part, bytes, cut);
        part = realloc(part, cut ? cut : 1);
        assert_int_equal(read_limited(part, cut, 1 << 20, &graph), TSR_ERROR_INVALID_MODEL);
        free(part);
    }
    free(bytes);
}

static void flipped_bits(void **state) {
    (void)state;
    size_t size;
    uint8_t *bytes = onnx_case_bytes(13, "Conv x[1,3,8,8] w{1,3,1,1} -> c; Relu c -> y", &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        tsr_graph *graph;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (read_limited(bytes, size, 1 << 20, &graph) == TSR_OK)
            tsr_graph_destroy(graph);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(bytes);
}

static void larger_than_allowed(void **state) {
    (void)state;
    size_t size;
    tsr_graph *graph;
    uint8_t *bytes = onnx_case_bytes(13, "Relu x[1] -> y", &size);
    assert_int_equal(read_limited(bytes, size, size - 1, &graph), TSR_ERROR_OUT_OF_MEMORY);
    assert_int_equal(read_limited(bytes, size, size, &graph), TSR_OK);
    tsr_graph_destroy(graph);
    free(bytes);
}

/* Two bytes for each node: unpacked they would take fifty times the file's size. */
static void many_empty_nodes(void **state) {
    (void)state;
    enum { SIZE = 1 << 20 };
    uint8_t *bytes = calloc(SIZE + 4, 1);
    uint8_t *at = bytes;
    *at++ = 7 << 3 | 2; /* graph, SIZE bytes */
    *at++ = 0x80;
    *at++ = 0x80;
    *at++ = SIZE >> 14;
    for (int i = 0; i < SIZE; i += 2)
        at[i] = 1 << 3 | 2; /* node, 0 bytes */
    expect_refused_bytes(bytes, SIZE + 4, TSR_ERROR_OUT_OF_MEMORY, "unpack");
    free(bytes);
}

/* ---- model ---- */

static void model_header(void **state) {
    (void)state;
    onnx_writer *writer = onnx_case(13, "Relu x[1] -> y");
    onnx_writer_model(writer)->has_ir_version = false;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "IR version");
    writer = onnx_case(13, "Relu x[1] -> y");
    onnx_writer_model(writer)->ir_version = 2;
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "IR version 2");
    writer = onnx_case(13, "Relu x[1] -> y");
    onnx_writer_model(writer)->graph = NULL;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "no graph");
    writer = onnx_case(13, "Relu x[1] -> y");
    onnx_writer_model(writer)->n_functions = 1;
    onnx_writer_model(writer)->functions = &(ProtobufCBinaryData){.len = 0};
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "function 0: it is empty");
    writer = onnx_case(13, "Relu x[1] -> y");
    graph_of(writer)->n_sparse_initializer = 1;
    graph_of(writer)->sparse_initializer = &(ProtobufCBinaryData){.len = 0};
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "sparse");
}

static void add_import(onnx_writer *writer, char *domain, int64_t version) {
    Tsr__OperatorSetIdProto *import = onnx_alloc(writer, 1, sizeof *import);
    tsr__operator_set_id_proto__init(import);
    import->domain = domain;
    import->has_version = true;
    import->version = version;
    Tsr__ModelProto *model = onnx_writer_model(writer);
    onnx_append(writer, &model->opset_import, &model->n_opset_import, import);
}

static void opsets(void **state) {
    (void)state;
    expect_refused_case(0, "Relu x[1] -> y", TSR_ERROR_INVALID_MODEL, "opset");
    expect_refused_case(-5, "Relu x[1] -> y", TSR_ERROR_UNSUPPORTED, "opset -5");
    onnx_writer *writer = onnx_case(13, "Relu x[1] -> y");
    onnx_writer_model(writer)->n_opset_import = 0;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "opset");
    writer = onnx_case(13, "Relu x[1] -> y");
    add_import(writer, "ai.onnx", 11);
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "13|11");
    writer = onnx_case(13, "Relu x[1] -> y");
    add_import(writer, "com.microsoft", 1);
    add_import(writer, "ai.onnx.ml", 99);
    tsr_graph *graph = read_graph(writer);
    assert_int_equal(graph->opset, 13);
    tsr_graph_destroy(graph);
    graph = read_graph(onnx_case(99, "Softmax x[2,3] -> y")); /* newer than any: tried */
    assert_int_equal(graph->node_count, 1);
    tsr_graph_destroy(graph);
}

/* ---- operators ---- */

static void unknown_operators_are_all_listed(void **state) {
    (void)state;
    onnx_writer *writer = onnx_case(
        13, "Foo x[1] -> a; Relu a -> b; Bar b -> c; Foo c -> d; Relu d -> e; Upsample e -> y");
    graph_of(writer)->node[4]->domain = "com.microsoft";
    expect_refused(writer, TSR_ERROR_UNSUPPORTED,
                   "operators Foo (2 nodes, first 'Foo0'), Bar (1 node, 'Bar2'), "
                   "com.microsoft.Relu (1 node, 'Relu4'), Upsample (1 node");
}

static void own_operators(void **state) {
    (void)state;
    static const char text[] = "MaxPoolGrad x[1,1,4] g[1,1,2] -> y kernel_shape=2, strides=2,";
    tsr_graph *graph = read_graph(onnx_case(13, text));
    assert_int_equal(graph->nodes[0].op, TSR_OP_MaxPoolGrad);
    tsr_graph_destroy(graph);
    onnx_writer *writer = onnx_case(13, text);
    graph_of(writer)->node[0]->domain = "";
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "operator MaxPoolGrad (1 node");
    writer = onnx_case(13, text);
    graph_of(writer)->node[0]->domain = "com.microsoft";
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "operator com.microsoft.MaxPoolGrad (1 node");
    writer = onnx_case(13, "Relu x[1] -> y");
    graph_of(writer)->node[0]->domain = "ai.tessera";
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "operator ai.tessera.Relu (1 node");
    writer = onnx_case(13, "Relu x[1] -> y");
    add_import(writer, "ai.tessera", 2);
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "version 2 of ai.tessera");
}

static void training_operators(void **state) {
    (void)state;
    static const char text[] = "Adagrad r[] t:int64[] x[1] g[1] h[1] -> y z";
    onnx_writer *writer = onnx_case(13, text);
    onnx_writer_model(writer)->n_opset_import = 0; /* as ONNX's tests */
    add_import(writer, "ai.onnx.preview.training", 1);
    tsr_graph *graph = read_graph(writer);
    assert_int_equal(graph->nodes[0].op, TSR_OP_Adagrad);
    tsr_graph_destroy(graph);
    writer = onnx_case(13, text);
    graph_of(writer)->node[0]->domain = "";
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "operator Adagrad (1 node");
    writer = onnx_case(13, "Relu x[1] -> y");
    graph_of(writer)->node[0]->domain = "ai.onnx.preview.training";
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "operator ai.onnx.preview.training.Relu (1 node");
    writer = onnx_case(13, "Relu x[1] -> y");
    add_import(writer, "ai.onnx.preview.training", 2);
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "version 2 of ai.onnx.preview.training");
}

static void very_many_unknown_operators(void **state) {
    (void)state;
    onnx_writer *writer = onnx_writer_create(13);
    for (int i = 0; i < 3000; i++) {
        char op[300];
        snprintf(op, sizeof op, "Operator%0200d", i);
        onnx_add_node(writer, op, "", "", "y");
    }
    expect_refused(writer, TSR_ERROR_UNSUPPORTED,
                   "operators Operator000|0... (1 node, 'Operator000|; and 29|more");
}

static void node_without_operator(void **state) {
    (void)state;
    onnx_writer *writer = onnx_case(13, "Relu x[1] -> y");
    graph_of(writer)->node[0]->op_type = NULL;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "node 0");
}

static void input_and_output_counts(void **state) {
    (void)state;
    expect_refused_case(13, "Relu x[1] z[1] -> y", TSR_ERROR_INVALID_MODEL,
                        "Relu0|2 inputs instead of 1");
    expect_refused_case(13, "MatMul x[2,3] w[3,4] -> y integers=1,1", TSR_ERROR_UNSUPPORTED,
                        "attribute integers of MatMul");
    expect_refused_case(13, "Relu -> y", TSR_ERROR_INVALID_MODEL, "Relu0|0 inputs");
    expect_refused_case(13, "Relu x[1] ->", TSR_ERROR_INVALID_MODEL, "Relu0|0 outputs");
    expect_refused_case(13, "Relu x[1] -> y z", TSR_ERROR_INVALID_MODEL, "Relu0|2 outputs");
    expect_refused_case(13, "Conv x[1,3,4,4] -> y", TSR_ERROR_INVALID_MODEL, "Conv0|at least 2");
    expect_refused_case(13, "Conv x[1] w{1} b{1} c{1} -> y", TSR_ERROR_INVALID_MODEL,
                        "Conv0|at most 3");
    expect_refused_case(13, "Conv _ w{1,1,1,1} -> y", TSR_ERROR_INVALID_MODEL,
                        "Conv0|input 0 is absent");
    expect_refused_case(13, "Concat x[1] _ x -> y axis=0", TSR_ERROR_INVALID_MODEL,
                        "input 1 is absent");
    tsr_graph *graph = read_graph(onnx_case(13, "Conv x[1,1,4,4] w{1,1,1,1} _ -> y"));
    assert_int_equal(graph->nodes[0].input_count, 2);
    tsr_graph_destroy(graph);
}

/* ---- attributes ---- */

static void attributes(void **state) {
    (void)state;
    expect_refused_case(13, "Conv x[1] w{1} -> y strides=2", TSR_ERROR_INVALID_MODEL,
                        "Conv0|\"strides\"|an integer|a list of integers");
    expect_refused_case(13, "LeakyRelu x[1] -> y alpha=1", TSR_ERROR_INVALID_MODEL,
                        "LeakyRelu0|\"alpha\"");
    expect_refused_case(13, "Relu x[1] -> y slope=1.0", TSR_ERROR_UNSUPPORTED,
                        "attribute slope of Relu (1 node, 'Relu0')");
    expect_refused_case(13, "Concat x[1] -> y", TSR_ERROR_INVALID_MODEL,
                        "Concat0|\"axis\" is missing");
    expect_refused_case(13, "Elu x[1] -> y alpha=1.0 alpha=2.0", TSR_ERROR_INVALID_MODEL,
                        "Elu0|twice");
    expect_refused_case(13, "MaxPool x[1,3,8,8] -> y kernel_shape=2,2 ceil_mode=7",
                        TSR_ERROR_INVALID_MODEL, "MaxPool0|ceil_mode is 7, neither 0 nor 1");
    expect_refused_case(13, "ReduceSum x[8] -> y keepdims=-1", TSR_ERROR_INVALID_MODEL,
                        "keepdims is -1");
    expect_refused_case(17, "LayerNormalization x[3,8] s{8} -> y stash_type=7",
                        TSR_ERROR_INVALID_MODEL, "stash_type is 7, no floating type");
    expect_refused_case(23, "Attention q[1,2,3,4] k[1,2,3,4] v[1,2,3,4] -> y softmax_precision=6",
                        TSR_ERROR_INVALID_MODEL, "softmax_precision is 6, no floating type");
    expect_refused_case(17, "InstanceNormalization x[1,3,8] s{3} s -> y epsilon=-1.0",
                        TSR_ERROR_INVALID_MODEL, "epsilon is negative or not finite");
    tsr_graph_destroy(
        read_graph(onnx_case(17, "LayerNormalization x[3,8] s{8} -> y stash_type=10 epsilon=0.0")));
}

static Tsr__AttributeProto *alpha(onnx_writer **writer) {
    *writer = onnx_case(13, "Elu x[1] -> y alpha=0.5");
    return graph_of(*writer)->node[0]->attribute[0];
}

static void hostile_attributes(void **state) {
    (void)state;
    onnx_writer *writer;
    alpha(&writer)->type = TSR__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "alpha of Elu (1 node, 'Elu0')");
    alpha(&writer)->type = (Tsr__AttributeProto__AttributeType)77;
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "alpha of Elu (1 node, 'Elu0')");
    alpha(&writer)->name = NULL;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "Elu0|no name");
    alpha(&writer)->ref_attr_name = "outer";
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "Elu0|function");
    Tsr__AttributeProto *untyped = alpha(&writer);
    untyped->has_type = false;
    tsr_graph *graph = read_graph(writer);
    assert_true(tsr_attr_float(&graph->nodes[0], "alpha", 0) == 0.5f);
    tsr_graph_destroy(graph);
    untyped = alpha(&writer);
    untyped->has_type = untyped->has_f = false;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "\"alpha\" has no type");
    writer = onnx_case(13, "Pad x[1] p(0,0) -> y mode=edge");
    memcpy(graph_of(writer)->node[0]->attribute[0]->s.data, "ed\0e", 4);
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "Pad0|NUL");
    writer = onnx_case(13, "Elu x[1] -> y");
    for (int i = 0; i < 1000; i++)
        onnx_set_float(writer, graph_of(writer)->node[0], "alpha", 1);
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "Elu0|1000 attributes");
}

/* ---- names ---- */

static void double_names(void **state) {
    (void)state;
    expect_refused_case(13, "Relu x[1] -> y; Relu x -> y", TSR_ERROR_INVALID_MODEL,
                        "node 1 (Relu)|\"y\"");
    expect_refused_case(13, "Relu x[1] -> x", TSR_ERROR_INVALID_MODEL, "\"x\"");
    expect_refused_case(13, "Split x[2] -> y y", TSR_ERROR_INVALID_MODEL, "\"y\"");
    expect_refused_case(13, "Add x[1] x[1] -> y", TSR_ERROR_INVALID_MODEL, "input \"x\"|twice");
    expect_refused_case(13, "Add w{1} w{1} -> y", TSR_ERROR_INVALID_MODEL,
                        "initializer \"w\"|twice");
    expect_refused_case(13, "Add x[1] w{1} -> w", TSR_ERROR_INVALID_MODEL, "\"w\"");
    onnx_writer *writer = onnx_case(13, "Relu x[1] -> y");
    onnx_add_output(writer, "y", TSR_DTYPE_F32, -1, NULL);
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "output \"y\"|twice");
}

static void dangling_names(void **state) {
    (void)state;
    expect_refused_case(13, "Add x[1] nowhere -> y", TSR_ERROR_INVALID_MODEL, "Add0|\"nowhere\"");
    onnx_writer *writer = onnx_case(13, "Relu x[1] -> y");
    onnx_add_output(writer, "z", TSR_DTYPE_F32, -1, NULL);
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "output \"z\"|nothing produces it");
    writer = onnx_case(13, "Relu x[1] -> y");
    graph_of(writer)->n_output = 0;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "0 outputs");
    writer = onnx_case(13, "Relu x[1] -> y");
    graph_of(writer)->input[0]->name = "";
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "no name");
}

static void cycles(void **state) {
    (void)state;
    expect_refused_case(13, "Add x[1] b -> a; Relu a -> b; Relu b -> y", TSR_ERROR_INVALID_MODEL,
                        "depends on its own result");
    expect_refused_case(13, "Add x[1] y -> y", TSR_ERROR_INVALID_MODEL, "Add0|own result \"y\"");
}

static void any_order_is_sorted(void **state) {
    (void)state;
    tsr_graph *graph =
        read_graph(onnx_case(13, "Add b a -> c; Relu a -> b; Neg x[1] -> a; Exp c -> y"));
    const char *names[] = {"Neg2", "Relu1", "Add0", "Exp3"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(graph->nodes[i].name, names[i]);
        assert_int_equal(graph->values[graph->nodes[i].outputs[0]].producer, i);
    }
    tsr_graph_destroy(graph);
}

/* A chain of dependencies as long as the file must not overflow the stack. */
static void long_chain_backwards(void **state) {
    (void)state;
    enum { COUNT = 50000 };
    onnx_writer *writer = onnx_writer_create(13);
    onnx_add_input(writer, "v0", TSR_DTYPE_F32, SHAPE(1));
    for (int i = COUNT; i > 0; i--) {
        char from[16], to[16];
        snprintf(from, sizeof from, "v%d", i - 1);
        snprintf(to, sizeof to, "v%d", i);
        onnx_add_node(writer, "Relu", "", from, to);
    }
    onnx_add_output(writer, "v50000", TSR_DTYPE_F32, -1, NULL);
    tsr_graph *graph = read_graph(writer);
    assert_int_equal(graph->node_count, COUNT);
    assert_string_equal(graph->nodes[0].name, "Relu_49999");
    tsr_graph_destroy(graph);
}

/* ---- inputs and outputs ---- */

static void inputs_and_dimensions(void **state) {
    (void)state;
    tsr_graph *graph = read_graph(onnx_case(13, "Relu x[N,3,H,8] -> y"));
    assert_int_equal(graph->input_count, 1);
    const tsr_value *x = value_named(graph, "x");
    assert_string_equal(tsr_shape_text(&x->shape), "[?, 3, ?, 8]");
    assert_string_equal(x->dim_name[0], "N");
    assert_string_equal(x->dim_name[2], "H");
    assert_null(x->dim_name[1]);
    tsr_graph_destroy(graph);
    expect_refused_case(13, "Relu x[1,1,1,1,1,1,1,1] -> y; Foo y -> z", TSR_ERROR_UNSUPPORTED,
                        "Foo");
    onnx_writer *writer = onnx_writer_create(13);
    onnx_add_input(writer, "x", TSR_DTYPE_F32, SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1));
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "not supported: rank 9 (1 tensor, 'x')");
    writer = onnx_case(13, "Relu x[1] -> y");
    graph_of(writer)->input[0]->type->tensor_type->shape->dim[0]->dim_value = -2;
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "input \"x\"|-2");
    writer = onnx_case(13, "Relu x[1] -> y");
    graph_of(writer)->input[0]->type->tensor_type = NULL;
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "not declared as a tensor (1 tensor, 'x')");
    writer = onnx_case(13, "Relu x[1] -> y");
    graph_of(writer)->input[0]->type->tensor_type->elem_type = 8;
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "element type string (1 tensor, 'x')");
}

static void initializers_are_no_inputs(void **state) {
    (void)state;
    onnx_writer *writer = onnx_case(8, "Add x[2] w{2} -> y");
    onnx_add_input(writer, "w", TSR_DTYPE_F32, SHAPE(2));
    tsr_graph *graph = read_graph(writer);
    assert_int_equal(graph->input_count, 1);
    assert_non_null(value_named(graph, "w")->data);
    tsr_graph_destroy(graph);
}

static void names_are_made_up(void **state) {
    (void)state;
    onnx_writer *writer = onnx_case(13, "Relu x[2] -> a; Exp a -> y");
    graph_of(writer)->node[1]->name = NULL;
    tsr_graph *graph = read_graph(writer);
    assert_string_equal(graph->nodes[0].name, "Relu0");
    assert_string_equal(graph->nodes[1].name, "Exp_1");
    tsr_graph_destroy(graph);
}

/* ---- real models ---- */

static void read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be opened", path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(size);
    assert_int_equal(fread(bytes, 1, size, file), size);
    fclose(file);
    tsr_graph *graph;
    static tsr_maps none;
    tsr_status status = tsr_onnx_read(
        bytes, size, &(tsr_model_desc){.name = path, .max_bytes = UINT64_MAX}, &none, NULL, &graph);
    free(bytes);
    if (status != TSR_OK)
        fail_msg("%s", tsr_last_error());
    tsr_graph_destroy(graph);
}

static void shared_models(void **state) {
    (void)state;
    const char *folder = getenv("TSR_MODELS");
    folder = folder ? folder : TSR_SOURCE_DIR "/../shared/models";
    DIR *models = opendir(folder);
    if (!models) {
        print_message("no models in %s: set TSR_MODELS\n", folder);
        skip();
    }
    int count = 0;
    for (struct dirent *entry; (entry = readdir(models));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s/model.onnx", folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        if (!file)
            continue;
        fclose(file);
        read_file(path);
        count++;
    }
    closedir(models);
    print_message("read %d models of %s\n", count, folder);
    assert_true(count > 0);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_file),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(truncated_file),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(larger_than_allowed),
        cmocka_unit_test(many_empty_nodes),
        cmocka_unit_test(model_header),
        cmocka_unit_test(opsets),
        cmocka_unit_test(unknown_operators_are_all_listed),
        cmocka_unit_test(own_operators),
        cmocka_unit_test(training_operators),
        cmocka_unit_test(very_many_unknown_operators),
        cmocka_unit_test(node_without_operator),
        cmocka_unit_test(input_and_output_counts),
        cmocka_unit_test(attributes),
        cmocka_unit_test(hostile_attributes),
        cmocka_unit_test(double_names),
        cmocka_unit_test(dangling_names),
        cmocka_unit_test(cycles),
        cmocka_unit_test(any_order_is_sorted),
        cmocka_unit_test(long_chain_backwards),
        cmocka_unit_test(inputs_and_dimensions),
        cmocka_unit_test(initializers_are_no_inputs),
        cmocka_unit_test(names_are_made_up),
        cmocka_unit_test(shared_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
