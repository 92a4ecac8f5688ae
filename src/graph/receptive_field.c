#include "graph/receptive_field.h"

#include "base/error.h"
#include "graph/infer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBER = 1 << 28 }; /* of a field: products of two fit in an int64_t */

typedef struct walk {
    tsr_graph *graph;
    tsr_receptive_fields *fields;
    const tsr_node *node;
} walk;

static tsr_status refuse(const walk *w, const char *why) {
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "node '%s' (%s) %s", w->node->name,
                    tsr_node_op_name(w->node), why);
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static const tsr_field_map *map_of(const walk *w, int i) {
    int v = i < w->node->input_count ? w->node->inputs[i] : TSR_NONE;
    return v != TSR_NONE && w->fields->values[v].depends ? &w->fields->values[v] : NULL;
}

static const tsr_shape *in_shape(const walk *w, int i) {
    return &tsr_node_in(w->graph, w->node, i)->shape;
}

static bool is_picture_axis(const tsr_field_map *map, int axis) {
    return map->axis[TSR_PICTURE_ROWS].axis == axis || map->axis[TSR_PICTURE_COLUMNS].axis == axis;
}

/* ---- results ---- */

static const char too_large[] = "depends on too large a part of the picture";

static bool is_in_bounds(const tsr_field *f) {
    return f->unit <= MAX_NUMBER && f->step <= MAX_NUMBER && llabs(f->low) <= MAX_NUMBER &&
           llabs(f->high) <= MAX_NUMBER;
}

/* Output i depends on the picture as the map says. */
static tsr_status set(const walk *w, int i, const tsr_field_map *map) {
    int v = i < w->node->output_count ? w->node->outputs[i] : TSR_NONE;
    if (v == TSR_NONE)
        return TSR_OK;
    for (int a = 0; a < TSR_PICTURE_AXES; a++) {
        const tsr_field *f = &map->axis[a];
        if (!is_in_bounds(f))
            return refuse(w, too_large);
        int64_t cycle = f->step / common_divisor(f->step, f->unit), *all = &w->fields->alignment[a];
        int64_t joined = *all / common_divisor(*all, cycle) * cycle;
        if (joined > MAX_NUMBER)
            return refuse(w, too_large);
        *all = joined;
    }
    w->fields->values[v] = *map;
    w->fields->values[v].depends = true;
    return TSR_OK;
}

static tsr_status set_all(const walk *w, const tsr_field_map *map) {
    for (int i = 0; i < w->node->output_count; i++)
        TSR_TRY(set(w, i, map));
    return TSR_OK;
}

/* What depends so on a tensor with this field: `own` refers to the tensor's elements. */
static tsr_field compose(const tsr_field *own, const tsr_field *field) {
    tsr_field made = {.axis = own->axis,
                      .unit = own->unit * field->unit,
                      .step = own->step * field->step,
                      .low = own->low * field->step + field->low * own->unit,
                      .high = own->high * field->step + field->high * own->unit};
    int64_t divisor =
        common_divisor(common_divisor(made.unit, made.step), common_divisor(made.low, made.high));
    made.unit /= divisor;
    made.step /= divisor;
    made.low /= divisor;
    made.high /= divisor;
    return made;
}

/* ---- element by element ---- */

/* Both on the same grid, whose numbers may be too large then. */
static bool join(tsr_field *a, const tsr_field *b) {
    if (a->axis != b->axis || a->step * b->unit != b->step * a->unit)
        return false;
    int64_t unit = a->unit / common_divisor(a->unit, b->unit) * b->unit;
    int64_t mine = unit / a->unit, other = unit / b->unit;
    a->low = a->low * mine < b->low * other ? a->low * mine : b->low * other;
    a->high = a->high * mine > b->high * other ? a->high * mine : b->high * other;
    a->step *= mine;
    a->unit = unit;
    return true;
}

