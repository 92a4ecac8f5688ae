#include "support/conv_text.h"

#include <string.h>

enum { MAX_MACS = 1500000, MAX_OUTPUT = 40000 };

/* One spatial axis. */
typedef struct axis {
    int in, kernel, stride, dilation, pad_begin, pad_end, output_padding, out;
} axis;

typedef struct convolution {
    bool transposed, bias, sized;
    bool computed; /* weights and bias are inputs */
    int rank;      /* spatial */
    int batch, group, group_inputs, group_outputs;
    axis axes[2];
    const char *auto_pad, *activation;
    const char *before; /* an operator on the input, with its constant inputs; NULL: none */
    const char *before_attribute;
} convolution;

/* The driver's own limits most often. With textures then fewer render targets and textures so small
 * that tensors wrap, and uniform blocks so small that sums are cut; with buffers each kind of
 * kernel, and as many channels as fill its blocks. */
conv_environments conv_environments_here(void) {
    static const conv_environment textures[] = {
        {.high = 0},
        {.limits.kernels = "shared", .channels = 70},
        {.limits.kernels = "blocks", .channels = 70},
        {.limits.no_float_targets = true, .channels = 70},
        {.limits.no_float_targets = true, .limits.kernels = "small"},
        {.axis = 1, .low = 17, .high = 90},
        {.limits.kernels = "blocks"},
        {.limits.kernels = "blocks",
         .limits.max_uniform_block_bytes = 2048,
         .axis = 0,
         .low = 9,
         .high = 30},
        {.limits.kernels = "small", .channels = 70},
        {.limits.kernels = "small",
         .limits.max_uniform_block_bytes = 100,
         .channels = 30,
         .axis = 1,
         .low = 17,
         .high = 90},
        {.limits.kernels = "small",
         .limits.max_uniform_block_bytes = 2048,
         .limits.max_draw_buffers = 2,
         .precision = TSR_PRECISION_FP16},
        {.limits.kernels = "small", .channels = 70, .precision = TSR_PRECISION_FP16},
        {.limits.kernels = "small", .limits.max_texture_size = 128, .low = 129, .high = 150},
        {.limits.kernels = "midgard", .channels = 30},
        {.limits.kernels = "midgard",
         .limits.max_uniform_block_bytes = 2048,
         .precision = TSR_PRECISION_FP16},
        {.limits.kernels = "valhall", .channels = 30},
        {.limits.kernels = "valhall",
         .limits.max_draw_buffers = 2,
         .precision = TSR_PRECISION_FP16},
        {.far = true},
        {.precision = TSR_PRECISION_FP16},
        {.limits.max_draw_buffers = 1},
        {.limits.max_draw_buffers = 2, .axis = 1, .low = 17, .high = 60},
        {.limits.max_draw_buffers = 4, .limits.kernels = "shared"},
        {.limits.max_texture_size = 128,
         .limits.max_draw_buffers = 1,
         .axis = 1,
         .low = 129,
         .high = 160},
        {.limits.max_texture_size = 128, .axis = 0, .low = 129, .high = 150},
    };
    static const conv_environment buffers[] = {
        {.high = 0},
        {.limits.kernels = "shared"},
        {.axis = 1, .low = 17, .high = 90},
        {.limits.kernels = "plain", .far = true},
        {.precision = TSR_PRECISION_FP16},
        {.limits.kernels = "shared", .channels = 150},
        {.channels = 70, .axis = 1, .low = 17, .high = 60},
        {.limits.kernels = "direct", .channels = 150, .precision = TSR_PRECISION_FP16},
        {.limits.kernels = "plain"},
        {.limits.kernels = "shared", .axis = 0, .low = 129, .high = 150},
    };
    return gpu_has_textures() ? (conv_environments){24, textures}
                              : (conv_environments){10, buffers};
}

/* ---- making up ---- */

static int extent(const axis *a) {
    return (a->kernel - 1) * a->dilation + 1;
}

static int smallest(int a, int b) {
    return a < b ? a : b;
}

static int random_size(random_source *r) {
    switch (random_int(r, 0, 4)) {
    case 0:
        return 1;
    case 1:
        return random_int(r, 2, 7);
    default:
        return random_int(r, 5, 21);
    }
}

