#include "bench.h"
#include "text.h"

static void print_peaks(const tsr_device_peaks *p) {
    if (p->gflops > 0)
        printf("peaks   %.1f GFLOP/s, %.2f G fetches/s, copies %.2f GB/s, upload %.2f GB/s, "
               "readback %.2f GB/s\n",
               p->gflops, p->gfetches, p->copy_gbs, p->upload_gbs, p->readback_gbs);
}

static void print_times(const bench *b) {
    const summary *s = &b->steady.latency;
    printf("cold    %.1f ms from process start to first result, empty caches; %d programs compiled "
           "in %.1f ms\n",
           b->cold.ms, b->cold.programs, b->cold.compile_ms);
    printf("warm    %.1f ms with warm caches; %d programs from Tessera's cache, ready in %.1f ms\n",
           b->warm.ms, b->warm.cached, b->warm.compile_ms);
    if (b->report.tuned_layers > 0)
        printf("tuned   %d kinds of layers autotuned in %.0f ms\n", b->report.tuned_layers,
               b->report.tune_ms);
    printf("steady  %.2f ms median of %d runs with upload and readback; p90 %.2f, p99 %.2f\n"
           "        quartiles %.2f to %.2f, range %.2f to %.2f\n",
           s->median, b->steady.runs, s->p90, s->p99, s->q1, s->q3, s->min, s->max);
}

/* "40.6 runs a second", of a batch "162.4 a second: 40.6 runs of 4" */
static void print_rate(const bench *b, const throughput *t) {
    double rate = bench_rate(t);
    if (b->o->batch)
        printf("%.2f a second: %.2f runs of %d", rate * b->o->batch, rate, b->o->batch);
    else
        printf("%.2f runs a second", rate);
}

static void print_throughput(const bench *b) {
    const throughput *t = &b->flight;
    printf("rate    ");
    print_rate(b, &b->steady);
    printf(", one at a time\n");
    if (!t->runs)
        return;
    printf("flight  ");
    print_rate(b, t);
    printf(", %d in flight; ratio %.3f\n", b->o->in_flight, bench_rate(t) / bench_rate(&b->steady));
    printf("        latency %.2f ms median of %d runs; p90 %.2f, p99 %.2f\n", t->latency.median,
           t->runs, t->latency.p90, t->latency.p99);
}

static void print_rates(const bench *b) {
    double gflops = bench_gflops(b->report.macs, b->steady.latency.median);
    printf("speed   %.2f GFLOP/s", gflops);
    if (b->peaks.gflops > 0)
        printf(", %.1f %% of peak; roofline bound %.2f ms, of which %.1f %% are reached",
               100 * gflops / b->peaks.gflops, b->bound_ms,
               100 * b->bound_ms / b->steady.latency.median);
    printf(
        "\nmemory  tensors %s (lower bound %s), weights %s; %d passes, %lld draws or dispatches\n",
        bytes_label(b->report.tensor_bytes).text, bytes_label(b->report.live_bytes_bound).text,
        bytes_label(b->report.weight_bytes).text, b->report.pass_count, (long long)b->draws);
}

static void print_baseline(const bench_baseline *r) {
    printf("against %s\n", r->name.text);
    printf("        %.2f ms here, quartiles %.2f to %.2f; %.2f ms there, quartiles %.2f to %.2f\n",
           r->ours.median, r->ours.q1, r->ours.q3, r->theirs.median, r->theirs.q1, r->theirs.q3);
    printf("        ratio here / there %.3f, quartiles %.3f to %.3f, range %.3f to %.3f\n",
           r->ratio.median, r->ratio.q1, r->ratio.q3, r->ratio.min, r->ratio.max);
}