/* Input i, its axes those of the broadcast result. */
static tsr_status broadcast_input(const walk *w, int i, const tsr_shape *out, tsr_field_map *map) {
    const tsr_shape *in = in_shape(w, i);
    *map = *map_of(w, i);
    for (int a = 0; a < TSR_PICTURE_AXES; a++) {
        int64_t size = in->dim[map->axis[a].axis];
        map->axis[a].axis += out->rank - in->rank;
        if (size != out->dim[map->axis[a].axis])
            return refuse(w, "repeats the picture");
    }
    return TSR_OK;
}

/* Is an input that is no picture the same for all pixels? */
static bool is_even(const walk *w, int i, const tsr_shape *out, const tsr_field_map *map) {
    const tsr_shape *in = in_shape(w, i);
    for (int a = 0; a < TSR_PICTURE_AXES; a++) {
        int axis = map->axis[a].axis - (out->rank - in->rank);
        if (axis >= 0 && in->dim[axis] > 1)
            return false;
    }
    return true;
}

/* The inputs that are pictures, together. */
static tsr_status join_inputs(const walk *w, const tsr_shape *out, bool broadcasts,
                              tsr_field_map *map) {
    bool any = false;
    for (int i = 0; i < w->node->input_count; i++) {
        if (!map_of(w, i))
            continue;
        tsr_field_map one = *map_of(w, i);
        if (broadcasts)
            TSR_TRY(broadcast_input(w, i, out, &one));
        for (int a = 0; a < TSR_PICTURE_AXES && any; a++) {
            if (!join(&map->axis[a], &one.axis[a]))
                return refuse(w, "combines tensors of different scales");
            if (!is_in_bounds(&map->axis[a]))
                return refuse(w, too_large);
        }
        if (!any)
            *map = one;
        any = true;
    }
    for (int i = 0; i < w->node->input_count; i++)
        if (tsr_node_in(w->graph, w->node, i) && !map_of(w, i) &&
            (!broadcasts || !is_even(w, i, out, map)))
            return refuse(w, "has a constant for each pixel");
    return TSR_OK;
}

static tsr_status walk_elementwise(const walk *w) {
    tsr_field_map map = {.depends = false};
    TSR_TRY(join_inputs(w, &tsr_node_out(w->graph, w->node, 0)->shape, true, &map));
    return set(w, 0, &map);
}

/* ---- windows ---- */

static tsr_field window_field(const tsr_node *node, const tsr_window *window, int axis, int k) {
    int64_t reach = tsr_window_extent(window, k) - 1, pad = window->pad_begin[k];
    if (node->op == TSR_OP_ConvTranspose)
        return (tsr_field){axis, window->stride[k], 1, pad - reach, pad};
    return (tsr_field){axis, 1, window->stride[k], -pad, reach - pad};
}

static tsr_status walk_window(const walk *w) {
    tsr_window window;
    tsr_field_map map = *map_of(w, 0);
    TSR_TRY(tsr_node_window(w->graph, w->node, &window));
    if (tsr_node_out(w->graph, w->node, 1))
        return refuse(w, "numbers the pixels");
    for (int a = 0; a < TSR_PICTURE_AXES; a++) {
        int axis = map.axis[a].axis;
        if (axis < 2)
            return refuse(w, "sums over rows or columns of the picture");
        tsr_field own = window_field(w->node, &window, axis, tsr_window_axis(&window, axis - 2));
        map.axis[a] = compose(&own, &map.axis[a]);
    }
    return set(w, 0, &map);
}

static tsr_status walk_blocks(const walk *w) {
    int64_t block = tsr_attr_int(w->node, "blocksize", 1);
    tsr_field_map map = *map_of(w, 0);
    for (int a = 0; a < TSR_PICTURE_AXES; a++) {
        int axis = map.axis[a].axis;
        if (axis < 2)
            return refuse(w, "moves rows or columns of the picture");
        tsr_field own = w->node->op == TSR_OP_DepthToSpace
                            ? (tsr_field){axis, block, 1, 1 - block, 0}
                            : (tsr_field){axis, 1, block, 0, block - 1};
        map.axis[a] = compose(&own, &map.axis[a]);
    }
    return set(w, 0, &map);
}

/* ---- Resize ---- */

