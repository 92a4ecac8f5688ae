/* Networks that join and branch at random, on a GPU backend and on cpu: concatenations in one
 * another, of what is read elsewhere too, of one tensor twice, along images and channels, of parts
 * that fill their texels and of others. Which of them take no pass at all. */
#include "support/backends.h"
#include "support/case_text.h"
#include "support/main.h"
#include "support/random.h"
#include "support/sessions.h"

#include <stdio.h>
#include <string.h>

enum { NETWORKS = 30, NODES = 14 };

static case_environments environments_here(void) {
    static const backend_case textures[] = {
        {.limits = {0}},
        {.limits.max_draw_buffers = 2, .keep_tensors = true},
        {.limits.kernels = "blocks"},
        {.limits.max_texture_size = 64, .limits.max_draw_buffers = 1, .refusal = TSR_ERROR_LIMIT},
        {.precision = TSR_PRECISION_FP16},
    };
    return environments_or_buffers(textures, sizeof textures / sizeof *textures);
}

/* ---- networks at random ---------------------------------------------------------------------- */

typedef struct image {
    int n, c, h, w;
} image;

/* A case being made up: tensors v0, v1, ..., the input first. */
typedef struct network {
    random_source random;
    case_text text;
    image images[NODES + 1];
    int count;
    char outputs[64]; /* names, separated by commas */
} network;

static int random_channels(network *net) {
    return random_one_in(&net->random, 8) ? random_int(&net->random, 1, 9)
                                          : 4 * random_int(&net->random, 1, 4);
}

/* The result of the node whose text ends in " -> ", multiplied so that numbers stay small. */
static void add_scaled(network *net, const char *attributes, image result) {
    int i = net->count;
    text_add(&net->text, "u%d%s; Mul u%d k%d<0.1 -> v%d", i, attributes, i, i, i);
    net->images[net->count++] = result;
}

static void add_conv(network *net, int from) {
    image in = net->images[from], out = in;
    out.c = random_channels(net);
    int size = random_one_in(&net->random, 2) ? 3 : 1;
    text_add(&net->text, "; Conv v%d w%d{%d,%d,%d,%d} b%d{%d} -> ", from, net->count, out.c, in.c,
             size, size, net->count, out.c);
    add_scaled(net, size == 3 ? " pads=1,1,1,1" : "", out);
}

static void add_conv_transpose(network *net, int from) {
    image in = net->images[from], out = {in.n, random_channels(net), 2 * in.h, 2 * in.w};
    text_add(&net->text, "; ConvTranspose v%d w%d{%d,%d,4,4} -> ", from, net->count, in.c, out.c);
    add_scaled(net, " strides=2,2 pads=1,1,1,1", out);
}

static void add_pool(network *net, int from) {
    image out = net->images[from];
    out.h /= 2;
    out.w /= 2;
    text_add(&net->text, "; MaxPool v%d -> v%d kernel_shape=2,2 strides=2,2", from, net->count);
    net->images[net->count++] = out;
}

static void add_relu(network *net, int from) {
    text_add(&net->text, "; Relu v%d -> v%d", from, net->count);
    net->images[net->count] = net->images[from];
    net->count++;
}

static bool can_join(const image *a, const image *b, bool along_images) {
    return a->h == b->h && a->w == b->w && (along_images ? a->c == b->c : a->n == b->n);
}

/* The tensor, first or last, and up to four others like it, or itself again. */
static void add_concat(network *net, int from) {
    bool along_images = random_one_in(&net->random, 8), last = random_one_in(&net->random, 2);
    image out = net->images[from];
    text_add(&net->text, "; Concat");
    if (!last)
        text_add(&net->text, " v%d", from);
    for (int i = random_int(&net->random, 0, net->count - 1), parts = 1; parts < 5 && i >= 0; i--) {
        const image *other = &net->images[i];
        if (!can_join(&net->images[from], other, along_images) || out.c + other->c > 96 ||
            random_one_in(&net->random, 3))
            continue;
        text_add(&net->text, " v%d", i);
        out.c += along_images ? 0 : other->c;
        out.n += along_images ? other->n : 0;
        parts++;
    }
    if (last)
        text_add(&net->text, " v%d", from);
    text_add(&net->text, " -> v%d axis=%d", net->count, along_images ? 0 : 1);
    net->images[net->count++] = out;
}