static void draw_channels(random_source *r, convolution *c, int most) {
    c->group = 1;
    c->group_inputs = random_int(r, 1, most);
    c->group_outputs = random_int(r, 1, most);
    switch (random_int(r, 0, 5)) {
    case 0: /* depthwise */
        c->group = random_int(r, 2, 13);
        c->group_inputs = c->group_outputs = 1;
        break;
    case 1: /* with a multiplier */
        c->group = random_int(r, 2, 7);
        c->group_inputs = 1;
        c->group_outputs = random_int(r, 2, 3);
        break;
    case 2:
        c->group = random_int(r, 2, 4);
        c->group_inputs = random_int(r, 1, 6);
        c->group_outputs = random_int(r, 1, 6);
        break;
    default:
        break;
    }
}

/* Columns too far apart for a fragment's row. */
static void move_apart(random_source *r, axis *a) {
    if (random_one_in(r, 2)) {
        a->stride = random_int(r, 10, 12);
        a->in = random_int(r, 60, 110);
    } else {
        a->dilation = random_int(r, 11, 16);
        a->kernel = random_int(r, 6, 8);
    }
}

static void draw_axis(random_source *r, axis *a, bool far) {
    a->in = random_size(r);
    a->kernel = random_one_in(r, 3) ? random_int(r, 1, 11) : random_int(r, 1, 4);
    a->stride = random_one_in(r, 3) ? random_int(r, 1, 5) : random_int(r, 1, 2);
    a->dilation = random_one_in(r, 4) ? random_int(r, 2, 4) : 1;
    if (far)
        move_apart(r, a);
    int most = random_one_in(r, 4) ? extent(a) + 2 : smallest(extent(a), 3);
    a->pad_begin = random_int(r, 0, most);
    a->pad_end = random_int(r, 0, most);
}

/* SAME takes away or adds so much that the result has ceil(in / stride) or in * stride elements. */
static bool is_same(const convolution *c) {
    return c->auto_pad && c->auto_pad[0] == 'S';
}

static void place(const convolution *c, axis *a) {
    if (c->auto_pad)
        a->pad_begin = a->pad_end = 0;
    int room = a->in + a->pad_begin + a->pad_end - extent(a);
    if (room < 0 && !is_same(c)) {
        a->in -= room;
        room = 0;
    }
    a->out = is_same(c) ? (a->in + a->stride - 1) / a->stride : room / a->stride + 1;
}

static void place_transposed(random_source *r, const convolution *c, axis *a) {
    int most = a->stride > a->dilation ? a->stride : a->dilation;
    a->output_padding = random_one_in(r, 3) ? random_int(r, 0, most - 1) : 0;
    int full = a->stride * (a->in - 1) + a->output_padding + extent(a);
    if (c->auto_pad || c->sized)
        a->pad_begin = a->pad_end = 0;
    if (a->pad_begin + a->pad_end >= full) {
        a->pad_begin = smallest(a->pad_begin, full - 1);
        a->pad_end = 0;
    }
    a->out = full - a->pad_begin - a->pad_end;
    if (c->sized)
        a->out = random_int(r, full - smallest(full - 1, extent(a)), full);
    else if (is_same(c))
        a->out = smallest(full, a->stride * a->in);
}

static int64_t macs(const convolution *c) {
    int64_t product = (int64_t)c->batch * c->group * c->group_inputs * c->group_outputs;
    for (int i = 0; i < c->rank; i++)
        product *= (int64_t)c->axes[i].kernel * (c->transposed ? c->axes[i].in : c->axes[i].out);
    return product;
}

static int64_t output_count(const convolution *c) {
    int64_t count = (int64_t)c->batch * c->group * c->group_outputs;
    for (int i = 0; i < c->rank; i++)
        count *= c->axes[i].out;
    return count;
}

static convolution draw_once(random_source *r, bool transposed, const conv_environment *e) {
    static const char *const auto_pads[] = {"SAME_UPPER", "SAME_LOWER", "VALID"};
    static const char *const activations[] = {
        "Relu c -> y",      "LeakyRelu c -> y alpha=0.2",
        "Tanh c -> y",      "Clip c lo<-2 hi<2 -> y",
        "HardSwish c -> y", "Sigmoid c -> y",
    };
    convolution c = {.transposed = transposed, .rank = random_one_in(r, 4) ? 1 : 2};
    c.batch = random_one_in(r, 2) ? 1 : random_int(r, 2, 3);
    c.bias = random_one_in(r, 2);
    c.sized = transposed && random_one_in(r, 6);
    if (random_one_in(r, 4))
        c.auto_pad = auto_pads[random_int(r, 0, 2)];
    if (random_one_in(r, 3))
        c.activation = activations[random_int(r, 0, 5)];
    draw_channels(r, &c, e->channels ? e->channels : 13);
    bool pointwise = random_one_in(r, 6);
    for (int i = 0; i < c.rank; i++) {
        draw_axis(r, &c.axes[i], e->far && i == c.rank - 1);
        if (pointwise)
            c.axes[i].kernel = 1, c.axes[i].pad_begin = c.axes[i].pad_end = 0;
        if (e->high && i == smallest(e->axis, c.rank - 1))
            c.axes[i].in = random_int(r, e->low, e->high);
        if (transposed)
            place_transposed(r, &c, &c.axes[i]);
        else
            place(&c, &c.axes[i]);
    }
    return c;
}

