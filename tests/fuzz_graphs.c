/* Random graphs on every backend, compared with the cpu backend's values node by node: other
 * limits, kernels, 16 bits, tuned or not. A failure is shrunk to few nodes. */
#define _POSIX_C_SOURCE 200809L /* sysconf */
#include "support/fuzz_graph.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "Usage: fuzz_graphs [--seconds N] [--graphs N] [--seed N] [--graph N] [--backend NAME] "
    "[--verbose]\n"
    "       fuzz_graphs --op NAME|all [--cases N] [--seed N] [--graph N] [--backend NAME] "
    "[--verbose]\n"
    "\n"
    "  --seconds N     stops after that time; 60 without this and --graphs\n"
    "  --graphs N      stops after that many graphs\n"
    "  --seed N        of all that is random; 1 without\n"
    "  --graph N       begins with graph N: failures name theirs\n"
    "  --backend NAME  on this backend only: cpu, gles or webgpu\n"
    "  --op NAME       graphs of one node, of this operator or of each (all), inputs of rank 0 to "
    "6;\n"
    "                  one that runs on a GPU and is never compared there is a failure\n"
    "  --cases N       graphs of each operator; 300 without\n"
    "  --verbose       a line for each graph before it runs, which a crash leaves behind\n";

enum {
    MOST_FAILURES = 5,
    MOST_REFUSALS = 24,
    SHRINK_SECONDS = 60,
    TUNE_MS = 30,
    WARM_UP = 50,
    USUAL_CASES = 300,
    MORE_CASES = 30,
    CASE_TRIES = 200
};

typedef struct options {
    long seconds, graphs, seed, first, cases;
    const char *backend, *op;
    bool verbose;
} options;

/* ---- where graphs run ---- */

typedef struct environment {
    const char *backend, *kernels;
    int max_texture_size, max_draw_buffers;
    tsr_device *device;
} environment;

static environment environments[] = {
    {"cpu", NULL, 0, 0, NULL},        {"gles", NULL, 0, 0, NULL},
    {"gles", "blocks", 0, 0, NULL},   {"gles", "small", 0, 0, NULL},
    {"gles", "midgard", 0, 0, NULL},  {"gles", NULL, 0, 2, NULL},
    {"gles", NULL, 64, 1, NULL},      {"webgpu", NULL, 0, 0, NULL},
    {"webgpu", "shared", 0, 0, NULL},
};
enum { ENVIRONMENTS = sizeof environments / sizeof *environments };

static bool open_device(environment *e) {
    const tsr_device_desc desc = {.backend = e->backend,
                                  .kernels = e->kernels,
                                  .gles.max_texture_size = e->max_texture_size,
                                  .gles.max_draw_buffers = e->max_draw_buffers};
    return tsr_device_create(&desc, &e->device) == TSR_OK;
}

static bool is_wanted(const environment *e, const char *backend) {
    return !strcmp(e->backend, "cpu") || !backend || !strcmp(e->backend, backend);
}

/* False if one is lacking that TSR_REQUIRE_DRIVER=1 demands. */
static bool open_devices(const char *backend) {
    const char *required = getenv("TSR_REQUIRE_DRIVER");
    for (int i = 0; i < ENVIRONMENTS; i++)
        if (is_wanted(&environments[i], backend) && !open_device(&environments[i])) {
            fprintf(stderr, "fuzz_graphs: %s: %s\n", environments[i].backend, tsr_last_error());
            if (required && !strcmp(required, "1"))
                return false;
        }
    return true;
}

static void close_devices(void) {
    for (int i = 0; i < ENVIRONMENTS; i++)
        tsr_device_destroy(environments[i].device);
}

/* A random environment of the backend; NULL if it has none. */
static const environment *draw_environment(const char *backend, random_source *random) {
    const environment *found = NULL;
    for (int i = 0, odds = 1; i < ENVIRONMENTS; i++)
        if (environments[i].device && !strcmp(environments[i].backend, backend) &&
            random_one_in(random, odds++))
            found = &environments[i];
    return found;
}

static void print_run(const environment *e, const graph_run *run) {
    printf("%s", e->backend);
    if (e->kernels)
        printf(", kernels %s", e->kernels);
    if (e->max_texture_size)
        printf(", max_texture_size %d", e->max_texture_size);
    if (e->max_draw_buffers)
        printf(", max_draw_buffers %d", e->max_draw_buffers);
    printf("%s%s%s%s", run->converted ? ", converted" : "",
           run->precision == TSR_PRECISION_FP16 ? ", fp16" : "", run->tune_ms ? ", tuned" : "",
           run->allow_cpu_fallback ? ", allow_cpu_fallback" : "");
}

