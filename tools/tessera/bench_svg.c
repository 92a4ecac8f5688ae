/* A bar chart of the layers' and operators' times as an SVG file, readable without the tables. */
#include "bench.h"
#include "output.h"
#include "svg.h"
#include "text.h"
#include "tool.h"

#include <math.h>
#include <string.h>

enum { /* pixels */
       WIDTH = 1120,
       TOP = 78,   /* of the first panel */
       HEAD = 24,  /* of a panel: its axis */
       GAP = 20,   /* between panels */
       BAR = 12,   /* of one side */
       SPACE = 6,  /* between rows */
       LEFT = 420, /* of the bars */
       SPAN = 520, /* of the axis */
       FOOT = 16
};

/* The palette of Okabe and Ito, which differs for all kinds of colour vision; 3:1 on white. */
static const char style[] = ".ops{fill:#0072b2}.mem{fill:#d55e00}.plain{fill:#009e73}"
                            ".there{fill:#767676}.bound{stroke:#111;stroke-width:2}";

typedef struct chart {
    FILE *file;
    const bench *b;
    bool both; /* with the times of --against */
    int sides, height;
} chart;

typedef struct row {
    label name, kind, note; /* from left to right */
    double ms, there_ms, bound_ms;
    const char *class;
} row;

/* Rows with an axis of their own. */
typedef struct panel {
    const chart *c;
    int top, rows;
    double scale, step; /* pixels per millisecond, milliseconds between ticks */
} panel;

static int row_height(const chart *c) {
    return c->sides * BAR + SPACE;
}

/* ---- what the rows show ---------------------------------------------------------------------- */

static row layer_row(const bench *b, int index) {
    const bench_layer *layer = &b->layers[index];
    return (row){.name = short_label(layer->node.name, 24),
                 .kind = short_label(layer->node.op, 20),
                 .note = shape_label(&layer->node.shape),
                 .ms = layer->ms,
                 .there_ms = layer->there_ms,
                 .bound_ms = layer->bound.ms,
                 .class = layer->bound.ms < 0     ? "plain"
                          : layer->bound.by_bytes ? "mem"
                                                  : "ops"};
}

static row sum_row(const bench *b, const bench_sum *sum, const char *name) {
    row made = {.name = short_label(name, 24),
                .ms = sum->ms,
                .there_ms = sum->there_ms,
                .bound_ms = sum->bound_ms,
                .class = "plain"};
    snprintf(made.kind.text, sizeof made.kind.text, "%d layer%s", sum->layers,
             sum->layers == 1 ? "" : "s");
    snprintf(made.note.text, sizeof made.note.text, "%.1f %% of the time",
             100 * bench_share(b, sum));
    return made;
}

