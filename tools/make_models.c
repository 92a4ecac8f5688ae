/* Writes models with random weights, so that benchmarks and tests need no download. */
#include "make_models/exporter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_BAD_USE = 2, OPSET = 13, EXPORTERS_OPSET = 17, MAX_NAME = 32 };

static const char usage[] =
    "usage: make_models pix2pix --ngf N [--norm none|batch|instance] [--size S] [--seed K] -o "
    "FILE\n"
    "       make_models autoencoder|mobile [--size S] [--seed K] -o FILE\n"
    "       make_models mobilevit|vit [--size S] [--seed K] -o FILE\n"
    "       make_models tagger [--seed K] -o FILE\n"
    "       make_models swirl [--size S] -o FILE\n"
    "       make_models conv|conv_transpose --in C --out C --size S [--seed K] -o FILE\n"
    "\n"
    "Writes an ONNX model with random weights; the same options give the same file.\n"
    "  pix2pix      the U-Net-256 generator of Pix2Pix: 8 convolutions 4x4 stride 2, 8 transposed\n"
    "               ones, skip concatenations; input x and output y of [1, 3, S, S]\n"
    "  autoencoder  3 convolutions down, one 3x3, 3 transposed up; [1, 3, 256, 256]\n"
    "  mobile       depthwise convolutions 3x3 and 5x5, one of 1x1 behind each; input\n"
    "               [1, 3, 256, 256], output [1, 8, 32, 32]\n"
    "  mobilevit, vit, tagger\n"
    "               small networks as torch.onnx writes them, with layer normalization, GELU and\n"
    "               attention as their parts: convolutions, channel shuffles and attention over\n"
    "               patches, input [1, 3, S, S]; patches of 8 x 8 with a class token and masks, a\n"
    "               batch of any size; two bidirectional LSTMs over words, 0 to 199, as int64\n"
    "               [batch, length]\n"
    "  swirl        one node of demos/custom_op.c's operator, demo:Swirl; [1, 1, S, S]\n"
    "  conv, conv_transpose\n"
    "               one layer, 4x4 stride 2, from --in to --out channels on an image of --size\n"
    "\n"
    "  --ngf N      channels of the first layer, 1 to 256\n"
    "  --norm KIND  none (folded into weights and bias, the default), batch or instance\n"
    "  --size S     height and width up to 4096 (default 256); for pix2pix a multiple of 256;\n"
    "               0 leaves batch, height and width open, as N, H and W\n"
    "  --in C, --out C   channels of a single layer, 1 to 1024\n"
    "  --seed K     of the random numbers (default 7)\n"
    "  -o FILE      the file to write\n";

typedef enum norm { NORM_NONE, NORM_BATCH, NORM_INSTANCE } norm;

/* ---- layers ---------------------------------------------------------------------------------- */

typedef struct model {
    onnx_writer *writer;
    rng random;
    norm norm;
} model;

typedef struct options {
    const struct kind *kind;
    int64_t ngf, size, in, out;
    uint64_t seed;
    norm norm;
    const char *output;
} options;

typedef struct layer {
    const char *op, *name, *input, *activation, *output; /* op: Conv or ConvTranspose */
    int64_t in, out, kernel, stride;
    bool normalized, depthwise;
} layer; /* without an activation, "<name>_c" is the output */

/* A parameter of one number for each channel, called "<layer>_<suffix>". */
static void add_vector(model *m, const layer *l, const char *suffix, double mean,
                       double deviation) {
    char name[MAX_NAME];
    snprintf(name, sizeof name, "%s_%s", l->name, suffix);
    float *values = onnx_add_floats(m->writer, name, 1, &l->out, NULL);
    fill_normal(&m->random, values, (size_t)l->out, mean, deviation);
}

static void add_convolution(model *m, const layer *l, bool bias) {
    char weights[MAX_NAME], inputs[4 * MAX_NAME], output[MAX_NAME];
    bool transposed = strcmp(l->op, "ConvTranspose") == 0;
    int64_t k = l->kernel, pad = (k - 1) / 2, in = l->depthwise ? 1 : l->in;
    int64_t dims[] = {transposed ? in : l->out, transposed ? l->out : in, k, k};
    /* Preserves the variance: an output element sums `taps` products per input channel. */
    int64_t taps = transposed ? k * k / (l->stride * l->stride) : k * k;
    double gain = l->activation && strcmp(l->activation, "Tanh") == 0 ? 0.25 : 2.0;
    snprintf(weights, sizeof weights, "%s_w", l->name);
    float *values = onnx_add_floats(m->writer, weights, 4, dims, NULL);
    fill_normal(&m->random, values, (size_t)(in * l->out * k * k), 0,
                sqrt(gain / (double)(in * taps)));
    if (bias)
        add_vector(m, l, "b", 0, 0.05);
    snprintf(inputs, sizeof inputs, bias ? "%s,%s,%s_b" : "%s,%s", l->input, weights, l->name);
    snprintf(output, sizeof output, "%s_c", l->name);
    Tsr__NodeProto *node = onnx_add_node(m->writer, l->op, output, inputs, output);
    onnx_set_ints(m->writer, node, "kernel_shape", 2, (int64_t[]){k, k});
    onnx_set_ints(m->writer, node, "strides", 2, (int64_t[]){l->stride, l->stride});
    onnx_set_ints(m->writer, node, "pads", 4, (int64_t[]){pad, pad, pad, pad});
    if (l->depthwise)
        onnx_set_int(m->writer, node, "group", l->in);
}

