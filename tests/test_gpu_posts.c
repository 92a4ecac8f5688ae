/* Chains of element-wise operators, which become post-ops of the pass before them, and outputs of
 * all kinds: of a chain's middle, of inputs and constants, of one tensor twice. */
#include "support/backends.h"
#include "support/case_text.h"
#include "support/main.h"
#include "support/random.h"
#include "support/sessions.h"

#include <stdio.h>
#include <string.h>

enum { CHAINS = 80, MAX_LENGTH = 32 };

/* Thirty-two operators, each exact to a few units in the last place, none of which enlarges
 * differences by much. */
#define CHAIN_TOLERANCE 5e-5

static case_environments environments_here(void) {
    static const backend_case textures[] = {
        {.limits = {0}},
        {.limits.max_draw_buffers = 2, .keep_tensors = true},
        {.limits.max_texture_size = 64, .limits.max_draw_buffers = 1},
        {.keep_tensors = true},
        {.precision = TSR_PRECISION_FP16},
    };
    return environments_or_buffers(textures, sizeof textures / sizeof *textures);
}

/* A case being made up: the tensor at the end of the chain is `last`, of the host's shape. */
typedef struct chain {
    random_source random;
    case_text text;
    int rank, shape[4];
    int names; /* made up so far */
    char last[16];
    char computed[16]; /* another tensor of that shape, for residuals; "" if there is none */
    bool half;
} chain;

/* ---- hosts ---- */

static void new_name(chain *c, char name[16]) {
    snprintf(name, 16, "t%d", c->names++);
}

static const char *shape_text(const chain *c) {
    return text_list(c->shape, c->rank);
}

static void add_image_host(chain *c) {
    int *s = c->shape;
    switch (random_int(&c->random, 0, 5)) {
    case 0:
        text_add(&c->text, "Conv x[%d,3,%d,%d] w{%d,3,3,3} b{%d} -> h pads=1,1,1,1", s[0], s[2],
                 s[3], s[1], s[1]);
        return;
    case 1:
        s[2] = s[2] / 2 * 2;
        s[3] = s[3] / 2 * 2;
        text_add(&c->text, "ConvTranspose x[%d,3,%d,%d] w{3,%d,4,4} -> h strides=2,2 pads=1,1,1,1",
                 s[0], s[2] / 2, s[3] / 2, s[1]);
        return;
    case 2:
        text_add(&c->text, "MaxPool x[%d,%d,%d,%d] -> h kernel_shape=3,3 strides=2,2", s[0], s[1],
                 2 * s[2] + 1, 2 * s[3] + 1);
        return;
    case 3:
        s[1]++;
        text_add(&c->text, "Concat x[%d,1,%d,%d] z[%d,%d,%d,%d] -> h axis=1", s[0], s[2], s[3],
                 s[0], s[1] - 1, s[2], s[3]);
        return;
    case 4:
        text_add(&c->text, "Add x[%s] z[%d,1,1] -> h", shape_text(c), s[1]);
        return;
    default:
        text_add(&c->text, "InstanceNormalization x[%s] s{%d} b{%d} -> h", shape_text(c), s[1],
                 s[1]);
        return;
    }
}

static void add_host(chain *c) {
    static const int most[4] = {2, 9, 9, 21};
    c->rank = random_one_in(&c->random, 6) ? 2 : 4;
    for (int i = 0; i < 4; i++)
        c->shape[i] = random_int(&c->random, i < 2 ? 1 : 2, most[i]);
    if (c->rank == 2)
        text_add(&c->text, "Gemm x[%d,7] w{7,%d} b{%d} -> h", c->shape[0], c->shape[1],
                 c->shape[1]);
    else
        add_image_host(c);
    strcpy(c->last, "h");
}

/* ---- posts ---- */

/* The chain goes on with an operator of one input. */
static void add_unary(chain *c, const char *op, const char *rest) {
    char next[16];
    new_name(c, next);
    text_add(&c->text, "; %s %s%s -> %s", op, c->last, "", next);
    text_add(&c->text, "%s", rest);
    strcpy(c->last, next);
}

static void add_clip(chain *c, const char *low, const char *high) {
    char next[16];
    new_name(c, next);
    text_add(&c->text, "; Clip %s l%s<%s u%s<%s -> %s", c->last, next, low, next, high, next);
    strcpy(c->last, next);
}