static void add_node(network *net) {
    int latest = net->count - 1;
    int from = random_int(&net->random, latest > 3 ? latest - 3 : 0, latest);
    const image *in = &net->images[from];
    switch (random_int(&net->random, 0, 9)) {
    case 0:
        add_relu(net, from);
        return;
    case 1:
        if (in->h > 3 && in->w > 3) {
            add_pool(net, from);
            return;
        }
        /* fall through */
    case 2:
        if (in->h <= 10 && in->w <= 20) {
            add_conv_transpose(net, from);
            return;
        }
        /* fall through */
    case 3:
    case 4:
    case 5:
        add_conv(net, from);
        return;
    default:
        add_concat(net, from);
    }
}

static void make_network(network *net, uint32_t seed) {
    *net = (network){.random = random_from(seed), .count = 1};
    random_source *random = &net->random;
    image x = {random_one_in(random, 5) ? 2 : 1, random_int(random, 1, 9), 4, 4};
    x.h = random_one_in(random, 2) ? random_int(random, 3, 19) : 4 * random_int(random, 1, 4);
    x.w = random_one_in(random, 2) ? random_int(random, 3, 37) : 4 * random_int(random, 1, 8);
    net->images[0] = x;
    text_add(&net->text, "Relu x[%d,%d,%d,%d] -> v0", x.n, x.c, x.h, x.w);
    while (net->count < NODES)
        add_node(net);
    add_relu(net, net->count - 1); /* the last node's result is an output; so are these */
    for (int i = 0, outputs = 0; i + 1 < net->count && outputs < 6; i++)
        if (random_one_in(random, 4))
            outputs += snprintf(net->outputs + strlen(net->outputs), 8, "%sv%d", outputs ? "," : "",
                                i) > 0;
}

/* Rounding of 16 bits in a dozen layers. */
#define DEEP_HALF_TOLERANCE 2e-2
#define DEEP_TOLERANCE 3e-5

static void test_random_networks(void **state) {
    (void)state;
    need_gpu();
    const case_environments here = environments_here();
    for (int i = 0; i < some_cases(NETWORKS); i++) {
        network net;
        make_network(&net, (uint32_t)next_case());
        backend_case c = here.list[i % here.count];
        c.text = net.text.text;
        c.outputs = net.outputs;
        c.tolerance = c.precision == TSR_PRECISION_FP16 ? DEEP_HALF_TOLERANCE : DEEP_TOLERANCE;
        run_case(&c);
    }
    expect_no_failed_case();
}

/* ---- networks known for it ------------------------------------------------------------------- */

/* Convolutions of 1x1 and 3x3 beside each other, as in SqueezeNet. */
#define FIRE_NET                                                                                   \
    "Conv x[1,16,16,32] ws{8,16,1,1} -> s; Relu s -> t; Conv t wa{16,8,1,1} -> a; "                \
    "Conv t wb{16,8,3,3} -> b pads=1,1,1,1; Concat a b -> c axis=1; "                              \
    "Conv c wd{8,32,1,1} -> d; Relu d -> e; Conv e wf{16,8,1,1} -> f; "                            \
    "Conv e wg{16,8,3,3} -> g pads=1,1,1,1; Concat f g -> y axis=1"

/* The same with an activation after the first concatenation instead of before it. */
#define ACTIVE_NET                                                                                 \
    "Conv x[1,16,16,32] ws{8,16,1,1} -> s; Relu s -> t; Conv t wa{16,8,1,1} -> a; "                \
    "Conv t wb{16,8,3,3} -> b pads=1,1,1,1; Concat a b -> c axis=1; LeakyRelu c -> r alpha=0.3; "  \
    "Conv r wd{8,32,1,1} -> d; Clip d k<-0.1 l<0.2 -> e; Conv e wf{16,8,1,1} -> f; "               \
    "Conv e wg{16,8,3,3} -> g pads=1,1,1,1; Concat f g -> y axis=1"