static void add_norm(model *m, const layer *l) {
    char inputs[8 * MAX_NAME], output[MAX_NAME];
    bool batch = m->norm == NORM_BATCH;
    add_vector(m, l, "scale", 1, 0.02);
    add_vector(m, l, "shift", 0, 0.05);
    int used = snprintf(inputs, sizeof inputs, "%s_c,%s_scale,%s_shift", l->name, l->name, l->name);
    if (batch) {
        add_vector(m, l, "mean", 0, 0.05);
        add_vector(m, l, "var", 1, 0.05);
        snprintf(inputs + used, sizeof inputs - (size_t)used, ",%s_mean,%s_var", l->name, l->name);
    }
    snprintf(output, sizeof output, "%s_n", l->name);
    Tsr__NodeProto *node = onnx_add_node(
        m->writer, batch ? "BatchNormalization" : "InstanceNormalization", output, inputs, output);
    onnx_set_float(m->writer, node, "epsilon", 1e-5f);
}

static void add_layer(model *m, const layer *l) {
    char from[MAX_NAME], name[MAX_NAME];
    bool norm = l->normalized && m->norm != NORM_NONE;
    add_convolution(m, l, !norm);
    if (norm)
        add_norm(m, l);
    if (!l->activation)
        return;
    snprintf(from, sizeof from, "%s_%s", l->name, norm ? "n" : "c");
    snprintf(name, sizeof name, "%s_a", l->name);
    Tsr__NodeProto *node = onnx_add_node(m->writer, l->activation, name, from, l->output);
    if (strcmp(l->activation, "LeakyRelu") == 0)
        onnx_set_float(m->writer, node, "alpha", 0.2f);
}

static void add_images(onnx_writer *writer, int64_t channels, int64_t size, const char *output,
                       int64_t out_channels, int64_t out_size) {
    int64_t n = size ? 1 : -1, in = size ? size : -1, out = size ? out_size : -1;
    Tsr__ValueInfoProto *x =
        onnx_add_input(writer, "x", TSR_DTYPE_F32, 4, (int64_t[]){n, channels, in, in});
    onnx_add_output(writer, output, TSR_DTYPE_F32, 4, (int64_t[]){n, out_channels, out, out});
    if (size)
        return;
    onnx_set_dim_name(writer, x, 0, "N");
    onnx_set_dim_name(writer, x, 2, "H");
    onnx_set_dim_name(writer, x, 3, "W");
}

/* ---- models ---------------------------------------------------------------------------------- */

enum { UNET_DEPTH = 8 };

static void build_pix2pix(model *m, const options *o) {
    int64_t ngf = o->ngf;
    add_images(m->writer, 3, o->size, "y", 3, o->size);
    static const int64_t down[UNET_DEPTH] = {1, 2, 4, 8, 8, 8, 8, 8};
    char encoder[UNET_DEPTH + 1][MAX_NAME] = {"x"}, decoder[MAX_NAME], joined[MAX_NAME];
    int64_t channels = 3;
    for (int i = 1; i <= UNET_DEPTH; i++) {
        snprintf(encoder[i], MAX_NAME, "e%d", i);
        add_layer(m, &(layer){.op = "Conv",
                              .name = encoder[i],
                              .input = encoder[i - 1],
                              .activation = "LeakyRelu",
                              .output = encoder[i],
                              .in = channels,
                              .out = ngf * down[i - 1],
                              .kernel = 4,
                              .stride = 2,
                              .normalized = i > 1 && i < UNET_DEPTH});
        channels = ngf * down[i - 1];
    }
    strcpy(joined, encoder[UNET_DEPTH]);
    for (int i = 1; i < UNET_DEPTH; i++) { /* d1 is concatenated with e7, d2 with e6, ... */
        int64_t skip = ngf * down[UNET_DEPTH - 1 - i];
        char inputs[2 * MAX_NAME];
        snprintf(decoder, sizeof decoder, "d%d", i);
        add_layer(m, &(layer){.op = "ConvTranspose",
                              .name = decoder,
                              .input = joined,
                              .activation = "Relu",
                              .output = decoder,
                              .in = channels,
                              .out = skip,
                              .kernel = 4,
                              .stride = 2,
                              .normalized = true});
        snprintf(inputs, sizeof inputs, "%s,%s", decoder, encoder[UNET_DEPTH - i]);
        snprintf(joined, sizeof joined, "j%d", i);
        onnx_set_int(m->writer, onnx_add_node(m->writer, "Concat", joined, inputs, joined), "axis",
                     1);
        channels = 2 * skip;
    }
    add_layer(m, &(layer){.op = "ConvTranspose",
                          .name = "out",
                          .input = joined,
                          .activation = "Tanh",
                          .output = "y",
                          .in = channels,
                          .out = 3,
                          .kernel = 4,
                          .stride = 2});
}