static row operator_row(const bench *b, int index) {
    return sum_row(b, &b->operators[index], b->operators[index].op.text);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_bar(const panel *p, const char *class, int top, double ms) {
    fprintf(p->c->file, "<rect class=\"bar %s\" x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>\n",
            class, LEFT, top, fmax(ms, 0) * p->scale, BAR);
}

static void put_texts(const chart *c, const row *r, int top) {
    char figures[128];
    int line = top + BAR * c->sides / 2 + 4, used;
    svg_text(c->file, 10, line, "", r->name.text);
    svg_text(c->file, 170, line, "", r->kind.text);
    svg_text(c->file, LEFT - 8, line, " text-anchor=\"end\"", r->note.text);
    used = snprintf(figures, sizeof figures, "%s", ms_label(r->ms).text);
    if (c->both)
        used += snprintf(figures + used, sizeof figures - (size_t)used, " | %s",
                         ms_label(r->there_ms).text);
    used += snprintf(figures + used, sizeof figures - (size_t)used, " ms");
    if (r->bound_ms > 0 && r->ms > 0)
        snprintf(figures + used, sizeof figures - (size_t)used, ", %.0f %%",
                 100 * r->bound_ms / r->ms);
    svg_text(c->file, WIDTH - 10, line, " text-anchor=\"end\"", figures);
}

static void put_row(const panel *p, int index, const row *r) {
    int top = p->top + HEAD + index * row_height(p->c);
    put_texts(p->c, r, top);
    put_bar(p, r->class, top, r->ms);
    if (p->c->both)
        put_bar(p, "there", top + BAR, r->there_ms);
    if (r->bound_ms > 0)
        fprintf(p->c->file, "<path class=\"bound\" d=\"M%.2f %d v%d\"/>\n",
                LEFT + r->bound_ms * p->scale, top - 2, BAR + 4);
}

/* ---- panels ---------------------------------------------------------------------------------- */

static void put_axis(const panel *p, const char *title) {
    FILE *file = p->c->file;
    int end = p->top + HEAD + p->rows * row_height(p->c);
    svg_text(file, 10, p->top + HEAD - 10, " font-weight=\"bold\"", title);
    for (int i = 0; i * p->step * p->scale <= SPAN + 0.5; i++) {
        char value[32];
        double x = LEFT + i * p->step * p->scale;
        snprintf(value, sizeof value, "%g", i * p->step);
        fprintf(file, "<path class=\"grid\" d=\"M%.1f %d V%d\"/>\n", x, p->top + HEAD - 6, end);
        svg_text(file, x, p->top + HEAD - 10, " text-anchor=\"middle\"", value);
    }
    char unit[64];
    snprintf(unit, sizeof unit, "%s in ms%s", p->c->both ? "here | there" : "time",
             p->c->b->peaks.gflops > 0 ? ", bound / time" : "");
    svg_text(file, WIDTH - 10, p->top + HEAD - 10, " text-anchor=\"end\"", unit);
}

/* The longest bar has room. Returns where the next panel begins. */
static int put_panel(const chart *c, int top, const char *title, int rows,
                     row (*row_of)(const bench *b, int index)) {
    double longest = 0;
    for (int i = 0; i < rows; i++) {
        row r = row_of(c->b, i);
        longest = fmax(longest, fmax(fmax(r.ms, r.there_ms), r.bound_ms));
    }
    if (longest <= 0)
        longest = 1;
    panel p = {.c = c, .top = top, .rows = rows, .step = svg_step(longest)};
    p.scale = SPAN / (ceil(longest / p.step) * p.step);
    put_axis(&p, title);
    for (int i = 0; i < rows; i++) {
        row r = row_of(c->b, i);
        put_row(&p, i, &r);
    }
    return top + HEAD + rows * row_height(c);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Returns where the next entry begins. */
static int put_entry(const chart *c, int x, const char *class, const char *text) {
    enum { LETTER = 6 };
    fprintf(c->file, "<rect class=\"%s\" x=\"%d\" y=\"50\" width=\"12\" height=\"12\"/>\n", class,
            x);
    svg_text(c->file, x + 18, 60, "", text);
    return x + 36 + LETTER * (int)strlen(text);
}

static void put_legend(const chart *c) {
    bool bounds = c->b->peaks.gflops > 0;
    int x = 10;
    if (bounds) {
        x = put_entry(c, x, "ops", "bound by operations");
        x = put_entry(c, x, "mem", "bound by bytes moved");
    }
    if (bounds || c->both)
        x = put_entry(c, x, "plain", bounds ? "sums" : c->b->info.backend);
    if (c->both)
        x = put_entry(c, x, "there", short_label(c->b->baseline.name.text, 48).text);
    if (!bounds)
        return;
    fprintf(c->file, "<path class=\"bound\" d=\"M%d 48 v16\"/>\n", x + 6);
    svg_text(c->file, x + 14, 60, "", "bound: minimum time at the device's measured peaks");
}

static void put_head(const chart *c) {
    const bench *b = c->b;
    const summary *s = &b->steady.latency;
    char line[1024];
    svg_begin(c->file, WIDTH, c->height, style);
    snprintf(line, sizeof line, "%s on %s: %s", b->j->path, b->info.backend, b->info.name);
    svg_text(c->file, 10, 20, " font-size=\"15\"", line);
    snprintf(line, sizeof line,
             "steady %.2f ms, quartiles %.2f to %.2f; layers by %s, medians of %d runs", s->median,
             s->q1, s->q3, b->info.has_timer ? "GPU timers" : "wall clock", b->layer_runs);
    svg_text(c->file, 10, 38, "", line);
    put_legend(c);
}

tsr_status bench_write_svg(const bench *b, const char *path) {
    output_file out;
    TRY(output_begin(path, &out));
    chart c = {.file = out.file, .b = b, .both = b->baseline.layers != NULL};
    c.sides = c.both ? 2 : 1;
    int rows = b->layer_count + b->operator_count + 1; /* and a sum without bars */
    c.height = TOP + 2 * HEAD + rows * row_height(&c) + GAP + FOOT;
    put_head(&c);
    int end = put_panel(&c, TOP, "layers", b->layer_count, layer_row);
    row all = sum_row(b, &b->all, "all layers");
    put_texts(&c, &all, end);
    put_panel(&c, end + row_height(&c) + GAP, "operators", b->operator_count, operator_row);
    svg_end(c.file);
    return output_end(&out, TSR_OK);
}