/* Each layer reads all before it, by way of a narrow one, as in DenseNet. */
#define DENSE_NET                                                                                  \
    "Conv x[1,3,16,32] wa{8,3,3,3} -> a pads=1,1,1,1; Conv a wb{16,8,1,1} -> b; "                  \
    "Conv b wc{4,16,3,3} -> c pads=1,1,1,1; Concat a c -> d axis=1; Conv d we{16,12,1,1} -> e; "   \
    "Conv e wf{4,16,3,3} -> f pads=1,1,1,1; Concat f d -> g axis=1; Conv g wh{16,16,1,1} -> h; "   \
    "Conv h wi{4,16,3,3} -> i pads=1,1,1,1; Concat g i -> y axis=1"

/* Skips past pixels made of channels. */
#define SKIP_NET                                                                                   \
    "Conv x[1,3,16,32] wa{8,3,3,3} -> a pads=1,1,1,1; "                                            \
    "Conv a wb{16,8,4,4} -> b strides=2,2 pads=1,1,1,1; "                                          \
    "Conv b wc{32,16,4,4} -> c strides=2,2 pads=1,1,1,1; DepthToSpace c -> d blocksize=2; "        \
    "Concat d b -> e axis=1; Conv e wf{16,24,3,3} -> f pads=1,1,1,1; "                             \
    "DepthToSpace f -> g blocksize=2; Concat g a -> h axis=1; Conv h wi{3,12,1,1} -> y"

/* The same with transposed convolutions. */
#define U_NET                                                                                      \
    "Conv x[1,3,32,64] wa{8,3,3,3} -> a pads=1,1,1,1; "                                            \
    "Conv a wb{16,8,4,4} -> b strides=2,2 pads=1,1,1,1; "                                          \
    "Conv b wc{32,16,4,4} -> c strides=2,2 pads=1,1,1,1; "                                         \
    "ConvTranspose c wd{32,16,4,4} -> d strides=2,2 pads=1,1,1,1; Concat d b -> e axis=1; "        \
    "ConvTranspose e wf{32,8,4,4} -> f strides=2,2 pads=1,1,1,1; Concat f a -> g axis=1; "         \
    "Conv g wh{3,16,1,1} -> y"

/* Passes of their concatenations. Where every tensor is kept, none holds the activation of what is
 * joined later. */
static const struct known {
    const char *text;
    int more_if_kept;
} known[] = {{FIRE_NET, 0}, {ACTIVE_NET, 1}, {DENSE_NET, 0}, {SKIP_NET, 0}, {U_NET, 0}};
enum { KNOWN = sizeof known / sizeof *known };

static void expect_passes(const char *text, const tsr_session_desc *desc, const char *kernels,
                          int expected) {
    tsr_model *model = make_model(text);
    tsr_session *session =
        make_session(gpu_device((backend_limits){.kernels = kernels}), model, desc);
    int passes = count_passes_of(session, "Concat");
    if (passes != expected)
        fail_msg("%d passes instead of %d: %s", passes, expected, text);
    expect_report(session, gpu_backend(), desc);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

static void test_copies_are_gone(void **state) {
    (void)state;
    need_gpu();
    const tsr_session_desc descs[] = {{.plan_only = true},
                                      {.plan_only = true, .precision = TSR_PRECISION_FP16},
                                      {.plan_only = true, .keep_tensors = true}};
    for (int i = 0; i < 3 * KNOWN; i++) {
        const tsr_session_desc *desc = &descs[i / KNOWN];
        const struct known *net = &known[i % KNOWN];
        expect_passes(net->text, desc, "direct", desc->keep_tensors ? net->more_if_kept : 0);
    }
    expect_passes(U_NET, &descs[0], "blocks", 0);
}

static void test_known_networks(void **state) {
    (void)state;
    need_gpu();
    const case_environments here = environments_here();
    for (int i = 0; i < KNOWN * here.count; i++) {
        backend_case c = here.list[i % here.count];
        c.text = known[i / here.count].text;
        c.range = 0.01f; /* half a dozen layers make them large */
        c.tolerance = c.precision == TSR_PRECISION_FP16 ? DEEP_HALF_TOLERANCE : DEEP_TOLERANCE;
        if (runs_in((size_t)(i / here.count), i % here.count, here.count))
            run_case(&c);
    }
    expect_no_failed_case();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_networks),
        cmocka_unit_test(test_copies_are_gone),
        cmocka_unit_test(test_known_networks),
    };
    return cmocka_run_group_tests_name("concat", tests, NULL, close_backends);
}