/* ---- what has been done ---- */

static struct {
    long graphs, nodes, compared[ENVIRONMENTS], on_cpu[ENVIRONMENTS], refused, failures;
    long made[TSR_OP_COUNT], unfit[TSR_OP_COUNT], refused_by_cpu[TSR_OP_COUNT];
    struct {
        char text[160];
        long count;
    } refusals[MOST_REFUSALS];
} done;

/* Counted by what the message says without names and numbers. */
static void note_refusal(const char *message) {
    char text[sizeof done.refusals->text];
    size_t length = 0;
    for (; *message && length < sizeof text - 1; message++)
        if (*message < '0' || *message > '9')
            text[length++] = *message;
    text[length] = 0;
    done.refused++;
    for (int i = 0; i < MOST_REFUSALS; i++)
        if (!done.refusals[i].count || !strcmp(done.refusals[i].text, text)) {
            strcpy(done.refusals[i].text, text);
            done.refusals[i].count++;
            return;
        }
}

/* What this process holds. */
typedef struct holdings {
    long mib, files;
} holdings;

static holdings measure_holdings(void) {
    long size, pages = 0, files = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &size, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        files++;
    if (folder)
        closedir(folder);
    return (holdings){pages * (sysconf(_SC_PAGESIZE) >> 10) >> 10, files};
}

static holdings after_warm_up;

static void print_summary(void) {
    const holdings now = measure_holdings();
    printf("%ld MiB resident, %ld files; after %d graphs %ld MiB, %ld files\n", now.mib, now.files,
           WARM_UP, after_warm_up.mib, after_warm_up.files);
    printf("%ld graphs of %.1f nodes; %ld failures; %ld runs refused\n", done.graphs,
           done.graphs ? (double)done.nodes / (double)done.graphs : 0, done.failures, done.refused);
    for (int i = 0; i < ENVIRONMENTS; i++)
        if (environments[i].device) {
            printf("  %5ld compared, %ld of them with nodes on the CPU: ",
                   done.compared[i] + done.on_cpu[i], done.on_cpu[i]);
            print_run(&environments[i], &(graph_run){0});
            puts("");
        }
    for (int i = 0; i < MOST_REFUSALS && done.refusals[i].count; i++)
        printf("  %5ld refused: %s\n", done.refusals[i].count, done.refusals[i].text);
    printf("nodes made (unfit, refused by cpu):");
    for (int op = 0; op < TSR_OP_COUNT; op++)
        if (can_make_node((tsr_op)op))
            printf(" %s %ld (%ld, %ld)", tsr_op_get_info((tsr_op)op)->name, done.made[op],
                   done.unfit[op], done.refused_by_cpu[op]);
    puts("");
}

/* ---- graphs ---- */

static const struct {
    tsr_dtype dtype;
    float scale;
} types[] = {{TSR_DTYPE_I8, 100},    {TSR_DTYPE_U8, 200},    {TSR_DTYPE_I32, 1000},
             {TSR_DTYPE_BOOL, 1},    {TSR_DTYPE_I64, 50},    {TSR_DTYPE_I16, 9000},
             {TSR_DTYPE_U16, 60000}, {TSR_DTYPE_U32, 90000}, {TSR_DTYPE_U64, 50}};
enum { TYPES = sizeof types / sizeof *types };

static void add_inputs(fuzz_graph *graph, random_source *random) {
    static const float scales[] = {1, 1, 1, 4, 0.1f};
    tsr_shape shape = draw_shape(random);
    fuzz_graph_add_input(graph, TSR_DTYPE_F32, shape, scales[random_int(random, 0, 4)], 0);
    if (random_one_in(random, 3) && shape.rank == 4) /* for GridSample */
        fuzz_graph_add_input(graph, TSR_DTYPE_F32,
                             (tsr_shape){4, {shape.dim[0], random_int(random, 1, 9), 5, 2}}, 1.5f,
                             0);
    while (random_one_in(random, 2) && graph->value_count < 5) {
        int type = random_int(random, 0, 2 * TYPES - 1);
        shape = random_one_in(random, 3) ? shape : draw_shape(random);
        fuzz_graph_add_input(graph, type < TYPES ? types[type].dtype : TSR_DTYPE_F32, shape,
                             type < TYPES ? types[type].scale : 1, 0);
    }
}

