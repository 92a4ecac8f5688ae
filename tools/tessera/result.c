#include "result.h"
#include "text.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>

typedef struct range {
    double low, high, mean; /* of finite elements */
    size_t finite;
} range;

static range find_range(const tensor *t) {
    range r = {.low = INFINITY, .high = -INFINITY};
    double sum = 0;
    for (size_t at = 0; at < t->count; at++) {
        double value = t->values[at];
        if (!isfinite(value))
            continue;
        r.low = value < r.low ? value : r.low; /* fmin() is a call, here for every pixel */
        r.high = value > r.high ? value : r.high;
        sum += value;
        r.finite++;
    }
    r.mean = r.finite ? sum / (double)r.finite : 0;
    return r;
}

static void print_range(FILE *file, const tensor *t) {
    const range r = find_range(t);
    if (r.finite)
        fprintf(file, ", min %.6g, mean %.6g, max %.6g", r.low, r.mean, r.high);
    if (r.finite < t->count)
        fprintf(file, ", %zu NaN or infinite", t->count - r.finite);
    if (!t->count)
        fprintf(file, ", no elements");
}

typedef struct scored {
    float score;
    size_t class;
} scored;

/* Scores from the best on, equal ones by their class; NaN is worse than all. */
static int compare(const void *a, const void *b) {
    const scored *x = a, *y = b;
    float p = isnan(x->score) ? -INFINITY : x->score, q = isnan(y->score) ? -INFINITY : y->score;
    return p != q ? (p < q ? 1 : -1) : (x->class > y->class) - (x->class < y->class);
}

static tsr_status print_classes(FILE *file, const tensor *t, const result_options *o) {
    scored *order = calloc(t->count, sizeof *order);
    if (!order)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory to sort %zu classes", t->count);
    for (size_t i = 0; i < t->count; i++)
        order[i] = (scored){t->values[i], i};
    qsort(order, t->count, sizeof *order, compare);
    for (size_t n = 0; n < (size_t)o->top && n < t->count; n++) {
        const char *name = labels_name(o->labels, order[n].class);
        double score = isnan(order[n].score) ? (double)NAN : (double)order[n].score; /* no sign */
        fprintf(file, name ? "%8zu  %-10.5g" : "%8zu  %.5g", order[n].class, score);
        fprintf(file, "%s%s\n", name ? "  " : "", name ? name_label(name).text : "");
    }
    free(order);
    return TSR_OK;
}

tsr_status result_print(FILE *file, const char *path, const char *name, const tensor *t,
                        const result_options *options) {
    size_t classes = options->classes ? vector_class_count(&t->shape) : 0;
    if (path)
        fprintf(file, "%s: ", name_label(path).text);
    fprintf(file, "%s%s %s", name_label(name).text, path ? "" : ":", shape_label(&t->shape).text);
    print_range(file, t);
    fputc('\n', file);
    return classes ? print_classes(file, t, options) : TSR_OK;
}

/* ---- the range of pictures ------------------------------------------------------------------- */

static bool holds(double low, double high, const range *r) {
    double margin = 0.1 * (high - low);
    return r->low >= low - margin && r->high <= high + margin;
}

/* Two numbers around the range, of few digits: whole multiples of a power of ten. */
static void round_outward(const range *r, double *low, double *high) {
    *low = r->low;
    *high = r->high;
    if (r->low == r->high) {
        *low = fmin(r->low, 0);
        *high = fmax(r->high, 1);
    }
    double step = pow(10, fmax(0, floor(log10(*high - *low)) - 2));
    *low = floor(*low / step) * step;
    *high = ceil(*high / step) * step;
}

/* Values that leave a usual range were meant for it if they are most of it. */
static double least_span(const double usual[2], const range *r) {
    bool inside = r->low >= usual[0] && r->high <= usual[1];
    return (inside ? 0.25 : 0.75) * (usual[1] - usual[0]);
}

bool result_note_range(const char *path, const tensor *t, const image_options *options) {
    static const double usual[][2] = {{0, 1}, {-1, 1}, {0, 255}, {-128, 128}};
    enum { USUAL = sizeof usual / sizeof *usual };
    const double *written = options->out_range;
    const range r = find_range(t);
    if (!r.finite || holds(fmin(written[0], written[1]), fmax(written[0], written[1]), &r))
        return false;
    double low, high;
    round_outward(&r, &low, &high);
    for (int i = USUAL - 1; i >= 0; i--)
        if (holds(usual[i][0], usual[i][1], &r) && r.high - r.low > least_span(usual[i], &r)) {
            low = usual[i][0];
            high = usual[i][1];
        }
    note("%s: values from %.6g to %.6g leave the range %.6g:%.6g and were cut; --range %.15g:%.15g "
         "suits them (--out-range where inputs have another)",
         path, r.low, r.high, written[0], written[1], low, high);
    return true;
}