/* The scale as p / q; false if it is no fraction of small numbers. */
static bool small_fraction(double scale, int64_t *p, int64_t *q) {
    for (*q = 1; *q <= 64; ++*q) {
        double product = scale * (double)*q;
        *p = (int64_t)floor(product + 0.5);
        if (*p > 0 && fabs(product - (double)*p) < 1e-6 * product)
            return true;
    }
    return false;
}

static tsr_status resize_field(const walk *w, const tsr_resize *resize, tsr_field *field) {
    int64_t p, q;
    int axis = field->axis;
    bool shifts = resize->transform != TSR_ASYMMETRIC;
    if (!small_fraction(resize->scale[axis], &p, &q))
        return refuse(w, "scales by a factor that depends on the picture's size");
    /* In halves of 1 / p; `taps` elements on each side, or as many as an output element covers. */
    int64_t centre = shifts ? q - p : 0, taps = resize->mode == TSR_CUBIC ? 2 : 1;
    if (shifts && resize->transform == TSR_TF_HALF_PIXEL_FOR_NN)
        centre = q;
    int64_t reach = taps * 2 * p;
    if (resize->antialias && q > p)
        reach = taps * 2 * q + 2 * p;
    tsr_field own = {axis, 2 * p, 2 * q, centre - reach, centre + reach};
    *field = compose(&own, field);
    return TSR_OK;
}

static tsr_status walk_resize(const walk *w) {
    tsr_resize resize;
    tsr_field_map map = *map_of(w, 0);
    const tsr_shape *in = in_shape(w, 0);
    TSR_TRY(tsr_node_resize(w->graph, w->node, &resize));
    for (int a = 0; a < TSR_PICTURE_AXES; a++) {
        int axis = map.axis[a].axis;
        if (resize.out[axis] == in->dim[axis] && resize.scale[axis] == 1)
            continue;
        if (resize.transform == TSR_ALIGN_CORNERS || resize.transform == TSR_TF_CROP_AND_RESIZE ||
            resize.transform == TSR_HALF_PIXEL_SYMMETRIC)
            return refuse(w, "has coordinates that depend on the picture's size");
        TSR_TRY(resize_field(w, &resize, &map.axis[a]));
    }
    return set(w, 0, &map);
}

/* ---- parts, order ---- */

static tsr_status walk_slice(const walk *w) {
    tsr_slice slice;
    tsr_field_map map = *map_of(w, 0);
    TSR_TRY(tsr_node_slice(w->graph, w->node, &slice));
    for (int a = 0; a < TSR_PICTURE_AXES; a++) {
        int axis = map.axis[a].axis;
        if (slice.step[axis] < 1)
            return refuse(w, "mirrors the picture");
        tsr_field own = {axis, 1, slice.step[axis], slice.start[axis], slice.start[axis]};
        map.axis[a] = compose(&own, &map.axis[a]);
    }
    return set(w, 0, &map);
}

static tsr_status walk_pad(const walk *w) {
    int64_t begin[TSR_MAX_RANK], end[TSR_MAX_RANK];
    tsr_field_map map = *map_of(w, 0);
    const char *mode = tsr_attr_string(w->node, "mode", "constant");
    TSR_TRY(tsr_node_pads(w->graph, w->node, begin, end));
    for (int a = 0; a < TSR_PICTURE_AXES; a++) {
        int axis = map.axis[a].axis;
        if (mode[0] == 'w' && (begin[axis] || end[axis]))
            return refuse(w, "continues the picture with its other side");
        tsr_field own = {axis, 1, 1, -begin[axis], -begin[axis]};
        map.axis[a] = compose(&own, &map.axis[a]);
    }
    return set(w, 0, &map);
}

static tsr_status walk_transpose(const walk *w) {
    int64_t perm[TSR_MAX_RANK];
    int rank = in_shape(w, 0)->rank;
    tsr_field_map from = *map_of(w, 0), map = from;
    tsr_node_perm(w->node, rank, perm);
    for (int a = 0; a < TSR_PICTURE_AXES; a++)
        for (int i = 0; i < rank; i++)
            if (perm[i] == from.axis[a].axis)
                map.axis[a].axis = i;
    return set(w, 0, &map);
}