/* What is written after the operand's name: per element, per channel, per row or column, a scalar;
 * constant or an input. */
static void add_operand(chain *c, const char *name) {
    int dims[4], from = random_one_in(&c->random, 2) ? 0 : random_int(&c->random, 0, c->rank);
    for (int i = 0; i < c->rank; i++)
        dims[i] = random_one_in(&c->random, 2) ? c->shape[i] : 1;
    if (random_one_in(&c->random, 3)) /* per channel */
        for (int i = 0; i < c->rank; i++)
            dims[i] = i == 1 ? c->shape[1] : 1;
    bool input = random_one_in(&c->random, 4);
    text_add(&c->text, "%s%c%s%c", name, input ? '[' : '{', text_list(dims + from, c->rank - from),
             input ? ']' : '}');
}

static void add_binary(chain *c) {
    static const char *const ops[] = {"Add", "Sub", "Mul"};
    char next[16], operand[24];
    new_name(c, next);
    snprintf(operand, sizeof operand, "o%s", next);
    bool swapped = random_one_in(&c->random, 2);
    text_add(&c->text, "; %s ", ops[random_int(&c->random, 0, 2)]);
    if (!swapped)
        text_add(&c->text, "%s ", c->last);
    if (*c->computed && random_one_in(&c->random, 4))
        text_add(&c->text, "%s", c->computed);
    else
        add_operand(c, operand);
    if (swapped)
        text_add(&c->text, " %s", c->last);
    text_add(&c->text, " -> %s", next);
    strcpy(c->last, next);
}

/* Division by and of numbers in 1/4 .. 3/4. */
static void add_division(chain *c) {
    char next[16];
    add_unary(c, "Tanh", "");
    add_unary(c, "HardSigmoid", " alpha=0.25 beta=0.5");
    new_name(c, next);
    if (random_one_in(&c->random, 2))
        text_add(&c->text, "; Div k%s<0.75 %s -> %s", next, c->last, next);
    else
        text_add(&c->text, "; Div %s k%s<-1.25 -> %s", c->last, next, next);
    strcpy(c->last, next);
}

static void add_prelu(chain *c) {
    char next[16];
    new_name(c, next);
    if (c->rank == 4)
        text_add(&c->text, "; PRelu %s s%s{%d,1,1} -> %s", c->last, next, c->shape[1], next);
    else
        text_add(&c->text, "; PRelu %s s%s{%d} -> %s", c->last, next, c->shape[1], next);
    strcpy(c->last, next);
}

static void add_post(chain *c) {
    static const char *const unary[][2] = {
        {"Relu", ""}, {"LeakyRelu", " alpha=-0.5"}, {"Sigmoid", ""},
        {"Tanh", ""}, {"HardSigmoid", ""},          {"HardSwish", ""},
        {"Neg", ""},  {"Elu", " alpha=1.25"},       {"LeakyRelu", " alpha=0.1"},
    };
    switch (random_int(&c->random, 0, 7)) {
    case 0:
        add_clip(c, "-0.75", "1.5");
        break;
    case 1:
        add_division(c);
        break;
    case 2:
        add_prelu(c);
        break;
    case 3:
        add_clip(c, "-2", "1");
        add_unary(c, "Exp", "");
        break;
    case 4: {
        int i = random_int(&c->random, 0, 8);
        add_unary(c, unary[i][0], unary[i][1]);
        break;
    }
    default:
        add_binary(c);
        break;
    }
}

/* ---- chains ---- */

/* A branch of its own beside the host, of the host's shape. */
static void add_second(chain *c) {
    text_add(&c->text, "; Tanh r[%s] -> r1; Neg r1 -> r2", shape_text(c));
    strcpy(c->computed, "r2");
}

/* Names of one to three tensors of the chain's middle. */
static void choose_outputs(chain *c, char *names, size_t size) {
    *names = 0;
    for (int i = random_int(&c->random, 1, 3), at = -1; i > 0 && at + 1 < c->names - 1; i--) {
        at = random_int(&c->random, at + 1, c->names - 2);
        size_t length = strlen(names);
        snprintf(names + length, size - length, "%st%d", length ? "," : "", at);
    }
}