static void add_layers(model *m, const layer *layers, size_t count) {
    for (size_t i = 0; i < count; i++)
        add_layer(m, &layers[i]);
}

static void build_autoencoder(model *m, const options *o) {
    static const layer layers[] = {
        {"Conv", "e1", "x", "LeakyRelu", "e1", 3, 16, 4, 2, false, false},
        {"Conv", "e2", "e1", "LeakyRelu", "e2", 16, 32, 4, 2, false, false},
        {"Conv", "e3", "e2", "LeakyRelu", "e3", 32, 64, 4, 2, false, false},
        {"Conv", "mid", "e3", "LeakyRelu", "mid", 64, 64, 3, 1, false, false},
        {"ConvTranspose", "d1", "mid", "Relu", "d1", 64, 32, 4, 2, false, false},
        {"ConvTranspose", "d2", "d1", "Relu", "d2", 32, 16, 4, 2, false, false},
        {"ConvTranspose", "out", "d2", "Tanh", "y", 16, 3, 4, 2, false, false},
    };
    add_images(m->writer, 3, o->size, "y", 3, o->size);
    add_layers(m, layers, sizeof layers / sizeof *layers);
}

static void build_mobile(model *m, const options *o) {
    static const layer layers[] = {
        {"Conv", "stem", "x", "Relu", "stem", 3, 16, 3, 2, false, false},
        {"Conv", "d1", "stem", "Relu", "d1", 16, 16, 3, 1, false, true},
        {"Conv", "p1", "d1", "Relu", "p1", 16, 32, 1, 1, false, false},
        {"Conv", "d2", "p1", "Relu", "d2", 32, 32, 3, 2, false, true},
        {"Conv", "p2", "d2", "Relu", "p2", 32, 64, 1, 1, false, false},
        {"Conv", "d3", "p2", "Relu", "d3", 64, 64, 5, 1, false, true},
        {"Conv", "p3", "d3", "Relu", "p3", 64, 64, 1, 1, false, false},
        {"Conv", "d4", "p3", "Relu", "d4", 64, 64, 5, 2, false, true},
        {"Conv", "p4", "d4", "Relu", "p4", 64, 128, 1, 1, false, false},
        {"Conv", "out", "p4", "Sigmoid", "y", 128, 8, 1, 1, false, false},
    };
    add_images(m->writer, 3, o->size, "y", 8, o->size / 8);
    add_layers(m, layers, sizeof layers / sizeof *layers);
}

static void build_layer(model *m, const options *o, const char *op, int64_t out_size) {
    add_images(m->writer, o->in, o->size, "layer_c", o->out, out_size);
    add_layer(m, &(layer){.op = op,
                          .name = "layer",
                          .input = "x",
                          .in = o->in,
                          .out = o->out,
                          .kernel = 4,
                          .stride = 2});
}

static void build_conv(model *m, const options *o) {
    build_layer(m, o, "Conv", o->size / 2);
}
static void build_conv_transpose(model *m, const options *o) {
    build_layer(m, o, "ConvTranspose", o->size * 2);
}

/* As those of an exporter, whose numbers follow the model's seed. */
static void build_exported(model *m, void (*build)(exporter *e, int64_t size), int64_t size) {
    exporter e = {.writer = m->writer, .random = m->random};
    build(&e, size);
}
static void build_mobilevit(model *m, const options *o) {
    build_exported(m, export_mobilevit, o->size);
}
static void build_vit(model *m, const options *o) {
    build_exported(m, export_vit, o->size);
}
static void build_tagger(model *m, const options *o) {
    build_exported(m, export_tagger, o->size);
}

static void build_swirl(model *m, const options *o) {
    add_images(m->writer, 1, o->size, "y", 1, o->size);
    onnx_set_float(m->writer, onnx_add_node(m->writer, "demo:Swirl", "swirl", "x", "y"), "angle",
                   2.5f);
}

/* ---- command line ---------------------------------------------------------------------------- */

