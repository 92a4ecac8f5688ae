/* Elements by tuples of indices, scattering, sorting, products up to each element, held against
 * cpu. */
#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"
#include "support/random.h"

enum { MAX_RANK = 5 };

static int draw_shape(random_source *r, int least_rank, int *dims) {
    int rank = random_int(r, least_rank, MAX_RANK);
    for (int i = 0; i < rank; i++)
        dims[i] = random_int(r, 1, rank > 3 ? 5 : 9);
    return rank;
}

/* Indices from -range to range, which reach the end of no axis of two or more elements. */
static op_case with_indices(random_source *r) {
    return (op_case){
        .opset = 18, .range = 2, .no_half = true, .big = true, .nans = random_one_in(r, 5) ? 9 : 0};
}

/* Axes that tuples choose from have at least two elements. */
static void test_gather_nd(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(100); i++) {
        random_source r = random_from((uint32_t)i);
        int dims[MAX_RANK], indices[MAX_RANK],
            rank = draw_shape(&r, 1, dims), batch = random_int(&r, 0, rank - 1),
            length = random_int(&r, 1, rank - batch), tuples = random_int(&r, 0, 1 + (rank < 4)),
            count = 0;
        for (int k = 0; k < length; k++)
            dims[batch + k] += dims[batch + k] == 1;
        for (int k = 0; k < batch; k++)
            indices[count++] = dims[k];
        for (int k = 0; k < tuples && count < MAX_RANK - 1; k++)
            indices[count++] = random_int(&r, 1, 7);
        indices[count++] = length;
        check(with_indices(&r), "Cast z[%s] -> i to=7; GatherND x[%s] i -> y batch_dims=%d",
              text_list(indices, count), text_list(dims, rank), batch);
    }
    static const op_case cases[] = {
        CASE(13, "Reshape i(1,-2,0,3) s(2,2) -> t; GatherND x[3,5] t -> y"),
        CASE(13, "Reshape i(1,-2,0,3) s(2,2) -> t; GatherND x:bool[3,5,7] t -> y"),
        CASE(13, "Reshape i(1,-2,0,3) s(2,2,1) -> t; GatherND x[2,5,6] t -> g batch_dims=1; "
                 "Relu g -> y"),
        CASE(13, "Reshape i(0,999) s(2,1) -> t; GatherND x[1000,70] t -> y", .big = true),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

static const char *const reductions[] = {"none", "add", "mul", "max", "min"};

static void test_scatter_elements(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(100); i++) {
        random_source r = random_from((uint32_t)i);
        int dims[MAX_RANK], indices[MAX_RANK], rank = draw_shape(&r, 1, dims),
                                               axis = random_int(&r, 0, rank - 1);
        bool narrower = rank <= 4 && random_one_in(&r, 2);
        dims[axis] += dims[axis] == 1;
        for (int k = 0; k < rank; k++)
            indices[k] = k == axis  ? random_int(&r, 1, 9)
                         : narrower ? random_int(&r, 1, dims[k])
                                    : dims[k];
        case_text shape = {""};
        text_add(&shape, "%s", text_list(indices, rank));
        check(with_indices(&r),
              "Cast z[%s] -> i to=%d; ScatterElements x[%s] i u[%s] -> y axis=%d reduction=%s",
              shape.text, i % 2 ? 7 : 6, text_list(dims, rank), shape.text, axis - rank,
              reductions[i % 5]);
    }
    static const op_case cases[] = {
        CASE(18, "ScatterElements x[5] i(1,-2,1) u[3] -> y reduction=add"),
        CASE(18, "ScatterElements x:int64[5] i(1,-2) u:int64[2] -> y"),
        CASE(18, "ScatterElements x:bool[5] i(1,-2) u:bool[2] -> y"),
        CASE(18, "ScatterElements x:uint8[5] i(1,1) u:uint8[2] -> y reduction=max"),
        CASE(18, "ScatterElements x[7] i(1,-2,1) u[3] -> s; Add s z[7] -> y"),
        CASE(9, "Scatter x[5] i(1,2) u[2] -> y"),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

static void test_scatter_nd(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(100); i++) {
        random_source r = random_from((uint32_t)i);
        int dims[MAX_RANK], indices[MAX_RANK], updates[2 * MAX_RANK],
            rank = draw_shape(&r, 1, dims), length = random_int(&r, 1, rank), count = 0;
        for (int k = 0; k < length; k++)
            dims[k] += dims[k] == 1;
        for (int k = random_int(&r, 0, 2); k > 0; k--)
            updates[count] = indices[count] = random_int(&r, 1, 5), count++;
        indices[count] = length;
        case_text text = {""};
        text_add(&text, "Cast z[%s] -> i to=7; ", text_list(indices, count + 1));
        for (int k = length; k < rank; k++)
            updates[count++] = dims[k];
        text_add(&text, "ScatterND x[%s] i", text_list(dims, rank));
        check(with_indices(&r), "%s u[%s] -> y reduction=%s", text.text, text_list(updates, count),
              reductions[i % 5]);
    }
    static const op_case cases[] = {
        CASE(18, "ScatterND x[5,4] i(1) u[4] -> y reduction=add"),
        CASE(18, "Reshape i(0,-1,0) s(3,1) -> t; ScatterND x[3,5,6] t u[3,5,6] -> r; Relu r -> y"),
        CASE(18, "Reshape i(0,-1,0) s(3,1) -> t; ScatterND x:int32[3,5] t u:int32[3,5] -> y "
                 "reduction=min"),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

static void test_tensor_scatter(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(100); i++) {
        random_source r = random_from((uint32_t)i);
        int dims[MAX_RANK], update[MAX_RANK], rank = draw_shape(&r, 2, dims),
                                              axis = random_int(&r, 1, rank - 1);
        for (int k = 0; k < rank; k++)
            update[k] = k == axis ? random_int(&r, 1, dims[k]) : dims[k];
        case_text shape = {""};
        text_add(&shape, "%s", text_list(update, rank));
        if (i % 3)
            check((op_case){.opset = 24, .range = 20, .no_half = true, .big = true},
                  "Cast z[%d] -> i to=7; TensorScatter x[%s] u[%s] i -> y axis=%d mode=circular",
                  dims[0], text_list(dims, rank), shape.text, axis - rank);
        else
            check((op_case){.opset = 24, .big = true}, "TensorScatter x[%s] u[%s] -> y axis=%d",
                  text_list(dims, rank), shape.text, axis);
    }
    static const op_case cases[] = {
        CASE(24, "TensorScatter x[2,5,4,3] u[2,5,2,3] i(1,2) -> y"),
        CASE(24, "TensorScatter x[2,5,4] u[2,5,2] i(3,1) -> s axis=2 mode=circular; Relu s -> y"),
        CASE(24, "TensorScatter x:int32[2,5,4] u:int32[2,4,4] i(0,1) -> y"),
        CASE(24, "TensorScatter x:bool[1,5,4] u:bool[1,4,4] -> y axis=1"),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

/* Equal elements stay in their order: those that are rounded have many. */
static void test_top_k(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(100); i++) {
        random_source r = random_from((uint32_t)i);
        int dims[MAX_RANK], rank = draw_shape(&r, 1, dims), axis = random_int(&r, 0, rank - 1),
                            k = random_int(&r, 0, dims[axis]);
        const char *outputs = i % 4 ? "y i" : "v y";
        check((op_case){.opset = 11,
                        .range = 3,
                        .big = true,
                        .no_half = true,
                        .nans = i % 3 ? 0 : 7,
                        .infinities = i % 5 ? 0 : 7},
              "%s x[%s] -> %s; TopK %s k(%d) -> %s axis=%d largest=%d", i % 2 ? "Round" : "Neg",
              text_list(dims, rank), "a", "a", k ? k : 1, outputs, axis - rank, i / 2 % 2);
    }
    static const op_case cases[] = {
        CASE(11, "TopK x:int32[5,7] k(3) -> y i", .range = 100),
        CASE(11, "TopK x:uint8[5,7] k(5) -> y i axis=0 largest=0"),
        CASE(11, "TopK x[3,200] k(9) -> v i; GatherElements x i -> y axis=1", .big = true,
             .no_half = true),
        CASE(11, "TopK x[2,5,9] k(4) -> v i; Relu v -> y"),
        CASE(10, "TopK x[5,4] k(2) -> y i"),
        CASE(9, "TopK x[5,4] -> y i k=2 axis=0"),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

static void test_products(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(100); i++) {
        random_source r = random_from((uint32_t)i);
        int dims[MAX_RANK], rank = draw_shape(&r, 1, dims), axis = random_int(&r, 0, rank - 1);
        check((op_case){.opset = 26, .range = 2, .big = true, .nans = i % 5 ? 0 : 7},
              "CumProd x[%s] a(%d) -> y exclusive=%d reverse=%d", text_list(dims, rank),
              axis - rank, i % 2, i / 2 % 2);
    }
    static const op_case cases[] = {
        CASE(26, "CumProd x[2,5,3] a(1) -> p; Relu p -> y"),
        CASE(26, "CumProd x[1,70] a(1) -> y", .mean = 1, .range = 0.1f, .big = true,
             .no_half = true),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

static void test_bits(void **state) {
    (void)state;
    need_gpu();
    static const op_case cases[] = {
        CASE(26, "BitCast x[5,3] -> y to=1"),
        CASE(26, "BitCast x:uint8[5,3] -> y to=3", .range = 300),
        CASE(26, "BitCast x:int8[5,3] -> y to=2", .range = 300),
        CASE(26, "BitCast x:bool[5,3] -> y to=2"),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const refused[][2] = {
        {"ScatterElements x:int32[5] i(1,1) u:int32[2] -> y reduction=add", "2^24"},
        {"ScatterND x:int32[5] i(1) u:int32[] -> y reduction=mul", "2^24"},
        {"BitCast x[5] -> y to=6", "allow_cpu_fallback"},
        {"TopK x[1,100000] k(3) -> y i", "sorting"},
    };
    need_gpu();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        run_case(&(backend_case){.opset = 26,
                                 .text = refused[i][0],
                                 .refusal = TSR_ERROR_UNSUPPORTED,
                                 .reason = refused[i][1]});
    expect_no_failed_case();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather_nd),  cmocka_unit_test(test_scatter_elements),
        cmocka_unit_test(test_scatter_nd), cmocka_unit_test(test_tensor_scatter),
        cmocka_unit_test(test_top_k),      cmocka_unit_test(test_products),
        cmocka_unit_test(test_bits),       cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
