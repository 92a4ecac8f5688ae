#include "info.h"
#include "text.h"
#include "tool.h"

#include <inttypes.h>

static void print_numbers(const char *what, const double *numbers, int count) {
    for (int i = 0; i < count; i++)
        printf("%s%s%.5g", i ? "," : what, i ? "" : " ", numbers[i]);
}

/* What the description or options say of pictures for this input. */
static void print_image(const job_input *input) {
    const image_options *o = &input->image;
    if (!o->range_text && !o->mean_count && !o->scale_count && !o->channel_order)
        return;
    printf("             here as %s, range %.5g:%.5g",
           image_choices(IMAGE_ORDERS)[o->channel_order], o->range[0], o->range[1]);
    print_numbers(", mean", o->mean, o->mean_count);
    print_numbers(", scale", o->scale, o->scale_count);
    printf("\n");
}

static tsr_status print_tensors(const job *j) {
    for (int i = 0; i < j->input_count; i++) {
        const job_input *input = &j->inputs[i];
        printf("input        %s: %s %s%s\n", name_label(input->info.name).text,
               tsr_dtype_name(input->info.dtype), info_label(&input->info).text,
               input->fixed ? ", fixed when a session is made" : "");
        if (input->fixed)
            continue;
        printf("  from image %s\n", image_describe(&input->info).text);
        print_image(input);
    }
    int count = tsr_model_output_count(j->model);
    for (int i = 0; i < count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_model_output(j->model, i, &info));
        printf("output       %s: %s %s\n", name_label(info.name).text, tsr_dtype_name(info.dtype),
               info_label(&info).text);
    }
    return TSR_OK;
}

static void print_operators(const tsr_model *model) {
    const char *op;
    int count;
    printf("operators   ");
    for (int i = 0; tsr_model_op(model, i, &op, &count); i++)
        printf("%s %s %d", i ? "," : "", name_label(op).text, count);
    putchar('\n');
}

static tsr_status print_plan(const tsr_session *session) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    printf("%-7s %7d %6d  ", report.backend, report.node_count, report.pass_count);
    if (report.program_count > 0)
        printf("%8d ", report.program_count);
    else
        printf("%8s ", "-");
    printf(" %10s  %11s  %10s  %13" PRId64 "\n", bytes_label(report.tensor_bytes).text,
           bytes_label(report.live_bytes_bound).text, bytes_label(report.weight_bytes).text,
           report.macs);
    return TSR_OK;
}

static tsr_status print_candidates_of(const tsr_session *session, int node) {
    tsr_node_report report;
    TRY_LIBRARY(tsr_session_node_report(session, node, &report));
    for (int i = 0; i < report.candidates; i++) {
        tsr_candidate_report c;
        TRY_LIBRARY(tsr_session_candidate_report(session, node, i, &c));
        printf("%-20s %-18s %c %-22s %-10s %8.3g %10s %9d %9s\n",
               i ? "" : short_label(report.name, 20).text, i ? "" : short_label(report.op, 18).text,
               c.chosen ? '*' : ' ', c.algorithm, c.winograd_tile[0] ? c.winograd_tile : "-",
               c.estimate, bytes_label(c.bytes).text, c.live_texels, ms_label(c.ms).text);
    }
    return TSR_OK;
}

static tsr_status print_candidates(const tsr_session *session) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    printf("\nkernels on %s: *: chosen; estimate: of the time, relative to the least; memory: "
           "between its passes;\ntexels: kept in registers by a fragment or invocation; measured: "
           "by autotuning, in ms\n%-20s %-20s %-22s %-10s %8s %10s %9s %9s\n",
           report.backend, "node", "op", "algorithm", "winograd", "estimate", "memory", "texels",
           "measured");
    for (int i = 0; i < report.node_count; i++)
        TRY(print_candidates_of(session, i));
    return TSR_OK;
}

static tsr_status print_storage_of(const tsr_session *session, int node) {
    tsr_node_report report;
    TRY_LIBRARY(tsr_session_node_report(session, node, &report));
    bool is_float = report.dtype <= TSR_DTYPE_F64;
    if (is_float && report.passes && report.precision == TSR_PRECISION_FP32)
        printf("  %-30s %-18s %s\n", short_label(report.output, 30).text,
               short_label(report.op, 18).text, shape_label(&report.shape).text);
    return TSR_OK;
}

/* Of --precision auto: what an earlier command chose. */
static tsr_status print_storage(const tsr_session *session) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    if (report.calibrated_error < 0) {
        printf("\n%s: not calibrated, so in 32 bits: run, bench, show and compare calibrate with "
               "--precision auto\n",
               report.backend);
        return TSR_OK;
    }
    printf("\n%s: calibrated, outputs were off by %.2g of their largest element; weights of %d "
           "bits, tensors of 16 bits but these:\n",
           report.backend, report.calibrated_error, report.precise_weights ? 32 : 16);
    for (int i = 0; i < report.node_count; i++)
        TRY(print_storage_of(session, i));
    return TSR_OK;
}