static const struct kind {
    const char *name;
    void (*build)(model *m, const options *o);
    const char *options; /* that it accepts besides --size, --seed and -o */
    int opset;           /* 0: OPSET */
} kinds[] = {
    {"pix2pix", build_pix2pix, "--ngf --norm", 0},
    {"autoencoder", build_autoencoder, "", 0},
    {"mobile", build_mobile, "", 0},
    {"mobilevit", build_mobilevit, "", EXPORTERS_OPSET},
    {"vit", build_vit, "", EXPORTERS_OPSET},
    {"tagger", build_tagger, "", EXPORTERS_OPSET},
    {"swirl", build_swirl, "", 0},
    {"conv", build_conv, "--in --out", 0},
    {"conv_transpose", build_conv_transpose, "--in --out", 0},
};

static bool bad_use(const char *text, const char *detail) {
    fprintf(stderr, "make_models: %s%s; see make_models --help\n", text, detail);
    return false;
}

static bool parse_number(const char *name, const char *text, int64_t min, int64_t max,
                         int64_t *number) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < min || value > max)
        return bad_use("not a usable number for ", name);
    *number = value;
    return true;
}

static bool parse_norm(const char *text, norm *result) {
    static const char *const names[] = {
        [NORM_NONE] = "none", [NORM_BATCH] = "batch", [NORM_INSTANCE] = "instance"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *result = (norm)i;
            return true;
        }
    return bad_use("not a norm: ", text);
}

static bool parse_option(options *o, const char *name, const char *value) {
    int64_t seed;
    if (strcmp(name, "-o") == 0) {
        o->output = value;
        return true;
    }
    if (strcmp(name, "--seed") == 0) {
        bool good = parse_number(name, value, 0, INT64_MAX, &seed);
        o->seed = good ? (uint64_t)seed : 0;
        return good;
    }
    if (strcmp(name, "--size") == 0)
        return parse_number(name, value, strcmp(value, "0") ? 4 : 0, 4096, &o->size);
    if (!strstr(o->kind->options, name))
        return bad_use("unknown option ", name);
    if (strcmp(name, "--ngf") == 0)
        return parse_number(name, value, 1, 256, &o->ngf);
    if (strcmp(name, "--in") == 0)
        return parse_number(name, value, 1, 1024, &o->in);
    if (strcmp(name, "--out") == 0)
        return parse_number(name, value, 1, 1024, &o->out);
    return strcmp(name, "--norm") == 0 ? parse_norm(value, &o->norm)
                                       : bad_use("unknown option ", name);
}

static bool parse_kind(options *o, const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0)
            o->kind = &kinds[i];
    return o->kind || bad_use("unknown model ", name);
}

/* Checks that all required options are given and that their values are valid. */
static bool check(const options *o) {
    if (!o->output)
        return bad_use("no output file is named", "");
    if (o->kind->build == build_pix2pix && !o->ngf)
        return bad_use("pix2pix needs --ngf", "");
    if (strstr(o->kind->options, "--in") && (!o->in || !o->out))
        return bad_use("--in and --out are needed for ", o->kind->name);
    bool exported = o->kind->build == build_mobilevit || o->kind->build == build_vit;
    if (exported && o->size == 0)
        return bad_use("--size 0 is not possible for ", o->kind->name);
    bool eighth = exported || o->kind->build == build_autoencoder || o->kind->build == build_mobile;
    int64_t unit = o->kind->build == build_pix2pix ? 256 : eighth ? 8 : 2;
    return o->size % unit == 0 || bad_use("--size does not fit the strides of ", o->kind->name);
}

static bool parse(options *o, int argc, char **argv) {
    *o = (options){.size = 256, .seed = 7};
    if (argc < 2)
        return bad_use("no model is named", "");
    if (!parse_kind(o, argv[1]))
        return false;
    for (int i = 2; i < argc; i += 2) {
        if (i + 1 == argc)
            return bad_use("no value after ", argv[i]);
        if (!parse_option(o, argv[i], argv[i + 1]))
            return false;
    }
    return check(o);
}

int main(int argc, char **argv) {
    options o;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return fputs(usage, stdout) < 0;
    if (!parse(&o, argc, argv))
        return EXIT_BAD_USE;
    model m = {.writer = onnx_writer_create(o.kind->opset ? o.kind->opset : OPSET),
               .random = {o.seed},
               .norm = o.norm};
    if (!m.writer) {
        fputs("make_models: not enough memory\n", stderr);
        return EXIT_BAD_USE;
    }
    o.kind->build(&m, &o);
    bool written = onnx_write_file(m.writer, o.output);
    if (!written)
        fprintf(stderr, "make_models: %s: %s\n", o.output, strerror(errno));
    onnx_writer_destroy(m.writer);
    return written ? 0 : EXIT_BAD_USE;
}
