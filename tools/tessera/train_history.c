/* Losses of all steps, and their files. */
#include "output.h"
#include "svg.h"
#include "tool.h"
#include "train.h"

#include <math.h>
#include <stdlib.h>

tsr_status train_history_create(train_history *made, const train_options *o) {
    size_t steps = (size_t)o->steps, every = (size_t)train_every(o);
    *made = (train_history){.losses = calloc(steps, sizeof *made->losses),
                            .held = calloc(steps / every + 2, sizeof *made->held)};
    if (o->discriminator)
        made->parts = calloc(steps, TRAIN_PARTS * sizeof *made->parts);
    if (made->losses && made->held && (made->parts || !o->discriminator))
        return TSR_OK;
    train_history_free(made);
    return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the losses of %d steps", o->steps);
}

void train_history_free(train_history *h) {
    free(h->losses);
    free(h->held);
    free(h->parts);
    *h = (train_history){0};
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Step 0 has no loss of its own: what is held out was measured before training. */
static void put_row(FILE *file, const train_history *h, int step, const train_score *held) {
    fprintf(file, "%d,", step);
    if (step)
        fprintf(file, "%.9g", (double)h->losses[step - 1]);
    fputc(',', file);
    if (held)
        fprintf(file, "%.9g", held->loss);
    fputc(',', file);
    if (held && held->top1 >= 0)
        fprintf(file, "%.9g", held->top1);
    for (int p = 0; h->parts && p < TRAIN_PARTS; p++) {
        fputc(',', file);
        if (step)
            fprintf(file, "%.9g", (double)h->parts[(step - 1) * TRAIN_PARTS + p]);
    }
    fputc('\n', file);
}

tsr_status train_write_log(const train_history *h, const char *path) {
    output_file out;
    TRY(output_begin(path, &out));
    fprintf(out.file, "step,loss,held_out_loss,top1%s\n",
            h->parts ? ",target_loss,adversarial_loss,discriminator_loss" : "");
    for (int step = h->held_count ? 0 : 1, k = 0; step <= h->count; step++) {
        bool has_held = k < h->held_count && h->held[k].step == step;
        put_row(out.file, h, step, has_held ? &h->held[k++].score : NULL);
    }
    return output_end(&out, TSR_OK);
}

/* ---- SVG ------------------------------------------------------------------------------------- */

enum { /* pixels */
       WIDTH = 960,
       HEIGHT = 480,
       HEAD = 60,
       LEFT = 80,
       RIGHT = 20,
       FOOT = 40,
       MOST_BINS = 400 /* of the line: each is the mean of steps that follow each other */
};

typedef struct chart {
    FILE *file;
    const train_history *h;
    double most; /* the loss at the top */
    int points;
} chart;

static double x_of(const chart *c, double step) {
    return LEFT + (WIDTH - LEFT - RIGHT) * step / c->h->count;
}

static double y_of(const chart *c, double loss) {
    return HEIGHT - FOOT - (HEIGHT - HEAD - FOOT) * loss / c->most;
}

/* step: in the middle of those that the point stands for. */
static double point(const chart *c, int i, double *step) {
    int64_t count = c->h->count, from = i * count / c->points, to = (i + 1) * count / c->points;
    double sum = 0;
    for (int64_t k = from; k < to; k++)
        sum += c->h->losses[k];
    *step = (double)(from + 1 + to) / 2;
    return sum / (double)(to - from);
}

static void set_scale(chart *c) {
    double step, most = 0;
    c->points = c->h->count < MOST_BINS ? c->h->count : MOST_BINS;
    for (int i = 0; i < c->points; i++)
        most = fmax(most, point(c, i, &step));
    for (int i = 0; i < c->h->held_count; i++)
        most = isfinite(c->h->held[i].score.loss) ? fmax(most, c->h->held[i].score.loss) : most;
    most = most > 0 ? most : 1;
    step = svg_step(most);
    c->most = ceil(most / step) * step;
}

static void put_axes(const chart *c) {
    double step = svg_step(c->most);
    char value[32];
    for (int i = 0; i * step <= c->most * 1.001; i++) {
        snprintf(value, sizeof value, "%g", i * step);
        fprintf(c->file, "<path class=\"grid\" d=\"M%d %.1f H%d\"/>\n", LEFT, y_of(c, i * step),
                WIDTH - RIGHT);
        svg_text(c->file, LEFT - 8, y_of(c, i * step) + 4, " text-anchor=\"end\"", value);
    }
    step = fmax(svg_step(c->h->count), 1);
    for (int i = 0; i * step <= c->h->count; i++) {
        snprintf(value, sizeof value, "%g", i * step);
        svg_text(c->file, x_of(c, i * step), HEIGHT - FOOT + 18, " text-anchor=\"middle\"", value);
    }
}

static void put_losses(const chart *c) {
    fputs("<polyline class=\"loss\" points=\"", c->file);
    for (int i = 0; i < c->points; i++) {
        double step, loss = point(c, i, &step);
        fprintf(c->file, "%.1f,%.1f ", x_of(c, step), y_of(c, loss));
    }
    fputs("\"/>\n", c->file);
    for (int i = 0; i < c->h->held_count; i++)
        if (isfinite(c->h->held[i].score.loss))
            fprintf(c->file, "<circle class=\"held\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n",
                    x_of(c, c->h->held[i].step), y_of(c, c->h->held[i].score.loss));
}

tsr_status train_write_svg(const train_history *h, const char *title, const char *path) {
    output_file out;
    TRY(output_begin(path, &out));
    chart c = {.file = out.file, .h = h};
    svg_begin(c.file, WIDTH, HEIGHT,
              ".loss{fill:none;stroke:#4c78a8;stroke-width:1.5}.held{fill:#e3953b}");
    svg_text(c.file, 10, 20, " font-size=\"15\"", title);
    svg_text(c.file, 10, 40, "",
             h->held_count ? "loss by step; dots: of samples that are held out" : "loss by step");
    if (h->count) {
        set_scale(&c);
        put_axes(&c);
        put_losses(&c);
    }
    svg_end(c.file);
    return output_end(&out, TSR_OK);
}