static void run_chain(const backend_case *environment) {
    chain c = {.random = random_from((uint32_t)next_case())};
    add_host(&c);
    if (random_one_in(&c.random, 2))
        add_second(&c);
    int length = random_one_in(&c.random, 4) ? MAX_LENGTH : random_int(&c.random, 1, MAX_LENGTH);
    while (c.names < length)
        add_post(&c);
    char outputs[64] = "";
    if (random_one_in(&c.random, 3))
        choose_outputs(&c, outputs, sizeof outputs);
    bool extra = random_one_in(&c.random, 2);
    run_case(&(backend_case){
        .text = c.text.text,
        .outputs = *outputs && !extra ? outputs : NULL,
        .extra_outputs = *outputs && extra ? outputs : NULL,
        .limits = environment->limits,
        .precision = environment->precision,
        .keep_tensors = environment->keep_tensors,
        .tolerance = environment->precision == TSR_PRECISION_FP16 ? 0.02 : CHAIN_TOLERANCE});
}

static void test_chains(void **state) {
    (void)state;
    need_gpu();
    const case_environments here = environments_here();
    for (int i = 0; i < some_cases(CHAINS); i++)
        run_chain(&here.list[i % here.count]);
    expect_no_failed_case();
}

/* As many operands as there may be posts: more than one pass can read. */
static void test_many_operands(void **state) {
    (void)state;
    static const char *const ops[] = {"Add", "Sub", "Mul"};
    static const char *const hosts[] = {
        "Conv x[1,3,9,11] w{5,3,3,3} -> t0 pads=1,1,1,1",
        "ConvTranspose x[1,3,5,6] w{3,5,3,4} -> t0 strides=2,2 pads=1,1,1,3 output_padding=0,1",
        "Concat x[1,2,9,11] z[1,3,9,11] -> t0 axis=1", "Relu x[1,5,9,11] -> t0"};
    need_gpu();
    for (size_t h = 0; h < sizeof hosts / sizeof *hosts; h++)
        for (int count = 9; count <= 40; count += count < 15 ? 1 : 17) {
            case_text text = {""};
            text_add(&text, "%s", hosts[h]);
            for (int i = 0; i < count; i++)
                text_add(&text, "; %s t%d o%d%s -> t%d", ops[i % 3], i, i,
                         i % 4 == 1   ? "{5,1,1}"
                         : i % 4 == 2 ? "[5,9,11]"
                                      : "{9,11}",
                         i + 1);
            run_case(&(backend_case){.text = text.text, .tolerance = CHAIN_TOLERANCE});
        }
    expect_no_failed_case();
}

/* ---- outputs ---- */