static void add_node(fuzz_graph *graph, tsr_op op, random_source *random) {
    node_maker maker = {.random = random,
                        .values = graph->values,
                        .value_count = graph->value_count,
                        .node = graph->node_count};
    if (!can_make_node(op) || !make_node(&maker, op))
        return;
    switch (fuzz_graph_add_node(graph, environments[0].device, op, maker.text.text, random)) {
    case NODE_ADDED:
        done.made[op]++;
        break;
    case NODE_UNFIT:
        done.unfit[op]++;
        break;
    case NODE_REFUSED:
        if (done.refused_by_cpu[op]++ == 0)
            printf("refused by cpu: %s: %s\n", maker.text.text, tsr_last_error());
        break;
    }
}

/* Of 1 to 40 nodes, more often of few. */
static void make_graph(fuzz_graph *graph, random_source *random) {
    int nodes = random_int(random, 1, random_one_in(random, 3) ? GRAPH_MOST_NODES : 12);
    add_inputs(graph, random);
    for (int i = 0;
         i < 8 * nodes && graph->node_count < nodes && graph->value_count + 4 <= GRAPH_MOST_VALUES;
         i++)
        add_node(graph, (tsr_op)random_int(random, 0, TSR_OP_COUNT - 1), random);
}

/* ---- graphs of one node ---- */

/* A shape that broadcasts with the other one. */
static tsr_shape draw_operand(const tsr_shape *other, random_source *random) {
    tsr_shape shape = {.rank = random_one_in(random, 2) ? other->rank
                                                        : random_int(random, 0, other->rank)};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = random_one_in(random, 3) ? 1 : other->dim[other->rank - shape.rank + i];
    return shape;
}

static void add_case_input(fuzz_graph *graph, tsr_shape shape, random_source *random) {
    static const float centers[] = {0, 0, 0, 1.25f, 2.25f};
    int type = random_int(random, 0, 2 * TYPES - 1);
    const graph_value *first = graph->value_count ? graph->values : NULL;
    if (first && random_one_in(random, 2)) /* the first one's */
        for (type = 0; type < TYPES && types[type].dtype != first->dtype;)
            type++;
    if (type < TYPES)
        fuzz_graph_add_input(graph, types[type].dtype, shape, types[type].scale, 0);
    else
        fuzz_graph_add_input(graph, TSR_DTYPE_F32, shape, 1, centers[random_int(random, 0, 4)]);
}

/* False if no inputs were found that fit the operator. */
static bool make_case(fuzz_graph *graph, tsr_op op, random_source *random) {
    const uint32_t seed = graph->seed;
    for (int i = 0; i < CASE_TRIES && !graph->node_count; i++) {
        fuzz_graph_free(graph);
        graph->seed = seed;
        const tsr_shape shape = draw_shape_of_any_rank(random);
        add_case_input(graph, shape, random);
        for (int others = random_int(random, 0, 3); others > 0; others--)
            add_case_input(graph,
                           random_one_in(random, 4) ? draw_shape_of_any_rank(random)
                                                    : draw_operand(&shape, random),
                           random);
        for (int k = 0; k < 4 && !graph->node_count; k++)
            add_node(graph, op, random);
    }
    return graph->node_count > 0;
}

/* ---- failures ---- */

typedef enum outcome { SAME, REFUSED, FAILED } outcome;

/* Why a run of these nodes failed or was refused. */
static outcome try_run(const fuzz_graph *graph, const node_set *set, const graph_run *run,
                       char why[256]) {
    tsr_status status = fuzz_graph_compare(graph, set, run, why);
    if (status == TSR_OK)
        return *why ? FAILED : SAME;
    snprintf(why, 256, "%s", tsr_last_error());
    return status == TSR_ERROR_UNSUPPORTED || status == TSR_ERROR_LIMIT ? REFUSED : FAILED;
}

/* Leaves out nodes, halves first, as long as it fails without them. */
static void shrink(const fuzz_graph *graph, node_set *set, const graph_run *run, char why[256]) {
    time_t start = time(NULL);
    for (int part = graph->node_count / 2; part > 0; part /= 2)
        for (int from = 0; from < graph->node_count && time(NULL) - start < SHRINK_SECONDS;
             from += part) {
            node_set fewer = *set;
            char other[256];
            int left = 0;
            for (int n = 0; n < graph->node_count; n++) {
                fewer.has[n] &= n < from || n >= from + part;
                left += fewer.has[n];
            }
            if (left && try_run(graph, &fewer, run, other) == FAILED) {
                *set = fewer;
                strcpy(why, other);
            }
        }
}

