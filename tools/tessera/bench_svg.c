/* A bar chart of the layers' times as an SVG file, readable without the table. */
#include "bench.h"
#include "output.h"
#include "svg.h"
#include "text.h"
#include "tool.h"

#include <math.h>
#include <string.h>

enum { /* pixels */
       WIDTH = 1120,
       HEAD = 92,
       ROW = 18,
       BAR = 12,
       LEFT = 420, /* of the bars */
       SPAN = 520, /* of the axis */
       FOOT = 16
};

typedef struct chart {
    FILE *file;
    const bench *b;
    double scale, step; /* pixels per millisecond, milliseconds between ticks */
    int height;
} chart;

/* ---- scale ----------------------------------------------------------------------------------- */

/* With room for the longest bar. */
static void set_scale(chart *c) {
    double longest = 0;
    for (int i = 0; i < c->b->layer_count; i++)
        longest = fmax(longest, fmax(c->b->layers[i].ms, c->b->layers[i].bound.ms));
    if (longest <= 0)
        longest = 1;
    c->step = svg_step(longest);
    c->scale = SPAN / (ceil(longest / c->step) * c->step);
}

static void put_axis(const chart *c) {
    for (int i = 0; i * c->step * c->scale <= SPAN + 0.5; i++) {
        char value[32];
        double x = LEFT + i * c->step * c->scale;
        snprintf(value, sizeof value, "%g", i * c->step);
        fprintf(c->file, "<path class=\"grid\" d=\"M%.1f %d V%d\"/>\n", x, HEAD - 4,
                c->height - FOOT);
        svg_text(c->file, x, HEAD - 8, " text-anchor=\"middle\"", value);
    }
    svg_text(c->file, WIDTH - 10, HEAD - 8, " text-anchor=\"end\"",
             c->b->peaks.gflops > 0 ? "time in ms, bound / time" : "time in ms");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *bar_class(const bench_layer *layer) {
    return layer->bound.ms < 0 ? "plain" : layer->bound.by_bytes ? "mem" : "ops";
}

static void put_figures(const chart *c, const bench_layer *layer, double y) {
    char figures[64];
    if (layer->ms < 0)
        return;
    int used = snprintf(figures, sizeof figures, "%s ms", ms_label(layer->ms).text);
    if (layer->bound.ms > 0 && layer->ms > 0)
        snprintf(figures + used, sizeof figures - (size_t)used, ", %.0f %%",
                 100 * layer->bound.ms / layer->ms);
    svg_text(c->file, WIDTH - 10, y, " text-anchor=\"end\"", figures);
}

static void put_row(const chart *c, int index) {
    const bench_layer *layer = &c->b->layers[index];
    const tsr_node_report *node = &layer->node;
    double top = HEAD + index * ROW, line = top + BAR - 2, x = LEFT + layer->bound.ms * c->scale;
    svg_text(c->file, 10, line, "", short_label(node->name, 24).text);
    svg_text(c->file, 170, line, "", short_label(node->op, 20).text);
    svg_text(c->file, LEFT - 8, line, " text-anchor=\"end\"", shape_label(&node->shape).text);
    fprintf(c->file, "<rect class=\"bar %s\" x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>\n",
            bar_class(layer), LEFT, top, fmax(layer->ms, 0) * c->scale, BAR);
    if (layer->bound.ms > 0)
        fprintf(c->file, "<path class=\"bound\" d=\"M%.2f %.1f v%d\"/>\n", x, top - 2, BAR + 4);
    put_figures(c, layer, line);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void put_legend(const chart *c) {
    static const struct {
        const char *class, *text;
    } entries[] = {{"ops", "bound by operations"}, {"mem", "bound by bytes moved"}};
    for (int i = 0; i < 2; i++) {
        fprintf(c->file, "<rect class=\"%s\" x=\"%d\" y=\"50\" width=\"12\" height=\"12\"/>\n",
                entries[i].class, 10 + i * 160);
        svg_text(c->file, 28 + i * 160, 60, "", entries[i].text);
    }
    fputs("<path class=\"bound\" d=\"M336 48 v16\"/>\n", c->file);
    svg_text(c->file, 344, 60, "", "bound: minimum time at the device's measured peaks");
}

static void put_head(const chart *c) {
    const bench *b = c->b;
    char line[1024];
    svg_begin(c->file, WIDTH, c->height,
              ".ops{fill:#4c78a8}.mem{fill:#e3953b}.plain{fill:#8a8a8a}"
              ".bound{stroke:#111;stroke-width:2}");
    snprintf(line, sizeof line, "%s on %s: %s", b->j->path, b->info.backend, b->info.name);
    svg_text(c->file, 10, 20, " font-size=\"15\"", line);
    snprintf(line, sizeof line,
             "steady %.2f ms, quartiles %.2f to %.2f; layers by %s, medians of %d runs",
             b->steady.median, b->steady.q1, b->steady.q3,
             b->info.has_timer ? "GPU timers" : "wall clock", b->o->runs);
    svg_text(c->file, 10, 38, "", line);
    if (b->peaks.gflops > 0)
        put_legend(c);
}

tsr_status bench_write_svg(const bench *b, const char *path) {
    output_file out;
    TRY(output_begin(path, &out));
    chart c = {.file = out.file, .b = b, .height = HEAD + b->layer_count * ROW + FOOT};
    set_scale(&c);
    put_head(&c);
    put_axis(&c);
    for (int i = 0; i < b->layer_count; i++)
        put_row(&c, i);
    svg_end(c.file);
    return output_end(&out, TSR_OK);
}