/* An axis stays one where as many elements are before it and in it. */
static tsr_status walk_view(const walk *w) {
    const tsr_shape *in = in_shape(w, 0), *out = &tsr_node_out(w->graph, w->node, 0)->shape;
    tsr_field_map map = *map_of(w, 0);
    for (int a = 0; a < TSR_PICTURE_AXES; a++) {
        int axis = map.axis[a].axis, found = TSR_NONE;
        int64_t before = tsr_dim_product(in, 0, axis);
        for (int i = 0; i < out->rank && found == TSR_NONE; i++)
            if (out->dim[i] == in->dim[axis] && tsr_dim_product(out, 0, i) == before)
                found = i;
        if (found == TSR_NONE)
            return refuse(w, "joins rows or columns of the picture with other axes");
        map.axis[a].axis = found;
    }
    return set_all(w, &map);
}

static tsr_status walk_concat(const walk *w) {
    tsr_field_map map = {.depends = false};
    int axis;
    TSR_TRY(join_inputs(w, NULL, false, &map));
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(w->node, "axis", 0),
                               tsr_node_out(w->graph, w->node, 0)->shape.rank, &axis));
    return is_picture_axis(&map, axis) ? refuse(w, "joins pictures side by side") : set(w, 0, &map);
}

/* ---- along an axis ---- */

/* All elements along an axis of a pixel; drops: the result has not that axis. */
static tsr_status walk_along(const walk *w, int64_t fallback, bool drops) {
    int axis;
    tsr_field_map map = *map_of(w, 0);
    TSR_TRY(
        tsr_normalize_axis(tsr_attr_int(w->node, "axis", fallback), in_shape(w, 0)->rank, &axis));
    if (is_picture_axis(&map, axis) || tsr_attr_int(w->node, "coerce_2d", 0))
        return refuse(w, "reads whole rows or columns of the picture");
    for (int a = 0; a < TSR_PICTURE_AXES; a++)
        map.axis[a].axis -= drops && map.axis[a].axis > axis;
    return set_all(w, &map);
}

static tsr_status walk_reduce(const walk *w) {
    bool reduced[TSR_MAX_RANK];
    tsr_field_map map = *map_of(w, 0);
    TSR_TRY(tsr_node_reduced_axes(w->graph, w->node, reduced));
    bool keeps = tsr_attr_int(w->node, "keepdims", 1) != 0;
    for (int a = 0; a < TSR_PICTURE_AXES; a++) {
        int axis = map.axis[a].axis;
        if (reduced[axis])
            return refuse(w, "reduces the whole picture");
        for (int i = 0; i < axis && !keeps; i++)
            map.axis[a].axis -= reduced[i];
    }
    return set(w, 0, &map);
}

static tsr_status walk_layer_normalization(const walk *w) {
    int axis;
    const tsr_field_map *map = map_of(w, 0);
    TSR_TRY(tsr_normalize_axis(tsr_attr_int(w->node, "axis", -1), in_shape(w, 0)->rank, &axis));
    for (int a = 0; a < TSR_PICTURE_AXES; a++)
        if (map->axis[a].axis >= axis)
            return refuse(w, "normalizes over rows or columns of the picture");
    return set_all(w, map);
}

/* Pixels times a constant matrix. */
static tsr_status walk_matmul(const walk *w) {
    const tsr_field_map *map = map_of(w, 0);
    int rank = in_shape(w, 0)->rank;
    if (!map || map_of(w, 1) || in_shape(w, 1)->rank != 2 || is_picture_axis(map, rank - 1))
        return refuse(w, "sums over rows or columns of the picture");
    return set(w, 0, map);
}

/* ---- the walk ---- */