static void test_outputs(void **state) {
    (void)state;
    static const backend_case cases[] = {
        {.text = "Relu x[1,5,9,9] -> y", .outputs = "x"},
        {.text = "Relu x[1,5,9,9] -> y", .extra_outputs = "x"},
        {.text = "Add x[1,5,9,9] k{5,1,1} -> y", .outputs = "k"},
        {.text = "Add x[1,5,9,9] k{5,1,1} -> y", .extra_outputs = "k,x"},
        {.text = "Relu x[1,5,9,9] -> y", .extra_outputs = "y"},
        {.text = "Identity x[1,5,9,9] -> y"},
        {.text = "Identity x[1,5,9,9] -> a; Identity a -> b; Relu b -> y", .outputs = "a,b"},
        {.text = "Identity k{1,5,3,3} -> a; Add a x[5,1,1] -> y", .outputs = "a"},
        {.text = "Reshape x[1,5,9,9] s(1,5,81,1) -> y"},
        {.text = "Reshape x[2,5,1,1] s(2,5) -> y", .outputs = "x"},
        {.text = "Reshape k{2,5,1,1} s(2,5) -> a; Relu x[2,5] -> b; Add a b -> y", .outputs = "a"},
        {.text = "Relu x[2,5,1,1] -> a; Reshape a s(2,5) -> y", .outputs = "a"},
        {.text = "Relu x[2,5,1,1] -> a; Reshape a s(2,5) -> b; Flatten a -> y", .outputs = "a,b"},
        {.text = "Relu x[2,5,1,1] -> a; Reshape a s(2,5) -> b; Identity b -> c; Neg c -> y",
         .outputs = "a,b,c",
         .keep_tensors = true},
        {.text = "Relu x[2,5,3,4] -> a; Reshape a s(2,5,12) -> b; Tanh b -> y", .outputs = "a,b"},
        {.text = "Conv x[1,3,9,9] w{5,3,3,3} -> a; Relu a -> b; Add b a -> y"},
        {.text = "Conv x[1,3,9,9] w{5,3,3,3} -> a; Relu a -> b; Add b a -> y", .outputs = "a"},
        {.text = "Conv x[1,3,9,9] w{5,3,3,3} -> a; Add a a -> y"},
        {.text = "Conv x[1,3,9,9] w{5,3,3,3} -> a; Mul a a -> b; Sub k<1 b -> y",
         .keep_tensors = true},
        {.text =
             "Conv x[1,3,9,9] w{5,3,3,3} -> a; Conv x v{5,3,3,3} -> b; Sub a b -> c; Relu c -> y"},
        {.text =
             "Conv x[1,3,9,9] w{5,3,3,3} -> a; Conv x v{5,3,3,3} -> b; Sub b a -> c; Relu c -> y",
         .outputs = "b"},
        {.text = "Conv x[1,3,9,9] w{5,3,3,3} -> a; Relu a -> b; MaxPool b -> y i kernel_shape=2,2",
         .outputs = "b",
         .keep_tensors = true},
        {.text = "MaxPool x[1,3,9,9] -> a i kernel_shape=2,2; Relu a -> y", .outputs = "a"},
        {.text = "Split x[1,9,5,5] s(4,2,3) -> a b c axis=1; Relu b -> d; Concat c d a -> y axis=1",
         .outputs = "b",
         .keep_tensors = true},
        {.text = "Relu x[1,5,9,9] -> a; Add z[5,9,9] a -> y"},
        {.text = "Relu x[1,5,9,9] -> a; Add z[2,1,1,1] a -> y", .outputs = "a"},
        {.text = "GlobalAveragePool x[2,5,9,9] -> g; Sigmoid g -> s; Mul x s -> y"},
        {.text = "GlobalAveragePool x[2,5,9,9] -> g; Sigmoid g -> s; Mul s x -> m; Add m x -> y",
         .keep_tensors = true},
        {.text = "MatMul x[2,3,4] w{4,5} -> m; Add m b{5} -> a; Relu a -> y"},
        {.text = "MatMul x[2,1,4] w{4,5} -> m; Add m b{5} -> a; Relu a -> y", .outputs = "a"},
        {.text = "MatMul x[2,3,4] w[4,5] -> m; Add m b[3,1] -> a; Softmax a -> y"},
        {.text = "MatMul x[4] w[4,5] -> m; Add m b{5} -> y"},
        {.text = "Softmax x[3,7] -> s; Mul s k<3 -> a; Neg a -> y", .outputs = "s"},
        {.text = "InstanceNormalization x[2,5,7,7] s{5} b{5} -> n; Relu n -> r; Add r x -> y"},
        {.text = "Gather x[2,6,5,7] i(2,2,0) -> g axis=1; Relu g -> y"},
        {.text = "Squeeze i(1) a(0) -> j; Gather x[2,6,5,7] j -> g axis=1; Relu g -> y"},
        {.text = "Slice x[1,9,9,9] b(2) e(8) a(1) -> s; LeakyRelu s -> l alpha=0.3; Add l z[6,1,1] "
                 "-> y"},
        {.text = "Pad x[1,3,5,5] p(0,1,1,1,0,0,1,1) v<2 -> q; Neg q -> y", .outputs = "q"},
        {.text = "Resize x[1,3,5,5] _ s<1,1,2,2> -> r mode=linear; Tanh r -> y"},
        {.text = "DepthToSpace x[1,8,5,5] -> d blocksize=2; Add d z[1,2,10,10] -> y"},
        {.text = "Transpose x[1,8,5,7] -> d perm=0,2,3,1; Add d z[8] -> y"},
        {.text = "Dropout x[1,3] -> y m; Relu y -> z", .outputs = "y"},
    };
    need_gpu();
    const case_environments here = environments_here();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int e = 0; e < here.count; e += 2) {
            backend_case c = cases[i];
            c.limits = here.list[e].limits;
            c.precision = here.list[e].precision;
            if (runs_in(i, e / 2, (here.count + 1) / 2))
                run_case(&c);
        }
    expect_no_failed_case();
}