static void report(const fuzz_graph *graph, const options *o, long number, const environment *e,
                   const graph_run *run, node_set *set, char why[256]) {
    case_text text;
    done.failures++;
    printf("FAILED: graph %ld on ", number);
    print_run(e, run);
    printf(": %s\n", why);
    fflush(stdout);
    shrink(graph, set, run, why);
    fuzz_graph_text(graph, set, &text);
    if (o->op)
        printf("  again: fuzz_graphs --op %s --seed %ld --graph %ld --cases 1\n",
               tsr_op_get_info(graph->ops[0])->name, o->seed, number);
    else
        printf("  again: fuzz_graphs --seed %ld --graph %ld --graphs 1\n", o->seed, number);
    printf("  of these nodes: %s\n  %s\n", text.text, why);
    fflush(stdout);
}

/* ---- runs ---- */

/* What the backend refuses runs there with nodes on the CPU. */
static void run_on(const fuzz_graph *graph, const options *o, long number, const environment *e,
                   graph_run run) {
    char why[256];
    node_set all;
    memset(&all, true, sizeof all);
    if (!e)
        return;
    run.device = e->device;
    outcome outcome = try_run(graph, &all, &run, why);
    if (outcome == REFUSED && strcmp(e->backend, "cpu")) {
        note_refusal(why);
        run.allow_cpu_fallback = true;
        outcome = try_run(graph, &all, &run, why);
    }
    if (outcome == SAME && run.allow_cpu_fallback)
        done.on_cpu[e - environments]++;
    else if (outcome == SAME)
        done.compared[e - environments]++;
    else if (outcome == FAILED)
        report(graph, o, number, e, &run, &all, why);
    else
        note_refusal(why);
}

static void run_graph(const options *o, long number) {
    random_source random = random_from((uint32_t)(o->seed * 1000003 + number));
    fuzz_graph graph = {.seed = (uint32_t)(o->seed * 31 + number)};
    graph.half = random_one_in(&random, 5);
    graph_run run = {
        .precision = graph.half ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32,
        .mixed = graph.half && random_one_in(&random, 2) ? (uint32_t)(o->seed + number) | 1 : 0,
        .tune_ms = random_one_in(&random, 16) ? TUNE_MS : 0};
    make_graph(&graph, &random);
    if (o->verbose) {
        printf("graph %ld: %d nodes\n", number, graph.node_count);
        fflush(stdout);
    }
    if (graph.node_count) {
        run_on(&graph, o, number, &environments[0], (graph_run){.converted = number % 2});
        run_on(&graph, o, number, draw_environment("gles", &random), run);
        run_on(&graph, o, number, draw_environment("webgpu", &random), run);
    }
    if (++done.graphs == WARM_UP)
        after_warm_up = measure_holdings();
    done.nodes += graph.node_count;
    fuzz_graph_free(&graph);
}

static void run_graphs(const options *o) {
    time_t start = time(NULL);
    for (long i = 0;
         (!o->graphs || i < o->graphs) && (!o->seconds || time(NULL) - start < o->seconds) &&
         done.failures < MOST_FAILURES;
         i++)
        run_graph(o, o->first + i);
    print_summary();
}

/* ---- each operator ---- */

/* The backends as they are. */
enum { CPU_ENVIRONMENT = 0, GLES_ENVIRONMENT = 1, WEBGPU_ENVIRONMENT = 7 };
static const int plain[] = {CPU_ENVIRONMENT, GLES_ENVIRONMENT, WEBGPU_ENVIRONMENT};

typedef struct op_record {
    tsr_op op;
    long made;
    bool has_attr[32]; /* in the order of tsr_op_attrs() */
} op_record;

static void note_attributes(op_record *record, const char *text) {
    int count;
    const tsr_attr_info *attrs = tsr_op_attrs(record->op, &count);
    for (int i = 0; i < count && i < 32; i++) {
        char word[64];
        snprintf(word, sizeof word, " %s=", attrs[i].name);
        record->has_attr[i] |= strstr(text, word) != NULL;
    }
}

static void run_case(const options *o, op_record *record, long number) {
    random_source random = random_from((uint32_t)(o->seed * 1000003 + number));
    fuzz_graph graph = {.seed = (uint32_t)(o->seed * 31 + number)};
    if (make_case(&graph, record->op, &random)) {
        record->made++;
        note_attributes(record, graph.nodes[0]);
        if (o->verbose) {
            printf("%s, case %ld: %s\n", tsr_op_get_info(record->op)->name, number, graph.nodes[0]);
            fflush(stdout);
        }
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
            if (environments[plain[i]].device)
                run_on(&graph, o, number, &environments[plain[i]],
                       (graph_run){.converted = plain[i] == CPU_ENVIRONMENT && number % 2});
    }
    fuzz_graph_free(&graph);
}

