/* Integers of a model that are too large to compute with are refused before sums or products of
 * them overflow. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"

#define MOST "9223372036854775807"   /* of an int64 */
#define LEAST "-9223372036854775808" /* of an int64 */
#define DIM "2147483647"             /* the largest dimension */

typedef struct refused {
    int opset;
    const char *text, *words;
} refused;

static void expect_refusals(const refused *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        refuse_to_prepare(cases[i].opset, cases[i].text, cases[i].words);
}

#define EXPECT_REFUSALS(cases) expect_refusals(cases, sizeof(cases) / sizeof *(cases))

/* Attributes and constants. */
static void attributes(void **state) {
    (void)state;
    static const refused cases[] = {
        {18, "CenterCropPad x[5,4] s(3," LEAST ") -> y", "a size of " LEAST},
        {18, "Col2Im x[1,4,4] i(3,3) k(2,2) -> y pads=" MOST ",1,1,1", "pads[0] is " MOST},
        {18, "Col2Im x[1,4,4] i(3,3) k(2,2) -> y dilations=1," LEAST, "dilations[1] is " LEAST},
        {18, "Col2Im x[1,1,1] i(" DIM "," DIM "," DIM ") k(1,1,1) -> y",
         DIM " blocks along axis 1"},
        {22,
         "MaxUnpool x[1,1,2,2] i:int64[1,1,2,2] -> y strides=4611686018427387904,1 "
         "kernel_shape=2,2",
         "strides[0] is 4611686018427387904"},
        {22, "MaxUnpool x[1,1,2,2] i:int64[1,1,2,2] -> y pads=0,0,0," MOST " kernel_shape=2,2",
         "pads[3] is " MOST},
        {22, "MaxUnpool x[1,1,2,2] i:int64[1,1,2,2] -> y kernel_shape=2," LEAST,
         "kernel_shape[1] is " LEAST},
        {22, "MaxUnpool x[1,1,2,2] i:int64[1,1,2,2] s(1,1,3," LEAST ") -> y kernel_shape=2,2",
         "output_shape[3] is " LEAST " for a size of 3"},
        {20, "AffineGrid t[2,2,3] s(2,3," DIM "," DIM ") -> y", "too many pixels"},
        {21, "GroupNormalization x[2,0,4] s{0} b{0} -> y num_groups=4611686018427387904",
         "4611686018427387904 groups"},
        {19, "DeformConv x[1,0,5,5] w{2,0,3,3} o[1,18,3,3] -> y offset_group=" MOST,
         MOST " groups of offsets"},
    };
    EXPECT_REFUSALS(cases);
}

/* Declared shapes of inputs. */
static void shapes(void **state) {
    (void)state;
    static const refused cases[] = {
        {22, "LpPool x[1,3," MOST "] -> y kernel_shape=3, p=3 auto_pad=SAME_UPPER", "too large"},
        {22, "LpPool x[1,4,7," MOST "] -> y kernel_shape=3,2 strides=2,2 pads=1,0,1,1 p=3",
         "too large"},
        {19, "DeformConv x[2,4," MOST ",6] w{6,4,3,3} o[2,18,7,6] -> y pads=1,1,1,1", "too large"},
        {25, "QuantizeLinear x[" MOST ",4] s{1,4} -> y axis=0 block_size=2", "too large"},
        {14, "RNN x[3," MOST ",5] w[1,3,5] r[1,3,3] -> y", "too large"},
        {23, "Attention q[1,4611686018427387904,5,8] k[1,2,3,8] v[1,2,3,6] -> y", "too large"},
        {18, "Col2Im x[" MOST ",6,5] i(9) k(3) -> y dilations=2,", "too large"},
        {18, "GroupNormalization x[2,2147483646," DIM ",5] s{2} b{2} -> y num_groups=2",
         "is too large"},
        {13, "LRN x[2,4,4," MOST "] -> y size=3", "too large"},
    };
    EXPECT_REFUSALS(cases);
}

/* An empty tensor has no elements, but its other axes are multiplied as well. */
static void empty(void **state) {
    (void)state;
    static const refused cases[] = {
        {13, "Tile x[" DIM "," DIM "," DIM ",0] s(1,1,1,2) -> y", "is too large"},
        {10, "ReverseSequence x[0,1," DIM "," DIM "," DIM "] l(1) -> y time_axis=0 batch_axis=1",
         "is too large"},
        {11, "Hardmax x[0," DIM "," DIM "," DIM "] -> y axis=1", "is too large"},
        {21, "GroupNormalization x[0,2," DIM "," DIM "," DIM "] s{2} b{2} -> y num_groups=2",
         "is too large"},
        {13, "LRN x[0,1," DIM "," DIM "," DIM "] -> y size=3", "is too large"},
        {11, "Unique x[0," DIM "," DIM "," DIM "] -> y axis=0", "is too large"},
        {22, "GlobalLpPool x[8,1073741824,2147483646,0] -> y p=3", "is too large"},
        {13, "GatherND x[0," DIM "," DIM "," DIM "] i:int64[4] -> y", "is too large"},
        {13,
         "Pad x[0," DIM "," DIM "," DIM "] p(1,-2147483646,-2147483646,-2147483646,0,0,0,0) -> y",
         "is too large"},
    };
    EXPECT_REFUSALS(cases);
}

/* Of Dropout: it is made only if it is read. */
static void masks(void **state) {
    (void)state;
    tsr_graph *graph = prepare_graph(onnx_case(13, "Dropout x[8,4194304] -> y m; Relu y -> z"));
    assert_null(value_named(graph, "m")->data);
    tsr_graph_destroy(graph);
    refuse_to_prepare(13, "Dropout x[8,4194304] -> y m; Not m -> n; Cast n -> z to=1",
                      "node 'Dropout0' (Dropout): the mask of shape [8, 4194304] is too large");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes),
        cmocka_unit_test(shapes),
        cmocka_unit_test(empty),
        cmocka_unit_test(masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