/* Calls print with a session that is planned only, unless layers are to be measured. */
static tsr_status plan_on(const job *j, const char *backend,
                          tsr_status (*print)(const tsr_session *)) {
    tsr_device *device;
    tsr_session *session;
    TRY(job_device(j->options, backend, &device));
    tsr_status status = job_session(
        j, device, &(tsr_session_desc){.plan_only = j->options->tune_ms == 0}, &session);
    if (status == TSR_OK) {
        status = print(session);
        tsr_session_destroy(session);
    }
    tsr_device_destroy(device);
    return status;
}

/* Prints the sizes that the plan needs and the model leaves open; false if there are any. */
static bool sizes_known(const job *j) {
    bool known = true;
    for (int i = 0; i < j->input_count; i++) {
        const tsr_tensor_info *info = &j->inputs[i].info;
        if (tsr_shape_count(&info->shape) >= 0)
            continue;
        known = false;
        bool named = false;
        for (int d = 0; d < info->shape.rank; d++)
            named = named || (info->shape.dim[d] < 0 && info->dim_name[d]);
        printf("plan         needs the sizes of input '%s': give %s\n", name_label(info->name).text,
               named ? "--dim NAME=N" : "--shape NAME=N,N..");
    }
    return known;
}

/* Tables that are asked for, and a file. */
typedef struct tables {
    bool layers, kernels, passes;
    char *dot;
} tables;

static tsr_status print_tables(const job *j, const char *backend, tables wanted) {
    if (j->options->precision == TSR_PRECISION_AUTO)
        TRY(plan_on(j, backend, print_storage));
    if (wanted.layers)
        TRY(plan_on(j, backend, print_nodes));
    if (wanted.kernels)
        TRY(plan_on(j, backend, print_candidates));
    if (wanted.passes)
        TRY(info_print_passes(j, backend));
    return wanted.dot ? info_write_dot(j, backend, wanted.dot) : TSR_OK;
}

/* Without --backend every backend is shown, and a missing one is no failure; tables are those of
 * the first one that can plan. */
static tsr_status print_plans(const job *j, tables wanted) {
    static const char *const all[] = {"gles", "webgpu", "cpu"};
    const bool wants_tables = wanted.layers || wanted.kernels || wanted.passes || wanted.dot;
    if (!sizes_known(j))
        return wants_tables ? fail(TSR_ERROR_SHAPE, "%s: its sizes are open", j->path) : TSR_OK;
    printf("\n%-7s %7s %6s  %8s  %10s  %11s  %10s  %13s\n", "backend", "nodes", "passes",
           "programs", "tensors", "lower bound", "weights", "MACs");
    if (j->options->backend) {
        TRY(plan_on(j, NULL, print_plan));
        return print_tables(j, NULL, wanted);
    }
    const char *planned = NULL;
    for (int i = 0; i < 3; i++) {
        if (plan_on(j, all[i], print_plan) != TSR_OK)
            printf("%-7s %s\n", all[i], failure());
        else if (!planned)
            planned = all[i];
    }
    if (!planned && wants_tables)
        return fail(TSR_ERROR_UNSUPPORTED, "%s: no backend can plan it", j->path);
    return planned ? print_tables(j, planned, wanted) : TSR_OK;
}

static tsr_status print_info(const job *j, tables wanted) {
    printf("model        %s, opset %d\n", j->path, tsr_model_opset(j->model));
    const description *d = &j->description;
    if (d->from)
        printf("described by %s: task %s, %d labels\n", name_label(d->from).text,
               task_names[d->task], d->labels.count);
    TRY(print_tensors(j));
    printf("parameters   %s\n", count_label((double)tsr_model_parameter_count(j->model)).text);
    print_operators(j->model);
    return print_plans(j, wanted);
}

int cmd_info(int argc, char **argv) {
    job_options options = {0};
    tables wanted = {0};
    const option items[] = {
        {"layers", 'l', NULL, "print a table of nodes", OPTION_FLAG, &wanted.layers, 0, NULL},
        {"kernels", 'k', NULL, "print each layer's candidate algorithms; --tune measures them",
         OPTION_FLAG, &wanted.kernels, 0, NULL},
        {"passes", 0, "[LIST]",
         "print the optimizer's passes; LIST: only all, none, 'a,b' or '-a,-b'", OPTION_OPTIONAL,
         &options.passes, 0, NULL},
        {"dot", 0, "FILE", "write the optimized graph as Graphviz DOT", OPTION_TEXT, &wanted.dot, 0,
         NULL},
    };
    option_set set = {.usage = "tessera info MODEL [--dim NAME=N]... [--backend NAME] [--layers] "
                               "[--kernels] [--passes [LIST]] [--dot FILE]",
                      .notes =
                          "Images: pixels 0..255 map to p in --range (0:1); the model gets "
                          "(p - mean) * scale.\nOutput images map --out-range, or else --range, "
                          "to 0..255.\n",
                      .min_arguments = 1,
                      .max_arguments = 1};
    OPTIONS_ADD(&set, items);
    job_add_backend_option(&set, &options);
    job_add_session_options(&set, &options);
    job_add_input_options(&set, &options);
    job j;
    int code;
    if (!job_start(&j, &set, argc, argv, &options, JOB_MISSING_OPEN, &code))
        return code;
    wanted.passes = options.passes != NULL;
    if (wanted.passes && !*options.passes)
        options.passes = NULL;
    tsr_status status = print_info(&j, wanted);
    job_close(&j);
    return command_exit(status);
}