static tsr_status walk_node(const walk *w) {
    const tsr_node *node = w->node;
    const tsr_op_info *info = tsr_op_get_info(node->op);
    if (tsr_op_is_elementwise(node->op) || node->op == TSR_OP_Expand)
        return walk_elementwise(w);
    if (node->op == TSR_OP_MatMul)
        return walk_matmul(w);
    if (node->op == TSR_OP_Concat)
        return walk_concat(w);
    for (int i = 1; i < node->input_count; i++)
        if (map_of(w, i))
            return refuse(w, "reads parameters that depend on the picture");
    switch (node->op) {
    case TSR_OP_Conv:
    case TSR_OP_ConvTranspose:
    case TSR_OP_MaxPool:
    case TSR_OP_AveragePool:
        return walk_window(w);
    case TSR_OP_DepthToSpace:
    case TSR_OP_SpaceToDepth:
        return walk_blocks(w);
    case TSR_OP_Resize:
        return walk_resize(w);
    case TSR_OP_Slice:
        return walk_slice(w);
    case TSR_OP_Pad:
        return walk_pad(w);
    case TSR_OP_Transpose:
        return walk_transpose(w);
    case TSR_OP_Softmax:
    case TSR_OP_LogSoftmax:
        return walk_along(w, -1, false);
    case TSR_OP_Split:
        return walk_along(w, 0, false);
    case TSR_OP_ArgMax:
    case TSR_OP_ArgMin:
        return walk_along(w, 0, tsr_attr_int(node, "keepdims", 1) == 0);
    case TSR_OP_LayerNormalization:
        return walk_layer_normalization(w);
    case TSR_OP_InstanceNormalization:
        w->fields->whole = w->fields->whole ? w->fields->whole : node;
        return set(w, 0, map_of(w, 0));
    case TSR_OP_BatchNormalization:
        return is_picture_axis(map_of(w, 0), 1) ? refuse(w, "has a constant for each row or column")
                                                : set(w, 0, map_of(w, 0));
    case TSR_OP_GlobalAveragePool:
    case TSR_OP_GlobalMaxPool:
        return refuse(w, "reads the whole picture");
    default:
        break;
    }
    if (info->traits & TSR_IS_VIEW)
        return walk_view(w);
    return strncmp(info->stem, "reduce_", 7) == 0 ? walk_reduce(w)
                                                  : refuse(w, "may read the whole picture");
}

static bool reads_picture(const walk *w) {
    for (int i = 0; i < w->node->input_count; i++)
        if (map_of(w, i))
            return true;
    return false;
}

/* Is input i a number to compute with, no size or index, that constants were folded into? */
static bool is_folded_number(const walk *w, int i) {
    const tsr_node *node = w->node;
    if (node->inputs[i] == TSR_NONE)
        return false;
    const tsr_value *v = &w->graph->values[node->inputs[i]];
    bool computes = tsr_op_is_elementwise(node->op) ||
                    (tsr_dtype_is_float(v->dtype) && node->op != TSR_OP_Resize);
    return v->data && !v->model_constant && computes;
}

static void add_numbers(const walk *w) {
    tsr_cache_key *key = &w->fields->numbers;
    for (int i = 0; i < w->node->input_count; i++) {
        if (!is_folded_number(w, i))
            continue;
        const tsr_value *v = &w->graph->values[w->node->inputs[i]];
        tsr_cache_key_add_bytes(key, v->data,
                                (size_t)tsr_shape_count(&v->shape) * tsr_stored_size(v->dtype));
    }
}

tsr_status tsr_receptive_fields_of(tsr_graph *graph, int input, const int axes[TSR_PICTURE_AXES],
                                   tsr_receptive_fields *fields) {
    *fields =
        (tsr_receptive_fields){.values = TSR_NEW(graph->arena, graph->value_count, tsr_field_map),
                               .alignment = {1, 1},
                               .numbers = tsr_cache_key_start()};
    if (!fields->values)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the receptive fields");
    fields->values[input].depends = true;
    for (int a = 0; a < TSR_PICTURE_AXES; a++)
        fields->values[input].axis[a] = (tsr_field){.axis = axes[a], .unit = 1, .step = 1};
    for (int n = 0; n < graph->node_count; n++) {
        const walk w = {graph, fields, &graph->nodes[n]};
        if (!reads_picture(&w))
            continue;
        TSR_TRY(walk_node(&w));
        add_numbers(&w);
    }
    return TSR_OK;
}