/* Operands that DepthToSpace makes, which their readers find in its input: as many channels as the
 * host has, or one for a whole tile, and more than a tile, which has a pass of its own. */
static void run_depth_to_space(const backend_case *environment) {
    static const char *const ops[] = {"Add", "Sub", "Mul", "PRelu"};
    random_source random = random_from((uint32_t)next_case());
    int block = random_int(&random, 1, 4), channels = random_int(&random, 1, 9);
    int n = random_int(&random, 1, 2), h = random_int(&random, 1, 5), w = random_int(&random, 1, 7);
    int own = random_one_in(&random, 3) ? 1 : channels, op = random_int(&random, 0, 3);
    bool swapped = op < 3 && random_one_in(&random, 2);
    case_text text = {""};
    text_add(&text, "Neg d[%d,%d,%d,%d] -> e; DepthToSpace e -> s blocksize=%d mode=%s; ", n,
             own * block * block, h, w, block, random_one_in(&random, 2) ? "DCR" : "CRD");
    if (random_one_in(&random, 2))
        text_add(&text, "Conv x[%d,3,%d,%d] w{%d,3,3,3} -> a pads=1,1,1,1; ", n, h * block,
                 w * block, channels);
    else
        text_add(&text, "Resize x[%d,%d,%d,%d] _ f<1,1,%d,%d> -> a mode=linear; ", n, channels, h,
                 w, block, block);
    text_add(&text, "%s %s -> b; Relu b -> c; Add c e1{%d,1,1} -> y", ops[op],
             swapped ? "s a" : "a s", channels);
    run_case(&(backend_case){
        .text = text.text,
        .outputs = random_one_in(&random, 4) ? "s" : NULL,
        .limits = environment->limits,
        .precision = environment->precision,
        .keep_tensors = environment->keep_tensors,
        .tolerance = environment->precision == TSR_PRECISION_FP16 ? 0.02 : CHAIN_TOLERANCE});
}

static void test_depth_to_space_operands(void **state) {
    (void)state;
    need_gpu();
    const case_environments here = environments_here();
    for (int i = 0; i < some_cases(CHAINS); i++)
        run_depth_to_space(&here.list[i % here.count]);
    expect_no_failed_case();
}

/* Where more than one post reads it, or it is to be had, or it repeats, there is a tensor. */
static void test_depth_to_space_passes(void **state) {
    (void)state;
#define DEPTH "Neg d[1,32,4,6] -> e; DepthToSpace e -> s blocksize=2; "
#define HOST "Conv x[1,3,8,12] w{8,3,3,3} -> a pads=1,1,1,1; "
    static const struct {
        const char *text;
        tsr_session_desc desc;
        int passes;
    } cases[] = {
        {DEPTH HOST "Add a s -> y", {0}, 0},
        {DEPTH HOST "Add s a -> b; Relu b -> y", {.precision = TSR_PRECISION_FP16}, 0},
        {DEPTH HOST "Add a s -> b; Mul b s -> y", {0}, 1},
        {DEPTH HOST "Add a s -> b; Concat b s -> y axis=1", {0}, 1},
        {DEPTH "Conv s w{8,8,3,3} -> y", {0}, 1},
        {DEPTH HOST "Add a s -> y", {.keep_tensors = true}, 1},
        {DEPTH HOST "Add a s -> y", {.allow_cpu_fallback = true}, 0},
        {"DepthToSpace d[1,4,4,6] -> s blocksize=2; " HOST "Add a s -> y", {0}, 1},
    };
    need_gpu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_session_desc desc = cases[i].desc;
        desc.plan_only = true;
        tsr_model *model = make_model(cases[i].text);
        tsr_session *session = make_session(gpu_device((backend_limits){0}), model, &desc);
        int passes = count_passes_of(session, "DepthToSpace");
        if (passes != cases[i].passes)
            fail_msg("case %zu: %d passes instead of %d", i, passes, cases[i].passes);
        tsr_session_destroy(session);
        tsr_model_free(model);
    }
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_many_operands),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_depth_to_space_operands),
        cmocka_unit_test(test_depth_to_space_passes),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
