#include "layers.h"
#include "job.h"
#include "text.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row per node of the backend with the fewest nodes, the one that fuses most. */
typedef struct table {
    const runner *runners;
    int count; /* of runners */
    tolerance allowed;
    int row_count;
    tsr_node_report *rows;
    double *ms;                                          /* [runner][row], negative: not measured */
    double max_abs[MAX_BACKENDS], max_rel[MAX_BACKENDS]; /* of all rows */
} table;

/* ---- times ----------------------------------------------------------------------------------- */

static void add_ms(double *sum, double ms) {
    if (ms >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + ms;
}

static int find_row(const table *t, const tsr_node_report *node) {
    for (int i = 0; i < t->row_count; i++)
        if (strcmp(t->rows[i].output, node->output) == 0)
            return i;
    for (int i = 0; i < t->row_count; i++)
        if (strcmp(t->rows[i].name, node->name) == 0)
            return i;
    return -1;
}

/* A node that is fused into another one in the table counts in the next row. */
static tsr_status sum_times(const table *t, const tsr_session *session, double *ms) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    double carried = -1;
    for (int i = 0; i < t->row_count; i++)
        ms[i] = -1;
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        TRY_LIBRARY(tsr_session_node_report(session, i, &node));
        int row = find_row(t, &node);
        add_ms(&carried, node.ms);
        if (row >= 0) {
            add_ms(&ms[row], carried);
            carried = -1;
        }
    }
    return TSR_OK;
}

static tsr_status fill_rows(table *t, const tsr_session *session) {
    for (int i = 0; i < t->row_count; i++)
        TRY_LIBRARY(tsr_session_node_report(session, i, &t->rows[i]));
    for (int r = 0; r < t->count; r++)
        TRY(sum_times(t, t->runners[r].session, t->ms + (size_t)r * (size_t)t->row_count));
    return TSR_OK;
}

static tsr_status find_rows(table *t, const tsr_session **session) {
    for (int r = 0; r < t->count; r++) {
        tsr_report report;
        TRY_LIBRARY(tsr_session_report(t->runners[r].session, &report));
        if (r > 0 && report.node_count >= t->row_count)
            continue;
        t->row_count = report.node_count;
        *session = t->runners[r].session;
    }
    return TSR_OK;
}

static void table_free(table *t) {
    free(t->rows);
    free(t->ms);
}

static tsr_status table_create(const runner *runners, int count, tolerance allowed, table *t) {
    const tsr_session *session = NULL;
    *t = (table){.runners = runners, .count = count, .allowed = allowed};
    TRY(find_rows(t, &session));
    size_t rows = (size_t)t->row_count + 1;
    t->rows = calloc(rows, sizeof *t->rows);
    t->ms = calloc(MAX_BACKENDS * rows, sizeof *t->ms);
    tsr_status status = t->rows && t->ms
                            ? fill_rows(t, session)
                            : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for the layers");
    if (status != TSR_OK)
        table_free(t);
    return status;
}

/* ---- printing -------------------------------------------------------------------------------- */

static tsr_status print_head(const table *t) {
    printf("\nlayers: times in ms");
    for (int r = 0; r < t->count; r++) {
        tsr_device_info info;
        TRY_LIBRARY(tsr_device_get_info(t->runners[r].device, &info));
        printf("%s %s by %s", r ? "," : ":", info.backend,
               info.has_timer ? "GPU timers" : "wall clock");
    }
    if (t->count > 1)
        printf("; errors against %s", t->runners[0].backend);
    printf("\n%-20s %-18s %-19s", "node", "op", "shape");
    for (int r = 0; r < t->count; r++)
        printf(r ? " %8s %7s %7s " : " %8s", t->runners[r].backend, "max abs", "max rel");
    putchar('\n');
    return TSR_OK;
}

static void print_error(double max_abs, double max_rel, bool failed) {
    printf(" %7.1e %7.1e%c", max_abs, max_rel, failed ? '!' : ' ');
}

/* "-" if the backend does not keep the tensor. */
static void compare_cell(table *t, int r, const tsr_node_report *row, const tensor *reference) {
    tensor ours;
    if (!reference->values ||
        job_fetch(t->runners[r].session, row->output, &row->shape, &ours) != TSR_OK) {
        printf(" %7s %7s ", "-", "-");
        return;
    }
    difference d = measure(ours.values, reference->values, ours.count, t->allowed);
    print_error(d.max_abs, d.max_rel, d.failed > 0);
    t->max_abs[r] = fmax(t->max_abs[r], d.max_abs);
    t->max_rel[r] = fmax(t->max_rel[r], d.max_rel);
    tensor_free(&ours);
}

static void print_row(table *t, int index) {
    const tsr_node_report *row = &t->rows[index];
    tensor reference = {0};
    if (t->count > 1) /* without values if this fails: the tensor is not kept */
        job_fetch(t->runners[0].session, row->output, &row->shape, &reference);
    printf("%-20s %-18s %-19s", short_label(row->name, 20).text, short_label(row->op, 18).text,
           shape_label(&row->shape).text);
    for (int r = 0; r < t->count; r++) {
        printf(" %8s", ms_label(t->ms[r * t->row_count + index]).text);
        if (r > 0)
            compare_cell(t, r, row, &reference);
    }
    putchar('\n');
    tensor_free(&reference);
}

static double sum_rows(const table *t, int r) {
    double sum = -1;
    for (int i = 0; i < t->row_count; i++)
        add_ms(&sum, t->ms[r * t->row_count + i]);
    return sum;
}

static void print_totals(const table *t) {
    printf("%-59s", "all layers: times summed, largest errors");
    for (int r = 0; r < t->count; r++) {
        printf(" %8s", ms_label(sum_rows(t, r)).text);
        if (r > 0)
            print_error(t->max_abs[r], t->max_rel[r], false);
    }
    printf("\n%-59s", "whole run by wall clock, with timers");
    for (int r = 0; r < t->count; r++)
        printf(r ? " %8s %16s" : " %8s%s", ms_label(t->runners[r].run_ms).text, "");
    printf("\nmax rel: max abs relative to the layer's largest |reference|; !: out of tolerance; "
           "-: not available\n\n");
}

tsr_status print_layers(const runner *runners, int count, tolerance allowed) {
    table t;
    TRY(table_create(runners, count, allowed, &t));
    tsr_status status = print_head(&t);
    if (status == TSR_OK) {
        for (int i = 0; i < t.row_count; i++)
            print_row(&t, i);
        print_totals(&t);
    }
    table_free(&t);
    return status;
}