/* Is there a backend that computes the operator but has not been compared? */
static bool is_missed(tsr_op op) {
    bool missed = false;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const int e = plain[i];
        const bool runs = e == CPU_ENVIRONMENT || !tsr_op_has(op, TSR_IS_CPU_ONLY);
        missed |= environments[e].device && runs && !done.compared[e];
    }
    return missed;
}

static void print_record(const op_record *record) {
    const tsr_op_info *info = tsr_op_get_info(record->op);
    int attr_count;
    const tsr_attr_info *attrs = tsr_op_attrs(record->op, &attr_count);
    printf("%s: %ld made", info->name, record->made);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const int e = plain[i];
        if (environments[e].device)
            printf("; %s %ld compared, %ld on the CPU, %ld refused or failed",
                   environments[e].backend, done.compared[e], done.on_cpu[e],
                   record->made - done.compared[e] - done.on_cpu[e]);
    }
    for (int i = 0; i < attr_count && i < 32; i++)
        if (!record->has_attr[i])
            printf("; never given: %s", attrs[i].name);
    printf("%s\n", is_missed(record->op) ? "; FAILED: never compared where it runs" : "");
    fflush(stdout);
}

/* A few cases more where chance made none that a backend computes. done.compared and done.on_cpu
 * count the operator's cases: they begin at 0. */
static void run_op(const options *o, tsr_op op) {
    op_record record = {.op = op};
    const long failures = done.failures;
    memset(done.compared, 0, sizeof done.compared);
    memset(done.on_cpu, 0, sizeof done.on_cpu);
    for (long i = 0; (i < o->cases || (i < o->cases + MORE_CASES && is_missed(op))) &&
                     done.failures - failures < MOST_FAILURES;
         i++)
        run_case(o, &record, o->first + i);
    print_record(&record);
    done.failures += is_missed(op);
}

static bool run_ops(const options *o) {
    const bool all = !strcmp(o->op, "all");
    const tsr_op op = all ? TSR_OP_COUNT : tsr_op_find(o->op);
    if (!all && (op == TSR_OP_COUNT || !can_make_node(op))) {
        fprintf(stderr, "fuzz_graphs: no operator '%s'\n", o->op);
        return false;
    }
    for (int i = 0; i < TSR_OP_COUNT; i++)
        if (can_make_node((tsr_op)i) && (all || (tsr_op)i == op))
            run_op(o, (tsr_op)i);
    for (int i = 0; i < MOST_REFUSALS && done.refusals[i].count; i++)
        printf("  %5ld refused: %s\n", done.refusals[i].count, done.refusals[i].text);
    printf("%ld failures\n", done.failures);
    return true;
}

/* ---- options ---- */

static bool read_number(const char *text, long *number) {
    char *end;
    *number = strtol(text, &end, 10);
    return *text && !*end && *number >= 0;
}

static bool read_options(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        long *number = !strcmp(argv[i], "--seconds")  ? &o->seconds
                       : !strcmp(argv[i], "--graphs") ? &o->graphs
                       : !strcmp(argv[i], "--seed")   ? &o->seed
                       : !strcmp(argv[i], "--graph")  ? &o->first
                       : !strcmp(argv[i], "--cases")  ? &o->cases
                                                      : NULL;
        if (!strcmp(argv[i], "--verbose"))
            o->verbose = true;
        else if (!strcmp(argv[i], "--backend") && *value)
            o->backend = argv[++i];
        else if (!strcmp(argv[i], "--op") && *value)
            o->op = argv[++i];
        else if (number && read_number(value, number))
            i++;
        else
            return false;
    }
    if (!o->seconds && !o->graphs)
        o->seconds = 60;
    return true;
}

static bool is_complete(void) {
    bool complete = true;
    for (int op = 0; op < TSR_OP_COUNT; op++)
        /* Gradient names tensors of other nodes */
        if (op != TSR_OP_Custom && op != TSR_OP_FunctionCall && op != TSR_OP_Gradient &&
            !can_make_node((tsr_op)op)) {
            fprintf(stderr, "fuzz_graphs: %s has no line in tests/support/graph_maker.c\n",
                    tsr_op_get_info((tsr_op)op)->name);
            complete = false;
        }
    return complete;
}

int main(int argc, char **argv) {
    options o = {.seed = 1, .cases = USUAL_CASES};
    if (argc == 2 && !strcmp(argv[1], "--help"))
        return fputs(usage, stdout) == EOF;
    if (!read_options(argc, argv, &o))
        return fputs(usage, stderr), 2;
    if (!is_complete() || !open_devices(o.backend))
        return 1;
    bool good = true;
    if (o.op)
        good = run_ops(&o);
    else
        run_graphs(&o);
    close_devices();
    return !good || done.failures > 0;
}