static void print_training(const bench_training *t) {
    printf("train   step %.2f ms, quartiles %.2f to %.2f; first step %.2f ms; %d nodes, %d passes, "
           "%d programs, tensors %s\n",
           t->step.median, t->step.q1, t->step.q3, t->first_ms, t->report.node_count,
           t->report.pass_count, t->report.program_count, bytes_label(t->report.tensor_bytes).text);
    printf("        run %.2f ms in turns with it; ratio step / run %.3f, quartiles %.3f to %.3f\n",
           t->run.median, t->ratio.median, t->ratio.q1, t->ratio.q3);
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* GFLOP/s, and the bound, by what it is, and the share of the time that it is. */
static void print_speed(int64_t macs, double ms, double bound_ms, const char *by) {
    double gflops = bench_gflops(macs, ms);
    if (gflops > 0)
        printf(" %7.*f", gflops < 100 ? 2 : 0, gflops);
    else
        printf(" %7s", "");
    if (bound_ms > 0 && ms > 0)
        printf(" %7s %3s %4.0f%%", ms_label(bound_ms).text, by, 100 * bound_ms / ms);
    putchar('\n');
}

static const char *kernel_of(const tsr_node_report *node) {
    return node->winograd_tile[0] ? node->winograd_tile
           : node->kernel[0]      ? node->kernel
                                  : node->backend;
}

static void print_layer(const bench_layer *layer) {
    const tsr_node_report *node = &layer->node;
    printf("%-15s %-14s %-19s %-12s %4lld %7s %8s %8s", short_label(node->name, 15).text,
           short_label(node->op, 14).text, short_label(shape_label(&node->shape).text, 19).text,
           short_label(kernel_of(node), 12).text, (long long)node->draws,
           count_label((double)node->macs).text, bytes_label(node->bytes).text,
           ms_label(layer->ms).text);
    print_speed(node->macs, layer->ms, layer->bound.ms, layer->bound.by_bytes ? "mem" : "ops");
}

static void print_sum(const bench_sum *sum) {
    printf("%-63s %4lld %7s %8s %8s", "all layers", (long long)sum->draws,
           count_label((double)sum->macs).text, bytes_label(sum->bytes).text,
           ms_label(sum->ms).text);
    print_speed(sum->macs, sum->ms, sum->bound_ms, "");
}

static void print_layers(const bench *b) {
    printf("\nlayers: medians of %d runs, by %s", b->layer_runs,
           b->info.has_timer ? "GPU timers" : "wall clock");
    if (b->gpu_ms >= 0)
        printf("; whole run %.3f ms", b->gpu_ms);
    printf("\n%-15s %-14s %-19s %-12s %4s %7s %8s %8s %7s %7s %3s %5s\n", "node", "op", "shape",
           "kernel", "n", "MACs", "bytes", "ms", "GFLOP/s", "bound", "by", "share");
    for (int i = 0; i < b->layer_count; i++)
        print_layer(&b->layers[i]);
    print_sum(&b->all);
    printf("kernel: or the tile of Winograd's algorithm, F(pixels,taps); n: draws or dispatches;\n"
           "bytes: inputs, weights and output, each once; share: bound / ms\n");
}

static void print_operators(const bench *b) {
    printf("\n%-24s %6s %8s %6s %7s\n", "operator", "layers", "ms", "of all", "GFLOP/s");
    for (int i = 0; i < b->operator_count; i++) {
        const bench_sum *sum = &b->operators[i];
        printf("%-24s %6d %8s", short_label(sum->op.text, 24).text, sum->layers,
               ms_label(sum->ms).text);
        printf(" %5.1f%%", 100 * bench_share(b, sum));
        print_speed(sum->macs, sum->ms, -1, "");
    }
}

void bench_print(const bench *b) {
    printf("model   %s, %sMAC; layers move %s\n", b->j->path,
           count_label((double)b->report.macs).text, bytes_label(b->bytes).text);
    printf("device  %s: %s\n", b->info.backend, b->info.name);
    print_peaks(&b->peaks);
    print_times(b);
    print_throughput(b);
    print_rates(b);
    if (b->o->against)
        print_baseline(&b->baseline);
    if (b->o->train)
        print_training(&b->training);
    if (b->o->layers) {
        print_layers(b);
        print_operators(b);
    }
}