/* Often one that is applied as the input is read. */
static void draw_before(random_source *r, convolution *c) {
    static const char *const operators[][2] = {
        {"Relu", ""},   {"LeakyRelu", " alpha=0.3"},       {"LeakyRelu", " alpha=-0.5"},
        {"Neg", ""},    {"Clip", " least<-0.5 most<0.25"}, {"Clip", " least<0.5 most<0.75"},
        {"Sigmoid", ""}};
    if (!random_one_in(r, 2))
        return;
    const char *const *drawn = operators[random_int(r, 0, 6)];
    c->before = drawn[0];
    c->before_attribute = drawn[1];
}

/* ---- writing ---- */

/* A list attribute with one field of each axis. */
static void add_field(case_text *text, const char *name, const convolution *c, size_t field) {
    int numbers[2];
    for (int i = 0; i < c->rank; i++)
        memcpy(&numbers[i], (const char *)&c->axes[i] + field, sizeof *numbers);
    text_add_ints(text, name, numbers, c->rank);
}

static void add_pads(case_text *text, const convolution *c) {
    int pads[4];
    for (int i = 0; i < c->rank; i++) {
        pads[i] = c->axes[i].pad_begin;
        pads[i + c->rank] = c->axes[i].pad_end;
    }
    text_add_ints(text, "pads", pads, 2 * c->rank);
}

/* Ends the operator before, begins the convolution. */
static void add_before(case_text *text, const convolution *c, const char *name) {
    bool clip = c->before && !strcmp(c->before, "Clip");
    if (!c->before)
        return;
    text_add(text, clip ? "%s -> r; " : " -> r%s; ", c->before_attribute);
    text_add(text, "%s r", name);
}

static case_text write(const convolution *c) {
    const char *name = c->transposed ? "ConvTranspose" : "Conv";
    const char open = c->computed ? '[' : '{', close = c->computed ? ']' : '}';
    case_text text = {""};
    int inputs = c->group * c->group_inputs, outputs = c->group * c->group_outputs;
    text_add(&text, "%s x[%d,%d", c->before ? c->before : name, c->batch, inputs);
    for (int i = 0; i < c->rank; i++)
        text_add(&text, ",%d", c->axes[i].in);
    text_add(&text, "]");
    add_before(&text, c, name);
    text_add(&text, " w%c%d,%d", open, c->transposed ? inputs : outputs,
             c->transposed ? c->group_outputs : c->group_inputs);
    for (int i = 0; i < c->rank; i++)
        text_add(&text, ",%d", c->axes[i].kernel);
    text_add(&text, "%c", close);
    if (c->bias)
        text_add(&text, " b%c%d%c", open, outputs, close);
    text_add(&text, " -> %s group=%d", c->activation ? "c" : "y", c->group);
    add_field(&text, "strides", c, offsetof(axis, stride));
    add_field(&text, "dilations", c, offsetof(axis, dilation));
    if (c->transposed)
        add_field(&text, "output_padding", c, offsetof(axis, output_padding));
    if (c->sized)
        add_field(&text, "output_shape", c, offsetof(axis, out));
    if (c->auto_pad)
        text_add(&text, " auto_pad=%s", c->auto_pad);
    else if (!c->sized)
        add_pads(&text, c);
    if (c->activation)
        text_add(&text, "; %s", c->activation);
    return text;
}

case_text draw_convolution(random_source *r, bool transposed, bool computed,
                           const conv_environment *e) {
    convolution c = draw_once(r, transposed, e);
    while (macs(&c) > MAX_MACS || output_count(&c) > MAX_OUTPUT)
        c = draw_once(r, transposed, e);
    draw_before(r, &c);
    c.computed = computed;
    return write(&c);
}

bool run_convolution(const char *text, const conv_environment *e) {
    return run_case(
        &(backend_case){.text = text,
                        .limits = e->limits,
                        .precision = e->precision,
                        .refusal = e->limits.max_texture_size ? TSR_ERROR_LIMIT : TSR_OK});
}
